"""Grow the library of equations for x'' by whole attempts, because rows of smoothed velocities choose nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from exactsindy.data import Notice, Trajectories
from exactsindy.discovery.attempt import Attempt, attempt
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.families.catalogue import Scale
from exactsindy.discovery.families.growth import Growth, lowered, unheld
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.request import Request
from exactsindy.errors import ExactSindyError
from exactsindy.library import Expression, Function, Polynomials, Term, Terms

# Degree of the monomials that are tried, and positions beyond which they are not.
_DEGREE, _FEW = 5, 2
# Fraction of the time limit after which no other family is begun.
_UNTIL = 0.6
# An answer with so many terms in every equation ends the trials: no other family could do with less.
_SHORT = 2


def grown_in_phase_space(measured: Measurement, request: Request, first: Attempt, clock: Clock) -> Growth:
    """Return the answer in the first library that holds the law with the fewest terms, or the first answer.

    Every family is searched like the library before it, trajectories and tests included, because nothing less can tell
    terms of x'' apart. What passes the tests leaves no more than noise, so that fewer terms are better.
    """
    lacking = [choice.equation for choice in first.selection.choices if choice.withheld]
    if not lacking or clock.is_over():
        return Growth(first, request)
    best: tuple[str, Request, Attempt] | None = None
    equals: list[dict[str, frozenset[str]]] = []  # the terms of all answers that hold the law with as few
    tried: list[str] = []
    with clock.optional("other families of functions"):
        for name, larger, answer in _attempts(measured, request, first, clock):
            held = _is_held(answer)
            terms = "; ".join(", ".join(found) for found in answer.selection.solution.terms.values())
            tried += [f"{', '.join(lacking)}: {name}: {'holds the law' if held else 'does not hold it'} ({terms})"]
            if held and (best is None or _size(answer) < _size(best[2])):
                best, equals = (name, larger, answer), []
            if held and best is not None and _size(answer) == _size(best[2]):
                found = answer.selection.solution.terms
                equals.append({equation: frozenset(terms) for equation, terms in found.items()})
    if best is None:
        return Growth(first, request, tried=tuple(tried), notices=tuple(unheld([", ".join(lacking)], tried)))
    name, larger, answer = best
    choices = tuple(
        lowered(choice, choice.k, 1.0 / len({terms[choice.equation] for terms in equals}))
        if choice.equation in lacking
        else choice
        for choice in answer.selection.choices
    )
    selection = replace(answer.selection, choices=choices)
    notices = tuple(
        _notice(choice.equation, name, len(tried), first) for choice in choices if choice.equation in lacking
    )
    return Growth(replace(answer, selection=selection), larger, tried=tuple(tried), notices=notices)


def _attempts(
    measured: Measurement, request: Request, first: Attempt, clock: Clock
) -> Iterator[tuple[str, Request, Attempt]]:
    """Yield the name of each family, the request for its library, and the answer, in the order of `_families`."""
    data, base = measured.used, first.prepared.library
    assert isinstance(data, Trajectories)
    for name, extra in _families(data):
        if clock.elapsed > _UNTIL * (clock.limits.seconds or math.inf) or clock.is_over():
            return
        known = {term for target in data.targets for term in base.for_equation(target.name).terms(data)}
        new = [term for term in dict.fromkeys(extra) if term not in known]
        if not new:
            continue
        larger = replace(request, library=base + Terms(new))
        try:
            answer = attempt(measured, larger, clock)
        except ExactSindyError:  # a function has no finite values, or the trajectories diverge
            continue
        yield name, larger, answer
        if _is_held(answer) and all(choice.k <= _SHORT for choice in answer.selection.choices):
            return


def _is_held(answer: Attempt) -> bool:
    """Return True if no test speaks against the library of an answer, and every equation has terms."""
    return all(choice.k and not choice.withheld for choice in answer.selection.choices)


def _size(answer: Attempt) -> int:
    """Return the number of terms of all equations."""
    return sum(choice.k for choice in answer.selection.choices)


def _notice(equation: str, family: str, count: int, first: Attempt) -> Notice:
    reason = next(c.withheld for c in first.selection.choices if c.equation == equation).partition(": ")[2]
    before = ", ".join(first.selection.solution.terms[equation]) or "no term"
    text = (
        f"{equation}: polynomials do not hold this law ({reason}). Of {count} families of functions that were tried, "
        f"{family} explains it with the fewest terms. Polynomials alone would have given the terms {before}."
    )
    return Notice("library", text, equation)


def _families(data: Trajectories) -> Iterator[tuple[str, Iterable[Term]]]:
    """Yield the families in their order, of positions and velocities where these stand alone.

    1. Higher degree: monomials of degree 4 and 5.
    2. Trigonometric: sin(x) and cos(x) of every position, also times each velocity, and of differences of two.
    3. Quotients: 1/x, 1/x^2 and 1/x^3 of positions that are never near zero.
    4. Roots and absolute values: |x|, x |x| and the root of |x|.
    """
    scale, rates = Scale.of(data), data.rate_names
    positions = [name for name in data.state_names if name in scale.names]
    if len(positions) <= _FEW:
        yield "higher degree", Polynomials(_DEGREE, of=(*scale.names, *rates)).terms((*scale.names, *rates))
    yield "trigonometric", list(_trigonometric(positions, rates))
    states = [Term.variable(name) for name in positions]
    yield "quotients", [_inverse(x, n) for x in states if scale.is_away_from_zero(x) for n in (1, 2, 3)]
    yield "roots and absolute values", list(_absolute(positions))


def _trigonometric(positions: Sequence[str], rates: Sequence[str]) -> Iterator[Term]:
    angles = [(1.0, Term.variable(name)) for name in positions]
    sums = [Expression.of([angle]) for angle in angles]
    sums += [Expression.of([first, (-1.0, second)]) for (first, (_, second)) in combinations(angles, 2)]
    for total in sums:
        for kind in ("sin", "cos"):
            wave = Term(((Function(kind, total), 1),))
            yield wave
            for rate in rates:
                yield from (wave * Term.variable(rate), wave * Term.variable(rate) * Term.variable(rate))
        yield Term(((Function("sin", total), 1), (Function("cos", total), 1)))


def _inverse(x: Term, power: int) -> Term:
    return Term(tuple((atom, -power) for atom, _ in x.factors))


def _absolute(positions: Sequence[str]) -> Iterator[Term]:
    for name in positions:
        x = Term.variable(name)
        absolute = Term(((Function("abs", Expression.of([(1.0, x)])), 1),))
        root = Term(((Function("sqrt", Expression.of([(1.0, absolute)])), 1),))
        yield from (absolute, x * absolute, root)
