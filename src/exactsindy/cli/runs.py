"""verify, report: what became of a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from exactsindy.cli import options, output

Folder = Annotated[Path, typer.Argument(help="Run folder, made by `discover --run`.", show_default=False)]


def verify(run: Folder, json: options.Json = False) -> None:
    r"""Check the claims of a run with code that shares nothing with the solver; exit code 4 if one does not hold.

    \b
    Example:
      exactsindy verify run
    """
    from exactsindy.certificate import verify as check
    from exactsindy.discover import load_run

    found = load_run(run).discovery
    result = check(found.problem, found.solution)
    output.show(_record(result), json, lambda: str(result))
    output.finish(output.OK if result.ok else output.REFUTED)


def report(
    run: Folder,
    out: Annotated[Path | None, typer.Option(help="The file; report.html in the run folder by default.")] = None,
) -> None:
    r"""Write the report of a run: one HTML file that works offline.

    \b
    Example:
      exactsindy report run --out report.html
    """
    from exactsindy.discover import load_run

    stored = load_run(run)
    file = out if out is not None else run / "report.html"
    named = stored.about.get("file")
    stored.discovery.report(file, title=f"Governing equations of {named}" if named else "Governing equations")
    typer.echo(str(file))


def _record(result: Any) -> dict[str, Any]:
    return {
        "ok": result.ok,
        "optimality": result.optimality,
        "same_problem": result.same_problem,
        "failures": list(result.failures),
    }
