"""The families of functions that `discover` tries where polynomials do not hold a law, in this order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb, prod

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.library import ConstantRange, Expression, Family, Function, OpenTerm, Polynomials, Term

# Degrees of monomials beyond those of the default library.
_DEGREES = (4, 5)
# Degree of products of states, sines and cosines; and of what stands above one of them in quotients.
_DEGREE, _ABOVE = 3, 2
# Candidate terms of a family at most: products of lower degree are taken beyond that.
MOST_TERMS = 320
# What falls below this share of its largest size is not divided by.
_NEAR_ZERO = 1e-3
# States beyond which functions of single states alone are tried, without products.
_MANY = 4


@dataclass(frozen=True)
class Proposal:
    """A family of functions: its name, terms without inner constants, and terms with them."""

    name: str
    closed: tuple[Term, ...]
    families: tuple[Family, ...] = ()


@dataclass(frozen=True, eq=False)
class Scale:
    """The variables that move, and their samples (samples x variables)."""

    names: tuple[str, ...]
    values: Array

    @classmethod
    def of(cls, data: Trajectories) -> Scale:
        """Return states and controls that change."""
        names = (*data.state_names, *data.control_names)
        values = np.vstack([np.hstack((member.states, member.controls)) for member in data])
        moving = [j for j in range(len(names)) if np.ptp(values[:, j]) > 0]
        return cls(tuple(names[j] for j in moving), values[:, moving])

    def is_away_from_zero(self, term: Term) -> bool:
        """Return True if a state, its sine or its cosine never comes near zero on the samples."""
        atom = term.factors[0][0]
        column = self.values[:, self.names.index(term.variables()[0].name)]
        sizes = np.abs({"sin": np.sin, "cos": np.cos}[atom.kind](column) if isinstance(atom, Function) else column)
        return bool(sizes.min() > _NEAR_ZERO * sizes.max())


def proposals(data: Trajectories, base: Sequence[Term]) -> tuple[Proposal, ...]:
    """Return the families in the order in which they are tried, rational laws aside; each holds the terms of ``base``.

    1. Higher degree: monomials of degree 4 and 5.
    2. Trigonometric: products of up to three of x, sin(x), cos(x) of every state x, and sines and cosines of
       differences of two states, times a state.
    3. Quotients: products of two of them over one of them that is never near zero.
    4. Exponentials, roots, absolute values: exp(r x) and exp(-r x), also times a state, tanh(s x), |x|, x |x|, square
       roots, logarithms where x is positive, forces towards the origin x/r^2 and x/r^3.
    5. Sines and cosines of any frequency, also times another state.
    """
    scale = Scale.of(data)
    if not scale.names:
        return ()
    return (
        Proposal("higher degree", _joined(base, _higher(scale, data.n_samples))),
        Proposal("trigonometric", _joined(base, _trigonometric(scale))),
        Proposal("quotients", _joined(base, _trigonometric(scale), _quotients(scale))),
        Proposal("exponentials, roots and absolute values", _joined(base, _roots(scale)), tuple(_exponentials(scale))),
        Proposal("sines of any frequency", tuple(base), tuple(_sines(scale))),
    )


def _joined(*parts: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(dict.fromkeys(term for part in parts for term in part))


def _higher(scale: Scale, samples: int) -> tuple[Term, ...]:
    most = min(MOST_TERMS, samples // 3)
    degree = max((n for n in _DEGREES if comb(len(scale.names) + n, n) <= most), default=0)
    return Polynomials(degree, of=scale.names).terms(scale.names) if degree else ()


def _generators(scale: Scale) -> list[Term]:
    states = [Term.variable(name) for name in scale.names]
    return [*states, *(_call(kind, x) for x in states for kind in ("sin", "cos"))]


def _products(factors: Sequence[Term], degree: int) -> list[Term]:
    """Return products of at most so many factors; no squares of cosines, which are 1 less the square of the sine."""
    found = [
        prod(word, start=Term())
        for count in range(degree + 1)
        for word in combinations_with_replacement(factors, count)
    ]
    return [term for term in found if not any(_is_cosine(atom) and power > 1 for atom, power in term.factors)]


def _is_cosine(atom: object) -> bool:
    return isinstance(atom, Function) and atom.kind == "cos"


def _fitting(factors: Sequence[Term], degree: int, copies: int = 1) -> int:
    """Return the largest degree, at most the one asked for, whose products are not too many."""
    return next((n for n in range(degree, 0, -1) if copies * comb(len(factors) + n, n) <= MOST_TERMS), 0)


def _trigonometric(scale: Scale) -> tuple[Term, ...]:
    states = [Term.variable(name) for name in scale.names]
    factors = _generators(scale)
    found = _products(factors, _fitting(factors, _DEGREE)) or factors
    if len(states) <= _MANY:
        for x, y in combinations(states, 2):
            difference = Expression.of([(1.0, x), (-1.0, y)])
            sines = [Term(((Function(kind, difference), 1),)) for kind in ("sin", "cos")]
            found += [factor * sine for sine in sines for factor in (Term(), *states)]
    return tuple(found)


def _quotients(scale: Scale) -> tuple[Term, ...]:
    factors = _generators(scale)
    below = [term for term in factors if scale.is_away_from_zero(term)]
    above = _products(factors, _fitting(factors, _ABOVE, max(len(below), 1)))
    return tuple(top * _inverse(bottom) for bottom in below for top in above if bottom not in _factors(top))


def _factors(term: Term) -> list[Term]:
    return [Term(((atom, 1),)) for atom, _ in term.factors]


def _roots(scale: Scale) -> Iterable[Term]:
    states = [Term.variable(name) for name in scale.names]
    for j, x in enumerate(states):
        size, column = _call("abs", x), scale.values[:, j]
        yield from (size, x * size)
        positive = bool(column.min() > 0)
        root = _call("sqrt", x) if column.min() >= 0 else Term(((Function("sqrt", Expression.of([(1.0, size)])), 1),))
        yield root
        yield x * root
        if positive:
            yield _call("log", x)
            yield x * _call("log", x)
    if len(states) <= _MANY:
        for i, j in combinations(range(len(states)), 2):
            distance = np.hypot(scale.values[:, i], scale.values[:, j])
            if distance.min() > 0.01 * distance.max():
                x, y = states[i], states[j]
                radius = Function("sqrt", Expression.of([(1.0, x * x), (1.0, y * y)]))
                yield from (top * Term(((radius, -power),)) for power in (1, 2, 3) for top in (x, y))


def _exponentials(scale: Scale) -> Iterable[Family]:
    states = [Term.variable(name) for name in scale.names]
    free = ConstantRange()
    for x in states:
        others = [y for y in states if y is not x] if len(states) <= _MANY else []
        rate, steep = _constant("r", scale), _constant("s", scale)
        for sign in (1.0, -1.0):
            growth = Term(((Function("exp", Expression.of([(sign, Term.variable(rate) * x)])), 1),))
            yield from (Family(OpenTerm(top * growth, (rate,)), (free,)) for top in (Term(), x, *others))
        step = Term(((Function("tanh", Expression.of([(1.0, Term.variable(steep) * x)])), 1),))
        yield Family(OpenTerm(step, (steep,)), (free,))


def _sines(scale: Scale) -> Iterable[Family]:
    states = [Term.variable(name) for name in scale.names]
    frequency = _constant("w", scale)
    for x in states:
        others = [y for y in states if y is not x] if len(states) <= _MANY else []
        for kind in ("sin", "cos"):
            wave = Term(((Function(kind, Expression.of([(1.0, Term.variable(frequency) * x)])), 1),))
            yield from (Family(OpenTerm(top * wave, (frequency,)), (ConstantRange(),)) for top in (Term(), *others))


def _constant(name: str, scale: Scale) -> str:
    return name if name not in scale.names else f"{name}_"


def _call(kind: str, argument: Term) -> Term:
    return Term(((Function(kind, Expression.of([(1.0, argument)])), 1),))


def _inverse(term: Term) -> Term:
    return Term(tuple((atom, -power) for atom, power in term.factors))
