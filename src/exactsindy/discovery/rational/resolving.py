"""Find the constants of rational laws: an open library of quotients becomes a library of ordinary terms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exactsindy.data import Field, Notice, Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.rational.concrete import concrete_terms, constants, law_terms, law_text
from exactsindy.discovery.rational.labelled import FoundLaw, FoundLaws, labelled_laws
from exactsindy.discovery.rational.measured_laws import trajectory_laws
from exactsindy.discovery.rational.shapes import Candidates
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.request import Request
from exactsindy.errors import ProblemError
from exactsindy.library import Library, PerEquation, Term, Terms, rational_parts
from exactsindy.model import InnerConstant
from exactsindy.solver import Deadline

# Most coefficients of a law unless another number is asked for.
_LARGEST = 8
# Laws whose criteria differ by less are ties: the data prefer neither.
_TIE = 2.0
# Ties that a notice lists.
_LISTED = 3
# Fraction of the time limit for the search of the constants; what is found by then goes on.
_SHARE = 0.5


@dataclass(frozen=True)
class ResolvedRational:
    """A library of ordinary terms, the constants in them, what was tried, and what a reader must know."""

    library: Library
    constants: tuple[InnerConstant, ...]
    tried: tuple[str, ...]
    notices: tuple[Notice, ...]
    # Standard errors of the coefficients of each law, its constants being free, by equation and term.
    errors: Mapping[str, Mapping[Term, float]]
    # Probability of the law of an equation against the next best one, from their criteria.
    tied: Mapping[str, float]


def resolve_rational(measured: Measurement, request: Request, clock: Clock) -> ResolvedRational:
    """Return the library of terms at the constants of the best laws, for libraries with `Rational` parts."""
    data, library = measured.used, request.library
    if isinstance(data, Field):
        raise ProblemError(
            f"discover(library={library!r}): rational laws are for trajectories; these data are a field."
        )
    assert library is not None
    for target in data.targets:
        if target.order != 1:
            cure = "ask for first derivatives, with the velocities as states"
            raise ProblemError(f"Rational: the equation {target.name} is of order {target.order}; {cure}.")
    every = [candidates_of(library, data, target.name) for target in data.targets]
    largest = request.k_max if isinstance(request.k_max, int) else _LARGEST
    clock.begin("finding the constants of rational laws")
    found = laws_of(measured, every, largest, clock)
    clock.begin_again()
    parts: dict[str, Library] = {}
    inner: list[InnerConstant] = []
    tried: list[str] = []
    notices: list[Notice] = []
    errors: dict[str, dict[Term, float]] = {}
    tied: dict[str, float] = {}
    for laws in found:
        chosen = laws.laws[0]
        parts[laws.equation] = Terms(concrete_terms(chosen.law, laws.candidates, chosen.errors))
        inner += constants(chosen.law, laws.candidates, chosen.errors, laws.equation)
        if chosen.law.shape.over:
            terms = law_terms(chosen.law, laws.candidates, chosen.errors)
            errors[laws.equation] = dict(zip(terms, chosen.coefficient_errors.tolist(), strict=True))
        gap = min((other.criterion - chosen.criterion for other in laws.laws[1:]), default=math.inf)
        if chosen.law.shape.over:
            tied[laws.equation] = 1.0 / (1.0 + math.exp(-0.5 * gap))
        tried.append(_tried(laws, chosen))
        notices += _notices(laws, chosen)
    return ResolvedRational(PerEquation(parts), tuple(inner), tuple(tried), tuple(notices), errors, tied)


def candidates_of(library: Library, data: Trajectories, equation: str) -> Candidates:
    """Return the candidate terms of one equation."""
    own = library.for_equation(equation)
    rational, others = rational_parts(own)
    if any(other.is_open for other in others):
        raise ProblemError(f"discover(library={own!r}): Rational cannot be joined with other open libraries; give one.")
    if len(rational) > 1:
        raise ProblemError(f"discover(library={own!r}): expected one Rational for an equation; it has {len(rational)}.")
    plain = [term for part in others for term in part.terms(data)]
    if not rational:
        return Candidates(tuple(plain))
    over, under = rational[0].numerator.terms(data), rational[0].denominator.terms(data)
    return Candidates(tuple(dict.fromkeys((*plain, *over))), over, under)


def laws_of(measured: Measurement, candidates: Sequence[Candidates], largest: int, clock: Clock) -> list[FoundLaws]:
    """Return the laws of every equation: of measured derivatives one by one, of trajectories together."""
    data = measured.used
    assert isinstance(data, Trajectories)
    if data[0].derivatives is None:
        limits = Deadline(clock.share(_SHARE))
        found = trajectory_laws(data, measured.smoothed, candidates, largest, limits)
        if limits.expired:
            clock.cut.append("the search of rational laws")
        return found
    found = []
    for i, own in enumerate(candidates):
        limits = Deadline(clock.share(_SHARE / len(candidates)))
        found.append(labelled_laws(data, i, own, largest, limits))
        if limits.expired:
            clock.cut.append("the search of rational laws")
    return found


def _tried(laws: FoundLaws, chosen: FoundLaw) -> str:
    plain = laws.without_denominator
    best = f"{laws.equation}: rational law {law_text(chosen.law, laws.candidates)}"
    if not chosen.law.shape.over:
        return f"{laws.equation}: no denominator is needed ({laws.fitted} laws compared)"
    if plain is None:
        return f"{best} ({laws.fitted} laws compared)"
    gap = plain.criterion - chosen.criterion
    return f"{best}, better than the best without a denominator by {gap:.3g} ({laws.criterion}; {laws.fitted} laws)"


def _notices(laws: FoundLaws, chosen: FoundLaw) -> list[Notice]:
    notices = [
        Notice(
            "pole",
            f"{laws.equation}: {law_text(law, laws.candidates)} fits better but is refused: its denominator is zero "
            "within the range of the data.",
            laws.equation,
        )
        for law in laws.refused
    ]
    if not chosen.law.shape.over:
        return notices
    if laws.unchecked:
        text = "it is not known whether its denominator is zero somewhere between the samples."
        notices.append(Notice("pole", f"{laws.equation}: {text}", laws.equation))
    text = (
        f"{laws.equation}: the denominator and its constants are ranked, not proved: the best of {laws.fitted} fitted "
    )
    text += f"laws by the {laws.criterion}. The terms are proved the best of their number for these constants."
    if laws.among > laws.candidates.free:
        text += f" {laws.candidates.free} of {laws.among} candidates were left after screening: p and M of low degree."
    notices.append(Notice("ranked", text, laws.equation))
    ties = [
        law_text(other.law, laws.candidates)
        for other in laws.laws
        if other is not chosen and abs(other.criterion - chosen.criterion) < _TIE
    ]
    if ties:
        more = f" and {len(ties) - _LISTED} more" if len(ties) > _LISTED else ""
        text = (
            f"{laws.equation}: other laws fit as well (criterion within {_TIE:g}): {'; '.join(ties[:_LISTED])}{more}."
        )
        notices.append(Notice("tie", text, laws.equation))
    return notices
