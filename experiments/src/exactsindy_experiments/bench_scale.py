"""Large data, and packages to compare with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exactsindy.cli import options, output
from exactsindy_experiments.bench_options import FOLDER, Out, ReportOnly, interrupted, write


def scale(
    longest: Annotated[float, typer.Option(min=1e5, help="Most rows; 1e9 takes about ten minutes of CPU.")] = 1e8,
    out: Out = FOLDER,
    report_only: ReportOnly = False,
) -> None:
    """Measure time and memory of the assembly against rows, terms and workers, and extend it by a model (an hour)."""
    from exactsindy_experiments.pages import machine, write_page
    from exactsindy_experiments.scale_cases import known
    from exactsindy_experiments.scale_report import plot, report
    from exactsindy_experiments.scale_run import run_all

    store = out / "scale.jsonl"
    if not report_only:
        run_all(store, output.note, longest)
    elif not store.is_file():
        output.fail(f"--report-only: there is no {store}; measure first.")
    rows = known(store)
    plot(rows, out / "scale.png")
    write_page(out / "scale.md", report(rows, machine()))
    typer.echo(f"{out / 'scale.md'}")


def install_peers() -> None:
    """Install OKRidge and l0bnb, which need NumPy below 2, and abess into build/peers; else they are not compared."""
    from exactsindy_experiments.peers import install

    if install():
        output.fail("OKRidge, l0bnb and abess could not be installed; the benchmarks run without them.")


def outside(
    part: Annotated[
        list[str] | None, typer.Option(help="Only these parts: lorenz, peers, costs, fields, regression, ceiling.")
    ] = None,
    cells: Annotated[str, typer.Option(help="Cells of the Lorenz table: telling, goals, grid (30), or all.")] = "grid",
    draws: Annotated[int, typer.Option(min=1, help="Draws of each cell.")] = 50,
    systems: Annotated[str | None, typer.Option(help="Only these fields: burgers,kdv,ks,nls,rd.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, separated by semicolons.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Worker processes of one thread each.")] = 1,
    peers_python: Annotated[Path | None, typer.Option(help="Python of OKRidge, l0bnb and abess.")] = None,
    out: Out = FOLDER,
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
        interrupted(out)
    where = out / "outside.md"
    write_page(where, command.report(out, machine(where if report_only else None)))
    typer.echo(str(where))


def pipeline(
    cases: Annotated[list[str] | None, typer.Argument(help="Some cases (strong, weak_ode, ..., import).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small data, about a minute.")] = False,
    size: Annotated[
        int | None, typer.Option(min=1, help="Instead of the size of the case (weak_pde needs 15 GB at 256).")
    ] = None,
    out: Out = FOLDER,
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
    write(out / "pipeline.md", page(lines, import_lines))


def reaction_diffusion(out: Out = FOLDER) -> None:
    """Measure the paper's hardest regression, 2D reaction-diffusion in weak form, at growing noise."""
    from exactsindy_experiments.reaction_diffusion import page

    write(out / "reaction_diffusion.md", page(output.note))
