"""simulate, export: what to do with a saved model."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

import typer

from exactsindy.cli import options, output

File = Annotated[Path, typer.Argument(help="Model, made by `discover --save`.", show_default=False)]
_FORMATS = ("text", "latex", "sympy", "python", "mathml")


def simulate(
    model: File,
    start: Annotated[str, typer.Option(help="Initial states: 1.0,2.0.")],
    until: Annotated[float, typer.Option(help="Last time.")],
    step: Annotated[float | None, typer.Option(help="Time between rows; a hundredth of --until.")] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file; standard output by default.")] = None,
) -> None:
    r"""Integrate a saved model and print a CSV table.

    \b
    Example:
      exactsindy simulate model.json --start 30,4 --until 20
    """
    import numpy as np

    from exactsindy._atomic import write_atomically
    from exactsindy.model import Model

    equations = Model.load(model)
    width = until / 100 if step is None else step
    if not until > 0 or not width > 0:
        output.fail(f"--until {until:g}, --step {width:g}: expected positive numbers.")
    times = np.arange(0.0, until + width / 2, width)
    run = equations.simulate(options.numbers(start, "--start"), times)
    text = io.StringIO()
    text.write(",".join(["t", *run.names]) + "\n")
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
    digits: Annotated[int, typer.Option(min=1, help="Significant digits of text and LaTeX.")] = 6,
) -> None:
    r"""Print a saved model as text, LaTeX, SymPy, a Python function or MathML.

    \b
    Example:
      exactsindy export model.json --to latex
    """
    from exactsindy.model import Model

    if to not in _FORMATS:
        output.fail(f"--to {to!r}: expected one of {', '.join(_FORMATS)}.")
    equations = Model.load(model)
    match to:
        case "latex":
            text = equations.to_latex(digits)
        case "sympy":
            text = "\n".join(map(str, equations.to_sympy()))
        case "python":
            text = equations.to_python().rstrip("\n")
        case "mathml":
            text = equations.to_mathml()
        case _:
            text = "\n".join(equations.equations(digits))
    typer.echo(text)
