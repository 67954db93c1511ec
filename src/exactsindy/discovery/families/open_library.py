"""A library of given terms and given families."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exactsindy.library import Family, Library, Term, Variables


@dataclass(frozen=True)
class FamilyTerms(Library):
    """Given terms, and families whose inner constants the data decide."""

    closed: tuple[Term, ...]
    open_terms: tuple[Family, ...]

    @property
    def is_open(self) -> bool:
        """Return True if there are families."""
        return bool(self.open_terms)

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms without inner constants."""
        return self.closed

    def families(self, variables: Variables) -> Iterable[Family]:
        """Yield the families."""
        return self.open_terms
