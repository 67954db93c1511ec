"""bench: the front end of the solver benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exactsindy.cli import output


def bench(
    preset: Annotated[str, typer.Option(help="Which cases: quick (two minutes), standard, ...")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder for tables, page and plot; a later call goes on there.")] = Path(
        "benchmark"
    ),
    seconds: Annotated[float | None, typer.Option(min=0.1, help="Time limit of one solve.")] = None,
) -> None:
    r"""Measure the solver against Gurobi, SCIP, OKRidge, l0bnb and enumeration, as far as they are installed.

    \b
    Example:
      exactsindy bench --preset quick --out benchmark
    """
    from exactsindy._atomic import write_atomically
    from exactsindy_experiments.presets import PRESETS
    from exactsindy_experiments.runner import path_table, run, run_paths, solver_table
    from exactsindy_experiments.solver_plot import plot
    from exactsindy_experiments.solver_report import machine, report

    if preset not in PRESETS:
        output.fail(f"--preset {preset!r}: expected one of {', '.join(sorted(PRESETS))}.")
    chosen = PRESETS[preset]()
    chosen = chosen if seconds is None else chosen.with_seconds(seconds)
    out.mkdir(parents=True, exist_ok=True)
    try:
        run(chosen, out, say=output.note)
        run_paths(chosen, out, say=output.note)
    except KeyboardInterrupt:
        output.note(f"Interrupted. What was measured is in {out}; the same command goes on.")
        raise typer.Exit(output.INTERRUPTED) from None
    rows, paths = list(solver_table(out)), list(path_table(out))
    write_atomically(out / "solver.md", report(rows, paths, machine()))
    plot(rows, out / "solver.png")
    typer.echo(str(out / "solver.md"))
