"""discover: from a file to equations."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from exactsindy.cli import options, output
from exactsindy.cli.progress import progress

# The names in `selection.RULES`, which a test compares: importing them here would slow down every command.
RULES = ("auto", "growth", "bic", "ebic", "cross-validation", "stability")


def discover(
    data: Annotated[Path, typer.Argument(help="CSV, Parquet, NetCDF or npz file.", show_default=False)],
    time: Annotated[str | None, typer.Option(help="Time column, or the step between samples.")] = None,
    states: Annotated[str | None, typer.Option(help="Columns that are states: x,y,z; all others by default.")] = None,
    controls: Annotated[str | None, typer.Option(help="Columns that are inputs u(t).")] = None,
    targets: Annotated[str | None, typer.Option(help="Equations wanted: x',y' or x''; x' of every state.")] = None,
    trajectory: Annotated[str | None, typer.Option(help="Column that tells trajectories apart.")] = None,
    split_gaps: Annotated[bool, typer.Option("--split-gaps", help="Cut at missing values and long breaks.")] = False,
    dims: Annotated[str | None, typer.Option(help="Fields in an npz file: names of the axes, x,t.")] = None,
    periodic: Annotated[str | None, typer.Option(help="Fields: periodic axes.")] = None,
    decimal: Annotated[str, typer.Option(help="Decimal mark of a CSV file.")] = ".",
    degree: Annotated[int | None, typer.Option(min=1, help="Monomials up to this degree; 3 by default.")] = None,
    order: Annotated[int, typer.Option(min=1, help="Fields: derivatives up to this order.")] = 4,
    weak: Annotated[
        bool | None, typer.Option("--weak/--strong", help="This form, instead of choosing automatically.")
    ] = None,
    k_max: Annotated[int | None, typer.Option(min=1, help="Most terms of an equation; 8 by default.")] = None,
    total: Annotated[int | None, typer.Option(min=1, help="Most terms of all equations together.")] = None,
    rule: Annotated[
        str, typer.Option("--rule", "--select", help=f"Rule that picks the number of terms: {', '.join(RULES)}.")
    ] = "auto",
    constraint: options.Constraints = None,
    ridge: options.Ridge = 0.0,
    seconds: options.Seconds = 60.0,
    threads: options.Threads = None,
    report: Annotated[Path | None, typer.Option(help="Write the report, one HTML file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the model, a JSON file.")] = None,
    run: Annotated[Path | None, typer.Option(help="Write a run folder, to verify and redo it.")] = None,
    proof: Annotated[
        Path | None, typer.Option(help="Write a proof into a folder: solution.proof and problem.npz.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    r"""Find the equations behind measured data, and prove that no other combination of terms fits better.

    \b
    Examples:
      exactsindy discover lorenz.csv
      exactsindy discover lynx_hare.csv --time year --degree 2 --report lynx_hare.html
      exactsindy discover pendulum.csv --time t --states angle --targets "angle''" --json
    """
    from exactsindy.data import load
    from exactsindy.discovery import discover as find
    from exactsindy.solver import Settings, Total

    output.check_folders(report, save, run=run)
    output.check_folders(run=proof)
    measured = load(
        data,
        time=options.step_or_name(time),
        states=options.names(states),
        controls=options.names(controls),
        targets=options.names(targets),
        trajectory=trajectory,
        gaps="split" if split_gaps else "refuse",
        dims=options.names(dims),
        periodic=options.names(periodic) or (),
        decimal=decimal,
    )
    with progress(f"Searching {data.name}", seconds, quiet=quiet) as tick:
        found = find(
            measured,
            library=library(measured, degree, order),
            form="auto" if weak is None else "weak" if weak else "strong",
            k_max=k_max if total is None else Total(total),
            rule=rule,
            constraints=options.constraints(constraint),
            ridge=ridge,
            seconds=seconds,
            threads=threads,
            settings=Settings(progress=tick),
            proof=proof,
        )
    interrupted = any(notice.kind == "interrupted" for notice in found.warnings)  # (says in which phase)
    output.show(found.to_dict(), json, lambda: str(found))
    if run is not None:
        digest = hashlib.sha256(data.read_bytes()).hexdigest()
        about = {"command": sys.argv[1:], "file": data.name, "file_sha256": digest}
        found.save(run, about={**about, "constraints": constraint or []})
    if save is not None:
        found.model.save(save)
    if report is not None:
        found.report(report, title=f"Governing equations of {data.name}")
    missing = any(notice.kind == "proof" for notice in found.warnings)  # (says why)
    file = None if proof is None or missing else proof / "solution.proof"
    for path, what in ((report, "Report"), (save, "Model"), (run, "Run folder"), (file, "Proof")):
        if path is not None:
            output.note(f"{what}: {path}")
    output.finish(output.INTERRUPTED if interrupted else output.ending(found.solution.status))


def library(data: Any, degree: int | None, order: int) -> Any:
    """Return the library asked for, ``None`` for the default."""
    from exactsindy.data import Field
    from exactsindy.library import Derivatives, Polynomials

    if degree is None:
        return None
    if isinstance(data, Field):
        return Polynomials(degree, bias=False) + Polynomials(degree) * Derivatives(order)
    return Polynomials(degree)
