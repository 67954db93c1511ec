"""Kinds of laws and of data: maps, quotients, functions, data that mislead."""

from __future__ import annotations

from typing import Annotated

import typer

from exactsindy.cli import options, output
from exactsindy_experiments.bench_options import FOLDER, Out, ReportOnly, interrupted, seeds_of, write


def maps(
    out: Out = FOLDER,
    draws: Annotated[int, typer.Option(min=1, help="Draws of the noise for each known map.")] = 20,
    noise: Annotated[str, typer.Option(help="Noise as shares of the spread.")] = "0,0.01,0.05",
    cases: Annotated[str | None, typer.Option(help="Known maps; all by default.")] = None,
    drawn: Annotated[str | None, typer.Option(help="Drawn maps instead: tuning or reporting.")] = None,
    systems: Annotated[int, typer.Option(min=1, help="Number of drawn maps.")] = 100,
    report_only: ReportOnly = False,
) -> None:
    r"""Count how often exactly the terms of discrete maps are found (20 minutes; a later call goes on).

    \b
    Examples:
      exactsindy bench maps --draws 20
      exactsindy bench maps --drawn reporting --systems 100
    """
    from exactsindy_experiments.drawn_maps import HALVES
    from exactsindy_experiments.map_benchmark import drawn_report, known_report, run_drawn, run_known
    from exactsindy_experiments.map_cases import CASES

    if drawn is not None and drawn not in HALVES:
        output.fail(f"--drawn {drawn!r}: expected one of {', '.join(HALVES)}.")
    chosen = tuple(CASES) if cases is None else options.names(cases) or ()
    unknown = [name for name in chosen if name not in CASES]
    if unknown:
        output.fail(f"--cases {unknown[0]!r}: expected some of {', '.join(CASES)}.")
    if not report_only and drawn is None:
        run_known(out, options.numbers(noise, "--noise"), draws, chosen, output.note)
    elif not report_only and drawn is not None:
        run_drawn(out, drawn, systems, output.note)
    typer.echo(known_report(out) if drawn is None else drawn_report(out, drawn))


def misleading(
    half: Annotated[str, typer.Option(help="tuning (even seeds) or reporting (odd seeds).")] = "reporting",
    systems: Annotated[int, typer.Option(min=1, help="Random systems, and draws of each kind.")] = 30,
    show: Annotated[bool, typer.Option("--show", help="Print every false alarm.")] = False,
) -> None:
    r"""Count how often misleading data are recognised, and how often ordinary data are accused (some minutes).

    \b
    Example:
      exactsindy bench misleading --half tuning --systems 20
    """
    from exactsindy_experiments.misleading_benchmark import detections, false_alarms, tables

    if half not in ("tuning", "reporting"):
        output.fail(f"--half {half!r}: expected tuning or reporting.")
    seeds = range(0 if half == "tuning" else 1, 2 * systems, 2)
    alarms = list(false_alarms(seeds))
    for name, noise, notices in alarms if show else ():
        for notice in notices:
            typer.echo(f"{name}, noise {100 * noise:g} %: {notice.message}")
    typer.echo(tables(alarms, detections(seeds)))


def strogatz(
    draws: Annotated[int, typer.Option(min=1, help="Draws of starts and noise, at most 10.")] = 10,
    seconds: Annotated[float, typer.Option(min=1, help="Time limit of one equation.")] = 60.0,
    out: Out = FOLDER,
    report_only: ReportOnly = False,
) -> None:
    """Measure the default on the 14 ODE-Strogatz problems of SRBench (an hour or more); every run is logged."""
    from exactsindy_experiments.pages import machine, write_page
    from exactsindy_experiments.strogatz_benchmark import DRAWS, measure, page

    log, where = out / "strogatz.jsonl", out / "strogatz.md"
    try:
        rows = measure(log, 0 if report_only else min(draws, DRAWS), seconds, output.note)
    except KeyboardInterrupt:
        interrupted(out)
    write_page(where, page(rows, machine(where if report_only else None)))
    typer.echo(str(where))


def rational(
    out: Out = FOLDER,
    part: Annotated[
        list[str] | None, typer.Option(help="Only these parts: labels, trajectories, curves, glycolysis.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="First seed of constants, starts and noise.")] = 100,
    draws: Annotated[int, typer.Option(min=1, help="Draws of each law and noise.")] = 2,
    report_only: ReportOnly = False,
) -> None:
    """Measure how often rational laws come out right (half an hour)."""
    from exactsindy_experiments.pages import machine
    from exactsindy_experiments.rational_benchmark import NOISES, page, run

    for name in part or []:
        if name not in NOISES:
            output.fail(f"--part {name!r}: expected one of {', '.join(NOISES)}.")
    rows = run(out, part or list(NOISES), [] if report_only else range(seed, seed + draws), output.note)
    write(out / "rational.md", page(rows, machine(out / "rational.md" if report_only else None)))


def families(
    seeds: Annotated[str, typer.Option(help="Seeds of drawn laws; those of the other half are left out.")] = "126-167",
    half: Annotated[str, typer.Option(help="tuning (even seeds) or reporting (odd seeds).")] = "reporting",
    noise: Annotated[str, typer.Option(help="Noise as shares of the spread of every state.")] = "0,0.01,0.05",
    seconds: Annotated[float, typer.Option(min=1, help="Time limit of one call.")] = 300.0,
    out: Out = FOLDER,
    report_only: ReportOnly = False,
) -> None:
    """Measure how often laws outside polynomials come out right by default (15 minutes); every run is logged."""
    from exactsindy_experiments.families_benchmark import measure, page
    from exactsindy_experiments.pages import machine

    if half not in ("tuning", "reporting"):
        output.fail(f"--half {half!r}: expected tuning or reporting.")
    log, where = out / "families.jsonl", out / "families.md"
    wanted = [] if report_only else [seed for seed in seeds_of(seeds) if seed % 2 == (half == "reporting")]
    try:
        rows = measure(log, wanted, options.numbers(noise, "--noise"), seconds, output.note)
    except KeyboardInterrupt:
        interrupted(out)
    write(where, page(rows, machine(where if report_only else None)))


def default_cost(
    seeds: Annotated[str, typer.Option(help="Seeds of drawn polynomial systems.")] = "1,3,5,7,9",
    noise: Annotated[str, typer.Option(help="Noise as shares of the spread of every state.")] = "0,0.01,0.05",
) -> None:
    """Print what the default library costs where polynomials suffice, in CPU seconds of the same run (a minute)."""
    from exactsindy_experiments.default_cost import page

    typer.echo(page(seeds_of(seeds), options.numbers(noise, "--noise"), output.note))
