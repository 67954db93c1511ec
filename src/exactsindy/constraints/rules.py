"""What constraints come down to: rows over the coefficients and rows over the presence of terms of all equations.

A variable is a pair (equation, term), numbered ``equation * D + term`` over ``problem.terms``. A *presence row*
``sum a_v present_v <= b`` with small whole numbers says everything about supports: budgets, implications, exclusions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exactsindy.errors import ConstraintError, ProblemError, nearest
from exactsindy.problem import Problem, TermLike, find_target

#: A coefficient by name: (equation, term); indices and term objects work too.
EquationName: TypeAlias = str | int
TermName: TypeAlias = "str | int | TermLike"
Coefficient: TypeAlias = tuple[EquationName, TermName]
#: Several coefficients: pairs, the name of an equation (all its terms), or {equation: terms}.
Group: TypeAlias = "str | Sequence[Coefficient] | Mapping[str, Sequence[TermName]]"


class Constraint(Protocol):
    """Something that can be said about coefficients or supports: it writes itself into `Rules`."""

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""


@dataclass(frozen=True)
class Row:
    """``sum coef_v x_v  ==  rhs`` or ``<= rhs`` over coefficients, or over presences; ``source`` is the constraint."""

    variables: tuple[int, ...]
    coefs: tuple[float, ...]
    rhs: float
    source: int


@dataclass(frozen=True, eq=False)
class Rules:
    """Constraints in canonical form, for one problem; ``sources`` holds the constraints in the order given."""

    problem: Problem
    sources: tuple[Any, ...]
    equalities: tuple[Row, ...]
    inequalities: tuple[Row, ...]
    presence: tuple[Row, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    least: NDArray[np.float64]  # a present term has |coefficient| >= least (0: nothing said)
    most: NDArray[np.float64]  # a present term has |coefficient| <= most
    bound_source: NDArray[np.intp]  # the last constraint that set a bound or a size; -1: none
    t_level: float  # every present term has |t| >= t_level (0: nothing said)
    convex: tuple[Any, ...]  # quadratic and semidefinite constraints
    exists: NDArray[np.bool_]  # whether the equation has the term

    @cached_property
    def width(self) -> int:
        """Number of terms D: variable v is term ``v % D`` of equation ``v // D``."""
        return len(self.problem.terms)

    def label(self, v: int) -> str:
        """Return the name of a variable: ``x': x y``."""
        return f"{self.problem.target_names[v // self.width]}: {self.problem.names[v % self.width]}"

    def components(self, *, together: bool = False) -> list[tuple[int, ...]]:
        """Return the equations that must be solved together, as sorted groups of their indices."""
        count = len(self.problem.target_names)
        if together:
            return [tuple(range(count))]
        parent = list(range(count))

        def root(e: int) -> int:
            while parent[e] != e:
                e = parent[e]
            return e

        for row in (*self.equalities, *self.inequalities, *self.presence, *self.convex):
            for v in row.variables[1:]:
                parent[root(v // self.width)] = root(row.variables[0] // self.width)
        groups: dict[int, list[int]] = {}
        for e in range(count):
            groups.setdefault(root(e), []).append(e)
        return [tuple(group) for group in groups.values()]

    def touches(self, equations: Iterable[int]) -> bool:
        """Return True if anything is asked of these equations."""
        chosen = set(equations)
        rows = [*self.equalities, *self.inequalities, *self.presence, *self.convex]
        if any(v // self.width in chosen for row in rows for v in row.variables):
            return True
        bounded = np.isfinite(self.lower) | np.isfinite(self.upper) | (self.least > 0) | np.isfinite(self.most)
        return any(self.t_level > 0 or bounded[e * self.width : (e + 1) * self.width].any() for e in chosen)


@dataclass
class RulesBuilder:
    """Collects what constraints write; ``source`` is the position of the one that writes."""

    problem: Problem
    source: int = -1
    equalities: list[Row] = field(default_factory=list)
    inequalities: list[Row] = field(default_factory=list)
    presence: list[Row] = field(default_factory=list)
    t_level: float = 0.0
    convex: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        size = len(self.problem.target_names) * len(self.problem.terms)
        self.lower, self.upper = np.full(size, -np.inf), np.full(size, np.inf)
        self.least, self.most = np.zeros(size), np.full(size, np.inf)
        self.bound_source = np.full(size, -1, dtype=np.intp)

    @cached_property
    def width(self) -> int:
        """Number of terms."""
        return len(self.problem.terms)

    @cached_property
    def exists(self) -> NDArray[np.bool_]:
        """Whether each variable is a term of its equation."""
        mask = np.zeros((len(self.problem.target_names), self.width), dtype=np.bool_)
        for e, target in enumerate(self.problem.target_names):
            mask[e, self.problem.columns(self.problem.locate(target)[0])] = True
        return mask.ravel()

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.problem.names)}

    def equation(self, name: Any) -> int:
        """Return the index of an equation given by its name, a bare state name or its index."""
        try:
            return find_target(name, self.problem.target_names)
        except ProblemError as error:
            raise ConstraintError(f"{self.speaker}: {error}") from error

    def variable(self, coefficient: Any) -> int:
        """Return the number of a coefficient given as (equation, term)."""
        if not isinstance(coefficient, tuple | list) or len(coefficient) != 2:
            cure = 'expected a pair (equation, term) such as ("x\'", "x y")'
            raise ConstraintError(f"{self.speaker}: {coefficient!r} is no coefficient: {cure}.")
        e = self.equation(coefficient[0])
        v = e * self.width + self._term(coefficient[1])
        if not self.exists[v]:
            equation, term = self.problem.target_names[e], self.problem.names[v % self.width]
            raise ConstraintError(f"{self.speaker}: the equation {equation} has no term {term!r} in its library.")
        return v

    def _term(self, term: Any) -> int:
        name = getattr(term, "name", term)
        if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < self.width:
            return int(name)
        if isinstance(name, str) and name in self._positions:
            return self._positions[name]
        # "y x" is meant where the library writes "x y".
        factors = sorted(name.split()) if isinstance(name, str) else None
        same = [j for other, j in self._positions.items() if sorted(other.split()) == factors]
        if len(same) == 1:
            return same[0]
        raise ConstraintError(f"{self.speaker}: there is no term {name!r}. {nearest(name, self.problem.names)}")

    def group(self, group: Any) -> tuple[int, ...]:
        """Return the variables of a group: pairs, the name of an equation, or {equation: terms}."""
        if isinstance(group, str):
            return self.all_of(self.equation(group))
        if isinstance(group, Mapping):
            pairs = [(equation, term) for equation, terms in group.items() for term in terms]
        elif isinstance(group, Iterable):
            pairs = list(group)
        else:
            cure = "expected pairs (equation, term), the name of an equation, or {equation: terms}"
            raise ConstraintError(f"{self.speaker}: {group!r} is no group: {cure}.")
        variables = tuple(self.variable(pair) for pair in pairs)
        if not variables:
            raise ConstraintError(f"{self.speaker}: the group is empty.")
        if len(set(variables)) < len(variables):
            raise ConstraintError(f"{self.speaker}: the group names a coefficient twice.")
        return variables

    def all_of(self, equation: int) -> tuple[int, ...]:
        """Return all variables of an equation."""
        start = equation * self.width
        return tuple(v for v in range(start, start + self.width) if self.exists[v])

    @property
    def speaker(self) -> str:
        """Return what errors call the constraint at hand."""
        return f"constraints[{self.source}]"

    def number(self, value: Any, name: str, *, finite: bool = True) -> float:
        """Return a number, refusing everything else."""
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or math.isnan(float(value)):
            raise ConstraintError(f"{self.speaker}: {name}={value!r}: expected a number.")
        if finite and not math.isfinite(float(value)):
            raise ConstraintError(f"{self.speaker}: {name}={value!r}: expected a finite number.")
        return float(value)

    def count(self, value: Any, name: str) -> int:
        """Return a whole number >= 0, refusing everything else."""
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ConstraintError(f"{self.speaker}: {name}={value!r}: expected a whole number >= 0.")
        return int(value)

    def linear(self, coefs: Mapping[int, float], relation: str, rhs: float) -> None:
        """Add ``sum coefs_v x_v  (==, <=, >=)  rhs``."""
        kept = {v: c for v, c in coefs.items() if c != 0.0}
        if relation not in ("==", "<=", ">="):
            raise ConstraintError(f"{self.speaker}: relation {relation!r}: expected '==', '<=' or '>='.")
        if not kept:
            if (relation == "==" and rhs != 0) or (relation == "<=" and rhs < 0) or (relation == ">=" and rhs > 0):
                raise ConstraintError(f"{self.speaker} says 0 {relation} {rhs:g}: no coefficients can do that.")
            return
        if relation == "==":
            self.equalities.append(Row(tuple(kept), tuple(kept.values()), rhs, self.source))
            if len(kept) == 1:  # a coefficient that is 0 is absent, any other is present
                self.present(dict.fromkeys(kept, 1 if rhs == 0 else -1), 0 if rhs == 0 else -1)
            return
        sign = 1.0 if relation == "<=" else -1.0
        if len(kept) == 1:
            ((v, c),) = kept.items()
            self.bound(v, *((-np.inf, rhs / c) if sign * c > 0 else (rhs / c, np.inf)))
            return
        self.inequalities.append(Row(tuple(kept), tuple(sign * c for c in kept.values()), sign * rhs, self.source))

    def bound(self, v: int, lower: float, upper: float) -> None:
        """Add ``lower <= x_v <= upper``."""
        self.lower[v], self.upper[v] = max(self.lower[v], lower), min(self.upper[v], upper)
        if self.lower[v] > self.upper[v]:
            both = f" contradicts constraints[{self.bound_source[v]}]" if self.bound_source[v] >= 0 else ""
            limits = f">= {self.lower[v]:g} and <= {self.upper[v]:g}"
            raise ConstraintError(f"{self.speaker}{both}: the coefficient {self.label(v)} would have to be {limits}.")
        self.bound_source[v] = self.source

    def size(self, v: int, least: float, most: float) -> None:
        """Add: if present, ``least <= |x_v| <= most``."""
        self.least[v], self.most[v] = max(self.least[v], least), min(self.most[v], most)
        self.bound_source[v] = self.source

    def present(self, coefs: Mapping[int, int], rhs: int) -> None:
        """Add ``sum coefs_v present_v <= rhs``."""
        self.presence.append(Row(tuple(coefs), tuple(float(c) for c in coefs.values()), float(rhs), self.source))

    def label(self, v: int) -> str:
        """Return the name of a variable."""
        return f"{self.problem.target_names[v // self.width]}: {self.problem.names[v % self.width]}"
