"""Laws from data: which are found, and how often the confidence is right."""

from __future__ import annotations

from typing import Annotated

import typer

from exactsindy.cli import options, output
from exactsindy_experiments.bench_options import FOLDER, Out, ReportOnly, interrupted, seeds_of, write


def second_order(
    out: Out = FOLDER,
    draws: Annotated[int, typer.Option(min=1, help="Starts and noises of each law.")] = 20,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit of one call.")] = 60.0,
    report_only: ReportOnly = False,
) -> None:
    """Count how often equations for x'' are right where only the position was measured (ten minutes)."""
    from exactsindy_experiments.second_order_benchmark import campaign, page, rows_of

    for row in () if report_only else campaign(out, draws, seconds):
        said = "right" if row.right else f"wrong: {row.equations}"
        output.note(f"{row.law} ({row.asked}), noise {100 * row.noise:g} %, draw {row.draw}: {said}")
    write(out / "second_order.md", page(list(rows_of(out))))


def parameters(
    out: Out = FOLDER,
    draws: Annotated[int, typer.Option(min=1, help="Draws of each law and noise level.")] = 4,
    seconds: Annotated[float, typer.Option(min=1.0, help="Time limit of one discovery.")] = 30.0,
    instances: Annotated[int, typer.Option(min=1, help="Random problems compared with enumeration.")] = 3000,
) -> None:
    """Count how often laws with parameters are right, with and without naming them (ten minutes)."""
    from exactsindy_experiments.pages import machine
    from exactsindy_experiments.parameter_benchmark import exactness, measure_all, page

    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for row in measure_all(draws, seconds, out / "parameters.csv"):
        output.note(f"{row.case}, noise {row.noise:g}, draw {row.draw}: right {row.right}, without {row.plain_right}")
        rows.append(row)
    write(out / "parameters.md", page(rows, exactness(instances, 0), machine()))


def selection(
    part: Annotated[str, typer.Option(help="random, named, fields, conditions, or all.")] = "all",
    samples: Annotated[str | None, typer.Option(help="Lengths of the random data sets, such as 400,1200.")] = None,
    systems: Annotated[int, typer.Option(min=1, help="Random systems of a half.")] = 17,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of the named systems and fields.")] = 10,
    only: Annotated[str | None, typer.Option(help="Only these systems: lorenz,hopf.")] = None,
    no_baselines: Annotated[bool, typer.Option("--no-baselines", help="Leave STLSQ and SSR out.")] = False,
    tune: Annotated[
        str | None,
        typer.Option(
            help="Fit on the tuning half: rows, trajectories, gamma (of large libraries), fields, field-trajectories, "
            "sampling (the power of samples per period), or adequacy (does the library hold the law)."
        ),
    ] = None,
    out: Out = FOLDER,
    report_only: ReportOnly = False,
) -> None:
    r"""Measure how often the default finds exactly the true terms, against tuned STLSQ and SSR (hours).

    \b
    Examples:
      exactsindy bench selection --part named --only lorenz --seeds 2
      exactsindy bench selection --report-only --out docs/benchmarks
    """
    from exactsindy_experiments.pages import machine, write_page
    from exactsindy_experiments.selection_benchmark import run_selection, selection_table
    from exactsindy_experiments.selection_cases import SAMPLES, part_cases
    from exactsindy_experiments.selection_conditions import condition_cases
    from exactsindy_experiments.selection_report import plot_reliability, selection_report
    from exactsindy_experiments.tuning import tune as fit

    numbers = options.numbers(samples, "--samples") if samples else SAMPLES
    lengths = tuple(round(n) for n in numbers)
    if tune is not None:
        typer.echo(fit(tune, lengths, systems, say=output.note))
        return
    parts = {**part_cases(lengths, systems, seeds), "conditions": condition_cases()}
    if part not in (*parts, "all"):
        output.fail(f"--part {part!r}: expected one of {', '.join(parts)}, all.")
    wanted = options.names(only)
    try:
        for name in [] if report_only else list(parts) if part == "all" else [part]:
            cases = [case for case in parts[name] if wanted is None or case.system.split(": ")[-1] in wanted]
            run_selection(cases, out, baselines=name == "random" and not no_baselines, say=output.note)
    except KeyboardInterrupt:
        interrupted(out)
    rows = list(selection_table(out))
    where = machine(out / "selection.md" if report_only else None)
    write_page(out / "selection.md", selection_report(rows, where))
    plot_reliability(rows, out / "selection_reliability.png")
    typer.echo(str(out / "selection.md"))


def first_contact(
    part: Annotated[str, typer.Option(help="clean, coarse, heavy, outside, random, or all.")] = "all",
    half: Annotated[str, typer.Option(help="tuning (even seeds) or reporting (odd seeds).")] = "tuning",
    seeds: Annotated[
        str | None, typer.Option(help="Seeds of the systems, such as 300-500 or 1,5,9; those of the half count.")
    ] = None,
    systems: Annotated[int, typer.Option(min=1, help="At most so many seeds; the catalogue is added.")] = 200,
    label: Annotated[str, typer.Option(help="Name of the rows: now, or before for an older version.")] = "now",
    processes: Annotated[int, typer.Option(min=1, help="Worker processes of one thread each.")] = 1,
    out: Out = FOLDER,
    report_only: ReportOnly = False,
) -> None:
    r"""Measure the default on what people try first: clean, coarse, very noisy data, laws outside the library.

    \b
    Examples:
      exactsindy bench first-contact --part heavy --systems 5
      exactsindy bench first-contact --half reporting --seeds 7001-7400 --processes 2 --out docs/benchmarks
    """
    from exactsindy_experiments.first_contact_cases import PARTS, contact_seeds, part_cases
    from exactsindy_experiments.first_contact_report import contact_report, figures
    from exactsindy_experiments.first_contact_rows import contact_table
    from exactsindy_experiments.first_contact_run import run_contact
    from exactsindy_experiments.pages import machine, write_page
    from exactsindy_experiments.selection_cases import HALVES

    if part not in (*PARTS, "all"):
        output.fail(f"--part {part!r}: expected one of {', '.join(PARTS)}, all.")
    if half not in HALVES:
        output.fail(f"--half {half!r}: expected one of {', '.join(HALVES)}.")
    chosen = contact_seeds(half, systems, None if seeds is None else seeds_of(seeds))
    if not chosen:
        output.fail(f"--seeds {seeds!r}: none of them is of the {half} half (even: tuning, odd: reporting).")
    cases = [case for name, members in part_cases(chosen).items() if part in (name, "all") for case in members]
    try:
        if not report_only:
            run_contact(cases, out, label, processes=processes, say=output.note)
    except KeyboardInterrupt:
        interrupted(out)
    known = {name: list(contact_table(out, name)) for name in dict.fromkeys(("before", "earlier", label))}
    versions = {name: rows for name, rows in known.items() if rows or name != "earlier"}
    versions = {name: rows for name, rows in versions.items() if rows}
    page = out / "first_contact.md"
    write_page(page, contact_report(versions, machine(page if report_only else None)))
    typer.echo(figures(versions))
    typer.echo(str(page))
