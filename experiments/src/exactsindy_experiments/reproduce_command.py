"""reproduce: the front end of the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from exactsindy.cli import options, output


def reproduce(
    experiment: Annotated[str, typer.Argument(help="list, report, all, or an experiment.")] = "list",
    systems: Annotated[str | None, typer.Option(help="Some of its systems: lorenz,hopf.")] = None,
    algorithms: Annotated[str | None, typer.Option(help="Some of its algorithms.")] = None,
    protocols: Annotated[str | None, typer.Option(help="published, ours, or both: published,ours.")] = None,
    values: Annotated[str | None, typer.Option(help="Some durations or noise levels; the nearest are taken.")] = None,
    noise: Annotated[str | None, typer.Option(help="Some noise levels of the constraint experiment.")] = None,
    trials: Annotated[str, typer.Option(help="Trials of every cell: how many, or which, such as 11-20.")] = "50",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; every core by default.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Dask scheduler (tcp://host:8786) whose workers run the cases.")
    ] = None,
    store: Annotated[Path, typer.Option(help="Results; a later call goes on there.")] = Path("paper_results.csv"),
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("paper_figures"),
    rows: Annotated[
        Path | None,
        typer.Option(help="Rows of an earlier report (.csv, .csv.xz, .sqlite): the store takes them first."),
    ] = None,
    published: Annotated[
        Path | None, typer.Option(help="report: published trial files to compare with (results of sindy_mio_paper).")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run cases again that failed.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A few cells only.")] = False,
) -> None:
    r"""Run the experiments of the paper again, beside the published results.

    \b
    Examples:
      exactsindy reproduce list
      exactsindy reproduce all --quick
      exactsindy reproduce differential --systems lorenz --trials 5
      exactsindy reproduce report
    """
    from exactsindy_experiments import paper

    known = {study.name: study for study in paper.experiments_list()}
    if experiment == "list":
        typer.echo("\n".join(str(study) for study in known.values()))
        return
    if experiment not in (*known, "all", "report"):
        output.fail(f"there is no experiment {experiment!r}; expected list, report, all, {', '.join(known)}.")
    if rows is not None:
        output.note(f"{paper.take_rows(store, rows)} rows of {rows} taken into {store}.")
    if experiment == "report":
        typer.echo(str(paper.report(store, out, published)))
        return
    _run(
        list(known) if experiment == "all" else [experiment],
        str(store),
        systems=_listed(systems),
        algorithms=_listed(algorithms),
        protocols=_listed(protocols),
        values=_numbers(values, "--values"),
        fixed=_numbers(noise, "--noise"),
        trials=_trials(trials),
        workers=workers,
        scheduler=scheduler,
        quick=quick,
        retry=retry,
    )


def _run(names: list[str], store: str, **options_of_run: Any) -> None:
    """Run experiments and say what became of them."""
    from exactsindy_experiments import paper

    count = failed = 0

    def tell(state: paper.Progress) -> None:
        nonlocal failed
        output.note(str(state))
        failed += bool(state.outcome.error)

    try:
        for name in names:
            count += paper.run(name, store=store, progress=tell, **options_of_run)
    except KeyboardInterrupt:
        output.note(f"Interrupted. The rows known by now are in {store}; the same command goes on.")
        raise typer.Exit(output.INTERRUPTED) from None
    done = f"{count} rows added to {store}" if count else f"{store} has all these rows already"
    troubles = f", {failed} of them failed (--retry runs them again)" if failed else ""
    typer.echo(f"{done}{troubles}. Tables and figures: exactsindy reproduce report --store {store}")


def _trials(text: str) -> int | list[int]:
    low, dash, high = text.partition("-")
    if low.strip().isdecimal() and (high.strip().isdecimal() or not dash) and int(low) > 0:
        found = list(range(int(low), int(high) + 1)) if dash else int(low)
        if found:
            return found
    output.fail(f"--trials {text!r}: expected a number such as 50 or a range such as 11-20.")


def _listed(text: str | None) -> list[str] | None:
    found = options.names(text)
    return None if found is None else list(found)


def _numbers(text: str | None, option: str) -> list[float] | None:
    return None if text is None else options.numbers(text, option)
