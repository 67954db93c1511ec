"""The base of all libraries, and their algebra."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Data
from exactsindy.errors import ProblemError
from exactsindy.library.features import Features
from exactsindy.library.term import Term
from exactsindy.library.variables import Variables

Names = Variables | Sequence[str] | Data


class Library(ABC):
    """A recipe for candidate terms, independent of data until it is bound to names.

    ``a + b`` joins two libraries (equal terms merge), ``a * b`` is all pairwise products.
    """

    @abstractmethod
    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms for these variables; repeats and the order of factors do not matter."""

    def terms(self, names: Names) -> tuple[Term, ...]:
        """Return the terms for state names, `Variables` or data, each once, in order of appearance."""
        return self.bind(names).terms

    def bind(self, names: Names) -> Features:
        """Return the library as evaluable columns of the named variables, or of those of the data."""
        return _bind(self, Variables.of(names))

    def evaluate(self, x: ArrayLike) -> Array:
        """Return the columns at samples ``x`` (n x d) of states that have no names (x0, x1, ...)."""
        table = np.asarray(x, dtype=float)
        if table.ndim != 2:
            raise ProblemError(f"evaluate(x): x has shape {table.shape}; expected samples x states (n, d).")
        return self.bind(tuple(f"x{i}" for i in range(table.shape[1]))).evaluate(table)

    def for_equation(self, target: str) -> Library:
        """Return the library of one equation: the same for all, unless built by `PerEquation`."""
        return self

    def __add__(self, other: Library) -> Library:
        return Join((*_parts(self, Join), *_parts(other, Join))) if isinstance(other, Library) else NotImplemented

    def __mul__(self, other: Library) -> Library:
        return Product(self, other) if isinstance(other, Library) else NotImplemented


@lru_cache(maxsize=256)
def _bind(library: Library, variables: Variables) -> Features:
    terms = dict.fromkeys(variables.ordered(term) for term in library.candidates(variables))
    if not terms:
        raise ProblemError(f"{library} has no terms for the variables {variables.basic}.")
    features = Features(variables, tuple(terms))
    double = next((name for name, count in Counter(features.names).items() if count > 1), None)
    if double is not None:
        raise ProblemError(f"Two different terms are both named {double!r}: give one of them another name.")
    return features


def _parts(library: Library, kind: type[Join]) -> tuple[Library, ...]:
    return library.members if isinstance(library, kind) else (library,)


@dataclass(frozen=True)
class Join(Library):
    """All terms of several libraries; what ``+`` makes."""

    members: tuple[Library, ...]

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms of each member in turn."""
        for member in self.members:
            yield from member.candidates(variables)

    def for_equation(self, target: str) -> Library:
        """Return the join of the members' libraries for this equation."""
        return Join(tuple(member.for_equation(target) for member in self.members))


@dataclass(frozen=True)
class Product(Library):
    """Each term of ``left`` times each term of ``right``, the right one running fastest; what ``*`` makes."""

    left: Library
    right: Library

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the pairwise products."""
        right = tuple(self.right.candidates(variables))
        for a in self.left.candidates(variables):
            for b in right:
                yield a * b

    def for_equation(self, target: str) -> Library:
        """Return the product of the factors' libraries for this equation."""
        return Product(self.left.for_equation(target), self.right.for_equation(target))
