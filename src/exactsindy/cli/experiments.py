"""bench, reproduce: front ends of the benchmark and of the paper's experiments."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from exactsindy.cli import options, output


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
    from exactsindy.data.atomic import write_atomically
    from exactsindy.experiments.presets import PRESETS
    from exactsindy.experiments.runner import path_table, run, run_paths, solver_table
    from exactsindy.experiments.solver_plot import plot
    from exactsindy.experiments.solver_report import machine, report

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


def reproduce(
    experiment: Annotated[str, typer.Argument(help="list, report, all, or an experiment.")] = "list",
    systems: Annotated[str | None, typer.Option(help="Some of its systems: lorenz,hopf.")] = None,
    algorithms: Annotated[str | None, typer.Option(help="Some of its algorithms.")] = None,
    protocols: Annotated[str | None, typer.Option(help="published, ours, or both: published,ours.")] = None,
    values: Annotated[str | None, typer.Option(help="Some durations or noise levels; the nearest are taken.")] = None,
    noise: Annotated[str | None, typer.Option(help="Some noise levels of the constraint experiment.")] = None,
    trials: Annotated[str, typer.Option(help="Trials of every cell: how many, or which, such as 11-20.")] = "50",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; every core by default.")] = None,
    store: Annotated[Path, typer.Option(help="Results; a later call goes on there.")] = Path("paper_results.sqlite"),
    out: Annotated[Path, typer.Option(help="Folder of the figures.")] = Path("paper_figures"),
    rows: Annotated[
        Path | None, typer.Option(help="results.csv of an earlier report: the store takes its rows first.")
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
    paper = _paper()
    known = {study.name: study for study in paper.experiments_list()}
    if experiment == "list":
        typer.echo("\n".join(str(study) for study in known.values()))
        return
    if experiment not in (*known, "all", "report"):
        output.fail(f"there is no experiment {experiment!r}; expected list, report, all, {', '.join(known)}.")
    if rows is not None:
        with paper.Store(store) as kept:
            output.note(f"{kept.read_csv(rows)} rows of {rows} taken into {store}.")
    if experiment == "report":
        typer.echo(str(paper.report(store, out, published)))
        return
    options_of_run = {
        "systems": _listed(systems),
        "algorithms": _listed(algorithms),
        "protocols": _listed(protocols),
        "values": _numbers(values, "--values"),
        "fixed": _numbers(noise, "--noise"),
        "trials": _trials(trials),
        "workers": workers,
        "store": str(store),
        "quick": quick,
        "retry": retry,
    }
    _run(paper, list(known) if experiment == "all" else [experiment], options_of_run)


def _run(paper: Any, names: list[str], options_of_run: dict[str, Any]) -> None:
    """Run experiments and say what became of them."""
    failed: list[str] = []

    def tell(state: Any) -> None:
        output.note(str(state))
        if state.outcome.error:
            failed.append(state.outcome.error)

    store, count = options_of_run["store"], 0
    try:
        for name in names:
            count += paper.run(name, progress=tell, **options_of_run)
    except KeyboardInterrupt:
        output.note(f"Interrupted. The rows known by now are in {store}; the same command goes on.")
        raise typer.Exit(output.INTERRUPTED) from None
    done = f"{count} rows added to {store}" if count else f"{store} has all these rows already"
    troubles = f", {len(failed)} of them failed (--retry runs them again)" if failed else ""
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
    try:
        return None if text is None else [float(word) for word in text.split(",") if word.strip()]
    except ValueError:
        output.fail(f"{option} {text!r}: expected numbers with commas between them, e.g. 0.5,10.")


def _paper() -> Any:
    try:
        return importlib.import_module("exactsindy.experiments.paper")
    except ModuleNotFoundError:
        output.fail("this version of exactsindy does not hold the paper's experiments (exactsindy.experiments.paper).")
