"""verify, check, report, simulate, export: what to do with a run folder, a proof file or a saved model."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exactsindy.cli import options, output
from exactsindy.cli.proof_option import problem_file

if TYPE_CHECKING:
    from exactsindy.model import Model

Folder = Annotated[Path, typer.Argument(help="Run folder, made by `discover --run`.", show_default=False)]
File = Annotated[Path, typer.Argument(help="Model, made by `discover --save`, or a run folder.", show_default=False)]
_FORMATS: dict[str, Callable[[Model, int], str]] = {
    "text": lambda model, digits: "\n".join(model.equations(digits)),
    "latex": lambda model, digits: model.to_latex(digits),
    "sympy": lambda model, digits: "\n".join(map(str, model.to_sympy())),
    "python": lambda model, digits: model.to_python().rstrip("\n"),
    "mathml": lambda model, digits: model.to_mathml(),
}


def verify(run: Folder, json: options.Json = False) -> None:
    r"""Check the claims of a run without the solver's search; exit code 4 if one does not hold.

    Solution, path and rivals are recomputed from the regression; model.json and run.json must agree with the solution.
    Exit code 5 if something claimed to be proved could not be checked, e.g. because there are too many supports.

    \b
    Example:
      exactsindy verify run
    """
    from exactsindy.discovery import verify_run

    result = verify_run(run)
    record = {
        "ok": result.ok,
        "optimality": result.solution.optimality,
        "same_problem": result.solution.same_problem,
        "failures": list(result.failures),
        "unchecked": list(result.unchecked),
        "never_checked": list(result.never_checked),
    }
    output.show(record, json, lambda: str(result))
    output.finish(output.REFUTED if not result.ok else output.NOT_CHECKED if result.unchecked else output.OK)


def check(
    proof: Annotated[Path, typer.Argument(help="Proof file.", show_default=False)],
    problem: Annotated[Path | None, typer.Option(help="The saved problem, if it is not beside the proof.")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    r"""Check a proof file with the independent checker (exactsindy-check); exit code 4 if a claim is false.

    The problem is looked for beside lorenz.proof as lorenz.problem.npz and as problem.npz. Exit code 5 if it cannot be
    checked (a file of another version), 1 if it cannot be read.

    \b
    Example:
      exactsindy check lorenz.proof --problem lorenz.npz
    """
    from exactsindy._atomic import current
    from exactsindy._optional import optional
    from exactsindy.certificate import check_proof

    lines = None if quiet else optional("exactsindy_check", "check", "check").progress_lines()
    if not current(proof.parent, proof.name).is_file():
        output.fail(f"{str(proof)!r}: there is no such file.")
    file = problem if problem is not None else problem_file(proof)
    if problem is None and not file.is_file():
        file = current(proof.parent, "problem.npz")
    if problem is None and not file.is_file():
        both = f"{problem_file(proof).name} or problem.npz"
        output.fail(f"{str(proof)!r}: there is no {both} beside it; name the saved problem with --problem.")
    if not file.is_file():
        output.fail(f"--problem {str(file)!r}: there is no such file.")
    result = check_proof(file, current(proof.parent, proof.name), progress=lines)
    if result.outcome == "unreadable":
        output.fail(result.sentences[0])
    sections = [
        {
            "target": section.target,
            "k": section.k,
            "exactly": section.exactly,
            "scope": section.scope,
            "terms": list(section.terms),
            "objective": section.proved.objective,
            "runner_up": section.proved.runner_up,
            "survivors": section.proved.survivors,
            "leaves": section.leaves,
        }
        for section in result.sections
        if section.ok
    ]
    record = {
        "outcome": result.outcome,
        "sentences": list(result.sentences),
        "proved": sections,
        "nothing_claimed": list(result.silent),
    }
    output.show(record, json, lambda: str(result))
    output.finish({"proved": output.OK, "false": output.REFUTED}.get(result.outcome, output.NOT_CHECKED))


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


def simulate(
    model: File,
    start: Annotated[str, typer.Option(help="Initial states: 1.0,2.0 or x=1.0,y=2.0.")],
    until: Annotated[float, typer.Option(help="Last time; of a map the number of steps.")],
    parameters: Annotated[str | None, typer.Option(help="Parameters of the model: mu=0.1,nu=2.")] = None,
    step: Annotated[float | None, typer.Option(help="Time between rows; a hundredth of --until.")] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file; standard output by default.")] = None,
) -> None:
    r"""Integrate (maps: iterate) a saved model and print a CSV table.

    \b
    Example:
      exactsindy simulate model.json --start 30,4 --until 20
    """
    import numpy as np

    from exactsindy._atomic import write_atomically

    equations = _loaded(model)
    if equations.is_map and step is not None:
        output.fail(f"--step {step:g}: this is a map; --until is the number of its steps.")
    width = 1.0 if equations.is_map else until / 100 if step is None else step
    if not until > 0 or not width > 0:
        output.fail(f"--until {until:g}, --step {width:g}: expected positive numbers.")
    if not until / width < output.MOST_ROWS:
        output.fail(f"--until {until:g}, --step {width:g}: expected at most {output.MOST_ROWS:,} steps.")
    times = np.arange(0.0, until + width / 2, width)
    constants = options.values(parameters, "--parameters")
    begin = options.start(start, () if equations.is_map else equations.phase_names)
    if equations.is_map:
        run = equations.iterate(begin, len(times) - 1, parameters=constants)
    else:
        run = equations.simulate(begin, times, parameters=constants)
    text = io.StringIO()
    text.write(",".join(["k" if equations.is_map else "t", *run.names]) + "\n")
    np.savetxt(text, np.column_stack([run.t, run.x]), delimiter=",", fmt="%.10g")
    if out is None:
        typer.echo(text.getvalue(), nl=False)
    else:
        write_atomically(out, text.getvalue())
    if not run.success:
        output.fail(run.status.value)


def export(
    model: File,
    to: Annotated[str, typer.Option(help=f"One of {', '.join(_FORMATS)}.")] = "text",
    digits: Annotated[int, typer.Option(min=1, max=17, help="Significant digits of text and LaTeX.")] = 6,
) -> None:
    r"""Print a saved model as text, LaTeX, SymPy, a Python function or MathML.

    \b
    Example:
      exactsindy export model.json --to latex
    """
    if to not in _FORMATS:
        output.fail(f"--to {to!r}: expected one of {', '.join(_FORMATS)}.")
    equations = _loaded(model)
    typer.echo(_FORMATS[to](equations, digits))


def _loaded(path: Path) -> Model:
    """Return the model in a file, or that of a run folder."""
    from exactsindy._atomic import current
    from exactsindy.model import Model

    file = current(path, "model.json") if (path / "run.json").is_file() else path
    if file.is_file():
        with file.open("rb") as stream:
            if not stream.read(100).lstrip().startswith(b"{"):
                output.fail(f"{str(path)!r}: this is no saved model; `exactsindy discover --save` makes one.")
    return Model.load(file)
