"""verify, report: commands that read a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from exactsindy.cli import options, output

Folder = Annotated[Path, typer.Argument(help="Run folder, made by `discover --run`.", show_default=False)]


def verify(run: Folder, json: options.Json = False) -> None:
    r"""Check the claims of a run without the solver's search; exit code 4 if one does not hold.

    Solution, path and rivals are recomputed from the regression; model.json and run.json must agree with the solution.
    Exit code 5 if something claimed to be proved could not be checked, e.g. because there are too many supports.

    \b
    Example:
      exactsindy verify run
    """
    from exactsindy.discovery import Discovery, verify_run

    result = verify_run(Discovery.load(run))
    output.show(_record(result), json, lambda: str(result))
    output.finish(output.REFUTED if not result.ok else output.NOT_CHECKED if result.unchecked else output.OK)


def report(
    run: Folder,
    out: Annotated[Path | None, typer.Option(help="The file; report.html in the run folder by default.")] = None,
) -> None:
    r"""Write the report of a run: one HTML file that works offline.

    \b
    Example:
      exactsindy report run --out report.html
    """
    from exactsindy.discovery import Discovery

    stored = Discovery.load(run)
    file = out if out is not None else run / "report.html"
    named = stored.about.get("file")
    stored.report(file, title=f"Governing equations of {named}" if named else "Governing equations")
    typer.echo(str(file))


def _record(result: Any) -> dict[str, Any]:
    return {
        "ok": result.ok,
        "optimality": result.solution.optimality,
        "same_problem": result.solution.same_problem,
        "failures": list(result.failures),
        "unchecked": list(result.unchecked),
    }
