"""The solver: its peers, hard regressions, constraints, hostile problems, overheads."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Annotated

import typer

from exactsindy.cli import options, output
from exactsindy_experiments.bench_options import FOLDER, Out, ReportOnly, interrupted, write


def solver(
    preset: Annotated[str, typer.Option(help="Which cases: quick (two minutes), standard, full (hours).")] = "quick",
    quick: Annotated[bool, typer.Option("--quick", help="The preset quick.")] = False,
    out: Out = FOLDER,
    seconds: Annotated[float | None, typer.Option(min=0.1, help="Time limit of one solve.")] = None,
    peers_python: Annotated[
        Path | None, typer.Option(help="Python of OKRidge and l0bnb; that of install-peers by default.")
    ] = None,
    report_only: ReportOnly = False,
) -> None:
    r"""Measure the solver against Gurobi, SCIP, OKRidge, l0bnb and enumeration.

    \b
    Example:
      exactsindy bench solver --preset quick --out benchmark
    """
    from exactsindy_experiments.pages import machine, write_page
    from exactsindy_experiments.peers import PEERS_PYTHON
    from exactsindy_experiments.solver_plot import plot
    from exactsindy_experiments.solver_presets import PRESETS
    from exactsindy_experiments.solver_report import report
    from exactsindy_experiments.solver_run import path_table, run, run_paths, solver_table

    preset = "quick" if quick else preset
    if preset not in PRESETS:
        output.fail(f"--preset {preset!r}: expected one of {', '.join(sorted(PRESETS))}.")
    chosen = PRESETS[preset]()
    chosen = chosen if seconds is None else chosen.with_seconds(seconds)
    try:
        if not report_only:
            run(chosen, out, foreign_python=peers_python or PEERS_PYTHON, say=output.note)
            run_paths(chosen, out, say=output.note)
    except KeyboardInterrupt:
        interrupted(out)
    rows, paths = list(solver_table(out)), list(path_table(out))
    where = machine(out / "solver.md" if report_only else None)
    write_page(out / "solver.md", report(rows, paths, where))
    plot(rows, out / "solver.png")
    typer.echo(str(out / "solver.md"))


def constraints(
    out: Out = FOLDER,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit of Gurobi per problem.")] = 60.0,
) -> None:
    """Measure constrained solves against Gurobi, and what constraints cost (some minutes)."""
    from exactsindy_experiments.constraint_benchmark import measure, measure_pair, page
    from exactsindy_experiments.constraint_cases import duffing_cases, joint_cases, pairs
    from exactsindy_experiments.pages import machine
    from exactsindy_experiments.two_threads import comparing

    rows = []
    for case in itertools.chain(duffing_cases(), joint_cases()):
        row = measure(case, seconds=seconds)
        output.note(f"{row.name}: {1e3 * row.native:.3f} ms against {1e3 * row.peer:.1f} ms, same {row.same}")
        rows.append(row)
    with comparing() as compare:
        paired = [measure_pair(pair, compare) for pair in pairs()]
    write(out / "constraints.md", page(rows, paired, machine()))


def cliffs(
    out: Out = FOLDER,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit of one solve.")] = 20.0,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only these kinds: dependent, 'few rows', noise, large.")
    ] = None,
) -> None:
    """Measure hard regressions: dependent columns, few rows, heavy noise, many candidates (eight minutes)."""
    from exactsindy_experiments.cliff_benchmark import cases, measure, page
    from exactsindy_experiments.cliff_cases import CLIFFS
    from exactsindy_experiments.pages import machine
    from exactsindy_experiments.two_threads import comparing

    for name in kind or []:
        if name not in CLIFFS:
            output.fail(f"--kind {name!r}: expected one of {', '.join(CLIFFS)}.")
    rows = []
    with comparing() as compare:
        for group, case in cases(kind or []):
            row = measure(group, case, seconds, compare)
            output.note(f"{case.name}, k = {case.k}: {row.cpu:.2f} s, {row.nodes} nodes, gap {row.gap:.2g}")
            rows.append(row)
    write(out / "cliffs.md", page(rows, seconds, machine()))


def miosr(
    out: Out = FOLDER,
    seconds: Annotated[float, typer.Option(min=0.1, help="regression_timeout of both (PySINDy's default: 10).")] = 10.0,
) -> None:
    """Measure PySINDy's MIOSR (Gurobi) against ours inside PySINDy (minutes)."""
    from exactsindy_experiments.optimizer_benchmark import miosr_page

    write(out / "miosr.md", miosr_page(seconds, output.note))


def torture(
    instances: Annotated[int, typer.Option(min=1, help="How many problems, shared by all families.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed makes other problems.")] = 0,
    family: Annotated[list[str] | None, typer.Option(help="Only this family; may be given several times.")] = None,
    only: Annotated[int | None, typer.Option(min=0, help="Only this instance of one family.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; all cores by default.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "--output", help="Folder for the page torture.md.")] = None,
) -> None:
    r"""Check thousands of hostile problems against the exact value of every support; exit code 1 if one is wrong.

    \b
    Examples:
      exactsindy bench torture --instances 200000 --out docs/benchmarks
      exactsindy bench torture --family chain --seed 0 --only 17
    """
    from exactsindy_experiments import torture_run
    from exactsindy_experiments.pages import machine
    from exactsindy_experiments.torture_families import FAMILIES
    from exactsindy_experiments.torture_instances import Task

    for name in family or ():
        if name not in FAMILIES:
            output.fail(f"--family {name!r}: expected some of {', '.join(FAMILIES)}.")
    if only is not None:
        if family is None or len(family) != 1:
            output.fail("--only names one instance of a family: give one --family with it.")
        verdict = torture_run.attempt(Task(family[0], seed, only))
        typer.echo(f"{verdict.kind}: {verdict.text}" if verdict.text else verdict.kind)
        raise typer.Exit(verdict.kind == "wrong")
    campaign = torture_run.run(instances, seed, family, workers or os.cpu_count() or 1, output.note)
    typer.echo(torture_run.report(campaign))
    if out is not None:
        write(out / "torture.md", torture_run.page(campaign, machine()))
    raise typer.Exit(not campaign.passed)


def overhead() -> None:
    """Print what a warm call of solve adds to the native search, for one and three equations of 56 terms."""
    from exactsindy_experiments.overhead_benchmark import page

    typer.echo(page(output.note))


def speed(
    samples: Annotated[str, typer.Option(help="Lengths of the Lorenz record.")] = "1e3,1e4,1e5,1e6",
    limits: Annotated[bool, typer.Option(help="Whether time limits are kept.")] = True,
    interrupts: Annotated[bool, typer.Option(help="How soon Ctrl-C ends a call.")] = True,
    systems: Annotated[
        str, typer.Option(help="Systems for trial models on stretches.")
    ] = "lorenz,van_der_pol,roessler",
    out: Out = FOLDER,
) -> None:
    """Measure the time and memory of discover, whether limits hold, and how soon Ctrl-C ends it (some minutes)."""
    from exactsindy_experiments.pages import machine
    from exactsindy_experiments.speed_benchmark import page

    sizes = [round(n) for n in options.numbers(samples, "--samples")]
    names = [name for name in systems.split(",") if name]
    write(out / "speed.md", page(sizes, limits, interrupts, names, output.note, machine()))


def setup(
    sizes: Annotated[str, typer.Option(help="Numbers of terms.")] = "462,1000,3000",
) -> None:
    """Print how long the preparation of a search takes, beside LAPACK's QR and triangular inverse (half a minute)."""
    from exactsindy_experiments.setup_benchmark import page

    typer.echo(page([round(n) for n in options.numbers(sizes, "--sizes")], output.note))


def profile(
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to search.")] = 10.0,
) -> None:
    """Print where the time of a search goes (needs Linux perf)."""
    from exactsindy_experiments.profile_search import profile as run

    typer.echo(run(seconds))


def baseline(
    file: Annotated[Path, typer.Argument(help="The stored answers, such as docs/benchmarks/baseline.npz.")],
    store: Annotated[bool, typer.Option("--store", help="Solve with this version and write the file.")] = False,
    skip: Annotated[str | None, typer.Option(help="Leave out systems with this in their name: mhd is slow.")] = None,
) -> None:
    r"""Compare what this version answers with what an earlier one stored: 320 problems, all catalogued systems.

    \b
    Example:
      exactsindy bench baseline docs/benchmarks/baseline.npz --skip mhd
    """
    from exactsindy_experiments import baseline as answers

    if store:
        answers.store(file, output.note)
        return
    if not file.is_file():
        output.fail(f"{str(file)!r}: there is no such file; --store makes one.")
    found = answers.compare(file, output.note, skip=skip)
    typer.echo("\n".join(found) or "Nothing differs.")
    raise typer.Exit(bool(found))
