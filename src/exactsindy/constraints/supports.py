"""Constraints on which terms are present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from exactsindy.constraints.monomials import monomial, parents
from exactsindy.constraints.rules import Coefficient, EquationName, Group, RulesBuilder, TermName
from exactsindy.errors import ConstraintError


@dataclass(frozen=True)
class Forbid:
    """The term is absent."""

    equation: EquationName
    term: TermName

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        rules.present({rules.variable((self.equation, self.term)): 1}, 0)


@dataclass(frozen=True)
class Require:
    """The term is present (its coefficient may still be 0 if other constraints or the data say so)."""

    equation: EquationName
    term: TermName

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        rules.present({rules.variable((self.equation, self.term)): -1}, -1)


@dataclass(frozen=True)
class Implies:
    """If the first term is present, so is the second."""

    first: Coefficient
    second: Coefficient

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        a, b = rules.variable(self.first), rules.variable(self.second)
        if a != b:
            rules.present({a: 1, b: -1}, 0)


@dataclass(frozen=True)
class NotBoth:
    """At most one of the two terms is present."""

    first: Coefficient
    second: Coefficient

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        a, b = rules.variable(self.first), rules.variable(self.second)
        if a == b:
            twice = f"NotBoth names the same term {rules.label(a)} twice"
            raise ConstraintError(f"{rules.speaker}: {twice}; use Forbid to exclude it.")
        rules.present({a: 1, b: 1}, 1)


@dataclass(frozen=True)
class AtMost:
    """At most ``count`` terms of the group are present.

    Examples
    --------
    >>> import exactsindy as es
    >>> es.constraints.AtMost(1, [("x'", "x^2"), ("x'", "x^3")]).count
    1
    """

    count: int
    group: Group

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        rules.present(dict.fromkeys(rules.group(self.group), 1), rules.count(self.count, "count"))


@dataclass(frozen=True)
class AtLeast:
    """At least ``count`` terms of the group are present."""

    count: int
    group: Group

    def write(self, rules: RulesBuilder) -> None:
        """Add its row."""
        group, count = rules.group(self.group), rules.count(self.count, "count")
        if count > len(group):
            raise ConstraintError(f"{rules.speaker}: at least {count} of {len(group)} terms cannot be present.")
        rules.present(dict.fromkeys(group, -1), -count)


@dataclass(frozen=True)
class Exactly:
    """Exactly ``count`` terms of the group are present."""

    count: int
    group: Group

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        AtMost(self.count, self.group).write(rules)
        AtLeast(self.count, self.group).write(rules)


@dataclass(frozen=True)
class WholeGroup:
    """All terms of the group are present, or none."""

    group: Group

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows: a ring of implications."""
        group = rules.group(self.group)
        for a, b in zip(group, (*group[1:], group[0]), strict=True):
            if a != b:
                rules.present({a: 1, b: -1}, 0)


@dataclass(frozen=True)
class Hierarchy:
    """A product is present only with its parents, the products with one factor less (x^2 y: x y and x^2).

    Parameters
    ----------
    kind
        ``"strong"``: with all its parents; ``"weak"``: with at least one of them.
    equations
        Which equations; ``None`` is all of them.

    Parents that are constant or not in the library are not asked for.
    """

    kind: Literal["strong", "weak"] = "strong"
    equations: str | Sequence[EquationName] | None = None

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        if self.kind not in ("strong", "weak"):
            raise ConstraintError(f"{rules.speaker}: kind={self.kind!r}: expected 'strong' or 'weak'.")
        for e in _equations(rules, self.equations):
            own = {monomial(rules.problem.terms[v % rules.width]): v for v in rules.all_of(e)}
            for product, v in own.items():
                above = [own[parent] for parent in parents(product) if parent in own]
                if self.kind == "weak" and above:
                    rules.present({v: 1, **dict.fromkeys(above, -1)}, 0)
                elif self.kind == "strong":
                    for u in above:
                        rules.present({v: 1, u: -1}, 0)


@dataclass(frozen=True)
class SameSupport:
    """The equations have the same terms; a term that not all of them have in their library is absent."""

    equations: str | Sequence[EquationName] | None = None

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        chosen = _equations(rules, self.equations)
        if len(set(chosen)) < 2:
            raise ConstraintError(f"{rules.speaker}: SameSupport needs at least two different equations.")
        for j in range(rules.width):
            ring = [e * rules.width + j for e in chosen]
            shared = all(rules.exists[v] for v in ring)
            for a, b in zip(ring, (*ring[1:], ring[0]), strict=True):
                if rules.exists[a]:
                    rules.present({a: 1, b: -1} if shared else {a: 1}, 0)


@dataclass(frozen=True)
class MaxCorrelation:
    """No two terms of an equation whose columns have a cosine above ``limit`` (in size) are present together.

    The cosine is that of the raw columns, |a'b| / (|a| |b|): means are not subtracted.
    """

    limit: float
    equations: str | Sequence[EquationName] | None = None

    def write(self, rules: RulesBuilder) -> None:
        """Add one row per pair."""
        limit = rules.number(self.limit, "limit")
        if not 0 <= limit <= 1:
            raise ConstraintError(f"{rules.speaker}: limit={limit:g}: expected a number from 0 to 1.")
        for e in _equations(rules, self.equations):
            block, _ = rules.problem.locate(e)
            norms = np.where(block.column_norms > 0, block.column_norms, 1.0)
            unit = block.theta_factor / norms
            own = rules.problem.columns(block) + e * rules.width
            for i, j in zip(*np.nonzero(np.triu(np.abs(unit.T @ unit), 1) > limit), strict=True):
                rules.present({int(own[i]): 1, int(own[j]): 1}, 1)


def _equations(rules: RulesBuilder, given: str | Sequence[EquationName] | None) -> list[int]:
    if given is None:
        return list(range(len(rules.problem.target_names)))
    return [rules.equation(name) for name in ([given] if isinstance(given, str) else given)]
