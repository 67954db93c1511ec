"""Resolve ambiguous equations by comparing the likelihoods of trajectory fits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from exactsindy._types import Array
from exactsindy.constraints import EquationConstraints, by_equation
from exactsindy.data import Notice
from exactsindy.discovery.fitted_models import NODES, FittedModels, Supports, changed
from exactsindy.discovery.phase_search import compare_in_phase_space
from exactsindy.discovery.prepare import Prepared
from exactsindy.discovery.read import sampling
from exactsindy.discovery.request import Request
from exactsindy.discovery.row_tests import stretches
from exactsindy.discovery.select import FINE, SURE, is_interrupted
from exactsindy.discovery.trajectory_search import Comparison, TrajectorySearch
from exactsindy.forms import SIMULATION_TOLERANCE, Whiteness, lag_correlation
from exactsindy.problem import Problem
from exactsindy.selection import (
    TRAJECTORY_FIT,
    Choice,
    PathEvidence,
    Selection,
    TableRow,
    TrajectoryEvidence,
    shared_path,
)
from exactsindy.solver import Deadline, Path, Settings, Solution, Status, Total, refit
from exactsindy.trajectory_fit import (
    Measured,
    MeasuredModes,
    MeasuredTrajectories,
    by_piece,
    features_of,
    row_count,
    tangent_problem,
    target_names,
)

# Nodes for the sizes of an equation at the trajectory fit chosen: small sizes come first, and those far beyond the
# chosen one need no proof.
_NODES = 20000
# Samples per period beyond which more of them do not raise the penalty of a term: that of the tuning systems.
_DENSE = 100.0
# What errors of quadrature may add to the misfit of a field: about the penalty of a term.
_ALLOWED_MODES = 10.0
# Misfit per row of the best model beyond which trajectory fits decide nothing: its residuals are 7 times the noise, so
# that errors other than noise would be fitted (a simulation with a coarse tolerance leaves 100 to 12,000). Noise that
# is correlated over ten samples leaves up to 21 on tuning systems.
_UNEXPLAINED = 50.0
# Misfit per row of the best model beyond which equations that the regressions resolve stay as they are: the right model
# of white noise leaves 0.97 to 1.02 on tuning systems.
_LACKING = 1.1
# Sizes of the models to start from where trajectories of larger ones diverge.
_SMALL = range(1, 5)
# Noise, as a share of the spread of a state, from which every equation is compared by trajectories.
_LARGE_NOISE = 0.02
# Samples beyond which equations that the regressions resolve stay as they are: a fit takes time in proportion to them.
# Beyond the second number trajectories are compared on stretches of so many samples together as the first: all of them
# would take minutes, and the small errors that equations are allowed at every step add up to more than the noise, so
# that models which hold them back would be preferred.
_MANY_SAMPLES, _MOST_SAMPLES = 20_000, 50_000
# Noise, as a share of the spread of a state, from which that state hardly moves: whatever is multiplied with it could
# follow the noise of other states.
_ONLY_NOISE = 0.8
# Terms of less probability are not listed.
_LEAST_SHARE = 0.005


@dataclass(frozen=True, eq=False)
class Refined:
    """A selection, and the residuals of the trajectory fit that decided it; None if it stands as it was.

    ``notices`` say which samples were fitted if that is not all of them.
    """

    selection: Selection
    whiteness: Whiteness | None = None
    notices: tuple[Notice, ...] = ()


def refine(selection: Selection, prepared: Prepared, request: Request, settings: Settings) -> Refined:
    """Return the selection with ambiguous equations resolved by trajectory fits, if they apply.

    The regression returned is the tangent one at the trajectory fit chosen: its residual sum of squares is the misfit,
    so that standard errors and margins are those of the likelihood. Trajectory fits need the rule left open, and
    constraints that speak of one equation each. The terms are compared by likelihoods alone; a ridge enters the
    coefficients of those chosen, in the tangent regression, whose rows are in units of the noise like those before.
    """
    k_max = prepared.k_max
    if not request.compares_trajectories or isinstance(k_max, Total) or is_interrupted(selection):
        return Refined(selection)
    measured, constraints = prepared.samples, by_equation(selection.path.problem, request.constraints)
    if measured is None or constraints is None:
        return Refined(selection)
    part = _part(measured)
    compared = compare(selection, part, k_max, settings, constraints)
    if compared is None or compared.fit.misfit > _UNEXPLAINED * row_count(part):
        return Refined(selection)
    refined = concluded(selection, compared, k_max, settings, constraints)
    if part is measured or refined.whiteness is None:
        return refined
    text = f"Trajectories were fitted to stretches of {_count(part):,} of {prepared.data.n_samples:,} samples"
    note = Notice("stretches", f"{text}: coefficients and their errors are those of the stretches.")
    return replace(refined, notices=(note,))


def _count(measured: Measured) -> int:
    return sum(map(len, measured.times))


def _part(measured: Measured) -> Measured:
    """Return stretches of trajectories of very many samples, everything otherwise."""
    if not isinstance(measured, MeasuredTrajectories) or _count(measured) <= _MOST_SAMPLES:
        return measured
    return replace(measured, smoothed=stretches(measured.smoothed, _MANY_SAMPLES))


def concluded(
    selection: Selection,
    compared: Comparison,
    k_max: int,
    settings: Settings,
    constraints: tuple[EquationConstraints, ...] = (),
) -> Refined:
    """Return the selection with the model that a comparison of trajectory fits chose, and its tangent regressions."""
    path = _path(selection.solution, compared, k_max, settings, constraints)
    if path is None:
        return Refined(selection)
    names = [features_of(compared.measured, i).names for i in range(len(compared.supports))]
    return Refined(_selection(selection, path, compared, names), _whiteness(compared))


def compare(
    selection: Selection,
    measured: Measured,
    k_max: int,
    settings: Settings,
    constraints: tuple[EquationConstraints, ...] = (),
) -> Comparison | None:
    """Return the model with the most likely trajectory fit; None if no equation is ambiguous or time is too short."""
    if isinstance(measured, MeasuredTrajectories) and measured.hidden:
        return compare_in_phase_space(selection, measured, k_max, settings, constraints, trajectory_rule(measured))
    if not isinstance(selection.rule, PathEvidence):
        return None
    ambiguous = ambiguous_equations(selection, measured)
    if not ambiguous:
        return None
    equations, path = range(len(selection.choices)), selection.path
    columns = [{name: j for j, name in enumerate(features_of(measured, i).names)} for i in equations]
    shares = [
        {tuple(sorted(columns[i][name] for name in terms)): share for terms, share in _shares(selection, i).items()}
        for i in equations
    ]
    starts = [Problem((selection.solution.problem.locate(i)[0],)) for i in equations]
    clock = Deadline(Settings(threads=1, nodes=NODES, seconds=settings.seconds))
    largest = path[len(path) - 1].support

    def supports(of: Sequence[Sequence[int]]) -> Supports:
        return tuple(tuple(sorted(columns[i][path.problem.names[j]] for j in of[i])) for i in equations)

    small = _small_models(selection, columns)
    allowed = _ALLOWED_MODES if isinstance(measured, MeasuredModes) else None

    def search(samples: Measured, opened: Sequence[int]) -> TrajectorySearch:
        fits = FittedModels(samples, starts, k_max, clock, constraints)
        return TrajectorySearch(
            fits, shares, opened, supports(largest), trajectory_rule(samples), allowed, integrable, small
        )

    integrable = isinstance(measured, MeasuredTrajectories) and measured.can_integrate
    found = search(measured, ambiguous).run()
    unsure = unsure_equations(selection)
    if found is not None and found.fit.misfit > _LACKING * row_count(measured) and unsure != ambiguous:
        # One equation that the library does not hold spoils the others where all are fitted together.
        return search(measured, unsure).run() if unsure else None
    if found is not None or not isinstance(measured, MeasuredTrajectories) or not integrable:
        return found
    # Local cubics err too much: the equations are integrated. Below FINE samples per period regressions are not sure.
    sampled = sampling(by_piece(measured, measured.guess), np.ones(measured.guess.shape[1]))
    every = [i for i, choice in enumerate(selection.choices) if choice.k]
    opened = ambiguous if sampled.per_period >= FINE else every
    coarse = replace(measured, integrated=True)
    found = search(coarse, opened).run_coarse()
    if found is None or clock.expired:
        return found
    again = search(coarse.with_noise_of(found.fit.states), opened).run_coarse(found.supports)
    return found if again is None else again


def ambiguous_equations(selection: Selection, measured: Measured) -> list[int]:
    """Return the equations whose trajectories are worth comparing: all with terms, if one is unsure or noise is large.

    Regression evidence can be sure and wrong where noise is a good part of the signal: it has lost a term that another
    one stands in for. Where noise is small or samples are very many, and every equation is sure, trajectories would
    change nothing.
    """
    chosen, unsure = [i for i, choice in enumerate(selection.choices) if choice.k], unsure_equations(selection)
    if isinstance(measured, MeasuredModes) or _noise(measured) > _ONLY_NOISE:
        return unsure
    if _count(measured) > _MANY_SAMPLES:
        return unsure
    return chosen if unsure or _noise(measured) > _LARGE_NOISE else []


def _noise(measured: Measured) -> float:
    """Return the largest noise of a state as a share of its spread."""
    if isinstance(measured, MeasuredTrajectories):  # no copy of the samples: they may be many
        return measured.smoothed.largest_noise
    return float(1.0 / max(measured.samples.std(axis=0).min(), np.finfo(float).tiny))


def _small_models(selection: Selection, columns: Sequence[Mapping[str, int]]) -> tuple[Supports, ...]:
    """Return the best models of few terms of all variants of the regression."""
    terms = {(row.variant, row.k, row.equation): row.terms for row in selection.table}
    models = []
    for variant, k in dict.fromkeys((row.variant, row.k) for row in selection.table if row.k in _SMALL):
        parts = [terms.get((variant, k, choice.equation)) for choice in selection.choices]
        if all(part is not None for part in parts):
            models.append(
                tuple(tuple(sorted(of[n] for n in part or ())) for of, part in zip(columns, parts, strict=True))
            )
    return tuple(dict.fromkeys(models))


def unsure_equations(selection: Selection) -> list[int]:
    """Return the equations with terms that regression evidence does not resolve."""
    return [i for i, choice in enumerate(selection.choices) if choice.k and choice.confidence < SURE]


def trajectory_rule(measured: Measured) -> TrajectoryEvidence:
    """Return the evidence that compares misfits."""
    rows = row_count(measured)
    terms = tuple(len(features_of(measured, i).terms) for i in range(len(target_names(measured))))
    if isinstance(measured, MeasuredModes):
        return TrajectoryEvidence.for_modes(rows, terms)
    # The states here are smoothed around a model, those of `Measurement.sampling` are not: both have their own periods.
    guided = sampling(by_piece(measured, measured.guess), np.ones(measured.guess.shape[1]))
    counted = min(_DENSE / guided.per_period, 1.0)  # 0 where nothing oscillates: all rows count then
    own = np.concatenate([measured.columns_of(i) for i in range(len(terms))])
    least = rows * float(np.mean((SIMULATION_TOLERANCE * measured.samples[:, own]) ** 2))
    factors = tuple(
        tuple(term.complexity for term in features_of(measured, i).terms) for i in range(len(target_names(measured)))
    )
    return TrajectoryEvidence(rows, terms, counted=counted or 1.0, least=least, factors=factors, noise=_noise(measured))


def _shares(selection: Selection, i: int) -> dict[frozenset[str], float]:
    """Return the probabilities of the supports of an equation by regression evidence."""
    choice = selection.choices[i]
    rows = [r for r in selection.table if r.equation == choice.equation and not math.isnan(r.value)]
    chosen = frozenset(selection.solution.terms[choice.equation])
    if not choice.k or not rows:
        return {chosen: 1.0}
    return dict(cast(PathEvidence, selection.rule).shares((frozenset(r.terms), r.value) for r in rows))


def _path(
    before: Solution,
    compared: Comparison,
    k_max: int,
    settings: Settings,
    constraints: tuple[EquationConstraints, ...],
) -> Path | None:
    """Return the path of the tangent regressions at the trajectory fit; None if one of them cannot be made.

    The ridge is that of the solution before.
    """
    measured, fit = compared.measured, compared.fit
    held = frozenset(i for i, part in enumerate(constraints) if part.binding)
    parts = [tangent_problem(measured, compared.supports, fit, i, held) for i in range(len(compared.supports))]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    nodes = _NODES if settings.nodes is None else min(settings.nodes, _NODES)
    every = [constraint for part in constraints for constraint in part.constraints]
    problem, limits = Problem.from_blocks(known), replace(settings, nodes=nodes)
    return shared_path(problem, k_max, ridge=_ridge(before, problem), constraints=every, settings=limits)


def _ridge(before: Solution, problem: Problem) -> Array:
    """Return the ridge of a solution for the same equations and terms of another problem."""
    places = [before.problem.names.index(name) for name in problem.names]
    return np.ascontiguousarray(before.ridge[:, places])


def _solution(path: Path, compared: Comparison, names: Sequence[Sequence[str]]) -> Solution:
    """Return the terms chosen: from the path, or refitted where the path has others of that size.

    Simplicity decides between supports that the data cannot tell apart, and the linearised likelihood of other supports
    is not quite their own: the support chosen need not be the best one of its size in the tangent regression.
    """
    problem = path.problem
    columns = {name: j for j, name in enumerate(problem.names)}
    supports = [
        tuple(sorted(columns[own[j]] for j in support)) for own, support in zip(names, compared.supports, strict=True)
    ]
    best = path.at([len(support) for support in supports])
    if best.support == tuple(supports):
        return best
    fitted = refit(problem, supports, ridge=best.ridge, constraints=best.constraints)
    same = [shown == support for shown, support in zip(best.support, supports, strict=True)]
    return Solution.rows(problem, [(best if alike else fitted, i) for i, alike in enumerate(same)])


def _selection(before: Selection, path: Path, compared: Comparison, names: Sequence[Sequence[str]]) -> Selection:
    choices, table = [], [replace(row, chosen=False) for row in before.table]
    inclusion = {name: dict(shares) for name, shares in before.inclusion.items()}
    solution = _solution(path, compared, names)
    for i, (choice, support) in enumerate(zip(before.choices, compared.supports, strict=True)):
        values = [_value(compared, path, i, k) for k in range(len(path))]
        confidence = choice.confidence
        rival: tuple[str, ...] = ()
        if i in compared.rivals:
            others = [r for r in compared.evidence.ranked(compared.rivals[i]) if r.support != support]
            confidence = compared.evidence.confidence(compared.rivals[i], support)
            if isinstance(compared.measured, MeasuredTrajectories) and compared.measured.hidden:
                # Along a decay x, -x' and x'' are the same numbers, which the weights of the confidence do not know.
                confidence = min(confidence, compared.evidence.share_of_its_size(compared.rivals[i], support))
            rival = tuple(names[i][j] for j in others[0].support) if others else ()
            inclusion[choice.equation] = _inclusion(compared, i, names[i])
        score, size = values[len(support)], len(rival) or None
        required = choice.required
        choices.append(
            Choice(choice.equation, len(support), TRAJECTORY_FIT, 0.0, score, confidence, size, rival, required)
        )
        table += [_row(path, i, k, choice.equation, values[k], k == len(support)) for k in range(len(path))]
    return Selection(solution, path, tuple(table), inclusion, tuple(choices), before.rule)


def _value(compared: Comparison, path: Path, i: int, k: int) -> float:
    """Return the log evidence for k terms against the choice, by the linearised likelihood."""
    names = features_of(compared.measured, i).names
    terms = {path.problem.names[j] for j in path[k].support[i]}
    model = changed(compared.supports, i, tuple(j for j, name in enumerate(names) if name in terms))
    chosen = compared.evidence.criterion(compared.fit.misfit, compared.supports)
    misfit = float(path[k].objective[i] - path[k].ridge[i] @ path[k].coef[i] ** 2)
    return 0.5 * (chosen - compared.evidence.criterion(misfit, model))


def _inclusion(compared: Comparison, i: int, names: Sequence[str]) -> dict[str, float]:
    """Return for each term the probability of all models compared that have it, among those compared."""
    rivals = compared.rivals[i]
    criteria = np.array([compared.evidence.criterion_of(rival) for rival in rivals])
    weights = np.exp(-0.5 * (criteria - criteria.min()))
    weights /= weights.sum()
    terms = sorted({j for rival in rivals for j in rival.support})
    shares = {j: math.fsum(w for w, r in zip(weights, rivals, strict=True) if j in r.support) for j in terms}
    return {names[j]: min(share, 1.0) for j, share in shares.items() if share >= _LEAST_SHARE}


def _row(path: Path, i: int, k: int, equation: str, value: float, chosen: bool) -> TableRow:
    solution = path[k]
    terms = tuple(path.problem.names[j] for j in solution.support[i])
    proved = solution.status[i] is Status.OPTIMAL
    return TableRow(equation, TRAJECTORY_FIT, 0.0, k, terms, float(solution.objective[i]), value, proved, chosen)


def _whiteness(compared: Comparison) -> Whiteness:
    """Return size and correlation in time of the residuals of the trajectory fit, by equation."""
    measured = compared.measured
    residual, names = measured.samples - compared.fit.states, target_names(measured)
    centred = residual - residual.mean(axis=0)
    columns = [measured.columns_of(i) for i in range(len(names))]
    ratio = np.array([np.sqrt(np.mean(residual[:, states] ** 2)) for states in columns])
    lag = np.array([lag_correlation([centred[:, states]]) for states in columns])
    return Whiteness(names, ratio, lag)
