"""Spatial derivatives of fields, and which terms are derivatives of something simpler."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement

from exactsindy.errors import ProblemError
from exactsindy.library.library import Library
from exactsindy.library.term import Term, Variable
from exactsindy.library.variables import Variables, as_names


@dataclass(frozen=True)
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

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the derivatives by total order, then by axes, then by field."""
        if not variables.axes:
            raise ProblemError(
                "Derivatives are spatial and need a field; these data are trajectories without space dimensions."
            )
        fields = variables.states if self.of is None else variables.chosen(self.of, "Derivatives")
        for order in range(1, self.order + 1):
            for axes in combinations_with_replacement(variables.axes, order):
                if self.mixed or axes[0] == axes[-1]:
                    for name in fields:
                        yield Term.variable(name, axes)


@dataclass(frozen=True)
class TotalDerivative:
    """A term that equals ``factor`` times the derivative of ``flux`` along ``axes``: u u_x = 1/2 (u^2)_x."""

    factor: float
    flux: Term
    axes: tuple[str, ...]


def total_derivative(term: Term) -> TotalDerivative | None:
    """Return the term as a derivative of a derivative-free term, or ``None`` where it is not one.

    A weak form can then move every derivative onto its test function.

    Examples
    --------
    >>> u, u_x = Term.variable("u"), Term.variable("u", ("x",))
    >>> total_derivative(u * u * u_x)
    TotalDerivative(factor=0.3333333333333333, flux=Term('u^3'), axes=('x',))
    """
    if not term.derivatives:
        return TotalDerivative(1.0, term, ())
    if len(term.derivatives) > 1:
        return None
    inner = term.derivatives[0]
    field = Variable(inner.name)
    if not term.coefficient.factors:
        return TotalDerivative(1.0, Term(((field, 1),)), inner.axes)
    power = term.coefficient.powers.get(field, 0)
    if len(inner.axes) == 1 and power > 0 and len(term.coefficient.factors) == 1:
        return TotalDerivative(1.0 / (power + 1), Term(((field, power + 1),)), inner.axes)
    return None
