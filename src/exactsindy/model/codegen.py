"""Right-hand sides as Python functions, generated from term objects.

The source is built from our own identifiers (v0, v1, ..., r0, r1, ...) and from ``repr`` of floats; no text of
the user, not even a variable's name, enters it. So compiling it cannot run anything but arithmetic, the
functions in `SCALAR` and `VECTOR`, and the Python functions a user put into the library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from exactsindy.errors import ProblemError
from exactsindy.library import FUNCTIONS, Atom, Custom, Function, Group, Term, Variable
from exactsindy.model.equation import variable_name

Parts = Sequence[tuple[float, Term]]


# math is several times faster than NumPy on single numbers; what is undefined raises instead of giving nan.
SCALAR: dict[str, Callable[..., Any]] = {
    **{kind: getattr(math, kind) for kind in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh")},
    **{"arctan": math.atan, "abs": abs, "sign": lambda value: float((value > 0) - (value < 0))},
}
VECTOR: dict[str, Callable[..., Any]] = {kind: known.value for kind, known in FUNCTIONS.items()}


def on_numbers(function: Callable[..., Any]) -> Callable[..., float]:
    """Return a user's function of arrays as one of single numbers."""

    def call(*values: float) -> float:
        try:
            result = function(*(np.array([value]) for value in values))
            return float(np.asarray(result, dtype=float).reshape(-1)[0])
        except Exception as error:  # not to be taken for an undefined term of our own
            raise ProblemError(f"The function of a term failed at {values}: {error}") from error

    return call


class Emitter:
    """Turns sums of terms into Python text; repeated powers and functions are computed once.

    ``names`` gives the text of every input; ``lines`` collects assignments to registers; ``functions`` the
    users' functions, by the name under which the text calls them. ``prefix`` goes before known functions.
    """

    def __init__(self, names: Mapping[Variable, str], prefix: str = "") -> None:
        self.names, self.prefix = dict(names), prefix
        self.lines: list[str] = []
        self.functions: dict[str, Custom] = {}
        self._known: dict[tuple[Atom, int], str] = {}

    def sum(self, parts: Parts) -> str:
        """Return the text of a weighted sum of terms."""
        text = ""
        for coefficient, term in parts:
            sign = "-" if coefficient < 0 else "+"
            body = self._scaled(abs(coefficient), term)
            text = f"{text} {sign} {body}" if text else (body if sign == "+" else f"-{body}")
        return text or "0.0"

    def _scaled(self, size: float, term: Term) -> str:
        above = [self._power(atom, n) for atom, n in term.factors if n > 0]
        below = [self._power(atom, -n) for atom, n in term.factors if n < 0]
        if size != 1.0 or not above:
            above.insert(0, repr(float(size)))
        text, divisor = "*".join(above), "*".join(below)
        return f"{text}/({divisor})" if len(below) > 1 else f"{text}/{divisor}" if below else text

    def _power(self, atom: Atom, n: int) -> str:
        """Return an operand for ``atom ** n``, by repeated squaring: ``**`` is slow and raises when large."""
        if n == 1:
            return self._atom(atom)
        if (atom, n) not in self._known:
            half = self._power(atom, n // 2)
            self._known[atom, n] = self._assign(f"{half}*{half}" + (f"*{self._atom(atom)}" if n % 2 else ""))
        return self._known[atom, n]

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Variable):
            if atom not in self.names:
                raise ProblemError(
                    f"The equations use {variable_name(atom)!r}, which is not an input of this function; known "
                    f"are {', '.join(map(variable_name, self.names))}."
                )
            return self.names[atom]
        if (atom, 1) not in self._known:
            self._known[atom, 1] = self._assign(self._call(atom))
        return self._known[atom, 1]

    def _call(self, atom: Function | Group | Custom) -> str:
        if isinstance(atom, Group):
            return self.sum(atom.content.parts)
        if isinstance(atom, Function):
            return f"{self.prefix}{atom.kind}({self.sum(atom.argument.parts)})"
        name = f"f{len(self.functions)}"
        self.functions[name] = atom
        return f"{name}({', '.join(self._atom(variable) for variable in atom.inputs)})"

    def _assign(self, text: str) -> str:
        register = f"r{len(self.lines)}"
        self.lines.append(f"{register} = {text}")
        return register


def build(header: str, lines: Sequence[str], namespace: Mapping[str, object]) -> Callable[..., Any]:
    """Return the function ``rhs`` with this header and body."""
    source = "\n    ".join([header, *lines])
    scope: dict[str, Any] = {"__builtins__": {}, **namespace}
    exec(compile(source, "<generated right-hand side>", "exec"), scope)
    function: Callable[..., Any] = scope["rhs"]
    return function


def vector_function(sums: Sequence[Parts], inputs: Sequence[Variable]) -> Callable[..., tuple[Any, ...]]:
    """Return a function of one array per input that gives one array (or number) per sum."""
    emitter = Emitter({variable: f"v{i}" for i, variable in enumerate(inputs)})
    results = [emitter.sum(parts) for parts in sums]
    functions = {name: custom.function for name, custom in emitter.functions.items()}
    header = f"def rhs({', '.join(emitter.names.values())}):"
    return build(header, [*emitter.lines, f"return ({', '.join(results)},)"], {**VECTOR, **functions})


def scalar_function(
    sums: Sequence[Parts], states: Sequence[Variable], controls: Sequence[Variable], time: Variable
) -> Callable[..., list[float]]:
    """Return ``rhs(t, s, u, limit, stop)`` on single numbers: one sum per state, in the order of the states.

    ``s`` is an array of the states, ``u`` a function of time that gives the controls. It raises ``stop`` when
    a state reaches ``limit`` in size or is not a number.
    """
    emitter = Emitter(
        {
            time: "t",
            **{variable: f"u{i}" for i, variable in enumerate(controls)},
            **{variable: f"v{i}" for i, variable in enumerate(states)},
        }
    )
    results = [emitter.sum(parts) for parts in sums]
    names = [emitter.names[variable] for variable in states]
    inside = " and ".join(f"-limit < {name} < limit" for name in names)
    lines = [f"{', '.join(names)}, = s.tolist()", f"if not ({inside}):", "    raise stop(t)"]
    if controls:
        lines.append(f"{', '.join(emitter.names[v] for v in controls)}, = u(t)")
    functions = {name: on_numbers(custom.function) for name, custom in emitter.functions.items()}
    body = [*lines, *emitter.lines, f"return [{', '.join(results)}]"]
    return build("def rhs(t, s, u, limit, stop):", body, {**SCALAR, **functions})
