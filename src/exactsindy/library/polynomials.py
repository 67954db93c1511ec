"""All monomials up to a total degree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement

from exactsindy.errors import ProblemError
from exactsindy.library.library import Library
from exactsindy.library.term import Term
from exactsindy.library.variables import Variables, as_names


@dataclass(frozen=True)
class Polynomials(Library):
    """Monomials of the states (and controls) up to ``degree``, in PySINDy's order.

    Parameters
    ----------
    degree
        Largest total degree, at least 1 (0 with ``bias`` is the constant alone).
    bias
        Whether the constant ``1`` is included.
    interactions
        Whether products of different variables are included.
    of
        Names of the variables to use; all states and controls by default.

    Examples
    --------
    >>> [term.name for term in Polynomials(2).terms(("x", "y"))]
    ['1', 'x', 'y', 'x^2', 'x y', 'y^2']
    >>> Polynomials(2, bias=False).evaluate([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    """

    degree: int
    bias: bool = True
    interactions: bool = True
    of: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", as_names(self.of, "Polynomials"))
        if not isinstance(self.degree, int) or self.degree < 0:
            raise ProblemError(f"Polynomials(degree={self.degree!r}): expected an integer >= 0, e.g. 3.")

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the monomials by degree, then in the order of the variables."""
        names = variables.chosen(self.of, "Polynomials")
        if self.bias:
            yield Term()
        for degree in range(1, self.degree + 1):
            for word in combinations_with_replacement(names, degree):
                if self.interactions or word[0] == word[-1]:
                    term = Term()
                    for name in word:
                        term = term * Term.variable(name)
                    yield term
