"""Where rows leave the choice open, the likelihood of whole orbits decides."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from exactsindy.discovery.fitted_models import FittedModels
from exactsindy.discovery.sampling import sampling
from exactsindy.discovery.trajectory_search import Comparison, TrajectorySearch
from exactsindy.forms import Whiteness
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
from exactsindy.solver import Path, Settings, Status
from exactsindy.trajectory_fit import (
    Measured,
    MeasuredModes,
    by_piece,
    features_of,
    row_count,
    tangent_problem,
    target_names,
)

# An equation is open below this probability. Above it the rows were right without exception on the tuning systems.
SURE = 0.98
# Nodes for the sizes of an equation at the orbit chosen: small sizes come first, and those far beyond the chosen one
# need no proof.
_NODES = 20000
# Samples per period beyond which more of them do not raise the price of a term: that of the tuning systems.
_DENSE = 100.0
# What errors of quadrature may cost in a field: about the price of a term.
_MODE_COSTLY = 10.0
# Terms of less probability are not listed.
_LEAST_SHARE = 0.005


def refine(
    selection: Selection, measured: Measured, k_max: int, settings: Settings
) -> tuple[Selection, Whiteness | None]:
    """Return the selection with open equations resolved by likelihood, and what the residuals are like.

    The regression returned is the tangent one at the orbit chosen: its residual sum of squares is the misfit, so
    that standard errors and margins are those of the likelihood. If its best supports are not those chosen, which a
    poor linearisation may cause, the selection stays as it was.

    Parameters
    ----------
    selection
        What the rows say.
    measured
        The samples.
    k_max, settings
        Largest number of terms; the time limit.
    """
    found = compare(selection, measured, k_max, settings)
    path = None if found is None else _path(measured, found, k_max, settings)
    if found is None or path is None:
        return selection, None
    names = [features_of(measured, i).names for i in range(len(found.supports))]
    return _selection(selection, path, found, names), _whiteness(measured, found)


def compare(selection: Selection, measured: Measured, k_max: int, settings: Settings) -> Comparison | None:
    """Return the model with the most likely orbit; None if no equation is open or time is too short."""
    if not isinstance(selection.rule, PathEvidence):
        return None
    choices = selection.choices
    unsure = [i for i, choice in enumerate(choices) if choice.k and choice.confidence < SURE]
    if not unsure:
        return None
    columns = [_columns(measured, i) for i in range(len(choices))]
    shares = [
        {tuple(sorted(columns[i][name] for name in terms)): share for terms, share in _shares(selection, i).items()}
        for i in range(len(choices))
    ]
    starts = [Problem((selection.solution.problem.locate(i)[0],)) for i in range(len(choices))]
    deadline = time.monotonic() + (settings.seconds if settings.seconds is not None else math.inf)
    path = selection.path
    saturated = tuple(
        tuple(sorted(columns[i][path.problem.names[j]] for j in support))
        for i, support in enumerate(path[len(path) - 1].support)
    )
    costly = _MODE_COSTLY if isinstance(measured, MeasuredModes) else None
    fits = FittedModels(measured, starts, k_max, deadline)
    return TrajectorySearch(fits, shares, unsure, saturated, _rule(measured), costly).run()


def _rule(measured: Measured) -> TrajectoryEvidence:
    """Return how misfits are compared."""
    rows, terms = (
        row_count(measured),
        tuple(len(features_of(measured, i).terms) for i in range(len(target_names(measured)))),
    )
    if isinstance(measured, MeasuredModes):
        return TrajectoryEvidence.for_modes(rows, terms)
    found = sampling(by_piece(measured, measured.guess), np.ones(measured.guess.shape[1]))
    counted = min(_DENSE / found.per_period, 1.0)  # 0 where nothing oscillates: all rows count then
    return TrajectoryEvidence(rows, terms, counted=counted or 1.0)


def _columns(measured: Measured, i: int) -> dict[str, int]:
    return {name: j for j, name in enumerate(features_of(measured, i).names)}


def _shares(selection: Selection, i: int) -> dict[frozenset[str], float]:
    """Return the probabilities of the supports of an equation by its rows."""
    choice = selection.choices[i]
    rows = [r for r in selection.table if r.equation == choice.equation and not math.isnan(r.value)]
    if not choice.k or not rows:
        return {frozenset(selection.solution.terms[choice.equation]): 1.0}
    shares = selection.rule.shares((frozenset(r.terms), r.value) for r in rows)
    if choice.confidence >= SURE:
        return {frozenset(selection.solution.terms[choice.equation]): choice.confidence}
    return dict(shares)


def _path(measured: Measured, found: Comparison, k_max: int, settings: Settings) -> Path | None:
    """Return the path of the tangent regressions at the orbit; None if it does not hold the model chosen."""
    parts = [tangent_problem(measured, found.supports, found.orbit, i) for i in range(len(found.supports))]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    problem = Problem.from_blocks(known)
    nodes = _NODES if settings.nodes is None else min(settings.nodes, _NODES)
    path = shared_path(problem, k_max, settings=replace(settings, nodes=nodes))
    for i, support in enumerate(found.supports):
        names = features_of(measured, i).names
        best = path[len(support)]
        if {problem.names[j] for j in best.support[i]} != {names[j] for j in support}:
            return None
    return path


def _selection(before: Selection, path: Path, found: Comparison, names: Sequence[Sequence[str]]) -> Selection:
    choices, table = [], [replace(row, chosen=False) for row in before.table]
    inclusion = {name: dict(shares) for name, shares in before.inclusion.items()}
    solution = path.at([len(support) for support in found.supports])
    for i, (choice, support) in enumerate(zip(before.choices, found.supports, strict=True)):
        values = [_value(found, path, i, k) for k in range(len(path))]
        confidence = choice.confidence
        rival: tuple[str, ...] = ()
        if i in found.rivals:
            ranked = found.evidence.ranked(found.rivals[i])
            confidence = found.evidence.confidence(found.rivals[i])
            rival = tuple(names[i][j] for j in ranked[1].support) if len(ranked) > 1 else ()
            inclusion[choice.equation] = _inclusion(found, i, names[i])
        size = len(rival) or None
        choices.append(
            Choice(choice.equation, len(support), TRAJECTORY_FIT, 0.0, values[len(support)], confidence, size, rival)
        )
        table += [_row(path, i, k, choice.equation, values[k], k == len(support)) for k in range(len(path))]
    return Selection(solution, path, tuple(table), inclusion, tuple(choices), before.rule)


def _value(found: Comparison, path: Path, i: int, k: int) -> float:
    """Return the log evidence for k terms against the choice, by the linearised likelihood."""
    support = tuple(range(k))
    model = (*found.supports[:i], support, *found.supports[i + 1 :])
    here = found.evidence.criterion(found.orbit.misfit, found.supports)
    return 0.5 * (here - found.evidence.criterion(float(path[k].objective[i]), model))


def _inclusion(found: Comparison, i: int, names: Sequence[str]) -> dict[str, float]:
    """Return for each term the probability of all models compared that have it, among those compared."""
    rivals = found.rivals[i]
    prices = np.array([found.evidence.criterion_of(rival) for rival in rivals])
    weights = np.exp(-0.5 * (prices - prices.min()))
    weights /= weights.sum()
    terms = sorted({j for rival in rivals for j in rival.support})
    shares = {j: math.fsum(w for w, r in zip(weights, rivals, strict=True) if j in r.support) for j in terms}
    return {names[j]: min(share, 1.0) for j, share in shares.items() if share >= _LEAST_SHARE}


def _row(path: Path, i: int, k: int, equation: str, value: float, chosen: bool) -> TableRow:
    solution = path[k]
    terms = tuple(path.problem.names[j] for j in solution.support[i])
    proved = solution.status[i] is Status.OPTIMAL
    return TableRow(equation, TRAJECTORY_FIT, 0.0, k, terms, float(solution.objective[i]), value, proved, chosen)


def _whiteness(measured: Measured, found: Comparison) -> Whiteness:
    """Return size and correlation in time of what the orbit leaves of the samples, by equation."""
    residual = measured.samples - found.orbit.states
    centred = residual - residual.mean(axis=0)
    names = target_names(measured)
    columns = [measured.columns_of(i) for i in range(len(names))]
    squares = [float((centred[:, mine] ** 2).sum()) for mine in columns]
    products = [float((centred[1:, mine] * centred[:-1, mine]).sum()) for mine in columns]
    ratio = np.array([np.sqrt(np.mean(residual[:, mine] ** 2)) for mine in columns])
    lag = np.array([p / max(q, np.finfo(float).tiny) for p, q in zip(products, squares, strict=True)])
    return Whiteness(names, ratio, lag)
