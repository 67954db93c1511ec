"""A model as sympy equations, LaTeX and a standalone Python function."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

from exactsindy import __version__
from exactsindy._optional import optional
from exactsindy.data import Target
from exactsindy.errors import ProblemError
from exactsindy.library import (
    LATEX,
    Term,
    Variable,
    Variables,
    dotted,
    identifier,
    mathml_number,
    mathml_system,
    mathml_wrapping,
)
from exactsindy.model.codegen import Emitter, Parts
from exactsindy.model.equation import Equation, join_signed, significant, variable_name, with_error
from exactsindy.model.map_phase import map_phase
from exactsindy.model.phase import phase_of


def to_sympy(equations: Sequence[Equation]) -> list[Any]:
    """Return one sympy ``Eq`` per equation; symbols are named as the states and as the left-hand sides."""
    sympy = optional("sympy", "sympy", "Model.to_sympy")
    return [
        sympy.Eq(
            _sympy_left(sympy, equation),
            sympy.Add(*(sympy.Float(c) * term.to_sympy() for c, term in equation.written)),
            evaluate=False,
        )
        for equation in equations
    ]


def _sympy_left(sympy: Any, equation: Equation) -> Any:
    """Return a symbol named as the left-hand side; for maps functions of k, x(k + 1)."""
    target = equation.target
    if not target.step:
        return sympy.Symbol(equation.name)
    later = Variable(f"{target.state}[k+1]").to_sympy()
    return later - Variable(f"{target.state}[k]").to_sympy() if target.step == "change" else later


def to_latex(equations: Sequence[Equation], digits: int | None) -> str:
    """Return the equations as an ``aligned`` environment."""
    lines = [
        f"{_left(equation.target)} &= {join_signed(_latex_part(c, t, digits) for c, t in equation.written)}"
        for equation in equations
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _left(target: Target) -> str:
    if target.step:
        return " - ".join(LATEX.leaf(part, ()) for part in target.name.split(" - "))
    state = Term.variable(target.state).text(LATEX)
    if target.field:
        return LATEX.leaf(target.state, ("t",) * target.order)
    return dotted(state, target.order)


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


def to_wrapping_mathml(equation: Equation) -> str:
    """Return an equation with its standard errors as elements between which a line may break."""
    return mathml_wrapping(equation.name, _mathml_parts(equation, True))


def _mathml_parts(equation: Equation, errors: bool) -> list[tuple[str, bool, Term]]:
    parts = []
    for i, (coefficient, term) in enumerate(equation.written):
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
    field, steps = equations[0].target.field, bool(equations[0].target.step)
    controls = tuple(Variable(c) for c in variables.controls)
    constants = tuple(Variable(p) for p in variables.parameters)
    if field:
        inputs = tuple(dict.fromkeys(v for equation in equations for v in equation.variables()))
        phase_names: tuple[str, ...] = ()
        sums: tuple[Parts, ...] = tuple(equation.parts for equation in equations)
    elif steps:
        stepped = map_phase(equations, variables)
        phase_names, sums, controls = tuple(v.name for v in stepped.variables), stepped.sums, stepped.controls
        inputs = (*stepped.variables, *controls, *constants, Variable(variables.time))
    else:
        phase = phase_of(equations, variables)
        phase_names, sums = phase.names, phase.sums
        inputs = (*phase.variables, *controls, *constants, Variable(variables.time))
    names = _identifiers(tuple(dict.fromkeys(inputs)), {name, "state", "controls", "np"})
    emitter = Emitter(names, prefix="np.")
    arrays = [text for variable, text in names.items() if field or variable.name in phase_names]
    results = [_array_like(emitter.sum(parts), parts, arrays, names) for parts in sums]
    if emitter.functions:
        raise ProblemError(
            f"to_python: the term {next(iter(emitter.functions.values())).name!r} is a Python function of the "
            "user, which cannot be written down; use predict or simulate instead."
        )
    body = [*emitter.lines, "return np.array([", *(f"    {result}," for result in results), "])"]
    if field:
        header = f"def {name}({', '.join(names.values())}):"
    else:
        others = [*(["controls"] if controls else []), *(names[c] for c in constants)]
        header = f"def {name}({', '.join([names[Variable(variables.time)], 'state', *others])}):"
        if controls:
            body.insert(0, f"{', '.join(names[c] for c in controls)}, = controls")
        body.insert(0, f"{', '.join(names[Variable(p)] for p in phase_names)}, = state")
    comments = [f"# {_one_line(equation.text(None))}" for equation in equations]
    renamed = ((variable_name(v), text) for v, text in names.items() if text != variable_name(v))
    comments += [f"# {_one_line(old)} is called {new} here" for old, new in renamed]
    head = [f"# Written by exactsindy {__version__}", *comments, "import numpy as np", "", "", header]
    return "\n".join(
        [
            *head,
            *(f"    {line}" for line in body),
            "",
            *(_iteration(name, bool(controls), [names[c] for c in constants]) if steps else ()),
        ]
    )


def _iteration(name: str, controlled: bool, constants: Sequence[str]) -> list[str]:
    """Return the lines of a function that applies the map of this name many times."""
    given, passed = (", controls", ", controls[k]") if controlled else ("", "")
    more = "".join(f", {constant}" for constant in constants)
    other = "iterate" if name != "iterate" else "iterate_map"
    return [
        "",
        f"def {other}(state, n{given}{more}):",
        "    states = [np.asarray(state, dtype=float)]",
        "    for k in range(n):",
        f"        states.append({name}(k, states[-1]{passed}{more}))",
        "    return np.array(states)",
        "",
    ]


def _array_like(text: str, parts: Parts, arrays: Sequence[str], names: dict[Variable, str]) -> str:
    """Return the text of a sum that has the shape of the states even where it does not depend on them."""
    used = {names[variable] for _, term in parts for variable in term.variables()}
    return text if used & set(arrays) or not arrays else f"{text} + 0.0*{arrays[0]}"


def _identifiers(inputs: Sequence[Variable], reserved: set[str]) -> dict[Variable, str]:
    """Return a Python name for every input: its own where Python allows it."""
    texts = [identifier(variable_name(variable)) for variable in inputs]
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
