"""Try families of functions for one equation, each with its criterion, which pays for the larger search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from exactsindy.data import Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.families.catalogue import Proposal, Scale, proposals
from exactsindy.discovery.families.equation_rows import EquationRows
from exactsindy.discovery.families.fits import FamilyFit, criterion, log_choose
from exactsindy.discovery.families.grids import make_grid
from exactsindy.discovery.families.search import search
from exactsindy.discovery.outside_terms import outside_terms
from exactsindy.discovery.rational import ResolvedRational, resolve_rational
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.request import Request
from exactsindy.errors import ExactSindyError
from exactsindy.library import Group, Library, PerEquation, Polynomials, Rational, Term
from exactsindy.model import InnerConstant
from exactsindy.selection import additions

# Largest number of terms in a family.
_SIZE = 8
# An exact fit with so many terms or fewer ends the trials: another family could hardly do with less.
_SHORT = 3
# Fractions of the time limit for the search of one family of one equation.
_SHARE = 0.06
# Degrees of numerator and denominator of rational laws, for so many states at most; lower ones beyond.
_RATIONAL, _FEW_STATES = (3, 2), 3
RATIONAL = "rational"
# Rational laws come before the proposal of this number.
_BEFORE_RATIONAL = 3
# Twice the log-likelihood ratio that one of about a hundred functions gains by chance: 2 log(100) and a little more.
_NOTHING = 12.0


@dataclass(frozen=True, eq=False)
class Trial:
    """What a family gave for one equation: its fits, best first, and how they become a library.

    ``criterion`` is that of the best fit, with the price of having tried several families. ``library`` is the library
    of rational laws, whose constants are known already; ``probability`` that of their denominator against the next one.
    """

    family: str
    fits: tuple[FamilyFit, ...]
    criterion: float
    library: Library | None = None
    constants: tuple[InnerConstant, ...] = ()
    probability: float = 1.0


def baseline(rows: EquationRows, base: Sequence[Term], clock: Clock) -> tuple[FamilyFit, ...]:
    """Return the best fits of the library that is there."""
    return search(rows, base, (), _SIZE, clock, _SHARE)


def trials(
    laws: RationalLaws, rows: EquationRows, base: Sequence[Term], wanted: float, clock: Clock
) -> Iterator[Trial]:
    """Yield what each family gives, in the order of `catalogue.proposals`, rational laws after quotients.

    Families with too many columns or no finite values are left out. No more are tried once a few terms of one leave
    only rounding (long sums of any functions do so on data without noise). Those with inner constants, which take most
    of the time, are tried only if the best one so far is long, has not the criterion wanted or leaves something that
    another function would explain.
    """
    data = rows.data
    every = proposals(data, base)
    count = len(every) + 1
    best: Trial | None = None
    for place, proposal in enumerate(every):
        found: list[Trial | None] = []
        if place == _BEFORE_RATIONAL:
            found.append(_rational(laws, rows, clock, count))
            best = _better(best, found[0])
        if (
            proposal.families
            and best is not None
            and _is_short(best)
            and best.criterion < wanted
            and leaves_nothing(rows, best, base)
        ):
            yield from (trial for trial in found if trial is not None)
            return
        found.append(_searched(data, rows, proposal, clock, count))
        for trial in found:
            if trial is not None:
                yield trial
                best = _better(best, trial)
                if _is_exact(rows, trial):
                    return


def leaves_nothing(rows: EquationRows, trial: Trial, base: Sequence[Term]) -> bool:
    """Return True if neither a term of the library nor another function would add much to the best fit of a family."""
    chosen = trial.fits[0].terms
    values = np.vstack([member.states for member in rows.data])
    others = [term for term in outside_terms(rows.data.state_names, values) if term not in chosen and term not in base]
    terms = tuple(dict.fromkeys((*chosen, *base, *others)))
    try:
        problem = rows.problem(terms)
    except ExactSindyError:
        return False
    block, j = problem.locate(0)
    target, rest = block.target(j)
    places = {term: column for column, term in enumerate(block.terms)}
    support, outside = [places[term] for term in chosen], [places[term] for term in others]
    least = rows.least(problem)
    added = additions(block.theta_factor, target, float(rest @ rest), support, outside, problem.n_samples, least)
    return max(added.inside, added.outside) < _NOTHING


def _better(first: Trial | None, second: Trial | None) -> Trial | None:
    if first is None or second is None:
        return first if second is None else second
    return first if first.criterion <= second.criterion else second


def _searched(data: Trajectories, rows: EquationRows, proposal: Proposal, clock: Clock, count: int) -> Trial | None:
    try:
        grids = tuple(make_grid(family, data) for family in proposal.families)
        fits = search(rows, proposal.closed, grids, _SIZE, clock, _SHARE)
    except ExactSindyError:  # a function has no finite values on these data
        return None
    return Trial(proposal.name, fits, fits[0].criterion + math.log(count)) if fits else None


@dataclass(frozen=True, eq=False)
class RationalLaws:
    """Rational laws of all equations that polynomials do not hold, found together and only once.

    Together, because trajectories obey all equations: a wrong one spoils the others.
    """

    measured: Measurement
    request: Request
    equations: tuple[str, ...]
    base: Library
    clock: Clock

    @cached_property
    def found(self) -> ResolvedRational | None:
        """The laws as a library of ordinary terms; None if there are none."""
        data = self.measured.used
        assert isinstance(data, Trajectories)
        top, bottom = self.degrees
        names = Scale.of(data).names
        own: Library = Rational(Polynomials(top, of=names), Polynomials(bottom, of=names))
        parts = {
            target.name: own if target.name in self.equations else self.base.for_equation(target.name)
            for target in data.targets
        }
        try:
            return resolve_rational(self.measured, replace(self.request, library=PerEquation(parts)), self.clock)
        except ExactSindyError:
            return None

    @property
    def degrees(self) -> tuple[int, int]:
        """Degrees of numerator and denominator."""
        data = self.measured.used
        assert isinstance(data, Trajectories)
        few = len(Scale.of(data).names) <= _FEW_STATES
        return _RATIONAL if few else (_RATIONAL[0] - 1, _RATIONAL[1] - 1)


def _rational(laws: RationalLaws, rows: EquationRows, clock: Clock, count: int) -> Trial | None:
    data, found = rows.data, laws.found
    if found is None:
        return None
    try:
        terms = found.library.for_equation(rows.equation).terms(data)
        fits = search(rows, terms, (), _SIZE, clock, _SHARE)
    except ExactSindyError:
        return None
    constants = tuple(constant for constant in found.constants if constant.equation == rows.equation)
    if not fits or not constants:
        return None
    names, (top, bottom) = Scale.of(data).names, laws.degrees
    candidates = 2 * len(Polynomials(top, of=names).terms(data)) + len(Polynomials(bottom, of=names).terms(data))
    problem = rows.problem(fits[0].terms)
    priced = []
    for fit in fits:
        inner = len(constants) if any(_divides(term) for term in fit.terms) else 0
        supports = log_choose(candidates, len(fit.terms) + inner)
        value = criterion(fit.rss, problem.n_samples, len(fit.terms) + inner, supports, rows.least(problem))
        priced.append(replace(fit, criterion=value))
    priced.sort(key=lambda fit: fit.criterion)
    value = priced[0].criterion + math.log(count)
    own = found.library.for_equation(rows.equation)
    return Trial(RATIONAL, tuple(priced), value, own, constants, found.tied.get(rows.equation, 1.0))


def _divides(term: Term) -> bool:
    return any(isinstance(atom, Group) and power < 0 for atom, power in term.factors)


def _is_short(trial: Trial) -> bool:
    return len(trial.fits[0].terms) <= _SHORT


def _is_exact(rows: EquationRows, trial: Trial) -> bool:
    fit = trial.fits[0]
    return _is_short(trial) and fit.rss <= rows.least(rows.problem(fit.terms))
