"""bench: one subcommand per benchmark; each writes a page (and tables, plots) into a folder."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Annotated

import typer

from exactsindy.cli import options, output

bench = typer.Typer(
    cls=output.Commands,
    help="Benchmarks: how fast and how right this package is, beside others, as far as they are installed.",
    no_args_is_help=True,
)
Out = Annotated[Path, typer.Option("--out", "--output", help="Folder for the page; a later call goes on there.")]
ReportOnly = Annotated[bool, typer.Option("--report-only", help="Measure nothing, write page and plot again.")]
_FOLDER = Path("benchmark")


@bench.command()
def solver(
    preset: Annotated[str, typer.Option(help="Which cases: quick (two minutes), standard, full (hours).")] = "quick",
    quick: Annotated[bool, typer.Option("--quick", help="The preset quick.")] = False,
    out: Out = _FOLDER,
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
        _interrupted(out)
    rows, paths = list(solver_table(out)), list(path_table(out))
    where = machine(out / "solver.md" if report_only else None)
    write_page(out / "solver.md", report(rows, paths, where))
    plot(rows, out / "solver.png")
    typer.echo(str(out / "solver.md"))


@bench.command()
def constraints(
    out: Out = _FOLDER,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit of Gurobi per problem.")] = 60.0,
) -> None:
    """Measure constrained solves against Gurobi, and what constraints cost (some minutes)."""
    from exactsindy_experiments.constraint_benchmark import measure, measure_pair, page
    from exactsindy_experiments.constraint_cases import duffing_cases, joint_cases, pairs
    from exactsindy_experiments.pages import machine

    rows = []
    for case in itertools.chain(duffing_cases(), joint_cases()):
        row = measure(case, seconds=seconds)
        output.note(f"{row.name}: {1e3 * row.native:.3f} ms against {1e3 * row.peer:.1f} ms, same {row.same}")
        rows.append(row)
    _write(out / "constraints.md", page(rows, [measure_pair(pair) for pair in pairs()], machine()))


@bench.command()
def cliffs(
    out: Out = _FOLDER,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit of one solve.")] = 20.0,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only these kinds: dependent, 'few rows', noise, large.")
    ] = None,
) -> None:
    """Measure hard regressions: dependent columns, few rows, heavy noise, many candidates (five minutes)."""
    from exactsindy_experiments.cliff_benchmark import cases, measure, page
    from exactsindy_experiments.cliff_cases import CLIFFS
    from exactsindy_experiments.pages import machine

    for name in kind or []:
        if name not in CLIFFS:
            output.fail(f"--kind {name!r}: expected one of {', '.join(CLIFFS)}.")
    rows = []
    for group, case in cases(kind or []):
        row = measure(group, case, seconds)
        output.note(f"{case.name}, k = {case.k}: {row.cpu:.2f} s, {row.nodes} nodes, gap {row.gap:.2g}")
        rows.append(row)
    _write(out / "cliffs.md", page(rows, seconds, machine()))


@bench.command()
def second_order(
    out: Out = _FOLDER,
    draws: Annotated[int, typer.Option(min=1, help="Starts and noises of each law.")] = 20,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit of one call.")] = 60.0,
    report_only: ReportOnly = False,
) -> None:
    """Count how often equations for x'' are right where only the position was measured (ten minutes)."""
    from exactsindy_experiments.second_order_benchmark import campaign, page, rows_of

    for row in () if report_only else campaign(out, draws, seconds):
        said = "right" if row.right else f"wrong: {row.equations}"
        output.note(f"{row.law} ({row.asked}), noise {100 * row.noise:g} %, draw {row.draw}: {said}")
    _write(out / "second_order.md", page(list(rows_of(out))))


@bench.command()
def parameters(
    out: Out = _FOLDER,
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
    _write(out / "parameters.md", page(rows, exactness(instances, 0), machine()))


@bench.command()
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
    from exactsindy_experiments.proof_campaign import large_proofs, random_proofs

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
        plain, written = sum(r.plain for r in found), sum(r.written for r in found)
        typer.echo("Seconds are those of the CPU, of all threads and processes.")
        typer.echo(f"All solves together took {written / plain:.2f} times as long with their proofs.")
    bad = (set(said) | set(under)) - {"proved", "not checked", "no proof", "refused"}
    raise typer.Exit(bool(bad or any(row[-1] != "proved" for row in rows)))


@bench.command()
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
    out: Out = _FOLDER,
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
        _interrupted(out)
    rows = list(selection_table(out))
    where = machine(out / "selection.md" if report_only else None)
    write_page(out / "selection.md", selection_report(rows, where))
    plot_reliability(rows, out / "selection_reliability.png")
    typer.echo(str(out / "selection.md"))


@bench.command()
def first_contact(
    part: Annotated[str, typer.Option(help="clean, coarse, heavy, outside, random, or all.")] = "all",
    half: Annotated[str, typer.Option(help="tuning (even seeds) or reporting (odd seeds).")] = "tuning",
    seeds: Annotated[
        str | None, typer.Option(help="Seeds of the systems, such as 300-500 or 1,5,9; those of the half count.")
    ] = None,
    systems: Annotated[int, typer.Option(min=1, help="At most so many seeds; the catalogue is added.")] = 200,
    label: Annotated[str, typer.Option(help="Name of the rows: now, or before for an older version.")] = "now",
    processes: Annotated[int, typer.Option(min=1, help="Worker processes of one thread each.")] = 1,
    out: Out = _FOLDER,
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
    chosen = contact_seeds(half, systems, None if seeds is None else _seeds(seeds))
    if not chosen:
        output.fail(f"--seeds {seeds!r}: none of them is of the {half} half (even: tuning, odd: reporting).")
    cases = [case for name, members in part_cases(chosen).items() if part in (name, "all") for case in members]
    try:
        if not report_only:
            run_contact(cases, out, label, processes=processes, say=output.note)
    except KeyboardInterrupt:
        _interrupted(out)
    known = {name: list(contact_table(out, name)) for name in dict.fromkeys(("before", "earlier", label))}
    versions = {name: rows for name, rows in known.items() if rows or name != "earlier"}
    versions = {name: rows for name, rows in versions.items() if rows}
    page = out / "first_contact.md"
    write_page(page, contact_report(versions, machine(page if report_only else None)))
    typer.echo(figures(versions))
    typer.echo(str(page))


def _seeds(text: str) -> list[int]:
    """Return seeds from ``4-9`` or ``1,5,7``, or end with a sentence."""
    try:
        spans = [[int(end) for end in part.split("-")] for part in text.split(",")]
        return [seed for span in spans for seed in range(span[0], span[-1] + 1)]
    except ValueError:
        output.fail(f"--seeds {text!r}: expected numbers and ranges separated by commas, e.g. 1,5 or 300-500.")


@bench.command()
def miosr(
    out: Out = _FOLDER,
    seconds: Annotated[float, typer.Option(min=0.1, help="regression_timeout of both (PySINDy's default: 10).")] = 10.0,
) -> None:
    """Measure PySINDy's MIOSR (Gurobi) against ours inside PySINDy (minutes)."""
    from exactsindy_experiments.optimizer_benchmark import miosr_page

    _write(out / "miosr.md", miosr_page(seconds, output.note))


@bench.command()
def pipeline(
    cases: Annotated[list[str] | None, typer.Argument(help="Some cases (strong, weak_ode, ..., import).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small data, about a minute.")] = False,
    size: Annotated[
        int | None, typer.Option(min=1, help="Instead of the size of the case (weak_pde needs 15 GB at 256).")
    ] = None,
    out: Out = _FOLDER,
) -> None:
    """Measure building the regression, simulation and import beside PySINDy and NumPy."""
    from exactsindy_experiments.pipeline_benchmark import compare, imports, page
    from exactsindy_experiments.pipeline_cases import CASES

    known = [*CASES, "import"]
    chosen = cases or known
    for name in chosen:
        if name not in known:
            output.fail(f"there is no case {name!r}; expected some of {', '.join(known)}.")
    lines, import_lines = [], []
    for name in chosen:
        if name == "import":
            import_lines = imports(5 if quick else 15, output.note)
        else:
            lines += compare(name, size or (CASES[name].quick if quick else CASES[name].full), output.note)
    _write(out / "pipeline.md", page(lines, import_lines))


@bench.command()
def reaction_diffusion(out: Out = _FOLDER) -> None:
    """Measure the paper's hardest regression, 2D reaction-diffusion in weak form, at growing noise."""
    from exactsindy_experiments.reaction_diffusion import page

    _write(out / "reaction_diffusion.md", page(output.note))


@bench.command()
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
        _write(out / "torture.md", torture_run.page(campaign, machine()))
    raise typer.Exit(not campaign.passed)


@bench.command()
def overhead() -> None:
    """Print what a warm call of solve adds to the native search, for one and three equations of 56 terms."""
    from exactsindy_experiments.overhead_benchmark import page

    typer.echo(page(output.note))


@bench.command()
def speed(
    samples: Annotated[str, typer.Option(help="Lengths of the Lorenz record.")] = "1e3,1e4,1e5,1e6",
    limits: Annotated[bool, typer.Option(help="Whether time limits are kept.")] = True,
    interrupts: Annotated[bool, typer.Option(help="How soon Ctrl-C ends a call.")] = True,
    systems: Annotated[
        str, typer.Option(help="Systems for trial models on stretches.")
    ] = "lorenz,van_der_pol,roessler",
    out: Out = _FOLDER,
) -> None:
    """Measure the time and memory of discover, whether limits hold, and how soon Ctrl-C ends it (some minutes)."""
    from exactsindy_experiments.pages import machine
    from exactsindy_experiments.speed_benchmark import page

    sizes = [round(n) for n in options.numbers(samples, "--samples")]
    names = [name for name in systems.split(",") if name]
    _write(out / "speed.md", page(sizes, limits, interrupts, names, output.note, machine()))


@bench.command()
def scale(
    longest: Annotated[float, typer.Option(min=1e5, help="Most rows; 1e9 takes about ten minutes of CPU.")] = 1e8,
    out: Out = _FOLDER,
    report_only: ReportOnly = False,
) -> None:
    """Measure time and memory of the assembly against rows, terms and workers, and extend it by a model (an hour)."""
    from exactsindy_experiments.pages import machine, write_page
    from exactsindy_experiments.scale_report import plot, read, report
    from exactsindy_experiments.scale_run import run_all

    store = out / "scale.jsonl"
    if not report_only:
        run_all(store, output.note, longest)
    elif not store.is_file():
        output.fail(f"--report-only: there is no {store}; measure first.")
    rows = read(store)
    plot(rows, out / "scale.png")
    write_page(out / "scale.md", report(rows, machine()))
    typer.echo(f"{out / 'scale.md'}")


@bench.command()
def setup(
    sizes: Annotated[str, typer.Option(help="Numbers of terms.")] = "462,1000,3000",
) -> None:
    """Print how long the preparation of a search takes, beside LAPACK's QR and triangular inverse (half a minute)."""
    from exactsindy_experiments.setup_benchmark import page

    typer.echo(page([round(n) for n in options.numbers(sizes, "--sizes")], output.note))


@bench.command()
def profile(
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to search.")] = 10.0,
) -> None:
    """Print where the time of a search goes (needs Linux perf)."""
    from exactsindy_experiments.profile_search import profile as run

    typer.echo(run(seconds))


@bench.command()
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


@bench.command()
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


@bench.command()
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


@bench.command()
def maps(
    out: Out = _FOLDER,
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


@bench.command()
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


@bench.command()
def strogatz(
    draws: Annotated[int, typer.Option(min=1, help="Draws of starts and noise, at most 10.")] = 10,
    seconds: Annotated[float, typer.Option(min=1, help="Time limit of one equation.")] = 60.0,
    out: Out = _FOLDER,
    report_only: ReportOnly = False,
) -> None:
    """Measure the default on the 14 ODE-Strogatz problems of SRBench (an hour or more); every run is logged."""
    from exactsindy_experiments.pages import machine, write_page
    from exactsindy_experiments.strogatz_benchmark import DRAWS, measure, page

    log, where = out / "strogatz.jsonl", out / "strogatz.md"
    try:
        rows = measure(log, 0 if report_only else min(draws, DRAWS), seconds, output.note)
    except KeyboardInterrupt:
        _interrupted(out)
    write_page(where, page(rows, machine(where if report_only else None)))
    typer.echo(str(where))


@bench.command()
def rational(
    out: Out = _FOLDER,
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
    _write(out / "rational.md", page(rows, machine(out / "rational.md" if report_only else None)))


@bench.command()
def families(
    seeds: Annotated[str, typer.Option(help="Seeds of drawn laws, such as 1-59; odd ones are for reporting.")] = "1-59",
    noise: Annotated[float, typer.Option(min=0, help="Noise as a share of the spread of every state.")] = 0.01,
    seconds: Annotated[float, typer.Option(min=1, help="Time limit of one call.")] = 60.0,
    out: Out = _FOLDER,
    report_only: ReportOnly = False,
) -> None:
    """Measure how often laws outside polynomials come out right by default (half an hour); every run is logged."""
    from exactsindy_experiments.families_benchmark import measure, page
    from exactsindy_experiments.pages import machine

    log, where = out / "families.jsonl", out / "families.md"
    try:
        rows = measure(log, [] if report_only else _seeds(seeds), noise, seconds, output.note)
    except KeyboardInterrupt:
        _interrupted(out)
    _write(where, page(rows, machine(where if report_only else None)))


@bench.command()
def outside(
    part: Annotated[
        list[str] | None, typer.Option(help="Only these parts: lorenz, peers, costs, fields, regression, ceiling.")
    ] = None,
    cells: Annotated[str, typer.Option(help="Cells of the Lorenz table: telling, grid (30 of them), or all.")] = "grid",
    draws: Annotated[int, typer.Option(min=1, help="Draws of each cell.")] = 50,
    systems: Annotated[str | None, typer.Option(help="Only these fields: burgers,kdv,ks,nls,rd.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, separated by semicolons.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Worker processes of one thread each.")] = 1,
    peers_python: Annotated[Path | None, typer.Option(help="Python of OKRidge, l0bnb and abess.")] = None,
    out: Out = _FOLDER,
    report_only: ReportOnly = False,
) -> None:
    r"""Run other people's benchmarks: Ensemble-SINDy's Lorenz, WSINDy's fields, and other packages on them (hours).

    \b
    Examples:
      exactsindy bench outside --part lorenz --cells telling --draws 4
      exactsindy bench outside --part fields --systems kdv,ks --draws 10 --out docs/benchmarks
    """
    from exactsindy_experiments.outside import command
    from exactsindy_experiments.pages import machine, write_page

    wanted = command.Wanted(
        parts=tuple(part or command.PARTS),
        cells=cells,
        draws=draws,
        systems=tuple(options.names(systems) or ()),
        methods=tuple(name.strip() for name in (methods or "").split(";") if name.strip()),
        processes=processes,
        peers_python=peers_python,
    )
    for text in command.faults(wanted):
        output.fail(text)
    try:
        if not report_only:
            command.run(wanted, out, output.note)
    except KeyboardInterrupt:
        _interrupted(out)
    where = out / "outside.md"
    write_page(where, command.report(out, machine(where if report_only else None)))
    typer.echo(str(where))


@bench.command()
def install_peers() -> None:
    """Install OKRidge and l0bnb, which need NumPy below 2, and abess into build/peers; else they are not compared."""
    from exactsindy_experiments.peers import install

    if install():
        output.fail("OKRidge, l0bnb and abess could not be installed; the benchmarks run without them.")


def _write(path: Path, text: str) -> None:
    from exactsindy_experiments.pages import write_page

    write_page(path, text)
    typer.echo(str(path))


def _interrupted(folder: Path) -> None:
    output.note(f"Interrupted. What was measured is in {folder}; the same command goes on.")
    raise typer.Exit(output.INTERRUPTED) from None
