"""Functions that laws have and polynomials lack: what a library is tested against, at the scale of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from exactsindy._types import Array
from exactsindy.library import Expression, Function, Group, Term

# Frequencies of sines, rates of exponentials, steepness of steps, and saturation, all over the largest value of the
# state; sines of the state itself come as well, because angles are measured in radians.
_FREQUENCIES, _RATES, _STEEPNESS, _SATURATION = (1.0, 2.0, 3.0), (1.0, -1.0, 2.0, -2.0), (2.0, 4.0), (1.0, 4.0)
# Powers of the distance from the origin in forces towards it: 3 is gravity.
_POWERS = (2, 3)
# A distance that falls below this share of its largest value has no powers below the fraction line.
_NEAR = 0.01
# States beyond which functions of single states alone are tried: there would be too many.
_MANY = 4


def outside_terms(states: Sequence[str], values: Array) -> tuple[Term, ...]:
    """Return functions of one and of two states that no polynomial library has.

    Parameters
    ----------
    states, values
        The names of the states, and their samples (samples x states), for the scale of each.

    Examples
    --------
    >>> [term.name for term in outside_terms(["x"], np.array([[1.0], [2.0]]))][:4]
    ['sin(0.5 x)', 'cos(0.5 x)', 'sin(x)', 'cos(x)']
    """
    largest = np.abs(values).max(axis=0)
    known = [(Term.variable(name), float(size)) for name, size in zip(states, largest, strict=True) if size > 0]
    terms: dict[Term, None] = {}
    for x, size in known:
        others = [y for y, _ in known if y is not x] if len(states) <= _MANY else []
        terms |= dict.fromkeys(_of_state(x, size, others))
    if len(states) <= _MANY:
        for i, j in combinations(range(len(states)), 2):
            x, y = Term.variable(states[i]), Term.variable(states[j])
            difference = Expression.of([(1.0, x), (-1.0, y)])
            terms |= dict.fromkeys(Term(((Function(kind, difference), 1),)) for kind in ("sin", "cos"))
            distance = np.hypot(values[:, i], values[:, j])
            if distance.min() > _NEAR * distance.max():
                terms |= dict.fromkeys(_towards_origin(x, y))
    return tuple(terms)


def _of_state(x: Term, size: float, others: Sequence[Term]) -> Iterator[Term]:
    absolute = _call("abs", 1.0, x)
    for frequency in (*(rounded(c / size) for c in _FREQUENCIES), 1.0):
        yield _call("sin", frequency, x)
        yield _call("cos", frequency, x)
    for rate in _RATES:
        growth = _call("exp", rounded(rate / size), x)
        yield growth
        yield from (other * growth for other in others)
    yield from (_call("tanh", rounded(c / size), x) for c in _STEEPNESS)
    yield from (absolute, x * absolute, _call("sqrt", 1.0, absolute))
    numerators = [Term(), x, *others, *(x * other for other in others)]
    for c in _SATURATION:
        below = (_one_plus(rounded(c / size), absolute), _one_plus(rounded((c / size) ** 2), x * x))
        yield from (above * Term(((group, -1),)) for group in below for above in numerators)


def _towards_origin(x: Term, y: Term) -> Iterator[Term]:
    distance = Function("sqrt", Expression.of([(1.0, x * x), (1.0, y * y)]))
    yield from (above * Term(((distance, -power),)) for power in _POWERS for above in (x, y))


def rounded(value: float) -> float:
    """Return a number of three digits, so that equal names are equal terms.

    Examples
    --------
    >>> rounded(0.123456)
    0.123
    """
    return float(f"{value:.3g}")


def _call(kind: str, factor: float, argument: Term) -> Term:
    return Term(((Function(kind, Expression.of([(factor, argument)])), 1),))


def _one_plus(factor: float, term: Term) -> Group:
    return Group(Expression.of([(1.0, Term()), (factor, term)]))
