"""Proofs and files: what they cost, and whether forgeries and killed writers are noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exactsindy.cli import output


def proofs(
    instances: Annotated[int, typer.Option(min=1, help="Hostile problems whose proofs are checked.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the problems.")] = 0,
    constrained: Annotated[int, typer.Option(min=0, help="Problems under random constraints.")] = 500,
    large: Annotated[bool, typer.Option(help="Also problems of the paper's size.")] = True,
) -> None:
    r"""Write proof files and have the independent checker read them; count what it does not accept (minutes).

    \b
    Example:
      exactsindy bench proofs --instances 3000 --seed 1 --no-large
    """
    import tempfile
    from collections import Counter

    from exactsindy_experiments.constrained_campaign import constrained_proofs, without_names
    from exactsindy_experiments.pages import table
    from exactsindy_experiments.proof_campaign import large_proofs, random_proofs, slower

    said: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for task, report in random_proofs(instances, seed, Path(folder)):
            said[report.outcome] = said.get(report.outcome, 0) + 1
            if not report.ok:
                output.note(f"{task}: {report}")
        counts = ", ".join(f"{number} {outcome}" for outcome, number in said.items())
        typer.echo(f"{sum(said.values())} proofs of hostile problems: {counts}.")
        under, reasons = Counter[str](), Counter[str]()
        for task, outcome, text in constrained_proofs(constrained, seed, Path(folder)):
            under[outcome] += 1
            if outcome in ("no proof", "refused"):
                reasons[f"{outcome}: {without_names(text)}"] += 1
            elif outcome != "proved":
                output.note(f"constraints, {task}: {text}")
        counts = ", ".join(f"{number} {outcome}" for outcome, number in under.items())
        typer.echo(f"{sum(under.values())} problems under constraints: {counts}.")
        for reason, number in reasons.most_common():
            typer.echo(f"    {number} {reason}")
        found = list(large_proofs(Path(folder), output.note)) if large else []
    rows = [
        (
            r.name,
            r.k,
            r.equations,
            r.leaves,
            r.size,
            f"{r.plain:.3f}",
            f"{r.written:.3f}",
            f"{r.written / r.plain:.2f}",
            f"{r.checked:.1f}",
            r.outcome,
        )
        for r in found
    ]
    head = (
        "problem",
        "k",
        "equations",
        "leaves",
        "bytes",
        "solve s",
        "with proof s",
        "ratio",
        "check s",
        "checker says",
    )
    if rows:
        typer.echo(table(head, rows, "lrrrrrrrrl"))
        typer.echo("Seconds are those of the CPU, of all threads and processes.")
        typer.echo(slower(found))
    bad = (set(said) | set(under)) - {"proved", "not checked", "no proof", "refused"}
    raise typer.Exit(bool(bad or any(row[-1] != "proved" for row in rows)))


def forgeries(
    per_run: Annotated[int, typer.Option(min=1, help="Changed entries of each run folder.")] = 250,
    seed: Annotated[int, typer.Option(help="Of the random choices.")] = 0,
) -> None:
    r"""Forge answers, pools and run folders in every place; verify must find each one (a few minutes).

    Prints how many were refused, not checked (verify says so) and accepted; what was accepted is solved again to see
    whether it is still true. Exit code 1 if a false one was accepted.

    \b
    Example:
      exactsindy bench forgeries --per-run 100
    """
    from exactsindy_experiments.forgeries import OUTCOMES, report
    from exactsindy_experiments.forgeries import forgeries as forge

    found = []
    for forgery in forge(per_run, seed):
        found.append(forgery)
        if len(found) % 200 == 0:
            output.note(f"{len(found)} forgeries tried")
    typer.echo(report(found))
    raise typer.Exit(any(forgery.outcome == OUTCOMES[-1] for forgery in found))


def faults(
    kills: Annotated[int, typer.Option(min=1, help="Writers killed for each kind of file.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the moments.")] = 0,
) -> None:
    r"""Kill processes while they write run folders, reports, models, problems, proofs and results; count what is lost.

    \b
    Example:
      exactsindy bench faults --kills 200
    """
    import tempfile

    from exactsindy_experiments.faults import outcomes

    injected = lost = 0
    with tempfile.TemporaryDirectory() as folder:
        for outcome in outcomes(Path(folder), kills, seed):
            typer.echo(str(outcome))
            injected, lost = injected + outcome.faults, lost + outcome.lost
    typer.echo(f"{injected} faults injected, {lost} lost.")
    raise typer.Exit(bool(lost))
