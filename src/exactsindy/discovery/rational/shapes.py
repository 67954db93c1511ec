"""Which terms a rational law is made of: p + M / D, what of them cancels, and when two laws are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from exactsindy.library import Term

# Columns of a list of candidate terms.
Columns = tuple[int, ...]


@dataclass(frozen=True)
class Candidates:
    """The candidate terms of one equation: of p (``plain``), of M (``over`` the fraction line) and of D (``under``)."""

    plain: tuple[Term, ...]
    over: tuple[Term, ...] = ()
    under: tuple[Term, ...] = ()

    @property
    def free(self) -> int:
        """Return the number of coefficients that a law could have: one term of D is normalised to 1."""
        return len(self.plain) + len(self.over) + max(len(self.under) - 1, 0)

    @cached_property
    def _over_index(self) -> dict[Term, int]:
        return {term: j for j, term in enumerate(self.over)}

    @cached_property
    def _under_index(self) -> dict[Term, int]:
        return {term: j for j, term in enumerate(self.under)}

    def cancelled(self, shape: Shape) -> Shape:
        """Return the shape without the monomial that M and D have in common, where the candidates allow it.

        x y / (y + x y) is x / (1 + x): the same law with another normalisation, which must not compete with itself.
        """
        parts = [*(self.over[j] for j in shape.over), *(self.under[j] for j in shape.under)]
        if not shape.over or not shape.under:
            return shape
        common = common_factor(parts)
        if not common.factors:
            return shape
        inverse = Term(tuple((atom, -power) for atom, power in common.factors))
        over = [self._over_index.get(self.over[j] * inverse) for j in shape.over]
        under = [self._under_index.get(self.under[j] * inverse) for j in shape.under]
        if None in over or None in under:
            return shape
        # The order of D is kept: its first term is the normalised one.
        return replace(
            shape, over=tuple(sorted(j for j in over if j is not None)), under=tuple(j for j in under if j is not None)
        )

    def identity(self, shape: Shape) -> tuple[frozenset[Term], frozenset[Term]]:
        """Return the terms of numerator and denominator of the law as one fraction, their common monomial cancelled.

        Laws of equal identity are the same family of functions: 1 + x/(c + x) and 1 + 1/(c + x).
        """
        if not shape.over:
            return frozenset(self.plain[j] for j in shape.plain), frozenset((Term(),))
        under = {self.under[j] for j in shape.under}
        over = {self.over[j] for j in shape.over} | {self.plain[i] * term for i in shape.plain for term in under}
        inverse = Term(tuple((atom, -power) for atom, power in common_factor([*over, *under]).factors))
        return frozenset(term * inverse for term in over), frozenset(term * inverse for term in under)


@dataclass(frozen=True)
class Shape:
    """The terms of one law as columns of its candidates; the first of ``under`` is normalised to coefficient 1."""

    plain: Columns
    over: Columns = ()
    under: Columns = ()

    @property
    def size(self) -> int:
        """Return the number of coefficients that are fitted."""
        return len(self.plain) + len(self.over) + max(len(self.under) - 1, 0)

    @property
    def free_under(self) -> Columns:
        """Return the terms of D whose coefficients are fitted."""
        return self.under[1:]


def common_factor(terms: Sequence[Term]) -> Term:
    """Return the largest product of atoms that divides every term."""
    powers = {atom: power for atom, power in terms[0].factors if power > 0}
    for other in terms[1:]:
        powers = {atom: min(power, other.powers.get(atom, 0)) for atom, power in powers.items()}
    return Term(tuple((atom, power) for atom, power in powers.items() if power > 0))
