"""Turn an open library, whose terms have constants that the data decide, into a library of concrete terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from exactsindy.data import Notice
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.families import find_inner_constants
from exactsindy.discovery.rational import ResolvedRational, resolve_rational
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.request import Request
from exactsindy.errors import ProblemError
from exactsindy.library import Family, Library, Term, Variables, rational_parts
from exactsindy.model import InnerConstant, Model
from exactsindy.selection import Selection
from exactsindy.solver import Solution


@dataclass(frozen=True)
class Resolved:
    """A library of concrete terms, the constants in them, and what was tried on the way.

    ``tried`` says of each family or form in words what came of it. ``errors`` are the standard errors of coefficients
    with the inner constants free, by equation and term: the regression knows only those at fixed constants. ``tied``
    are the odds, as a probability, of a law against another that fits nearly as well.
    """

    library: Library | None
    constants: tuple[InnerConstant, ...] = ()
    tried: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    errors: Mapping[str, Mapping[Term, float]] = field(default_factory=dict)
    tied: Mapping[str, float] = field(default_factory=dict)
    rational: ResolvedRational | None = None

    @classmethod
    def of_laws(cls, found: ResolvedRational) -> Resolved:
        """Return the library at the constants of rational laws."""
        return cls(found.library, found.constants, found.tried, found.notices, found.errors, found.tied, found)

    def at_terms(self, solution: Solution) -> Resolved | None:
        """Return the same at the constants of the rational laws that have the terms of a solution; None if as it is."""
        smaller = None if self.rational is None else self.rational.at_terms(solution.terms)
        return None if smaller is None else Resolved.of_laws(smaller)

    def foreign(self, solution: Solution) -> list[Notice]:
        """Return notices on equations whose inner constants are the best for other terms than those chosen."""
        return [] if self.rational is None else self.rational.foreign(solution.terms)

    def with_ties(self, selection: Selection) -> Selection:
        """Return the selection with less confidence in equations whose constants are tied with others."""
        choices = [replace(c, confidence=self.tied.get(c.equation, 1.0) * c.confidence) for c in selection.choices]
        return replace(selection, choices=tuple(choices)) if self.tied else selection

    def with_errors(self, model: Model) -> Model:
        """Return a model with these standard errors in the equations whose terms are those they were found for."""
        rows = tuple(
            replace(row, standard_errors=tuple(known[term] for term in row.terms))
            if (known := self.errors.get(row.name)) is not None and set(known) == set(row.terms)
            else row
            for row in model.rows
        )
        return model if rows == model.rows else replace(model, rows=rows)


def resolve(measured: Measurement, request: Request, clock: Clock) -> Resolved:
    """Return the library to search: the one asked for if its terms are concrete, else with constants from the data."""
    library = request.library
    if library is None or not library.is_open:
        return Resolved(library)
    if not _has_rational(measured, library):
        inner = find_inner_constants(measured, request, library, clock)
        return Resolved(inner.library, inner.constants, inner.tried)
    if any(True for target in measured.used.targets for _ in _families(measured, library, target.name)):
        cure = "search them one after the other"
        raise ProblemError(f"discover(library={library!r}): both Rational and functions with inner constants; {cure}.")
    return Resolved.of_laws(resolve_rational(measured, request, clock))


def _families(measured: Measurement, library: Library, equation: str) -> Iterable[Family]:
    return library.for_equation(equation).families(Variables.of(measured.used))


def _has_rational(measured: Measurement, library: Library) -> bool:
    """Return True if an equation has a rational library."""
    return any(rational_parts(library.for_equation(target.name))[0] for target in measured.used.targets)
