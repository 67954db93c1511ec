"""Fits of terms with and without inner constants, and the criterion that compares them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from exactsindy.discovery.families.equation_rows import EquationRows
from exactsindy.discovery.gauss_newton import ConstantFit, fit_constants
from exactsindy.library import Family, OpenTerm, Term


@dataclass(frozen=True)
class FamilyPart:
    """A term of a fit that is a member of a family: which of the fit's terms, and its constants under both names."""

    place: int
    term: OpenTerm
    family: Family
    names: tuple[tuple[str, str], ...]  # (in the fit, in the family)

    def at(self, values: Mapping[str, float]) -> Term:
        """Return the term with numbers for its constants, by their names in the fit."""
        return self.term.at(values)

    def point(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the constants by their names in the family."""
        return {name: values[own] for own, name in self.names}


@dataclass(frozen=True, eq=False)
class FamilyFit:
    """Terms of one equation with their criterion, the lower the better.

    ``terms`` are concrete; ``fit`` holds the constants inside them, None if there are none. ``rss`` is the residual sum
    of squares. ``criterion`` is n log(rss/n) + (terms + constants) log n + log(number of supports of this size).
    """

    terms: tuple[Term, ...]
    rss: float
    criterion: float
    signature: frozenset[str]
    fit: ConstantFit | None = None
    parts: tuple[FamilyPart, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)  # constants chosen from lists of values

    @property
    def values(self) -> dict[str, float]:
        """Return all constants inside the terms."""
        return {**self.held, **(self.fit.values if self.fit is not None else {})}

    def as_constants(self, rows: EquationRows) -> ConstantFit | None:
        """Return the fit of coefficients and constants, also where there are no constants; None if there is none."""
        return self.fit or fit_constants([OpenTerm(term) for term in self.terms], {}, rows.regression)

    def refined(self, fit: ConstantFit) -> FamilyFit:
        """Return the same terms with other constants."""
        return self if self.fit is None else replace(self, fit=fit, terms=fit.concrete)

    def without_one(self, rows: EquationRows) -> Iterator[FamilyFit]:
        """Yield the fits of all terms but one; their criterion is not computed."""
        own = self.as_constants(rows)
        if own is None or len(own.terms) < 2:
            return
        for left_out in range(len(own.terms)):
            terms = [term for i, term in enumerate(own.terms) if i != left_out]
            names = {name for term in terms for name in term.constants}
            start = {name: value for name, value in own.values.items() if name in names}
            fit = fit_constants(terms, start, rows.regression)
            if fit is not None:
                parts = tuple(
                    replace(part, place=part.place - (part.place > left_out))
                    for part in self.parts
                    if part.place != left_out
                )
                signature = frozenset(term.name for term in terms)
                own_fit = fit if parts else None
                yield FamilyFit(fit.concrete, fit.rss, math.inf, signature, own_fit, parts, self.held)


def criterion(rss: float, rows: int, parameters: int, supports: float, least: float) -> float:
    """Return the extended BIC of a fit; ``supports`` is the logarithm of the number of supports searched.

    Its weight is that of the middle of the extended BIC's range (2 gamma = 1): on invented laws with 1 % noise the full
    weight kept long polynomials in place of short laws that were the best of their family.
    """
    return rows * math.log(max(rss, least) / rows) + parameters * math.log(max(rows, 2)) + supports


def log_choose(n: int, k: int) -> float:
    """Return the logarithm of the number of supports of k of n terms."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) if 0 <= k <= n else 0.0
