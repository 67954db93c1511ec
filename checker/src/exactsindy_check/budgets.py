"""A budget of terms that all equations share: what the sections of single equations prove about all of them together.

A joint support has a support for each equation; its value is the sum of weight * f. The least sum over all sizes that
fit into the budget is found by dynamic programming (Lemma 11), in whole numbers of a small unit, rounded to the safe
side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from exactsindy_check.claims import CLAIM, EXACT, Claims
from exactsindy_check.errors import Refuted
from exactsindy_check.exact import Verdict
from exactsindy_check.proof_file import Budget
from exactsindy_check.scan import Support

_UNIT = Fraction(1, 2**160)  # of the weighted sum of |y|^2: far below what claims may be rounded by

#: A value of the supports of an equation: its number, how many terms, which support is left out. None: there is none.
Value = Callable[[int, int, Support | None], Fraction | None]


class JointClaims:
    """The sections of a shared budget, by equation."""

    def __init__(self, budget: Budget, sections: Mapping[int, Claims], equations: int) -> None:
        if not len(budget.sections) == len(budget.weights) == len(budget.caps) == len(budget.supports) == equations:
            raise Refuted(f"{self.name(budget)}: its lists do not fit the {equations} equations.")
        self._budget = budget
        self._parts: list[list[Claims]] = []
        for e, numbers in enumerate(budget.sections):
            if not numbers or any(number not in sections for number in numbers):
                raise Refuted(f"{self.name(budget)}: the sections {list(numbers)} of equation {e} are not there.")
            parts = [sections[number] for number in numbers]
            if any(p.section.equation != e or p.searched != parts[0].searched or p.section.listing for p in parts):
                raise Refuted(f"{self.name(budget)}: the sections {list(numbers)} are not about the same supports.")
            self._parts.append(parts)
        whole = sum(w * parts[0].equation.target_square for w, parts in zip(self._weights, self._parts, strict=True))
        self._unit = whole * _UNIT if whole else _UNIT
        self._blur = whole * EXACT

    @staticmethod
    def name(budget: Budget) -> str:
        """Return what a report calls the budget."""
        return f"the shared budget of {budget.k} terms"

    @property
    def _weights(self) -> list[Fraction]:
        return [Fraction(weight) for weight in self._budget.weights]

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each claim that does not hold."""
        budget = self._budget
        if any(len(s) > cap for s, cap in zip(budget.supports, budget.caps, strict=True)) or self._terms > budget.k:
            yield f"the claimed supports have more terms than the budget of {budget.k} and its caps allow."
            return
        value = Fraction(0)
        for weight, parts, support in zip(self._weights, self._parts, budget.supports, strict=True):
            fit = parts[0].fit(support)
            if fit is None or fit.verdict is Verdict.NO:
                yield f"the support {list(support)} of equation {parts[0].section.target} is not one of those searched."
                return
            value += weight * fit.value
        if not self._near(Fraction(budget.objective), value):
            yield f"the objective of the claimed supports is {float(value)!r}, not {budget.objective!r}."
        least = self._least(self._lower, lambda used, differs: used <= budget.k)
        if least is not None and not self._near(value, least) and value > least:
            yield f"the claimed supports are not proved the best: others may have {float(least)!r}."
        bound = value if least is None else min(value, least)
        if budget.lower_bound == math.inf or (
            budget.lower_bound > 0 and Fraction(budget.lower_bound) > bound * (1 + CLAIM) + self._blur
        ):
            yield f"the lower bound {budget.lower_bound!r} is above the optimum {float(bound)!r}."
        if budget.runner_up is not None:
            yield from self._runner_up(budget.runner_up)

    @property
    def _terms(self) -> int:
        return sum(map(len, self._budget.supports))

    def _near(self, one: Fraction, other: Fraction) -> bool:
        return abs(one - other) <= CLAIM * max(abs(one), abs(other)) + self._blur

    def _runner_up(self, claimed: float) -> Iterator[str]:
        """Check the next best: it has as many terms in all, and another support in some equation."""

        def rival(used: int, differs: bool) -> bool:
            return used == self._terms and differs

        least = self._least(self._lower, rival)
        if claimed == math.inf:
            if least is not None:
                yield f"the claim is that there is no other joint support, but one with {float(least)!r} is possible."
            return
        value, met = Fraction(claimed), self._least(self._upper, rival)
        if least is not None and least < value and not self._near(least, value):
            yield f"the next best joint support is proved above {float(least)!r} only, not {claimed!r}."
        if met is None or (met > value and not self._near(met, value)):
            yield f"no joint support of {self._terms} terms has the runner-up's objective {claimed!r}."

    def _lower(self, e: int, size: int, without: Support | None) -> Fraction | None:
        """Return a lower bound of f over the supports of exactly `size` terms; None: there are none."""
        bounds = [part.least(size, without) for part in self._parts[e]]
        return None if None in bounds else max(b for b in bounds if b is not None)

    def _upper(self, e: int, size: int, without: Support | None) -> Fraction | None:
        """Return the least f of the supports of exactly `size` terms that were met; None: none was."""
        return min((v for part in self._parts[e] for v in part.met(size, without)), default=None)

    def _least(self, value: Value, wanted: Callable[[int, bool], bool]) -> Fraction | None:
        """Return the least sum over joint supports; ``wanted(terms in all, differs from the claim)`` says of which."""
        best: dict[tuple[int, bool], int] = {(0, False): 0}
        for e, support in enumerate(self._budget.supports):
            best = self._with(best, e, support, value)
        sums = [total for (used, differs), total in best.items() if wanted(used, differs)]
        return min(sums) * self._unit if sums else None

    def _with(
        self, best: dict[tuple[int, bool], int], e: int, support: Support, value: Value
    ) -> dict[tuple[int, bool], int]:
        """Return the least sums with one more equation, by number of terms and whether some support differs."""
        following: dict[tuple[int, bool], int] = {}
        own = self._parts[e][0].fit(support)
        assert own is not None  # (see `faults`)
        for size in range(min(self._budget.caps[e], self._budget.k, self._parts[e][0].equation.columns) + 1):
            choices = [(True, value(e, size, support if size == len(support) else None))]
            if size == len(support):
                choices.append((False, own.value))
            for other, number in choices:
                if number is None:
                    continue
                whole = self._weights[e] * number // self._unit
                for (used, differs), total in best.items():
                    place = (used + size, differs or other)
                    if place[0] <= self._budget.k and total + whole < following.get(place, math.inf):
                        following[place] = total + whole
        return following
