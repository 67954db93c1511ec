"""discover: from a file to equations."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from exactsindy.cli import options, output, standard_input
from exactsindy.cli.library_option import HELP, candidates
from exactsindy.cli.many_files import cluster, in_pieces
from exactsindy.cli.progress import progress
from exactsindy.cli.words import notices_in_options

# The names in `selection.RULES`, which a test compares: importing them here would slow down every command.
RULES = ("auto", "growth", "bic", "ebic", "cross-validation", "stability")


def discover(
    data: Annotated[
        Path,
        typer.Argument(
            help="The file: CSV, xlsx, Parquet, npz, mat, NetCDF, ...; - is standard input.", show_default=False
        ),
    ],
    time: Annotated[str | None, typer.Option(help="Time column, or the step between samples.")] = None,
    states: Annotated[str | None, typer.Option(help="Columns that are states: x,y,z; all others by default.")] = None,
    controls: Annotated[str | None, typer.Option(help="Columns that are inputs u(t).")] = None,
    parameters: Annotated[str | None, typer.Option(help="Columns that are constant within each trajectory.")] = None,
    targets: Annotated[str | None, typer.Option(help="Equations wanted: x',y' or x''; chosen by default.")] = None,
    second_order: Annotated[
        bool, typer.Option("--second-order", help="Equations for x'' of every state; x' is then a variable, too.")
    ] = False,
    trajectory: Annotated[str | None, typer.Option(help="Column that tells trajectories apart.")] = None,
    split_gaps: Annotated[bool, typer.Option("--split-gaps", help="Cut at missing values and long breaks.")] = False,
    dims: Annotated[
        str | None,
        typer.Option(help="Fields in an npz file or in a table with one row per point: names of the axes, x,t."),
    ] = None,
    periodic: Annotated[str | None, typer.Option(help="Fields: periodic axes.")] = None,
    decimal: Annotated[str | None, typer.Option(help="Decimal mark of a text file; told from it by default.")] = None,
    degree: Annotated[
        int | None,
        typer.Option(min=1, help="Monomials up to this degree; 3 by default, less for many states or few rows."),
    ] = None,
    library: Annotated[str | None, typer.Option(help=HELP)] = None,
    order: Annotated[int, typer.Option(min=1, help="Fields: derivatives up to this order.")] = 4,
    weak: Annotated[
        bool | None, typer.Option("--weak/--strong", help="This form, instead of choosing automatically.")
    ] = None,
    steps: Annotated[
        bool, typer.Option("--map", help="Discrete time: equations of the next sample; needs no time column.")
    ] = False,
    lags: Annotated[int, typer.Option(min=0, help=r"With --map: earlier samples that are variables, x\[k-1], ...")] = 0,
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
    scheduler: Annotated[
        str | None, typer.Option(help="Dask scheduler (tcp://host:8786) whose workers read data in pieces.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    r"""Find the equations behind measured data, and prove that no other combination of as many terms fits better.

    \b
    Examples:
      exactsindy discover lorenz.csv
      exactsindy discover lynx_hare.csv --time year --degree 2 --report lynx_hare.html
      exactsindy discover pendulum.csv --time t --states angle --targets "angle''" --json
      exactsindy discover counts.csv --map --lags 1
      exactsindy discover "runs/*.parquet" --time t --trajectory run --scheduler tcp://scheduler:8786
    """
    from exactsindy.data import load
    from exactsindy.discovery import discover as find
    from exactsindy.solver import Settings, Total

    output.check_folders(report, save, run=run)
    output.check_folders(run=proof)
    columns: dict[str, Any] = {
        "time": options.step_or_name(time),
        "states": options.names(states),
        "controls": options.names(controls),
        "parameters": options.names(parameters),
        "trajectory": trajectory,
        "gaps": "split" if split_gaps else "refuse",
        "dims": options.names(dims),
        "periodic": options.names(periodic) or (),
        "steps": steps,
    }
    measured: Any = in_pieces(data, {**columns, "targets": options.names(targets)})
    if measured is not None:
        targets, digest = None, ""  # (they belong to the pieces)
    else:
        with standard_input.readable(data) as source:
            measured = load(source, decimal=decimal, **columns)
            digest = hashlib.sha256(source.read_bytes()).hexdigest() if run is not None else ""
    with cluster(scheduler), progress(f"Searching {data.name}", seconds, quiet=quiet) as tick:
        found = find(
            measured,
            targets=_targets(measured, targets, second_order, steps),
            library=candidates(getattr(measured, "head", measured), library, degree, order),
            form=form(weak, steps, lags),
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
    shown = replace(found, warnings=notices_in_options(found.warnings))
    output.show(shown.to_dict() if json else None, json, lambda: str(shown))
    if run is not None:
        about = {"command": sys.argv[1:], "file": data.name, "file_sha256": digest}
        found.save(run, about={**about, "constraints": constraint or []})
    if save is not None:
        found.model.save(save)
    if report is not None:
        shown.report(report, title=f"Governing equations of {data.name}")
    missing = any(notice.kind == "proof" for notice in found.warnings)  # (says why)
    file = None if proof is None or missing else proof / "solution.proof"
    for path, what in ((report, "Report"), (save, "Model"), (run, "Run folder"), (file, "Proof")):
        if path is not None:
            output.note(f"{what}: {path}")
    output.finish(output.INTERRUPTED if interrupted else output.ending(found.solution.status))


def _targets(data: Any, targets: str | None, second_order: bool, steps: bool) -> tuple[str, ...] | None:
    """Return the equations wanted, ``None`` for the default."""
    from exactsindy.data import Field, Target

    if not second_order:
        return options.names(targets)
    if steps:
        output.fail("--map and --second-order: a map has no derivatives; leave one of them out.")
    data = getattr(data, "head", data)
    if targets is not None:
        output.fail(f"--targets {targets} --second-order: two orders; give one of them.")
    return tuple(Target(name, 2, isinstance(data, Field)).name for name in data.state_names)


def form(weak: bool | None, steps: bool, lags: int) -> Any:
    """Return the form asked for."""
    if not steps:
        if lags:
            output.fail(f"--lags {lags}: earlier samples are variables of maps only; add --map.")
        return "auto" if weak is None else "weak" if weak else "strong"
    if weak is not None:
        output.fail("--map and --weak or --strong: a map has no derivatives; leave one of them out.")
    from exactsindy.forms import MapForm

    return MapForm(lags)
