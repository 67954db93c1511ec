"""Fields that a scheme simulated on a grid: terms of its errors are told from terms of the law.

Differences of second order solve another equation than was meant, exactly: u_x stands for u_x + h^2/6 u_xxx, u_xx for
u_xx + h^2/12 u_xxxx. Data without noise show these terms as clearly as those of the law. They are known by their size,
which falls with the square of the step of the grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from exactsindy.data import Field, Notice
from exactsindy.discovery.adequacy import withheld
from exactsindy.discovery.result import Discovery
from exactsindy.errors import SolverError
from exactsindy.library import Term, Variable

# What central differences of second order for a derivative of this order add: so many times h^2 times the derivative
# two orders higher.
_ADDED = {1: 1 / 6, 2: 1 / 12, 3: 1 / 4, 4: 1 / 6}
# Terms up to this multiple of that may be such errors: other schemes of second order err by as much.
_MULTIPLE = 2.0
# Share of the right-hand side below which any term may be an error: what errors leave that have no term of their own.
# Set on one simulation, of Burgers' equation by differences of second order, which has such terms of 0.01 to 0.06 %.
_SMALL = 1e-3


def with_scheme_named(found: Discovery) -> Discovery:
    """Return the answer for a field, without confidence in equations with terms as small as errors of a scheme."""
    if not isinstance(found.data, Field):
        return found
    notices = tuple(_notices(found, found.data))
    if not notices:
        return found
    return replace(found, selection=withheld(found.selection, notices), warnings=(*notices, *found.warnings))


def _notices(found: Discovery, data: Field) -> Iterator[Notice]:
    solution, shares = found.solution, found.shares
    terms = {term.name: term for term in solution.problem.terms if isinstance(term, Term)}
    steps = {axis: float(np.mean(np.diff(x))) for axis, x in zip(data.axes, data.coords, strict=False)}
    for equation, coefficients in solution.terms.items():
        own = {terms[name]: value for name, value in coefficients.items() if name in terms}
        errors = [term.name for term, value in own.items() if _is_error(term, value, own, steps)]
        small = [name for name, share in shares.get(equation, {}).items() if share < _SMALL and name not in errors]
        named = [name for name in coefficients if name in errors or name in small]
        if not named or len(named) == len(coefficients):
            continue
        if errors:
            what = "as small as what differences of second order err by on this grid (h^2/6 u_xxx for u_x)"
            what += ", or below 0.1 % of the right-hand side" if small else ""
        else:
            what = "below 0.1 % of the right-hand side, as errors of a simulation on a grid are"
        text = f"{equation}: {', '.join(named)} {'is' if len(named) == 1 else 'are'} {what}"
        rest = [name for name in coefficients if name not in named]
        if _has_rest(found, equation, rest):
            text = f"{text}. Without {'it' if len(named) == 1 else 'them'} it is .at(k={_sizes(found, equation, rest)})"
        cure = "To find out, take a finer grid: on it errors of a scheme are smaller, and terms of the law are not."
        yield Notice("scheme", f"{text}. {cure}", equation)


def _is_error(term: Term, value: float, own: Mapping[Term, float], steps: Mapping[str, float]) -> bool:
    """Return True if a term is no larger than what a scheme adds to another term of the equation."""
    for atom, power in term.powers.items():
        if not isinstance(atom, Variable) or power != 1:
            continue
        for axis in dict.fromkeys(atom.axes):
            order = atom.axes.count(axis) - 2
            axes = list(atom.axes)
            if order not in _ADDED:
                continue
            axes.remove(axis)
            axes.remove(axis)
            powers = {other: exponent for other, exponent in term.powers.items() if other != atom}
            lower = Variable(atom.name, tuple(axes))
            partner = own.get(Term.of({**powers, lower: powers.get(lower, 0) + 1}))
            if partner is not None and abs(value) <= _MULTIPLE * _ADDED[order] * steps[axis] ** 2 * abs(partner):
                return True
    return False


def _has_rest(found: Discovery, equation: str, rest: list[str]) -> bool:
    """Return True if the best terms of the smaller size are those that are left."""
    try:
        smaller = found.at(k={equation: len(rest)}).solution
    except SolverError:
        return False
    return list(smaller.terms[equation]) == rest


def _sizes(found: Discovery, equation: str, rest: list[str]) -> str:
    return str(len(rest)) if len(found.solution.terms) == 1 else f"{{{equation!r}: {len(rest)}}}"
