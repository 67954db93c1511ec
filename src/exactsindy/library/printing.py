"""Styles of writing terms: as names, as Python and as LaTeX; no logic about terms."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

# A variable at a step of a map, such as x[k-2]; "p [kPa]" and "x [k]" are columns with units.
_STEP = re.compile(r"(.*\S)\[(k([-+]\d+)?)\]", re.DOTALL)


@dataclass(frozen=True)
class Style:
    """The few decisions in which two ways of writing a term differ.

    ``leaf(name, axes)`` writes a variable or a derivative, ``call(function, argument)`` a function,
    ``fraction(above, below)`` a quotient whose parts are already wrapped where needed.
    """

    times: str
    power: Callable[[str, int], str]
    leaf: Callable[[str, tuple[str, ...]], str]
    call: Callable[[str, str], str]
    fraction: Callable[[str, str], str]
    wraps_fraction: bool = True


def derivative_name(name: str, axes: tuple[str, ...]) -> str:
    """Write a derivative the way the field does: ``u_xx``; ``u_lon_lon`` when an axis has a longer name."""
    if not axes:
        return name
    separator = "" if all(len(axis) == 1 for axis in axes) else "_"
    return f"{name}_{separator.join(axes)}"


def step_parts(name: str) -> tuple[str, str]:
    """Return the variable and the index of a step of a map; the index of other names is empty.

    Examples
    --------
    >>> step_parts("x[k-2]"), step_parts("p [kPa]")
    (('x', 'k-2'), ('p [kPa]', ''))
    """
    match = _STEP.fullmatch(name)
    return (match.group(1), match.group(2)) if match else (name, "")


def number(value: float) -> str:
    """Write a coefficient so that reading it back gives the same double; integers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


_LATEX_FUNCTIONS = {"sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh", "arctan", "arcsin", "arccos"}
GREEK = {
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *("nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
}
# Capital Greek letters that LaTeX knows; the others look like Latin ones.
_CAPITALS = {"Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"}


# Dots over a state for its time derivatives, by order.
_DOTS = {1: r"\dot", 2: r"\ddot", 3: r"\dddot"}


def dotted(state: str, order: int) -> str:
    """Write a time derivative in LaTeX: dots over the state, or its order as an exponent in parentheses."""
    return f"{_DOTS[order]}{{{state}}}" if order in _DOTS else f"{state}^{{({order})}}"


def identifier(name: str) -> str:
    """Write a name as Python may allow it: ``x_dot`` for ``x'``."""
    stem = name.rstrip("'")
    return stem + "_dot" * (len(name) - len(stem))


# Letters of names that mean something else to LaTeX, as what prints them.
_LATEX_MARKS = {
    **{mark: f"\\{mark}" for mark in "_%&#$ {}"},
    "^": r"\hat{}",
    "~": r"\tilde{}",
    "\\": r"\backslash{}",
    "°": r"{}^\circ",
    "µ": r"\mu{}",
}


def _latex_text(name: str) -> str:
    """Return a name with every letter that means something else to LaTeX as what prints it."""
    return "".join(_LATEX_MARKS.get(letter, letter) for letter in name)


def _latex_leaf(name: str, axes: tuple[str, ...]) -> str:
    name, step = step_parts(name)
    axes = (step,) if step else axes
    stem = name.rstrip("'")
    if stem and stem != name:
        return dotted(_latex_leaf(stem, axes), len(name) - len(stem))
    head, _, tail = name.partition("_")
    stem = head.rstrip("0123456789")
    if not tail and stem and stem != head:
        head, tail = stem, head[len(stem) :]
    if head in GREEK or head in _CAPITALS:
        head = "\\" + head
    elif len(head) > 1 or head in _LATEX_MARKS:
        head = rf"\mathrm{{{_latex_text(head)}}}"
    separator = "," if any(len(axis) > 1 for axis in axes) else ""
    below = ",".join(part for part in (_latex_text(tail), separator.join(map(_latex_text, axes))) if part)
    return f"{head}_{{{below}}}" if below else head


def _latex_call(function: str, argument: str) -> str:
    if function == "sqrt":
        return rf"\sqrt{{{argument}}}"
    if function == "abs":
        return rf"\left|{argument}\right|"
    head = f"\\{function}" if function in _LATEX_FUNCTIONS else rf"\operatorname{{{function}}}"
    return rf"{head}\left({argument}\right)"


NAME = Style(
    times=" ",
    power=lambda base, n: f"{base}^{n}",
    leaf=derivative_name,
    call=lambda function, argument: f"{function}({argument})",
    fraction=lambda above, below: f"{above}/{below}",
)
PYTHON = replace(
    NAME,
    leaf=lambda name, axes: identifier(derivative_name(name, axes)),
    times="*",
    power=lambda base, n: f"{base}**{n}",
    call=lambda function, argument: f"np.{function}({argument})",
)
LATEX = Style(
    times=r" \, ",
    power=lambda base, n: f"{base}^{{{n}}}",
    leaf=_latex_leaf,
    call=_latex_call,
    fraction=lambda above, below: rf"\frac{{{above}}}{{{below}}}",
    wraps_fraction=False,
)
