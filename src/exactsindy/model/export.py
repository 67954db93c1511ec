"""A model as sympy equations, LaTeX and a standalone Python function."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

from exactsindy import __version__
from exactsindy._optional import optional
from exactsindy.data import Target
from exactsindy.errors import ProblemError
from exactsindy.library import LATEX, Term, Variable, Variables, mathml_number, mathml_system
from exactsindy.model.codegen import Emitter, Parts
from exactsindy.model.equation import Equation, join_signed, significant, variable_name, with_error
from exactsindy.model.phase import phase_of


def to_sympy(equations: Sequence[Equation]) -> list[Any]:
    """Return one sympy ``Eq`` per equation; symbols are named as the states and as the left-hand sides."""
    sympy = optional("sympy", "sympy", "Model.to_sympy")
    return [
        sympy.Eq(
            sympy.Symbol(equation.name),
            sympy.Add(*(sympy.Float(c) * term.to_sympy() for c, term in equation.parts)),
            evaluate=False,
        )
        for equation in equations
    ]


def to_latex(equations: Sequence[Equation], digits: int | None) -> str:
    """Return the equations as an ``aligned`` environment."""
    lines = [
        f"{_left(equation.target)} &= {join_signed(_latex_part(c, t, digits) for c, t in equation.parts)}"
        for equation in equations
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _left(target: Target) -> str:
    state = Term.variable(target.state).text(LATEX)
    if target.field:
        return LATEX.leaf(target.state, ("t",) * target.order)
    dots = {1: r"\dot", 2: r"\ddot", 3: r"\dddot"}.get(target.order)
    return f"{dots}{{{state}}}" if dots else f"{state}^{{({target.order})}}"


def _latex_part(coefficient: float, term: Term, digits: int | None) -> str:
    size = significant(coefficient, digits)
    mantissa, _, exponent = size.partition("e")
    size = rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa
    if not term.factors:
        return size
    return size[:-1] + term.latex if size in ("1", "-1") else rf"{size} \, {term.latex}"


def to_mathml(equations: Sequence[Equation], *, errors: bool = False) -> str:
    """Return the equations as one ``<math>`` element, with standard errors if asked for and known."""
    return mathml_system([(equation.name, _mathml_parts(equation, errors)) for equation in equations])


def _mathml_parts(equation: Equation, errors: bool) -> list[tuple[str, bool, Term]]:
    parts = []
    for i, (coefficient, term) in enumerate(equation.parts):
        spread = equation.standard_errors if errors else None
        pair = None if spread is None else with_error(abs(coefficient), spread[i])
        number = mathml_number(coefficient)
        if pair is not None:
            value, error = (mathml_number(float(text)) if "e" in text else f"<mn>{text}</mn>" for text in pair)
            number = f"<mrow><mo>(</mo>{value}<mo>±</mo>{error}<mo>)</mo></mrow>"
        elif errors and equation.is_fixed(i):
            number = f"<mrow><mo>(</mo>{number}<mtext> fixed</mtext><mo>)</mo></mrow>"
        parts.append((number, coefficient < 0, term))
    return parts


def to_python(equations: Sequence[Equation], variables: Variables, name: str) -> str:
    """Return the right-hand side as the text of a Python function that needs NumPy only."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ProblemError(f"to_python(name={name!r}): expected a name Python allows, e.g. 'rhs'.")
    field = equations[0].target.field
    if field:
        inputs = tuple(dict.fromkeys(v for equation in equations for v in equation.variables()))
        phase_names: tuple[str, ...] = ()
        sums: tuple[Parts, ...] = tuple(equation.parts for equation in equations)
    else:
        phase = phase_of(equations, variables)
        phase_names, sums = phase.names, phase.sums
        inputs = (*phase.variables, *(Variable(c) for c in variables.controls), Variable(variables.time))
    names = _identifiers(tuple(dict.fromkeys(inputs)), {name, "state", "controls", "np"})
    emitter = Emitter(names, prefix="np.")
    arrays = [text for variable, text in names.items() if field or variable.name in phase_names]
    results = [_array_like(emitter.sum(parts), parts, arrays, names) for parts in sums]
    if emitter.functions:
        raise ProblemError(
            f"to_python: the term {next(iter(emitter.functions.values())).name!r} is a Python function of the "
            "user, which cannot be written down; use predict or simulate instead."
        )
    body = [*emitter.lines, f"return np.array([{', '.join(results)}])"]
    if field:
        header = f"def {name}({', '.join(names.values())}):"
    else:
        controls = tuple(Variable(c) for c in variables.controls)
        header = f"def {name}({names[Variable(variables.time)]}, state{', controls' if controls else ''}):"
        if controls:
            body.insert(0, f"{', '.join(names[c] for c in controls)}, = controls")
        body.insert(0, f"{', '.join(names[Variable(p)] for p in phase_names)}, = state")
    comments = [f"# {_one_line(equation.text(None))}" for equation in equations]
    renamed = ((variable_name(v), text) for v, text in names.items() if text != variable_name(v))
    comments += [f"# {_one_line(old)} is called {new} here" for old, new in renamed]
    head = [f"# Written by exactsindy {__version__}", *comments, "import numpy as np", "", "", header]
    return "\n".join([*head, *(f"    {line}" for line in body), ""])


def _array_like(text: str, parts: Parts, arrays: Sequence[str], names: dict[Variable, str]) -> str:
    """Return the text of a sum that has the shape of the states even where it does not depend on them."""
    used = {names[variable] for _, term in parts for variable in term.variables()}
    return text if used & set(arrays) or not arrays else f"{text} + 0.0*{arrays[0]}"


def _identifiers(inputs: Sequence[Variable], reserved: set[str]) -> dict[Variable, str]:
    """Return a Python name for every input: its own where Python allows it."""
    texts = [variable_name(variable) for variable in inputs]
    names: dict[Variable, str] = {}
    for i, (variable, text) in enumerate(zip(inputs, texts, strict=True)):
        # Registers are called r0, r1, ...; a state of that name must not be overwritten by one.
        clash = text in reserved or (text[0] in "rf" and text[1:].isdigit()) or text in names.values()
        if clash or not text.isascii() or not text.isidentifier() or keyword.iskeyword(text):
            text = f"input_{i}"
            while text in texts:
                text += "_"
        names[variable] = text
    return names


def _one_line(text: str) -> str:
    """Return text that cannot leave a comment."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
