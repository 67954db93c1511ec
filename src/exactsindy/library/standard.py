"""The standard libraries: monomials, sines and cosines, spatial derivatives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import inf, prod

import numpy as np

from exactsindy.errors import ProblemError, is_real
from exactsindy.library.library import Library
from exactsindy.library.term import Expression, Function, Term
from exactsindy.library.variables import Variables, as_names

# Largest degree and order: doubles tell higher powers and derivatives apart no more.
_MOST_DEGREE = 100


@dataclass(frozen=True, repr=False)
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
        Names of the variables to use; all states and controls by default (parameters only if named).

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
        for name in ("bias", "interactions"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ProblemError(f"Polynomials({name}={getattr(self, name)!r}): expected True or False.")
        if not isinstance(self.degree, int) or self.degree < 0:
            raise ProblemError(f"Polynomials(degree={self.degree!r}): expected an integer >= 0, e.g. 3.")
        if self.degree > _MOST_DEGREE:
            raise ProblemError(f"Polynomials(degree={self.degree}): expected at most {_MOST_DEGREE}, e.g. 3.")

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the monomials by degree, then in the order of the variables."""
        names = variables.chosen(self.of, "Polynomials")
        if self.bias:
            yield Term()
        for degree in range(1, self.degree + 1):
            for word in combinations_with_replacement(names, degree):
                if self.interactions or word[0] == word[-1]:
                    yield prod(map(Term.variable, word), start=Term())


@dataclass(frozen=True, repr=False)
class Parameters(Library):
    """Monomials of the parameters up to ``degree``, with the constant 1: how coefficients may depend on them.

    Parameters are numbers that are constant within each trajectory; `Polynomials` leaves them out.
    ``Polynomials(3) * Parameters(1)`` lets every coefficient of a cubic law be linear in each parameter.

    Parameters
    ----------
    degree
        Largest total degree.
    of
        Names of the parameters to use; all of them by default.

    Examples
    --------
    >>> from exactsindy.library import Variables
    >>> library = Polynomials(2, bias=False) * Parameters(1)
    >>> [term.name for term in library.terms(Variables(("x",), parameters=("mu",)))]
    ['x', 'mu x', 'x^2', 'mu x^2']
    """

    degree: int = 1
    of: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", as_names(self.of, "Parameters"))
        if not isinstance(self.degree, int) or isinstance(self.degree, bool) or not 0 <= self.degree <= _MOST_DEGREE:
            expected = f"expected an integer from 0 to {_MOST_DEGREE}, e.g. 1"
            raise ProblemError(f"Parameters(degree={self.degree!r}): {expected}.")

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the monomials by degree, then in the order of the parameters."""
        if not variables.parameters:
            cure = "pass parameters={'mu': [...]}, one value per trajectory, or leave Parameters out of the library"
            raise ProblemError(f"{self!r}: the data have no parameter that varies between trajectories; {cure}.")
        names = variables.parameters if self.of is None else variables.chosen(self.of, "Parameters")
        strange = next((name for name in names if name not in variables.parameters), None)
        if strange is not None:
            known = ", ".join(variables.parameters)
            raise ProblemError(f"Parameters(of=...): {strange!r} is no parameter; the parameters are {known}.")
        for degree in range(self.degree + 1):
            for word in combinations_with_replacement(names, degree):
                yield prod(map(Term.variable, word), start=Term())


@dataclass(frozen=True, repr=False)
class Fourier(Library):
    """The terms sin(k w x) and cos(k w x), k = 1..frequencies, for every variable x.

    Parameters
    ----------
    frequencies
        Number of multiples k.
    sine, cosine
        Which of the two are included.
    base
        The lowest angular frequency w.
    of
        Names of the variables to use; all states and controls by default. ``of=("t",)`` gives a periodic forcing.

    Examples
    --------
    >>> [term.name for term in Fourier(2, of=("x",)).terms(("x", "y"))]
    ['sin(x)', 'cos(x)', 'sin(2 x)', 'cos(2 x)']
    """

    frequencies: int = 1
    sine: bool = True
    cosine: bool = True
    base: float = 1.0
    of: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", as_names(self.of, "Fourier"))
        if not isinstance(self.frequencies, int) or self.frequencies < 1:
            raise ProblemError(f"Fourier(frequencies={self.frequencies!r}): expected an integer >= 1.")
        if not (self.sine or self.cosine):
            raise ProblemError("Fourier(sine=False, cosine=False) has no terms: keep at least one of them.")
        if not is_real(self.base) or not 0 < self.base < inf:
            raise ProblemError(f"Fourier(base={self.base!r}): expected a positive frequency.")

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms by frequency, then by variable, sine first."""
        kinds = [kind for kind, wanted in (("sin", self.sine), ("cos", self.cosine)) if wanted]
        for k in range(1, self.frequencies + 1):
            for name in variables.chosen(self.of, "Fourier"):
                argument = Expression(((k * self.base, Term.variable(name)),))
                for kind in kinds:
                    yield Term(((Function(kind, argument), 1),))


@dataclass(frozen=True, repr=False)
class Derivatives(Library):
    """All spatial derivatives of the fields up to ``order``: u_x, u_y, u_xx, u_xy, u_yy, ...

    The form decides how they are computed (differences, spectrally, or moved onto a test function).

    Parameters
    ----------
    order
        Largest total order.
    of
        Names of the fields; all of them by default.
    mixed
        Whether derivatives along different axes, such as u_xy, are included.

    Examples
    --------
    >>> from exactsindy.library import Variables
    >>> [term.name for term in Derivatives(2).terms(Variables(("u",), axes=("x", "y")))]
    ['u_x', 'u_y', 'u_xx', 'u_xy', 'u_yy']
    """

    order: int
    of: tuple[str, ...] | None = None
    mixed: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", as_names(self.of, "Derivatives"))
        if not isinstance(self.order, int) or self.order < 1:
            raise ProblemError(f"Derivatives(order={self.order!r}): expected an integer >= 1.")
        if self.order > _MOST_DEGREE:
            raise ProblemError(f"Derivatives(order={self.order}): expected at most {_MOST_DEGREE}, e.g. 4.")

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the derivatives by total order, then by axes, then by field."""
        if not variables.axes:
            reason = "these data are trajectories without space dimensions"
            raise ProblemError(f"Derivatives are spatial and need a field; {reason}.")
        fields = variables.states if self.of is None else variables.chosen(self.of, "Derivatives")
        for order in range(1, self.order + 1):
            for axes in combinations_with_replacement(variables.axes, order):
                if self.mixed or axes[0] == axes[-1]:
                    for name in fields:
                        yield Term.variable(name, axes)
