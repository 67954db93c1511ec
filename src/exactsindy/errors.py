"""Errors raised by exactsindy. Each names the argument, what came, what was expected and what to do."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from numbers import Real
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

# Names at least this alike (`difflib` ratio, 1 is equal) are suggested; half the letters is far enough for a slip.
_ALIKE = 0.5
# Longer lists of names are cut.
_MOST_LISTED = 12
# Longer names, and names among more than so many, are not compared.
_MOST_COMPARED = 1000


def nearest(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: near names, and all known ones.

    Examples
    --------
    >>> nearest("lorentz", ["lorenz", "hopf"])
    "Did you mean 'lorenz'? Known are lorenz, hopf."
    """
    names = list(known)
    word = str(name)
    close = []
    if len(word) <= _MOST_COMPARED and len(names) <= _MOST_COMPARED:  # comparing takes long for long ones
        close = difflib.get_close_matches(word, names, n=3, cutoff=_ALIKE)
    hint = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    return f"{hint}Known are {listed(names)}."


def listed(names: Iterable[str]) -> str:
    """Return names with commas between them, the first ones of a long list."""
    every = list(names)
    shown = ", ".join(every[:_MOST_LISTED])
    return shown if len(every) <= _MOST_LISTED else f"{shown}, ... ({len(every)} in all)"


def repeated(items: Iterable[T]) -> T | None:
    """Return the first item that was there before, or None, in linear time.

    Examples
    --------
    >>> repeated("abcb")
    'b'
    """
    seen: set[T] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def name_tuple(value: object, what: str, error: type[Exception]) -> tuple[str, ...]:
    """Return several names as a tuple; what is no list of names, a single one included, raises ``error``."""
    if isinstance(value, str):
        raise error(f"{what}={value!r}: expected a list of names, e.g. ({value!r},).")
    try:
        names = tuple(value) if isinstance(value, Iterable) else (None,)
    except TypeError:  # an array of one number says that it can be iterated over
        names = (None,)
    if not all(isinstance(name, str) for name in names):
        raise error(f"{what}={value!r}: expected a list of names, e.g. ('x', 'y').")
    return names


def suggests_keywords(**others: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator: a keyword that a function does not have is answered with the one that is meant.

    ``others`` are what people write elsewhere, such as ``t`` for ``time``, or a whole sentence where no keyword stands
    for it; the TypeError stays one.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        known = tuple(inspect.signature(function).parameters)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            wrong = next((name for name in kwargs if name not in known), None)
            if wrong is not None:
                other = others.get(wrong, "")
                hint = other if " " in other else f"Did you mean {other}=?" if other else nearest(wrong, known)
                raise TypeError(f"{function.__name__}() has no argument {wrong!r}. {hint}")
            return function(*args, **kwargs)

        return called

    return decorated


def is_real(value: object) -> bool:
    """Return True for a single real number: of Python, of NumPy, but neither True nor False."""
    return hasattr(value, "__float__") and isinstance(value, Real) and not isinstance(value, bool)


class ExactSindyError(Exception):
    """Base of all errors raised on purpose by this package."""


class DataError(ExactSindyError, ValueError):
    """Measured data cannot be used as they are."""


class ProblemError(ExactSindyError, ValueError):
    """A regression problem cannot be built or combined as asked."""


class ConstraintError(ExactSindyError, ValueError):
    """A constraint names something unknown or contradicts another."""


class SolverError(ExactSindyError, ValueError):
    """A solve was asked for in a way that has no answer."""


class MissingDependency(ExactSindyError, ImportError):
    """An optional package is needed; the message holds the pip line that installs it."""
