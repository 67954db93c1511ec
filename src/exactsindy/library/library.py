"""The base of all libraries, their algebra, and a separate library for each equation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Data, numbers, parse_step
from exactsindy.errors import ProblemError, listed
from exactsindy.library.families import Family
from exactsindy.library.features import Features
from exactsindy.library.open_terms import OpenTerm
from exactsindy.library.term import Term
from exactsindy.library.variables import Variables

Names = Variables | Sequence[str] | Data
# Most candidate terms: their triangular factor would take 3 GB.
_MOST_TERMS = 20_000


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

    @property
    def is_open(self) -> bool:
        """Return True if terms have inner constants that the data decide; such a library has no columns yet."""
        return False

    def families(self, variables: Variables) -> Iterable[Family]:
        """Yield the terms with inner constants; none unless the library is open. `candidates` yields the others."""
        return ()

    def bind(self, names: Names) -> Features:
        """Return the library as evaluable columns of the named variables, or of those of the data."""
        if self.is_open:
            cure = "`discover` finds them and searches the terms they make"
            raise ProblemError(f"{self} has inner constants without values; {cure}.")
        return _bind(self, Variables.of(names))

    def evaluate(self, x: ArrayLike) -> Array:
        """Return the columns at samples ``x`` (n x d) of states that have no names (x0, x1, ...)."""
        table = numbers(x, "evaluate(x): x")
        if table.ndim != 2:
            raise ProblemError(f"evaluate(x): x has shape {table.shape}; expected samples x states (n, d).")
        return self.bind(tuple(f"x{i}" for i in range(table.shape[1]))).evaluate(table)

    def for_equation(self, target: str) -> Library:
        """Return the library of one equation: the same for all, unless built by `PerEquation`."""
        return self

    def __repr__(self) -> str:
        return call_text(self) if is_dataclass(self) else object.__repr__(self)

    def __add__(self, other: Library) -> Library:
        return Join((*_parts(self, Join), *_parts(other, Join))) if isinstance(other, Library) else NotImplemented

    def __mul__(self, other: Library) -> Library:
        return Product(self, other) if isinstance(other, Library) else NotImplemented


def call_text(library: Any) -> str:
    """Return the call that makes a library, a dataclass: fields with other values than their defaults by name."""
    parts = []
    for i, entry in enumerate(fields(library)):
        value = getattr(library, entry.name)
        needed = entry.default is MISSING
        if needed or i == 0 or value != entry.default:
            parts.append(f"{value!r}" if needed or i == 0 else f"{entry.name}={value!r}")
    return f"{type(library).__name__}({', '.join(parts)})"


@lru_cache(maxsize=256)
def _bind(library: Library, variables: Variables) -> Features:
    terms = dict.fromkeys(variables.ordered(term) for term in _counted(library, variables))
    if not terms:
        raise ProblemError(f"{library} has no terms for the variables {variables.basic}.")
    features = Features(variables, tuple(terms))
    double = next((name for name, count in Counter(features.names).items() if count > 1), None)
    if double is not None:
        raise ProblemError(f"Two different terms are both named {double!r}: give one of them another name.")
    return features


def _counted(library: Library, variables: Variables) -> Iterable[Term]:
    """Yield the terms of a library, but not more than a regression can hold."""
    for count, term in enumerate(library.candidates(variables)):
        if count == _MOST_TERMS:
            cure = "lower its degree or name fewer variables (of=...)"
            raise ProblemError(f"{library} has more than {_MOST_TERMS} terms for {listed(variables.known)}; {cure}.")
        yield term


def _parts(library: Library, kind: type[Join]) -> tuple[Library, ...]:
    return library.members if isinstance(library, kind) else (library,)


@dataclass(frozen=True, repr=False)
class Join(Library):
    """All terms of several libraries; what ``+`` makes."""

    members: tuple[Library, ...]

    @property
    def is_open(self) -> bool:
        """Return True if a member is open."""
        return any(member.is_open for member in self.members)

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms of each member in turn."""
        for member in self.members:
            yield from member.candidates(variables)

    def families(self, variables: Variables) -> Iterable[Family]:
        """Yield those of each member in turn."""
        for member in self.members:
            yield from member.families(variables)

    def for_equation(self, target: str) -> Library:
        """Return the join of the members' libraries for this equation."""
        return Join(tuple(member.for_equation(target) for member in self.members))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.members))


@dataclass(frozen=True, repr=False)
class Product(Library):
    """Each term of ``left`` times each term of ``right``, the right one running fastest; what ``*`` makes."""

    left: Library
    right: Library

    @property
    def is_open(self) -> bool:
        """Return True if a factor is open."""
        return self.left.is_open or self.right.is_open

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the pairwise products."""
        right = tuple(_counted(self.right, variables))
        for a in self.left.candidates(variables):
            for b in right:
                yield a * b

    def families(self, variables: Variables) -> Iterable[Family]:
        """Yield the products of the families of one factor with the terms of the other."""
        for one, other in ((self.left, self.right), (self.right, self.left)):
            for part in one.families(variables):
                yield from (part * OpenTerm(term) for term in other.candidates(variables))

    def for_equation(self, target: str) -> Library:
        """Return the product of the factors' libraries for this equation."""
        return Product(self.left.for_equation(target), self.right.for_equation(target))

    def __repr__(self) -> str:
        factors = (self.left, self.right)
        return " * ".join(
            f"({part!r})" if isinstance(part, Join) or (i and isinstance(part, Product)) else repr(part)
            for i, part in enumerate(factors)
        )


class PerEquation(Library):
    """Different candidate terms for different equations.

    Parameters
    ----------
    libraries
        From equation (``"x"`` or ``"x'"``, ``"u"`` or ``"u_t"``) to library.
    default
        The library of equations not named; without it every equation must be named.

    Examples
    --------
    >>> from exactsindy.library import Polynomials
    >>> library = PerEquation({"x": Polynomials(1)}, default=Polynomials(2))
    >>> library.for_equation("x'").bind(("x", "y")).names
    ('1', 'x', 'y')
    """

    def __init__(self, libraries: Mapping[str, Library], default: Library | None = None) -> None:
        if not isinstance(libraries, Mapping):
            raise ProblemError(f"PerEquation({libraries!r}): expected a mapping from equation to library.")
        if default is not None and not isinstance(default, Library):
            raise ProblemError(f"PerEquation(default={default!r}): expected a library.")
        for equation, library in libraries.items():
            if not isinstance(library, Library):
                raise ProblemError(f"PerEquation: {equation!r} has {library!r}; expected a library.")
        if not libraries:
            raise ProblemError("PerEquation({}): expected at least one equation.")
        self.libraries = tuple(libraries.items())
        self.default = default

    @property
    def is_open(self) -> bool:
        """Return True if the library of an equation is open."""
        return any(library.is_open for _, library in self.libraries) or bool(self.default and self.default.is_open)

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms of all equations."""
        for _, library in self.libraries:
            yield from library.candidates(variables)
        if self.default is not None:
            yield from self.default.candidates(variables)

    def for_equation(self, target: str) -> Library:
        """Return the library of one equation."""
        by_name = dict(self.libraries)
        for name in (target, equation_state(target)):
            if name in by_name:
                return by_name[name]
        for name, library in self.libraries:
            if equation_state(name) == equation_state(target):
                return library
        if self.default is None:
            cure = f"it has {', '.join(by_name)}. Add it, or give default=..."
            raise ProblemError(f"PerEquation has no library for the equation {target!r}; {cure}")
        return self.default

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerEquation) and self.libraries == other.libraries and self.default == other.default

    def __hash__(self) -> int:
        return hash((self.libraries, self.default))

    def __repr__(self) -> str:
        return f"PerEquation({dict(self.libraries)!r}, default={self.default!r})"


def equation_state(target: str) -> str:
    """Return the state of a target: ``x`` for ``x'`` and ``x''``, ``u`` for ``u_t``, ``x`` for ``x[k+1]``."""
    step = parse_step(target)
    if step is not None:
        return step.state
    return target.rstrip("'").removesuffix("_t") if target.rstrip("'") != "_t" else target
