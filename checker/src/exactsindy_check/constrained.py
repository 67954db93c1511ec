"""Conditions on coefficients: what lists of supports without them, and multipliers, prove (Lemmas 12 to 14).

A joint support has a support for each equation of the claim; its value is the least sum of weight * objective over the
coefficients that satisfy the rows. Without rows it is at least the sum of weight * f. So every joint support with a
smaller value than the claimed one is made of supports that the sections list, and for each of these a bound by
multipliers is evaluated in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from fractions import Fraction

from exactsindy_check.claims import CLAIM, EXACT, Claims
from exactsindy_check.conditions import Conditions, Presence, Rivals, Supports
from exactsindy_check.errors import NotChecked, Refuted
from exactsindy_check.linear import solve

Term = tuple[int, int]  # place of the equation in the claim, column
_MOST_JOINT = 1_000_000  # joint supports that are looked at


class ConstrainedClaims:
    """One claim under conditions, and the sections that it refers to."""

    def __init__(self, conditions: Conditions, sections: Mapping[int, Claims], equations: int) -> None:
        self._claim = conditions
        if conditions.equations and conditions.equations[-1] >= equations:
            raise Refuted(f"{self.name(conditions)}: there are only {equations} equations.")
        if conditions.supports is None:
            return
        if len(conditions.sections) != len(conditions.equations):
            raise Refuted(f"{self.name(conditions)}: its sections do not fit its equations.")
        self._parts: list[list[Claims]] = []
        for e, numbers in zip(conditions.equations, conditions.sections, strict=True):
            if not numbers or any(number not in sections for number in numbers):
                raise Refuted(f"{self.name(conditions)}: the sections {list(numbers)} of equation {e} are not there.")
            parts = [sections[number] for number in numbers]
            alike = all(p.section.equation == e and p.searched == parts[0].searched for p in parts)
            if not alike or not parts[0].section.listing or parts[0].section.rows:
                raise Refuted(f"{self.name(conditions)}: the sections {list(numbers)} do not list all supports of {e}.")
            self._parts.append(parts)
        self._weights = [Fraction(weight) for weight in conditions.weights]
        whole = zip(self._weights, self._parts, strict=True)
        self._blur = EXACT * sum((w * parts[0].equation.target_square for w, parts in whole), Fraction(0))

    @staticmethod
    def name(conditions: Conditions) -> str:
        """Return what a report calls the claim."""
        return f"the conditions on equations {list(conditions.equations)}"

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each claim that does not hold."""
        claim, present = self._claim, decided(self._claim)
        if claim.supports is None:
            if present is not None:
                yield "the claim is that nothing satisfies the conditions, but those on presence do not show it."
            return
        if present is None:
            yield "the conditions on the presence of terms contradict each other."
            return
        named = [] if claim.rivals is None else [*claim.rivals.members, *claim.rivals.parts.values()]
        claimed = [claim.supports, *(member.supports for member in named)]
        terms = [(e, j) for supports in claimed for e, support in enumerate(supports) for j in support]
        touched = {term for row in claim.presence for term, _ in row.coefficients}
        touched |= {term for condition in claim.rows for term, _ in condition.coefficients}
        sizes = [parts[0].equation.columns if parts else 0 for parts in self._parts]
        if any(e >= len(sizes) or j >= sizes[e] or not self._column(e, j) for e, j in {*touched, *terms}):
            yield "a condition or a claimed term is about a column of zeros, or one that is not there."
            return
        for e, parts in enumerate(self._parts):
            section = parts[0].section
            if any(present.get((e, j)) is not True for j in section.required) or any(
                present.get((e, j)) is not False for j in section.forbidden
            ):
                yield f"the terms that section {section.number} requires or forbids do not follow from the conditions."
                return
        value = yield from self._point(claim.supports, claim.active)
        if value is None:
            return
        if not self._sized(claim.supports):
            yield "the claimed supports do not have as many terms as the claim is about."
            return
        if not self._near(Fraction(claim.objective), value):
            yield f"the best point of the claimed support has {float(value)!r}, not {claim.objective!r}."
            return
        if claim.lower_bound == math.inf or (
            claim.lower_bound > 0 and Fraction(claim.lower_bound) > value * (1 + CLAIM) + self._blur
        ):
            yield f"the lower bound {claim.lower_bound!r} is above the optimum {float(value)!r}."
        yield from self._others(value)
        if claim.rivals is not None:
            yield from self._rivals(claim.rivals, claim.supports)

    def _sized(self, supports: Supports) -> bool:
        """Return whether a joint support has one of the sizes that the claim is about."""
        caps = zip(supports, self._claim.caps, strict=True)
        return not self._claim.exactly or all(len(support) == cap for support, cap in caps)

    def _column(self, e: int, j: int) -> bool:
        return bool(self._parts[e][0].equation.a[:, j].any())

    def _near(self, one: Fraction, other: Fraction) -> bool:
        return abs(one - other) <= CLAIM * max(abs(one), abs(other)) + self._blur

    def _fits(self, supports: Supports, only: int | None = None) -> bool:
        """Return whether a joint support satisfies the conditions on presence (of one equation) and sizes."""
        claim, terms = self._claim, {(e, j) for e, support in enumerate(supports) for j in support}
        sizes = [len(support) for support in supports]
        few = sum(sizes) <= claim.k and all(n <= cap for n, cap in zip(sizes, claim.caps, strict=True))
        return few and all(
            sum(c for t, c in row.coefficients if t in terms) <= row.limit
            for row in claim.presence
            if only is None or all(e == only for (e, _), _ in row.coefficients)
        )

    def _point(self, supports: Supports, active: Sequence[int]) -> Generator[str, None, Fraction | None]:
        """Find the best point of a support on some rows, in fractions; return its value if it is feasible."""
        claim = self._claim
        terms = [(e, j) for e, support in enumerate(supports) for j in support]
        if not self._fits(supports):
            yield "the claimed support has too many terms, or breaks a condition on presence."
            return None
        if any(row >= len(claim.rows) for row in active):
            yield "an active row is not there."
            return None
        rows = [dict(claim.rows[r].coefficients) for r in active]
        matrix, right = [], []
        for p, (e, j) in enumerate(terms):
            exact, weight = self._parts[e][0].exact, self._weights[e]
            line = [weight * exact.product(j, i) if d == e else Fraction(0) for d, i in terms]
            matrix.append(line + [row.get(terms[p], Fraction(0)) for row in rows])
            right.append(weight * exact.product(j, -1))
        for row, r in zip(rows, active, strict=True):
            matrix.append([row.get(term, Fraction(0)) for term in terms] + [Fraction(0)] * len(rows))
            right.append(claim.rows[r].limit)
        solution = solve(matrix, right)
        if solution is None:
            yield "no point of the claimed support satisfies its active rows."
            return None
        x = dict(zip(terms, solution, strict=False))
        for r, condition in enumerate(claim.rows):
            left = sum((c * x.get(term, Fraction(0)) for term, c in condition.coefficients), Fraction(0))
            if left > condition.limit or (condition.equal and left != condition.limit):
                yield f"the best point of the claimed support breaks row {r}."
                return None
        if not all(self._parts[e][0].exact.within(j, value) for (e, j), value in x.items()):
            yield "the coefficients of the claimed support exceed their limit."
            return None
        squares = zip(self._weights, self._parts, strict=True)
        total = sum((w * parts[0].equation.target_square for w, parts in squares), Fraction(0))
        for p, term in enumerate(terms):
            total += x[term] * (sum(matrix[p][q] * x[other] for q, other in enumerate(terms)) - 2 * right[p])
        return total

    def _others(self, value: Fraction) -> Iterator[str]:
        """Check that no joint support has a value below that of the claim, but for rounding."""
        limit = value * (1 - CLAIM) - self._blur
        least = self._unlisted()
        if least is not None and least < limit:
            yield f"supports that no section lists may have {float(least)!r}."
            return
        for supports, terms_value in self._joint(limit):
            if not self._sized(supports):
                continue
            bound = self._bound(supports) if supports in self._claim.multipliers else terms_value
            if bound is None or bound < limit:
                shown = "unbounded" if bound is None else repr(float(bound))
                yield f"the joint support {[list(s) for s in supports]} may be better: its bound is {shown}."
                return

    def _rivals(self, rivals: Rivals, best: Supports) -> Iterator[str]:
        """Check that the rivals are all joint supports of as many terms as the best, up to their limit (Lemma 15)."""
        terms, limit = sum(map(len, best)), Fraction(rivals.limit)
        for member in rivals.members:
            value = yield from self._point(member.supports, member.active)
            if value is None:
                return
            if sum(map(len, member.supports)) != terms or not self._sized(member.supports):
                yield f"the rival {[list(s) for s in member.supports]} has another number of terms."
                return
            if not self._near(value, Fraction(member.objective)) or (value > limit and not self._near(value, limit)):
                yield f"the rival {[list(s) for s in member.supports]} has {float(value)!r}, not {member.objective!r}."
                return
        least, below = self._unlisted(), limit * (1 - CLAIM) - self._blur
        if least is not None and least < below:
            yield f"rivals that no section lists may have {float(least)!r}."
            return
        known = {best, *(member.supports for member in rivals.members)}
        for supports, terms_value in self._joint(below):
            if supports in known or sum(map(len, supports)) != terms or not self._sized(supports):
                continue
            bound = self._bound(supports) if supports in self._claim.multipliers else terms_value
            needed = below
            if supports in rivals.parts:
                part = rivals.parts[supports]
                fewer = all(set(p) <= set(s) for p, s in zip(part.supports, supports, strict=True))
                value = yield from self._point(part.supports, part.active)
                if value is None:
                    return
                if fewer and sum(map(len, part.supports)) < terms:
                    needed = min(below, value * (1 - CLAIM) - self._blur)
            if bound is None or bound < needed:
                shown = "unbounded" if bound is None else repr(float(bound))
                yield f"the joint support {[list(s) for s in supports]} may be a rival: its bound is {shown}."
                return

    def _unlisted(self) -> Fraction | None:
        """Return a lower bound of the sums with a support that no section lists; None: there are none."""
        best: dict[tuple[int, bool], Fraction] = {(0, False): Fraction(0)}
        for e, parts in enumerate(self._parts):
            following: dict[tuple[int, bool], Fraction] = {}
            least = self._claim.caps[e] if self._claim.exactly else 0
            for size in range(least, min(self._claim.caps[e], self._claim.k, parts[0].equation.columns) + 1):
                if size < len(parts[0].section.required):
                    continue
                covering = [part for part in parts if part.covers(size)]
                listed = [f for part in covering for s, f in part.survivors.items() if len(s) == size]
                cuts = [part.section.exact_cut for part in covering]
                missing = None if None in cuts else max([c for c in cuts if c is not None] or [Fraction(0)])
                rest = parts[0].equation.rest_square
                choices = [(False, min(listed))] if listed else []
                choices += [] if missing is None else [(True, max(missing, rest))]
                for (used, open_), total in best.items():
                    for unlisted, f in choices:
                        place, amount = (used + size, open_ or unlisted), total + self._weights[e] * f
                        if place[0] <= self._claim.k and (place not in following or amount < following[place]):
                            following[place] = amount
            best = following
        return min((total for (_, unlisted), total in best.items() if unlisted), default=None)

    def _joint(self, limit: Fraction) -> Iterator[tuple[Supports, Fraction]]:
        """Yield joint supports of listed ones, with sums below the limit, that satisfy the conditions on presence."""
        lists = []
        for e, (weight, parts) in enumerate(zip(self._weights, self._parts, strict=True)):
            listed = {s: weight * f for part in parts for s, f in part.survivors.items()}
            alone = [((),) * e + (s,) + ((),) * (len(self._parts) - e - 1) for s in listed]
            lists.append(sorted((listed[one[e]], one[e]) for one in alone if self._fits(one, e)))
        if not all(lists):
            return
        rest = [sum((own[0][0] for own in lists[e:]), Fraction(0)) for e in range(len(lists) + 1)]
        seen, stack = 0, list[tuple[Supports, Fraction]]([((), Fraction(0))])
        while stack:
            chosen, total = stack.pop()
            if len(chosen) == len(lists):
                if self._fits(chosen):
                    yield chosen, total
                continue
            for f, support in lists[len(chosen)]:
                if total + f + rest[len(chosen) + 1] >= limit:
                    break
                if sum(map(len, chosen)) + len(support) > self._claim.k:
                    continue
                stack.append(((*chosen, support), total + f))
                seen += 1
                if seen > _MOST_JOINT:
                    raise NotChecked(f"more than {_MOST_JOINT} joint supports would have to be looked at.")

    def _bound(self, supports: Supports) -> Fraction | None:
        """Return the bound of a joint support by its multipliers (Lemma 13); None: minus infinity."""
        claim, slopes, total = self._claim, [dict[int, Fraction]() for _ in supports], Fraction(0)
        for r, multiplier in claim.multipliers[supports].items():
            if not 0 <= r < len(claim.rows) or (multiplier < 0 and not claim.rows[r].equal):
                return None
            total -= multiplier * claim.rows[r].limit
            for (e, j), c in claim.rows[r].coefficients:
                slopes[e][j] = slopes[e].get(j, Fraction(0)) + multiplier * c
        for e, support in enumerate(supports):
            weight = self._weights[e]
            least = self._parts[e][0].exact.lowered(support, {j: c / weight for j, c in slopes[e].items()})
            if least is None:
                return None
            total += weight * least
        return total


def decided(claim: Conditions) -> dict[Term, bool] | None:
    """Return which terms the conditions make present or absent; None if they contradict each other (Lemma 14).

    A term is present if a row on it alone excludes the coefficient 0; then rows on presence, and the numbers of terms,
    are used one by one, as long as one of them decides something.
    """
    flags: dict[Term, bool] = {}
    for row in claim.rows:
        if len(row.coefficients) == 1 and (row.limit < 0 or (row.equal and row.limit != 0)):
            flags[row.coefficients[0][0]] = True
    named = {t for row in claim.presence for t, _ in row.coefficients} | set(flags)
    sums = [Presence(tuple((t, 1) for t in named), claim.k)]
    sums += [Presence(tuple((t, 1) for t in named if t[0] == e), cap) for e, cap in enumerate(claim.caps)]
    changed = True
    while changed:
        changed = False
        for rule in (*claim.presence, *sums):
            weights: dict[Term, int] = {}
            for t, c in rule.coefficients:
                weights[t] = weights.get(t, 0) + c
            least = sum(c if flags.get(t, c < 0) else 0 for t, c in weights.items())
            if least > rule.limit:
                return None
            for t, c in weights.items():
                if t not in flags and least + abs(c) > rule.limit and c:
                    flags[t] = c < 0
                    changed = True
    return flags
