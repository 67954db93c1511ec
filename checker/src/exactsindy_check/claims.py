"""What the survivors of a section prove, compared with what the file claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from exactsindy_check.exact import ExactFits, Fit, Verdict
from exactsindy_check.instance import Equation
from exactsindy_check.proof_file import Claim, Pool, Section
from exactsindy_check.scan import Support

CLAIM = Fraction(1, 10**12)  # claims may be rounded by this much of the value
_TIE = Fraction(1, 2**76)  # of |y|: residual norms this close are ties, either support may be called the best
EXACT = Fraction(1, 2**120)  # of |y|^2: below this a fit counts as exact
_MOST_COLUMNS = 150  # that are fitted together in whole numbers


@dataclass(frozen=True)
class Proved:
    """What a section proves: the best support and its value, the next best of as many terms, the whole pool."""

    support: Support | None
    objective: float | None
    runner_up: float | None
    pool: int  # supports of exactly k terms with f <= cut
    survivors: int


class Claims:
    """The survivors of a section that satisfy its rows, with exact values."""

    def __init__(self, section: Section, equation: Equation, survivors: Iterable[Support]) -> None:
        self.section, self.equation = section, equation
        self.exact = ExactFits(equation, section.coefficient_limit)
        self._fits = {s: self.exact.fit(s) for s in survivors if self._possible(s)}
        listing = section.listing
        self._sure = {s: fit.value for s, fit in self._fits.items() if listing or fit.verdict is Verdict.YES}
        self._blur = EXACT * equation.target_square

    def proved(self) -> Proved:
        """Return what follows from the survivors alone (those at a threshold of admissibility left out)."""
        ranked = sorted(self._sure, key=lambda s: (self._sure[s], len(s), s))
        if not ranked:
            return Proved(None, None, None, 0, 0)
        best = ranked[0]
        others = [s for s in ranked[1:] if len(s) == len(best)]
        pool = sum(len(s) == self.section.k for s in ranked)
        runner_up = float(self._sure[others[0]]) if others else None
        return Proved(best, float(self._sure[best]), runner_up, pool, len(ranked))

    @property
    def searched(self) -> tuple[object, ...]:
        """What tells the supports of a section and their values, but for its size and its cut."""
        s = self.section
        return (
            s.equation,
            s.coefficient_limit,
            s.ridge,
            s.required,
            s.forbidden,
            sorted(s.rows),
            s.listing,
            s.independent,
        )

    def fit(self, support: Support) -> Fit | None:
        """Return the exact fit of a support; None if it is not one of those that may be searched, whatever its size."""
        zero = any(j >= self.equation.columns or not self.equation.a[:, j].any() for j in support)
        if zero or not self._allowed(support):
            return None
        return self._fits.get(support) or self.exact.fit(support)

    def least(self, size: int, without: Support | None) -> Fraction | None:
        """Return a lower bound of f over all supports of exactly `size` terms but one; None: there are none."""
        least: Fraction | None = self.equation.rest_square
        if self.covers(size):
            values = [value for s, value in self._sure.items() if len(s) == size and s != without]
            least = min(values) if values else self.section.exact_cut
        elif self.section.claim is not None and self.section.claim.at_most > self.section.k:
            least = self._whole
        return None if least is None else max(least, self.equation.rest_square)

    @property
    def survivors(self) -> dict[Support, Fraction]:
        """The supports at or below the cut that satisfy the section's rows, with f."""
        return self._sure

    def covers(self, size: int) -> bool:
        """Return whether the section speaks about supports of exactly `size` terms."""
        return size == self.section.k or (size < self.section.k and not self.section.exactly)

    def met(self, size: int, without: Support | None) -> list[Fraction]:
        """Return the values of the supports of exactly `size` terms at or below the cut, but one."""
        return [fit.value for s, fit in self._fits.items() if len(s) == size and s != without]

    @cached_property
    def _whole(self) -> Fraction:
        """The value of all allowed columns together, which none has less than; |rest|^2 if they are too many."""
        allowed = set(np.flatnonzero(self.equation.a.any(axis=0)).tolist()) - set(self.section.forbidden)
        many = len(allowed) > _MOST_COLUMNS
        return self.equation.rest_square if many else self.exact.fit(sorted(allowed)).value

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each claim that does not hold."""
        claim, section = self.section.claim, self.section
        if claim is None:
            return
        if claim.at_most < section.k or (claim.at_most > section.k and section.exactly):
            yield f"the claim is about at most {claim.at_most} terms, the proof about {section.k}."
        if claim.support is None:
            yield from self._nothing(claim)
        else:
            yield from self._best(claim, claim.support)
        if claim.pool is not None:
            yield from self._pool(claim.pool)

    def _possible(self, support: Support) -> bool:
        section = self.section
        return (len(support) == section.k if section.exactly else len(support) <= section.k) and self._allowed(support)

    def _allowed(self, support: Support) -> bool:
        """Return whether a support satisfies what is asked of the presence of terms."""
        section = self.section
        within = set(section.required) <= set(support) and not set(section.forbidden) & set(support)
        return within and all(sum(c for j, c in row if j in support) <= limit for row, limit in section.rows)

    def _near(self, one: Fraction, other: Fraction) -> bool:
        return abs(one - other) <= CLAIM * max(abs(one), abs(other)) + self._blur

    def _tied(self, value: Fraction, least: Fraction) -> bool:
        """Return whether a value is the least one, but for the noise by which a search tells ties."""
        behind = value - least
        return behind <= self._blur or behind**2 <= _TIE**2 * self.equation.target_square * value

    def _unbeatable(self, value: Fraction) -> bool:
        """Return whether no support of any size is better: the fit is exact, or as good as that of all columns."""
        return value - self.equation.rest_square <= self._blur or self._tied(value, self._whole)

    def _nothing(self, claim: Claim) -> Iterator[str]:
        if self.section.exact_cut is not None:
            yield "the claim is that no support is feasible, but the proof stops at a finite cut."
        if claim.at_most > self.section.k:
            yield f"the claim is that no support is feasible, but the proof is about {self.section.k} terms only."
        for support in list(self._sure)[:1]:
            yield f"the claim is that no support is feasible, but {list(support)} is."

    def _best(self, claim: Claim, support: Support) -> Iterator[str]:
        cut = self.section.exact_cut
        fit = self.fit(support) if self._possible(support) else None
        if fit is None:
            yield f"the support {list(support)} is not one of those searched."
            return
        if fit.verdict is Verdict.NO:
            yield f"the support {list(support)} is not admissible."
            return
        if claim.objective is None or not self._near(Fraction(claim.objective), fit.value):
            yield f"the objective of {list(support)} is {float(fit.value)!r}, not {claim.objective!r}."
        if cut is not None and fit.value > cut:
            yield f"the objective of {list(support)} is above the cut, so nothing is proved about it."
        elif support not in self._fits:
            yield f"the support {list(support)} was not met, although it is at or below the cut."
        best = min(self._sure, key=lambda s: self._sure[s], default=support)
        least = min(self._sure.get(best, fit.value), fit.value)
        if not self._tied(fit.value, least):
            yield f"{list(support)} is not the best support: {list(best)} has {float(least)!r}."
        if claim.lower_bound == float("inf") or (
            claim.lower_bound > 0 and Fraction(claim.lower_bound) > least * (1 + CLAIM) + self._blur
        ):
            yield f"the lower bound {claim.lower_bound!r} is above the optimum {float(least)!r}."
        if claim.at_most > self.section.k and not self._unbeatable(fit.value):
            proved = f"the proof is about {self.section.k} terms only"
            yield f"{proved}, and more terms may fit better than {list(support)}."
        if claim.runner_up is not None:
            yield from self._runner_up(support, claim.runner_up)

    def _runner_up(self, support: Support, claimed: float) -> Iterator[str]:
        others = {s: fit for s, fit in self._fits.items() if s != support and len(s) == len(support)}
        sure = {s: fit.value for s, fit in others.items() if fit.verdict is Verdict.YES}
        if claimed == float("inf"):
            if self.section.exact_cut is not None:
                yield "the claim is that there is no other support, but the proof stops at a finite cut."
            for other in list(sure)[:1]:
                yield f"the claim is that there is no other support, but {list(other)} is one."
            return
        value = Fraction(claimed)
        if not any(self._near(fit.value, value) for fit in others.values()):
            yield f"no support of {len(support)} terms has the runner-up's objective {claimed!r}."
        below = [s for s, have in sure.items() if have < value and not self._near(have, value)]
        for other in below[:1]:
            yield f"the runner-up's objective is {float(sure[other])!r} ({list(other)}), not {claimed!r}."

    def _pool(self, pool: Pool) -> Iterator[str]:
        cut, k = self.section.exact_cut, self.section.k
        if len(pool.objectives) != len(pool.supports) or len(set(pool.supports)) != len(pool.supports):
            yield "the members of the pool and their objectives do not match, or a member is there twice."
            return
        limit = None if pool.limit == float("inf") else Fraction(pool.limit)
        if cut is not None and (limit is None or limit > cut):
            yield f"the pool's limit {pool.limit!r} is above the cut."
        for support, objective in zip(pool.supports, pool.objectives, strict=True):
            fit: Fit | None = self._fits.get(support)
            if fit is None or len(support) != k:
                yield f"{list(support)} of the pool is not an admissible support of {k} terms at or below the cut."
            elif not self._near(fit.value, Fraction(objective)):
                yield f"the objective of {list(support)} of the pool is {float(fit.value)!r}, not {objective!r}."
            elif limit is not None and fit.value > limit and not self._near(fit.value, limit):
                yield f"the objective of {list(support)} of the pool is above its limit."
            else:
                continue
            return
        listed = set(pool.supports)
        for support, value in self._sure.items():
            inside = limit is None or (value <= limit and not self._near(value, limit))
            if len(support) == k and inside and support not in listed:
                yield f"{list(support)} belongs to the pool but is missing."
                return
