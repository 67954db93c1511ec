"""Find the constants of rational laws: an open library of quotients becomes a library of ordinary terms."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from exactsindy.data import Field, Notice, Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.rational.concrete import concrete_terms, constants, law_terms, law_text
from exactsindy.discovery.rational.labelled import FoundLaw, FoundLaws, labelled_laws
from exactsindy.discovery.rational.measured_laws import trajectory_laws
from exactsindy.discovery.rational.shapes import Candidates, Shape
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
# Share of the difference of criteria that counts between laws that divide by different terms: where the other one has
# no more constants, and where it has more. Set on calls on nine kinds of laws drawn for it: of shares from 0.4 to 1,
# these give the answers about the largest likelihood, and none of 9 at 90 % and more was wrong (2 of 17 with 1).
_OTHER_KIND = (0.5, 0.75)
# Logarithm of odds beyond which a law is as unlikely as can be.
_LARGEST_ODDS = 50.0
# Ties that a notice lists.
_LISTED = 3
# Fraction of the time limit for the search of the constants; what is found by then goes on.
_SHARE = 0.5


@dataclass(frozen=True)
class ResolvedRational:
    """A library of ordinary terms, the constants in them, what was tried, and what a reader must know.

    ``chosen`` are the laws whose constants these are, one of ``found`` for each equation.
    """

    library: Library
    constants: tuple[InnerConstant, ...]
    tried: tuple[str, ...]
    notices: tuple[Notice, ...]
    # Standard errors of the coefficients of each law, its constants being free, by equation and term.
    errors: Mapping[str, Mapping[Term, float]]
    # Probability of the law of an equation against the next best one, from their criteria.
    tied: Mapping[str, float]
    found: tuple[FoundLaws, ...]
    chosen: tuple[FoundLaw, ...]

    def at_terms(self, terms: Mapping[str, Collection[str]]) -> ResolvedRational | None:
        """Return the same at the constants of the laws of these terms, by equation; None where nothing changes.

        The constants in a denominator are the best beside all terms of its law. Where only some of these are chosen,
        the best constants are others.
        """
        chosen = tuple(
            _law_of(laws, law, terms[laws.equation]) or law for laws, law in zip(self.found, self.chosen, strict=True)
        )
        return None if all(a is b for a, b in zip(chosen, self.chosen, strict=True)) else _resolved(self.found, chosen)

    def foreign(self, terms: Mapping[str, Collection[str]]) -> list[Notice]:
        """Return notices on equations whose terms are not those for which the constants are the best."""
        notices = []
        for laws, law in zip(self.found, self.chosen, strict=True):
            if law.law.shape.over and set(terms[laws.equation]) != set(_names(laws, law)):
                shown = law_text(law.law, laws.candidates)
                text = f"{laws.equation}: its constants are those of {shown}, not the best ones for the terms shown."
                notices.append(Notice("constants", text, laws.equation))
        return notices


def _names(laws: FoundLaws, law: FoundLaw) -> list[str]:
    return [term.name for term in law_terms(law.law, laws.candidates, law.errors)]


def _law_of(laws: FoundLaws, law: FoundLaw, terms: Collection[str]) -> FoundLaw | None:
    """Return the law, fitted by itself, that has only some of the terms of another; None if it was not compared."""
    shape, names = law.law.shape, _names(laws, law)
    if not set(terms) < set(names):
        return None
    columns = [*((False, j) for j in shape.plain), *((True, j) for j in shape.over)]
    kept = {column for column, name in zip(columns, names, strict=True) if name in terms}
    for other in laws.laws:
        own = other.law.shape
        same = {*((False, j) for j in own.plain), *((True, j) for j in own.over)} == kept
        if same and (not own.over or set(own.under) == set(shape.under)):
            return other
    return None


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
    return _resolved(tuple(found), tuple(laws.laws[0] for laws in found))


def _resolved(found: tuple[FoundLaws, ...], every: tuple[FoundLaw, ...]) -> ResolvedRational:
    """Return the library at the constants of one law of each equation."""
    parts: dict[str, Library] = {}
    inner: list[InnerConstant] = []
    tried: list[str] = []
    notices: list[Notice] = []
    errors: dict[str, dict[Term, float]] = {}
    tied: dict[str, float] = {}
    for laws, chosen in zip(found, every, strict=True):
        parts[laws.equation] = Terms(concrete_terms(chosen.law, laws.candidates, chosen.errors))
        inner += constants(chosen.law, laws.candidates, chosen.errors, laws.equation)
        if chosen.law.shape.over:
            terms = law_terms(chosen.law, laws.candidates, chosen.errors)
            errors[laws.equation] = dict(zip(terms, chosen.coefficient_errors.tolist(), strict=True))
        if not laws.of_labels:
            tied[laws.equation] = share_of(laws, chosen)
        elif chosen.law.shape.over:
            tied[laws.equation] = _against_next(laws, chosen)
        tried.append(_tried(laws, chosen))
        notices += _notices(laws, chosen)
    return ResolvedRational(PerEquation(parts), tuple(inner), tuple(tried), tuple(notices), errors, tied, found, every)


def share_of(laws: FoundLaws, chosen: FoundLaw) -> float:
    """Return the probability of a law of trajectories against all others that were fitted, by their criteria.

    Each further term of a law of the same kind counts with its whole penalty. Laws that divide by something else are no
    special cases of it, and how much less likely their constants make them is not known: a share of the difference
    counts. Of those that divide by the same terms the best one counts. Sums of monomials are compared with each other
    elsewhere.
    """
    own = chosen.law.shape
    others = [law for law in laws.laws if law is not chosen and (own.over or law.law.shape.over)]
    larger = [law for law in others if _holds(laws.candidates, law.law.shape, own)]
    different: dict[frozenset[int], FoundLaw] = {}
    for law in sorted(others, key=lambda law: law.criterion):
        if law not in larger:
            different.setdefault(frozenset(law.law.shape.under), law)
    odds = [0.5 * (chosen.criterion - law.criterion) for law in larger]
    for law in different.values():
        counted = _OTHER_KIND[law.law.shape.size > own.size]
        odds.append(0.5 * counted * (chosen.criterion - law.criterion))
    return 1.0 / (1.0 + math.fsum(math.exp(min(value, _LARGEST_ODDS)) for value in odds))


def _against_next(laws: FoundLaws, chosen: FoundLaw) -> float:
    """Return the probability of a law of measured rates against the next best one, by their criteria."""
    gap = min((other.criterion - chosen.criterion for other in laws.laws if other is not chosen), default=math.inf)
    return 1.0 / (1.0 + math.exp(-0.5 * gap))


def _holds(candidates: Candidates, larger: Shape, own: Shape) -> bool:
    """Return True if a law has all terms of another one: of a sum of monomials, above or beside the fraction line."""
    if not own.over:
        every = {candidates.plain[j] for j in larger.plain} | {candidates.over[j] for j in larger.over}
        return {candidates.plain[j] for j in own.plain} <= every
    pairs = ((own.plain, larger.plain), (own.over, larger.over), (own.under, larger.under))
    return all(set(few) <= set(many) for few, many in pairs)


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
    which = "" if chosen is laws.laws[0] else ", with as many terms,"
    text = f"{laws.equation}: the denominator and its constants are ranked, not proved: the best{which} of "
    text += f"{laws.fitted} fitted laws by the {laws.criterion}. The terms are proved the best of their number for "
    text += "these constants."
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
