"""Read the claims of a solution: one record for each equation, or for all that are solved together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.claims import Claims
from exactsindy.certificate.exact import CheckedEquation, as_float
from exactsindy.certificate.judging import LARGE, Judged, Normal, misfits
from exactsindy.certificate.verification import Claimed
from exactsindy.errors import ProblemError
from exactsindy.problem import COEFFICIENT_LIMIT, Problem, find_target


@dataclass(frozen=True, eq=False)
class Claim:
    """What is said about one equation, or about all that share a budget or are bound by constraints.

    At most ``budget`` terms are allowed in all, and ``caps[i]`` of them in the i-th equation; ``coef`` has one row per
    equation over all terms of the problem.
    """

    equations: tuple[CheckedEquation, ...]
    rows: tuple[int, ...]
    coef: NDArray[np.float64]
    support: tuple[tuple[int, ...], ...]
    objective: float
    lower_bound: float
    gap: float
    margin: float
    claimed: Claimed
    budget: int
    caps: tuple[int, ...]
    limit: float = COEFFICIENT_LIMIT  # that coefficients of a support that counts may reach
    given: bool = False  # True if the support was given, not searched for

    @property
    def name(self) -> str:
        """Names of the equations."""
        return ", ".join(equation.name for equation in self.equations)

    @property
    def size(self) -> int:
        """Number of terms."""
        return sum(map(len, self.support))

    @property
    def empty(self) -> bool:
        """True if there is no answer: a search ended before it found anything, and says so."""
        searched = self.claimed in ("bound", "nothing") and not self.given
        return searched and self.objective == math.inf and not self.coef.any() and not self.size

    @property
    def finite(self) -> bool:
        """True if all coefficients are finite numbers."""
        return bool(np.isfinite(self.coef).all())

    @cached_property
    def fits(self) -> tuple[tuple[CheckedEquation, NDArray[np.float64]], ...]:
        """Each equation with the coefficients of its columns."""
        return tuple((e, row[list(e.columns)]) for e, row in zip(self.equations, self.coef, strict=True))

    @cached_property
    def shown(self) -> float:
        """The objective of the coefficients as they stand, in exact arithmetic."""
        return as_float(sum((equation.objective(x.tolist()) for equation, x in self.fits), Fraction(0)))

    @cached_property
    def floor(self) -> float:
        """Rounding of a residual norm computed in doubles with these coefficients."""
        return math.hypot(*(equation.floor(x.tolist()) for equation, x in self.fits))

    @property
    def target_floor(self) -> float:
        """Return the rounding of the residual norm that the targets alone leave."""
        return math.hypot(*(equation.floor([0.0] * len(x)) for equation, x in self.fits))

    @cached_property
    def normals(self) -> tuple[Normal, ...]:
        """The normal equations of each equation."""
        return tuple(Normal(equation, self.limit) for equation in self.equations)

    @cached_property
    def judged(self) -> tuple[Judged, ...] | None:
        """What exact arithmetic says about the supports; None if they are no lists of columns."""
        if any(self._malformed(e, s) for e, s in zip(self.equations, self.support, strict=True)):
            return None
        groups = zip(self.normals, self.equations, self.support, strict=True)
        return tuple(normal.judge([e.columns.index(j) for j in support]) for normal, e, support in groups)

    @cached_property
    def value(self) -> float | None:
        """The least objective on these supports, in exact arithmetic; None if their columns are exactly dependent."""
        values = [j.value for j in self.judged or ()]
        known = [value for value in values if value is not None]
        return as_float(sum(known, Fraction(0))) if values and len(known) == len(values) else None

    @cached_property
    def blur(self) -> float:
        """Rounding of the residual norm in arithmetic with 106 bits."""
        return math.hypot(*(judged.blur for judged in self.judged or ()))

    @staticmethod
    def _malformed(equation: CheckedEquation, support: tuple[int, ...]) -> bool:
        return sorted(set(support)) != list(support) or not set(support) <= set(equation.columns)

    def misplaced(self) -> list[str]:
        """Return what is wrong with the supports: too many terms, terms that do not exist, coefficients elsewhere."""
        failures = []
        if self.size > self.budget:
            failures.append(f"{self.size} terms are claimed where k = {self.budget} are allowed.")
        for equation, support, row, cap in zip(self.equations, self.support, self.coef, self.caps, strict=True):
            if len(support) > cap and len(self.equations) > 1:
                failures.append(f"{len(support)} terms are claimed for {equation.name}, whose cap is {cap}.")
            if self._malformed(equation, support):
                failures.append(f"{support} is no increasing list of terms of the library of {equation.name}.")
            if outside := sorted(set(np.flatnonzero(row).tolist()) - set(support)):
                failures.append(f"terms {outside} have coefficients in {equation.name} but are not in its support.")
        return failures

    def inadmissible(self) -> list[str]:
        """Return which supports do not count: dependent columns, or coefficients beyond the limit."""
        if self.judged is None:
            return []
        return [
            f"columns {support} of {equation.name} {judged.fault}"
            for equation, support, judged in zip(self.equations, self.support, self.judged, strict=True)
            if judged.admissible is False and not (judged.fault == LARGE and self.claimed == "nothing")
        ]

    def misfits(self) -> list[str]:
        """Return which coefficients are not those of the least-squares fit on their support."""
        found = []
        groups = zip(self.judged or (), self.normals, self.support, self.fits, strict=False)
        for judged, normal, support, (equation, x) in groups:
            local = [equation.columns.index(j) for j in support]
            for i, true in misfits(normal, local, judged, [float(x[j]) for j in local]):
                found.append(
                    f"the coefficient of term {support[i]} in {equation.name} is {float(x[local[i]])!r}; the "
                    f"least-squares fit on the support has {true!r}."
                )
        return found


def read_claims(problem: Problem, solution: Claims) -> list[Claim]:
    """Return the claims of a solution, one for each entry of its arrays, which must fit the problem."""
    coef, ridge = np.asarray(solution.coef, dtype=np.float64), np.asarray(solution.ridge, dtype=np.float64)
    count, shared = len(problem.target_names), not isinstance(solution.k, Sequence)
    bound = bool(getattr(solution, "constraints", ())) and len(solution.status) < count
    _check_shapes(problem, solution, joint=shared or bound)
    if not (np.isfinite(ridge).all() and (ridge >= 0).all()):
        raise ProblemError("solution.ridge has entries that are no numbers >= 0.")
    weights = _per_equation(problem, solution.k.weights if shared else None, 1.0)
    if not all(0 < float(weight) < math.inf for weight in weights):
        raise ProblemError(f"solution.k.weights are {weights!r}: expected positive numbers.")
    equations = [CheckedEquation.of(problem, j, ridge[j], float(weights[j])) for j in range(count)]
    size = _count(solution.k.k, "solution.k.k") if shared else 0
    sizes = _per_equation(problem, getattr(solution.k, "caps", None) if shared else solution.k, size)
    caps = [_count(cap, "solution.k") for cap in sizes]
    groups = [range(count)] if shared or bound else [range(j, j + 1) for j in range(count)]
    claims = []
    for i, rows in enumerate(groups):
        budget = size if shared else sum(caps[row] for row in rows)
        claims.append(
            Claim(
                equations=tuple(equations[row] for row in rows),
                rows=tuple(rows),
                coef=coef[list(rows)],
                support=tuple(_columns(solution.support[row]) for row in rows),
                objective=float(solution.objective[i]),
                lower_bound=float(solution.lower_bound[i]),
                gap=float(solution.gap[i]),
                margin=float(solution.margin[i]),
                claimed=_claimed(solution.status[i], float(solution.lower_bound[i])),
                budget=budget,
                caps=tuple(min(budget, caps[row]) for row in rows),
                limit=_limit(solution),
                given=_name(solution.status[i]) == "REFITTED",
            )
        )
    return claims


def _count(value: Any, name: str) -> int:
    try:
        number = index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise ProblemError(f"{name} holds {value!r}: expected a number of terms, e.g. 3.")
    return number


def _columns(support: Any) -> tuple[int, ...]:
    try:
        return tuple(index(j) for j in support)
    except TypeError as error:
        raise ProblemError(f"solution.support holds {support!r}: expected numbers of terms, e.g. (0, 3).") from error


def _limit(solution: Claims) -> float:
    limit = float(getattr(solution, "coefficient_limit", COEFFICIENT_LIMIT))
    if not 1 <= limit <= 2.0**40:
        raise ProblemError(f"solution.coefficient_limit is {limit!r}: expected a number from 1 to 2**40, e.g. 2**27.")
    return limit


def _claimed(status: Any, bound: float) -> Claimed:
    unproved: Claimed = "nothing" if bound == -math.inf else "bound"
    named: dict[str, Claimed] = {"OPTIMAL": "optimal", "INFEASIBLE": "infeasible"}
    return named.get(_name(status), unproved)


def _name(status: Any) -> str:
    return str(getattr(status, "name", status)).upper()


def _check_shapes(problem: Problem, solution: Claims, *, joint: bool) -> None:
    shape = (len(problem.target_names), len(problem.names))
    for name in ("coef", "ridge"):
        if (got := np.shape(getattr(solution, name))) != shape:
            raise ProblemError(
                f"solution.{name} has shape {got}, but the problem has {shape[0]} equations and "
                f"{shape[1]} terms: expected {shape}. Was it found for another problem?"
            )
    lengths = {name: 1 if joint else shape[0] for name in ("objective", "lower_bound", "gap", "margin", "status")}
    lengths["support"] = shape[0]
    if isinstance(solution.k, Sequence):
        lengths["k"] = shape[0]
    for name, expected in lengths.items():
        length = len(getattr(solution, name))
        if length != expected:
            raise ProblemError(f"solution.{name} has {length} entries: expected {expected}.")


def _per_equation(problem: Problem, values: Any, default: float) -> list[Any]:
    """Return one number per equation from one for all, a list or a mapping from target names; None is the default."""
    count = len(problem.target_names)
    if isinstance(values, Mapping):
        named = {find_target(name, problem.target_names): value for name, value in values.items()}
        return [named.get(j, default) for j in range(count)]
    if isinstance(values, Iterable):
        return list(values)
    return [default if values is None else values] * count
