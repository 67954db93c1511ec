"""One equation of a model: a time derivative and the sum of terms it equals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, isfinite, isnan, log10

from exactsindy.data import Target, parse_step
from exactsindy.errors import ProblemError, repeated
from exactsindy.library import NAME, Term, Variable, at_step, derivative_name


@dataclass(frozen=True)
class Equation:
    """A left-hand side and its right-hand side, coefficient by coefficient.

    Parameters
    ----------
    target
        Which derivative of which state the equation gives.
    terms
        The terms of the right-hand side; none for a derivative that is zero.
    coefficients
        One finite number per term.
    standard_errors
        One per term, nan for a coefficient that a constraint decides; ``None`` where they are not known.
    constants
        Names of parameters, which are written without a step in maps.

    Examples
    --------
    >>> Equation(Target("x"), (Term.variable("x"),), (-2.0,)).text()
    "x' = -2 x"
    """

    target: Target
    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    standard_errors: tuple[float, ...] | None = None
    constants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        errors = self.standard_errors
        counts = [len(self.coefficients), len(self.terms if errors is None else errors)]
        if any(count != len(self.terms) for count in counts):
            raise ProblemError(
                f"The equation {self.name!r} has {len(self.terms)} terms but {len(self.coefficients)} "
                f"coefficients and {counts[1]} standard errors: expected one of each per term."
            )
        for term, value in zip(self.terms, self.coefficients, strict=True):
            if not isfinite(value):
                raise ProblemError(
                    f"The coefficient of {term.name!r} in {self.name!r} is {value}: expected a finite number."
                )
        double = repeated(self.terms)
        if double is not None:
            raise ProblemError(
                f"The term {double.name!r} stands twice in the equation {self.name!r}: add up its coefficients."
            )

    @property
    def name(self) -> str:
        """Return how the left-hand side is written: ``x'``, ``x''``, ``u_t``, ``x[k+1]``."""
        return self.target.name

    @property
    def parts(self) -> tuple[tuple[float, Term], ...]:
        """Return the right-hand side as (coefficient, term) pairs."""
        return tuple(zip(self.coefficients, self.terms, strict=True))

    @property
    def written(self) -> tuple[tuple[float, Term], ...]:
        """Return `parts` as they are shown: in maps a variable x is written ``x[k]``."""
        return tuple((c, at_step(term, self.constants)) for c, term in self.parts) if self.target.step else self.parts

    def is_fixed(self, i: int) -> bool:
        """Return True if a constraint decides the coefficient of the i-th term: it has no standard error."""
        return self.standard_errors is not None and isnan(self.standard_errors[i])

    def variables(self) -> tuple[Variable, ...]:
        """Return the variables and derivatives the right-hand side uses."""
        return tuple(dict.fromkeys(v for term in self.terms for v in term.variables()))

    def text(self, digits: int | None = 6) -> str:
        """Write the equation; ``digits`` are significant ones, ``None`` writes every double in full."""
        return f"{self.name} = {join_signed(_product(c, term, digits) for c, term in self.written)}"

    def text_with_errors(self) -> str:
        """Write the equation with standard errors where known: ``x' = (-9.998 ± 0.012) x + (1 fixed) y``."""
        parts = []
        for i, (value, term) in enumerate(self.written):
            pair = None if self.standard_errors is None else with_error(value, self.standard_errors[i])
            number = significant(value, 6) if pair is None else f"({pair[0]} ± {pair[1]})"
            number = f"({number} fixed)" if self.is_fixed(i) else number
            parts.append(number if term.name == "1" else f"{number} {term.name}")
        return f"{self.name} = {' + '.join(parts) or '0'}"


def _product(coefficient: float, term: Term, digits: int | None) -> str:
    size = significant(coefficient, digits)
    if not term.factors:
        return size
    if size in ("1", "-1"):
        return size[:-1] + term.text(NAME)
    # A quotient such as 1/x is written 3/x; "3 1/x" would read as a mixed number.
    body = term.text(NAME)
    return size + body[1:] if body.startswith("1/") else f"{size} {body}"


def significant(value: float, digits: int | None) -> str:
    """Write a number with so many significant digits: small coefficients are never rounded to zero."""
    if digits is not None:
        return f"{value:.{digits}g}"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def with_error(value: float, error: float) -> tuple[str, str] | None:
    """Return a number and its standard error as text, to two digits of the error; ``None`` if there is no error.

    Examples
    --------
    >>> with_error(-9.99812, 0.0123), with_error(2e-12, 3e-13)
    (('-9.998', '0.012'), ('2e-12', '3e-13'))
    """
    if not (isfinite(error) and error > 0):
        return None
    places = 1 - floor(log10(error))
    if not -3 <= places <= 9:
        return f"{value:.6g}", f"{error:.2g}"
    return f"{value:.{max(places, 0)}f}", f"{error:.{max(places, 0)}f}"


def percent(share: float) -> str:
    """Write a share in per cent, with two digits: a small term is never rounded to zero.

    Examples
    --------
    >>> percent(1.234), percent(0.0123), percent(3.4e-9)
    ('123 %', '1.2 %', '3.4e-07 %')
    """
    if not isfinite(share):
        return "-"
    return f"{100 * share:.0f} %" if 0.0995 <= share < 1e4 else f"{100 * share:.2g} %"


def join_signed(parts: Iterable[str]) -> str:
    """Join summands with their signs: ``a``, ``-b`` becomes ``a - b``."""
    first, *others = list(parts) or ["0"]
    return first + "".join(f" - {part[1:]}" if part.startswith("-") else f" + {part}" for part in others)


def parse_target(name: str) -> Target | None:
    """Return the equation called ``x'``, ``x''``, ``u_t`` or ``x[k+1]``; ``None`` for a bare state name."""
    step = parse_step(name)
    if step is not None:
        return step
    ode = re.fullmatch(r"(.*[^'])('+)", name, re.DOTALL)
    if ode:
        return Target(ode.group(1), len(ode.group(2)))
    pde = re.fullmatch(r"(.+?)_(t+)", name, re.DOTALL)
    return Target(pde.group(1), len(pde.group(2)), True) if pde else None


def rate_name(target: Target, order: int) -> str:
    """Return how the ``order``-th time derivative of the target's state is written; the state itself for 0."""
    return Target(target.state, order, target.field).name if order else target.state


def variable_name(variable: Variable) -> str:
    """Return how a variable or derivative is written."""
    return derivative_name(variable.name, variable.axes)
