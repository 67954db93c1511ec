"""Grow the library of equations whose law polynomials do not hold, and keep what passes the tests they failed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from exactsindy.data import Notice, Trajectories
from exactsindy.discovery.adequacy import judged
from exactsindy.discovery.attempt import Attempt, attempt
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.families.equation_rows import EquationRows
from exactsindy.discovery.families.fits import FamilyFit
from exactsindy.discovery.families.growth import Growth, choice_of, lowered, may_grow, unheld
from exactsindy.discovery.families.inner import find_inner_constants
from exactsindy.discovery.families.label_tests import label_tests
from exactsindy.discovery.families.open_library import FamilyTerms
from exactsindy.discovery.families.phase_growing import grown_in_phase_space
from exactsindy.discovery.families.trials import RationalLaws, Trial, baseline, trials
from exactsindy.discovery.fitted_models import COLOURED
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.recognise import is_driven_position, recognise, undermines_all, undetermined_states
from exactsindy.discovery.request import Request
from exactsindy.forms import IncrementForm
from exactsindy.library import Library, PerEquation, Term, Terms
from exactsindy.model import InnerConstant
from exactsindy.selection import Choice, Selection

# A family is taken if its criterion is lower by this: twice a log-likelihood ratio, the price of its parameters and of
# the larger search included.
_LEAST_GAIN = 4.0
# Fits within this of the best one also give their functions to the library, at most so many functions together.
_CLOSE, _MOST_FUNCTIONS = 6.0, 6
# Confidence in an equation of measured derivatives below which families are tried although no test speaks against it.
_SURE_LABELS = 0.9
# A family that comes earlier in the order is preferred to others whose criterion is lower by no more than this.
_TIE = 4.0
# Correlations of neighbouring residuals that chance makes, in standard deviations, and the size in units of the noise
# from which they count: smaller residuals are errors of integrals and simulations.
_CHANCE, _MORE_THAN_NOISE = 4.0, 1.1
# Fraction of the time limit after which no growth is begun.
_UNTIL = 0.6


def grown(measured: Measurement, request: Request, first: Attempt, clock: Clock) -> Growth:
    """Return the answer in libraries that grow where the data say that they do not hold the law.

    Only the default library grows, and only for equations whose tests failed; the others keep theirs. Where the samples
    are those of a map, a state is missing or a column is late, no library of these states holds the law.
    """
    if not may_grow(measured, request):
        return Growth(first, request)
    if isinstance(measured.used, Trajectories) and measured.used.rate_names:
        return grown_in_phase_space(measured, request, first, clock)
    first = replace(first, selection=_tested_labels(first.selection, first))
    lacking = [choice.equation for choice in first.selection.choices if _is_doubtful(choice, first)]
    if not lacking or clock.is_over() or _misled(measured, first):
        return Growth(first, request)
    growth = Growth(first, request)
    with clock.optional("growing the library"):
        growth = _grown(measured, request, first, lacking, clock)
    return growth


def _misled(measured: Measurement, answer: Attempt) -> bool:
    """Return True if no law of these states can hold: a map, a missing state or velocity, a column that is late."""
    if isinstance(measured.used, Trajectories) and measured.used[0].derivatives is not None:
        return False  # measured derivatives are what they are
    if undetermined_states(measured) or is_driven_position(measured):
        return True
    return undermines_all(recognise(measured, answer.selection.solution))


def _is_doubtful(choice: Choice, answer: Attempt) -> bool:
    """Return True if tests speak against the library, or a choice by measured derivatives is not sure.

    Long sums of monomials that stand for another function are seldom sure, and trying families is quick there.
    """
    data = answer.prepared.data
    labels = isinstance(data, Trajectories) and data[0].derivatives is not None
    return bool(choice.withheld) or (labels and choice.k > 0 and choice.confidence < _SURE_LABELS)


def _tested_labels(selection: Selection, answer: Attempt) -> Selection:
    """Return the selection with the confidence in equations of measured derivatives tested as well."""
    lacks = label_tests(selection, answer.prepared)
    return replace(selection, choices=tuple(judged(choice, lacks.get(choice.equation)) for choice in selection.choices))


def _grown(measured: Measurement, request: Request, first: Attempt, lacking: Sequence[str], clock: Clock) -> Growth:
    data, prepared = measured.used, first.prepared
    assert isinstance(data, Trajectories)
    withheld = [name for name in lacking if choice_of(first, name).withheld]
    found: dict[str, list[Trial]] = {}
    gains: dict[str, float] = {}
    tried: list[str] = []
    laws = RationalLaws(measured, request, tuple(lacking), prepared.library, clock)
    for name in lacking:
        clock.begin(f"trying other functions for {name}")
        rows, base = _rows(first, name), prepared.library.for_equation(name).terms(data)
        if rows is None:
            continue
        before: tuple[FamilyFit, ...] = ()
        every: list[Trial] = []
        with clock.optional("other families of functions", _UNTIL):
            before = baseline(rows, base, clock)
            if not before:
                continue
            for trial in trials(laws, rows, base, before[0].criterion - _LEAST_GAIN, clock):
                every.append(trial)
                gain = before[0].criterion - trial.criterion
                shown = ", ".join(term.name for term in trial.fits[0].terms)
                tried.append(f"{name}: {trial.family}: criterion {_signed(-gain)} ({shown})")
        if every and before[0].criterion - min(trial.criterion for trial in every) > _LEAST_GAIN:
            found[name] = _ranked(every)
            gains[name] = before[0].criterion - found[name][0].criterion
    if not found:
        return Growth(first, request, tried=tuple(tried), notices=tuple(unheld(withheld, tried)))
    libraries, constants = _libraries(measured, request, first, found, clock)
    larger = replace(request, library=PerEquation(libraries, default=prepared.library))
    second = attempt(measured, larger, clock)
    second = replace(second, selection=_tested_labels(second.selection, second))
    accepted = [name for name in found if not choice_of(second, name).withheld and not _is_coloured(second, name)]
    if not accepted:
        return Growth(first, request, tried=tuple(tried), notices=tuple(unheld(withheld, tried)))

    def settled(choice: Choice) -> Choice:
        name = choice.equation
        if name not in found:
            return no_surer(choice, choice_of(first, name))
        if name not in accepted:
            return refused(choice)
        return lowered(choice, _numbers(second, constants, name), preferred(found[name]))

    selection = replace(second.selection, choices=tuple(map(settled, second.selection.choices)))
    notices = [_notice(name, found[name][0], gains[name], len(found[name]), first, second) for name in accepted]
    rest = [name for name in withheld if name not in accepted]
    return Growth(
        replace(second, selection=selection),
        larger,
        constants,
        tuple(tried),
        (*notices, *unheld(rest, tried)),
    )


def _ranked(every: Sequence[Trial]) -> list[Trial]:
    """Return the families by their criterion, first the earliest one of those that are as good as the best."""
    least = min(trial.criterion for trial in every)
    first = next(trial for trial in every if trial.criterion <= least + _TIE)
    return [first, *sorted((trial for trial in every if trial is not first), key=lambda trial: trial.criterion)]


def _numbers(answer: Attempt, constants: Sequence[InnerConstant], name: str) -> int:
    """Return the number of coefficients and inner constants of an equation."""
    terms = answer.selection.solution.terms[name]
    return len(terms) + sum(c.equation == name and (not c.within or c.within in terms) for c in constants)


def refused(choice: Choice) -> Choice:
    """Return a choice in a grown library that was not accepted: where no test withheld it, its residuals did."""
    if math.isnan(choice.confidence):
        return choice
    reason = "the library does not seem to hold this law: residuals of the best family are correlated"
    return replace(choice, confidence=math.nan, withheld=reason)


def no_surer(after: Choice, before: Choice) -> Choice:
    """Return a choice of an equation that kept its library: a better law of another one is no evidence for its own."""
    if math.isnan(after.confidence) or math.isnan(before.confidence):
        return after
    return replace(after, confidence=min(after.confidence, before.confidence))


def preferred(every: Sequence[Trial]) -> float:
    """Return the probability of the first family against the others by their criteria, and of its law in that family.

    Nothing was proved between families: where two explain the data about as well, it may be the other one. A family
    that holds the same terms, and finds them, is no other law.
    """
    first, own = every[0], set(every[0].fits[0].terms)
    others = [trial for trial in every[1:] if not own <= set(trial.fits[0].terms)]
    against = math.fsum(math.exp(0.5 * min(first.criterion - other.criterion, _TIE)) for other in others)
    return first.probability / (1.0 + against)


def _rows(answer: Attempt, name: str) -> EquationRows | None:
    """Return the rows on which families are compared: measured derivatives, or whitened increments."""
    data, prepared = answer.prepared.data, answer.prepared
    assert isinstance(data, Trajectories)
    if data[0].derivatives is not None:
        return EquationRows.of_labels(data, name)
    forms = [variant.form for variant in prepared.variants if isinstance(variant.form, IncrementForm)]
    if not forms:
        return None
    form = forms[min(1, len(forms) - 1)]
    if form.smoothed is None:
        return None
    target = next(target for target in data.targets if target.name == name)
    floor = float(form.smoothed.unresolved([target.state])[0])
    return EquationRows.of_increments(data, name, form, floor, [t.name for t in data.targets])


def _libraries(
    measured: Measurement, request: Request, first: Attempt, found: Mapping[str, Sequence[Trial]], clock: Clock
) -> tuple[dict[str, Library], tuple[InnerConstant, ...]]:
    """Return the grown library of every equation that has one, and the inner constants of all."""
    data, base = measured.used, first.prepared.library
    libraries: dict[str, Library] = {}
    constants: list[InnerConstant] = []
    open_parts: dict[str, Library] = {}
    for name, every in found.items():
        best, own = every[0], base.for_equation(name)
        if best.library is not None:
            libraries[name] = best.library
            constants += best.constants
            continue
        extra = _functions(every, own.terms(data))
        if best.fits[0].parts:
            families = tuple(dict.fromkeys(part.family for part in best.fits[0].parts))
            open_parts[name] = FamilyTerms((*own.terms(data), *extra), families)
        else:
            libraries[name] = Terms((*own.terms(data), *extra))
    if open_parts:
        library = PerEquation({**libraries, **open_parts}, default=base)
        inner = find_inner_constants(measured, request, library, clock)
        libraries |= {name: inner.library.for_equation(name) for name in open_parts}
        constants += inner.constants
    return libraries, tuple(constants)


def _functions(every: Sequence[Trial], base: Sequence[Term]) -> tuple[Term, ...]:
    """Return the terms without inner constants that the best fits have beyond the library, the best ones first."""
    known, best = set(base), every[0].criterion
    ranked = sorted(
        (
            (fit.criterion - trial.fits[0].criterion + trial.criterion, i, fit)
            for i, trial in enumerate(every)
            if trial.library is None
            for fit in trial.fits[:20]
            if not fit.parts or fit is every[0].fits[0]
        ),
        key=lambda item: item[:2],
    )
    found: dict[Term, None] = {}
    for value, _, fit in ranked:
        if value > best + _CLOSE:
            break
        concrete = {part.place for part in fit.parts}
        new = [term for i, term in enumerate(fit.terms) if i not in concrete and term not in known]
        if len({*found, *new}) <= _MOST_FUNCTIONS or not found:
            found |= dict.fromkeys(new)
    return tuple(found)


def _is_coloured(answer: Attempt, name: str) -> bool:
    """Return True if the trajectory fits leave residuals of an equation that are correlated, and larger than the noise.

    Something was missing in the library of monomials; a family of functions that leaves something as well is no better
    founded than the others that were tried.
    """
    whiteness = answer.refined.whiteness
    if whiteness is None or name not in whiteness.target_names:
        return False
    i, data = whiteness.target_names.index(name), answer.prepared.data
    chance = _CHANCE / math.sqrt(data.n_samples) if isinstance(data, Trajectories) else 0.0
    return bool(whiteness.lag[i] > max(COLOURED, chance) and whiteness.ratio[i] > _MORE_THAN_NOISE)


def _notice(name: str, trial: Trial, gain: float, count: int, first: Attempt, second: Attempt) -> Notice:
    before, after = (answer.selection.solution.terms[name] for answer in (first, second))
    reason = choice_of(first, name).withheld.partition(": ")[2] or "no short sum of monomials is sure"
    own = {term.name for term in first.prepared.library.for_equation(name).terms(first.prepared.data)}
    tried = (
        f"Of {count} families of functions that were tried, {trial.family} explains it best: the criterion, which pays"
    )
    tried += f" for the larger search, falls by {gain:.0f}."
    if own.issuperset(after):
        text = (
            f"{name}: functions beside polynomials were tried ({reason}). {tried} Among all of these terms together, "
        )
        return Notice("library", text + "polynomials are chosen again.", name)
    doubt = "may not hold" if "as well" in reason or not choice_of(first, name).withheld else "do not hold"
    text = f"{name}: polynomials {doubt} this law ({reason}). {tried}"
    return Notice(
        "library", f"{text} Polynomials alone would have given the terms {', '.join(before) or 'none'}.", name
    )


def _signed(value: float) -> str:
    return f"{value:+.0f}"
