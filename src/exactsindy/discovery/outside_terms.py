"""Functions that laws have and polynomials lack: what a library is tested against, at the scale of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exactsindy.library import Expression, Function, Group, Term

# Frequencies of sines, rates of exponentials, steepness of steps, and saturation, all over the largest value of the
# state; sines of the state itself come as well, because angles are measured in radians.
_FREQUENCIES, _RATES, _STEEPNESS, _SATURATION = (1.0, 2.0, 3.0), (1.0, -1.0, 2.0, -2.0), (2.0, 4.0), (1.0, 4.0)
# States beyond which fractions have the numerator 1 only: there would be too many functions.
_MANY = 4


def outside_terms(states: Sequence[str], largest: Sequence[float]) -> tuple[Term, ...]:
    """Return functions of single states, and fractions of two, that no polynomial library has.

    Parameters
    ----------
    states, largest
        The names of the states, and the largest absolute value of each.

    Examples
    --------
    >>> [term.name for term in outside_terms(["x"], [2.0])][:4]
    ['sin(0.5 x)', 'cos(0.5 x)', 'sin(x)', 'cos(x)']
    """
    numerators = [Term(), *(Term.variable(name) for name in states)] if len(states) <= _MANY else [Term()]
    terms: dict[Term, None] = {}
    for name, size in zip(states, largest, strict=True):
        if size > 0:
            terms |= dict.fromkeys(_of_state(name, size, numerators))
    return tuple(terms)


def _of_state(name: str, size: float, numerators: Sequence[Term]) -> Iterator[Term]:
    x = Term.variable(name)
    absolute = _call("abs", 1.0, x)
    for frequency in (*(rounded(c / size) for c in _FREQUENCIES), 1.0):
        yield _call("sin", frequency, x)
        yield _call("cos", frequency, x)
    yield from (_call("exp", rounded(c / size), x) for c in _RATES)
    yield from (_call("tanh", rounded(c / size), x) for c in _STEEPNESS)
    yield from (absolute, x * absolute, _call("sqrt", 1.0, absolute))
    for c in _SATURATION:
        below = (_one_plus(rounded(c / size), absolute), _one_plus(rounded((c / size) ** 2), x * x))
        yield from (above * Term(((group, -1),)) for group in below for above in numerators)


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
