"""Quotients of sums of terms whose denominator the data decide: x' = p(x) + M(x) / D(x)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from exactsindy.errors import ProblemError
from exactsindy.library.library import Join, Library
from exactsindy.library.standard import Polynomials
from exactsindy.library.term import Term
from exactsindy.library.variables import Variables


@dataclass(frozen=True, repr=False)
class Rational(Library):
    """Laws p + M / D: terms of p and M from ``numerator``, of the denominator D from ``denominator``.

    The constants in D are found by `discover`, which then searches the terms of p and those of M divided by D like any
    library. Where the data need no denominator, the answer has none.

    Parameters
    ----------
    numerator, denominator
        Libraries such as ``Polynomials(2)``; monomials up to degree 2 by default.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> s = np.linspace(0.1, 3.0, 60)[:, None]
    >>> rate = -1.2 * s / (0.5 + s)
    >>> data = es.Trajectories.from_arrays(s, time=0.1, states=("S",), derivatives=rate)
    >>> es.discover(data, library=es.Rational(es.Polynomials(2), es.Polynomials(2))).model.equations(3)
    ["S' = -1.2 S/(0.5 + S)"]
    """

    numerator: Library = field(default_factory=lambda: Polynomials(2))
    denominator: Library = field(default_factory=lambda: Polynomials(2))

    def __post_init__(self) -> None:
        for name in ("numerator", "denominator"):
            library = getattr(self, name)
            if not isinstance(library, Library):
                raise ProblemError(f"Rational({name}={library!r}): expected a library such as Polynomials(2).")
            if library.is_open:
                raise ProblemError(
                    f"Rational({name}={library!r}): it has inner constants; give a library of plain terms."
                )

    @property
    def is_open(self) -> bool:
        """Return True: the constants of the denominator are those that the data decide."""
        return True

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms of the numerator, which are those of p."""
        return self.numerator.candidates(variables)

    def for_equation(self, target: str) -> Library:
        """Return the quotients of the libraries of this equation."""
        return Rational(self.numerator.for_equation(target), self.denominator.for_equation(target))


def rational_parts(library: Library) -> tuple[tuple[Rational, ...], tuple[Library, ...]]:
    """Return the rational members of a library of one equation, and the others."""
    members = library.members if isinstance(library, Join) else (library,)
    rational = tuple(member for member in members if isinstance(member, Rational))
    return rational, tuple(member for member in members if not isinstance(member, Rational))
