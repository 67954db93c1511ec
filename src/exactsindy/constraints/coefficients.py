"""Constraints on coefficients, linear ones and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from exactsindy.constraints.rules import Coefficient, EquationName, RulesBuilder, TermName
from exactsindy.errors import ConstraintError

Relation = Literal["==", "<=", ">="]


@dataclass(frozen=True)
class Equal:
    """``first == ratio * second``, two coefficients.

    Examples
    --------
    >>> import exactsindy as es
    >>> es.constraints.Equal(("y'", "x"), ("x'", "y"))
    Equal(first=("y'", 'x'), second=("x'", 'y'), ratio=1.0)
    """

    first: Coefficient
    second: Coefficient
    ratio: float = 1.0

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        a, b = rules.variable(self.first), rules.variable(self.second)
        if a == b:
            raise ConstraintError(f"{rules.speaker}: Equal names the same coefficient {rules.label(a)} twice.")
        rules.linear({a: 1.0, b: -rules.number(self.ratio, "ratio")}, "==", 0.0)


@dataclass(frozen=True)
class Linear:
    """``sum coefs[c] * c  (==, <=, >=)  rhs`` over coefficients c = (equation, term).

    Examples
    --------
    >>> import exactsindy as es
    >>> constraint = es.constraints.Linear({("x'", "x y"): 1, ("y'", "x^2"): -2}, "==", 0)
    >>> constraint.relation
    '=='
    """

    coefs: Mapping[Coefficient, float] | Mapping[tuple[str, str], float]
    relation: Relation = "=="
    rhs: float = 0.0

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        if not isinstance(self.coefs, Mapping):
            raise ConstraintError(
                f"{rules.speaker}: Linear(coefs={self.coefs!r}): expected a mapping {{(equation, term): number}}."
            )
        row: dict[int, float] = {}
        for pair, value in self.coefs.items():
            v = rules.variable(pair)
            row[v] = row.get(v, 0.0) + rules.number(value, "coefs")
        rules.linear(row, self.relation, rules.number(self.rhs, "rhs"))


@dataclass(frozen=True)
class Bounds:
    """``lower <= coefficient <= upper``; bounds that exclude 0 make the term present.

    Examples
    --------
    >>> import exactsindy as es
    >>> es.constraints.Bounds("x'", "x", -12, 0)
    Bounds(equation="x'", term='x', lower=-12, upper=0)
    """

    equation: EquationName
    term: TermName
    lower: float = -np.inf
    upper: float = np.inf

    def write(self, rules: RulesBuilder) -> None:
        """Add its bounds."""
        v = rules.variable((self.equation, self.term))
        lower = rules.number(self.lower, "lower", finite=False)
        upper = rules.number(self.upper, "upper", finite=False)
        if lower > upper or lower == np.inf or upper == -np.inf:
            raise ConstraintError(f"{rules.speaker}: Bounds({lower:g}, {upper:g}): no number lies between them.")
        rules.bound(v, lower, upper)


@dataclass(frozen=True)
class Sign:
    """The coefficient is >= 0 (``"+"``) or <= 0 (``"-"``)."""

    equation: EquationName
    term: TermName
    sign: Literal["+", "-"]

    def write(self, rules: RulesBuilder) -> None:
        """Add its bound."""
        if self.sign not in ("+", "-"):
            raise ConstraintError(f"{rules.speaker}: sign={self.sign!r}: expected '+' or '-'.")
        v = rules.variable((self.equation, self.term))
        rules.bound(v, *((0.0, np.inf) if self.sign == "+" else (-np.inf, 0.0)))


@dataclass(frozen=True)
class Fixed:
    """The coefficient is known; it is present (and counts as a term) unless the value is 0."""

    equation: EquationName
    term: TermName
    value: float

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        v = rules.variable((self.equation, self.term))
        rules.linear({v: 1.0}, "==", rules.number(self.value, "value"))


@dataclass(frozen=True)
class SemiContinuous:
    """If the term is present, ``least <= |coefficient| <= most``.

    Examples
    --------
    >>> import exactsindy as es
    >>> es.constraints.SemiContinuous("x'", "x y", least=0.1)
    SemiContinuous(equation="x'", term='x y', least=0.1, most=inf)
    """

    equation: EquationName
    term: TermName
    least: float = 0.0
    most: float = np.inf

    def write(self, rules: RulesBuilder) -> None:
        """Add its sizes."""
        v = rules.variable((self.equation, self.term))
        least, most = rules.number(self.least, "least"), rules.number(self.most, "most", finite=False)
        if least < 0 or most < least:
            raise ConstraintError(f"{rules.speaker}: least={least:g}, most={most:g}: expected 0 <= least <= most.")
        rules.size(v, least, most)


@dataclass(frozen=True, eq=False)
class LinearMatrix:
    """``lhs @ xi  (==, <=, >=)  rhs`` for all coefficients stacked in one of PySINDy's two orders.

    Parameters
    ----------
    lhs
        (rows, m * D) for m equations and D terms.
    rhs
        (rows,).
    order
        ``"target"``: all terms of the first equation, then of the second, ...; ``"feature"``: the first term of all
        equations, then the second, ...
    relation
        ``"=="``, ``"<="`` or ``">="``.
    """

    lhs: npt.ArrayLike
    rhs: npt.ArrayLike
    order: Literal["target", "feature"] = "target"
    relation: Relation = "=="

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        lhs, rhs = self._array(rules, self.lhs, "lhs"), self._array(rules, self.rhs, "rhs")
        count, width = len(rules.problem.target_names), rules.width
        if self.order not in ("target", "feature"):
            raise ConstraintError(f"{rules.speaker}: order={self.order!r}: expected 'target' or 'feature'.")
        if lhs.ndim != 2 or lhs.shape[1] != count * width:
            raise ConstraintError(
                f"{rules.speaker}: lhs has shape {lhs.shape}: expected (rows, {count * width}) for {count} equations "
                f"and {width} terms."
            )
        if rhs.shape != (len(lhs),):
            cure = f"expected ({len(lhs)},), one number per row of lhs"
            raise ConstraintError(f"{rules.speaker}: rhs has shape {rhs.shape}: {cure}.")
        if self.order == "feature":
            lhs = lhs.reshape(-1, width, count).transpose(0, 2, 1).reshape(-1, count * width)
        for row, value in zip(lhs, rhs, strict=True):
            used = np.flatnonzero(row)
            if not rules.exists[used].all():
                missing = rules.label(int(used[~rules.exists[used]][0]))
                raise ConstraintError(f"{rules.speaker}: lhs asks for {missing}, which is not in that library.")
            rules.linear({int(v): float(row[v]) for v in used}, self.relation, float(value))

    def _array(self, rules: RulesBuilder, value: Any, name: str) -> Any:
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise ConstraintError(f"{rules.speaker}: {name} is not an array of numbers.") from None
        if not np.isfinite(array).all():
            raise ConstraintError(f"{rules.speaker}: {name} has NaN or infinite entries.")
        return array

    def __repr__(self) -> str:
        rows = np.shape(self.lhs)[0] if np.ndim(self.lhs) else 0
        return f"LinearMatrix({rows} rows, order={self.order!r}, relation={self.relation!r})"
