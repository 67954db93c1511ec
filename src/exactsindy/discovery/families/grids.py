"""Grids of inner constants: values so close that neighbouring columns are nearly parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import inf, isfinite

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.errors import ExactSindyError, ProblemError
from exactsindy.library import ConstantRange, Expression, Family, Function, Group, Term, Terms, Variable

# Cosine of the angle between neighbouring columns. For sin(w x) it is that of a spacing of 1 / (range of x); on trial
# problems the right family was found from 1.2 / (range of x) on. Constants are refined afterwards.
_NEAR = 0.85
# Values from which those of a grid are picked, and the most of a family with several constants.
_FINE, _MOST = 200, 2000
# Samples on which columns are compared.
_SAMPLES = 400
# Ranges that are chosen from the scale of the data. Of a factor inside a function: over the range of what it multiplies
# (a third of a radian to five periods; a factor of exp changes by e^0.3 to e^10). Of a summand: over the largest size
# of the other summands.
_PERIODIC, _STEEP, _SUMMAND = (0.3, 30.0), (0.3, 10.0), (0.02, 20.0)
_PERIODIC_KINDS = ("sin", "cos")


@dataclass(frozen=True, eq=False)
class Grid:
    """A family with the values of its constants that are tried, and between which they may be refined."""

    family: Family
    points: tuple[Mapping[str, float], ...]
    terms: tuple[Term, ...]
    bounds: Mapping[str, tuple[float, float]]


def make_grid(family: Family, data: Trajectories) -> Grid:
    """Return the grid of a family for the scale of the data.

    Raises
    ------
    ProblemError
        If no value of the constants gives finite columns, or there are too many constants.
    """
    samples = _Samples.of(data)
    ranges = [
        _known(where, name, family, samples) for name, where in zip(family.term.constants, family.ranges, strict=True)
    ]
    middle = {name: _middle(where) for name, where in zip(family.term.constants, ranges, strict=True)}
    axes = [
        list(where.values) if where.values else _spaced(family, name, where, middle, samples)
        for name, where in zip(family.term.constants, ranges, strict=True)
    ]
    count = int(np.prod([len(axis) for axis in axes]))
    if count > _MOST * len(family.term.constants):
        cure = "narrow the ranges or give lists of values"
        raise ProblemError(f"The family {family.name!r} has a grid of {count} values of its constants; {cure}.")
    every = [dict(zip(family.term.constants, values, strict=True)) for values in product(*axes)]
    columns = samples.columns(family, every)
    points = [point for point, column in zip(every, columns, strict=True) if column is not None]
    terms = [family.term.at(point) for point in points]
    if not points:
        raise ProblemError(f"The term {family.name!r} has no finite values on these data, whatever its constants.")
    bounds = {n: w.bounds for n, w in zip(family.term.constants, ranges, strict=True) if w.bounds is not None}
    return Grid(family, tuple(points), tuple(terms), bounds)


@dataclass(frozen=True, eq=False)
class _Samples:
    """A few samples of the data, on which columns are compared."""

    data: Trajectories

    @classmethod
    def of(cls, data: Trajectories) -> _Samples:
        step = max(data.n_samples // _SAMPLES, 1)
        return cls(_thinned(data, step))

    def values(self, term: Term) -> Array | None:
        """Return a term at the samples; None where it is not finite."""
        table = self._table([term])
        return None if table is None else table[:, 0]

    def columns(self, family: Family, points: Sequence[Mapping[str, float]]) -> list[Array | None]:
        """Return the columns of a family at values of its constants, of length 1; None where it has none."""
        terms = [_term(family, point) for point in points]
        known = [term for term in terms if term is not None]
        table = self._table(known) if len(set(known)) == len(known) else None
        go_on()
        if table is not None:
            found = iter(table.T)
            columns = [None if term is None else next(found) for term in terms]
        else:
            columns = [None if term is None else self.values(term) for term in terms]
        return [_normed(column) for column in columns]

    def _table(self, terms: Sequence[Term]) -> Array | None:
        if not terms:
            return None
        try:
            features = Terms(tuple(terms)).bind(self.data)
            with np.errstate(all="ignore"):
                return np.vstack([features.evaluate(features.inputs_of(member)) for member in self.data])
        except (ExactSindyError, ArithmeticError):
            return None

    def expression(self, expression: Expression) -> Array | None:
        """Return a sum of terms at the samples."""
        total: Array | None = None
        for coefficient, term in expression.parts:
            values = self.values(term)
            if values is None:
                return None
            total = coefficient * values if total is None else total + coefficient * values
        return total


def _term(family: Family, point: Mapping[str, float]) -> Term | None:
    try:
        return family.term.at(point)
    except (ExactSindyError, ArithmeticError):
        return None


def _normed(column: Array | None) -> Array | None:
    size = 0.0 if column is None else float(np.linalg.norm(column))
    return None if column is None or not 0 < size < inf else column / size


def _thinned(data: Trajectories, step: int) -> Trajectories:
    members = [
        replace(
            member,
            times=member.times[::step],
            states=member.states[::step],
            controls=member.controls[::step],
            derivatives=None,
        )
        for member in data
    ]
    return Trajectories(members, time_name=data.time_name)


def _spaced(
    family: Family, name: str, where: ConstantRange, middle: Mapping[str, float], samples: _Samples
) -> list[float]:
    """Return values in a range so that neighbouring columns are nearly parallel."""
    assert where.low is not None
    assert where.high is not None
    fine = _fine(where.low, where.high)
    found = zip(fine, samples.columns(family, [{**middle, name: value} for value in fine]), strict=True)
    columns = [(value, column) for value, column in found if column is not None]
    if not columns:
        return [middle[name]]
    picked = [columns[0]]
    for before, (value, column) in pairwise(columns):
        if abs(float(column @ picked[-1][1])) < _NEAR:
            picked.append(before if before[0] != picked[-1][0] else (value, column))
    if picked[-1][0] != columns[-1][0]:
        picked.append(columns[-1])
    return [value for value, _ in picked]


def _fine(low: float, high: float) -> list[float]:
    """Return a fine grid: in equal ratios where the range is wide and of one sign, else in equal steps."""
    if low > 0 and high > 20 * low:
        values = np.geomspace(low, high, _FINE)
    elif high < 0 and low < 20 * high:
        values = -np.geomspace(-low, -high, _FINE)
    else:
        values = np.linspace(low, high, _FINE)
    return [float(f"{v:.6g}") for v in values]


def _middle(where: ConstantRange) -> float:
    if where.values:
        return where.values[len(where.values) // 2]
    assert where.low is not None
    assert where.high is not None
    if where.low > 0:
        return float(np.sqrt(where.low * where.high))
    return 0.5 * (where.low + where.high)


def _known(where: ConstantRange, name: str, family: Family, samples: _Samples) -> ConstantRange:
    """Return the range of a constant, from the scale of the data where it was not given."""
    if where.is_known:
        return where
    found = _scale(family.term.template, name, samples)
    if found is None or not all(isfinite(v) for v in found) or not found[0] < found[1]:
        cure = f"give it, e.g. {name}=(0.5, 6)"
        raise ProblemError(
            f"The range of {name!r} in {family.name!r} cannot be chosen from the scale of the data; {cure}."
        )
    return ConstantRange(float(f"{found[0]:.3g}"), float(f"{found[1]:.3g}"))


def _scale(term: Term, name: str, samples: _Samples) -> tuple[float, float] | None:
    """Return a range for a constant from the function or the sum it stands in."""
    for atom, _ in term.factors:
        if isinstance(atom, Variable) or not any(v.name == name for v in atom.variables()):
            continue
        if isinstance(atom, Function | Group):
            inside = atom.argument if isinstance(atom, Function) else atom.content
            kind = atom.kind if isinstance(atom, Function) else ""
            return _scale_in(inside, name, kind, samples)
    return None


def _scale_in(inside: Expression, name: str, kind: str, samples: _Samples) -> tuple[float, float] | None:
    own = [term for _, term in inside.parts if any(v.name == name for v in term.variables())]
    rest = Expression(tuple((c, t) for c, t in inside.parts if t not in own))
    if len(own) != 1:
        return None
    power = own[0].powers.get(Variable(name))
    if power is None:
        return _scale(own[0], name, samples)
    factor = Term(tuple((atom, n) for atom, n in own[0].factors if atom != Variable(name)))
    if any(v.name == name for v in factor.variables()) or power < 1:
        return None
    multiplied = samples.values(factor) if factor.factors else None
    if multiplied is not None:
        spread = float(np.ptp(multiplied)) or float(np.abs(multiplied).max())
        low, high = _PERIODIC if kind in _PERIODIC_KINDS else _STEEP
        return _rooted(low / spread, high / spread, power) if spread else None
    other = samples.expression(rest) if rest.parts else None
    size = 0.0 if other is None else float(np.abs(other).max())
    return _rooted(_SUMMAND[0] * size, _SUMMAND[1] * size, power) if size else None


def _rooted(low: float, high: float, power: int) -> tuple[float, float]:
    return low ** (1 / power), high ** (1 / power)


def all_terms(grids: Sequence[Grid]) -> tuple[Term, ...]:
    """Return the terms of all grids."""
    return tuple(term for grid in grids for term in grid.terms)
