"""Families: terms with inner constants and where these may lie, before the data decide them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import EllipsisType

from exactsindy.errors import ProblemError, is_real
from exactsindy.library.open_terms import OpenTerm

# Values of a constant that a list may have at most: each is a column of the regression.
_MOST_VALUES = 5000
# A range (low, high), a list of values, or ... where the scale of the data chooses.
RangeLike = tuple[float, float] | Sequence[float] | EllipsisType


@dataclass(frozen=True)
class ConstantRange:
    """Where an inner constant may lie: between two numbers, one of a few values, or (neither given) anywhere.

    A range that is not given is chosen from the scale of the data.
    """

    low: float | None = None
    high: float | None = None
    values: tuple[float, ...] = ()

    @property
    def is_known(self) -> bool:
        """Return True if it was given, not left to the scale of the data."""
        return bool(self.values) or self.low is not None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the least and the largest number between which a constant may be refined; None if it may not."""
        return None if self.values or self.low is None or self.high is None else (self.low, self.high)

    @classmethod
    def of(cls, name: str, given: RangeLike) -> ConstantRange:
        """Return the range written as ``(low, high)``, as a list of values, or as ``...``.

        Examples
        --------
        >>> ConstantRange.of("w", (0.5, 6)).bounds, ConstantRange.of("w", [1, 2]).values
        ((0.5, 6.0), (1.0, 2.0))
        """
        if given is ...:
            return cls()
        expected = f"expected a range such as {name}=(0.5, 6), a list of values such as {name}=[1, 2], or {name}=..."
        if isinstance(given, tuple | list) and given and all(is_real(v) and -inf < v < inf for v in given):
            numbers = tuple(float(v) for v in given)
            if isinstance(given, list):
                if len(numbers) > _MOST_VALUES:
                    raise ProblemError(f"{name}: {len(numbers)} values; expected at most {_MOST_VALUES}.")
                return cls(values=tuple(dict.fromkeys(numbers)))
            if len(numbers) == 2 and numbers[0] < numbers[1]:
                return cls(*numbers)
        raise ProblemError(f"Terms({name}={given!r}): {expected}.")

    def __str__(self) -> str:
        if self.values:
            return repr(list(self.values))
        return f"({self.low:g}, {self.high:g})" if self.low is not None and self.high is not None else "..."


@dataclass(frozen=True)
class Family:
    """Terms that differ by their inner constants alone, such as sin(w x) with w between 0.5 and 6.

    At most ``most`` of them may stand in an equation.
    """

    term: OpenTerm
    ranges: tuple[ConstantRange, ...]
    most: int = 1

    @property
    def name(self) -> str:
        """Return the term with its constants by name."""
        return self.term.name

    def __mul__(self, other: OpenTerm) -> Family:
        """Return the family of products with a term that has no constants of its own."""
        if other.constants:
            raise ProblemError(f"The product of {self.name!r} and {other.name!r} has two sets of constants.")
        product = OpenTerm(other.template * self.term.template, self.term.constants)
        return Family(product, self.ranges, self.most)


def constant_ranges(given: Mapping[str, RangeLike]) -> tuple[tuple[str, ConstantRange], ...]:
    """Return the constants of a library with their ranges, checked."""
    return tuple((name, ConstantRange.of(name, value)) for name, value in given.items())


def family(term: OpenTerm, ranges: Sequence[tuple[str, ConstantRange]], most: int) -> Family:
    """Return the family of a term with those of the ranges that its constants have."""
    known = dict(ranges)
    return Family(term, tuple(known[name] for name in term.constants), most)


def named(families: Iterable[Family]) -> tuple[Family, ...]:
    """Return each family once."""
    return tuple(dict.fromkeys(families))
