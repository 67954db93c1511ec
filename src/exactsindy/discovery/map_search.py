"""Search the model of a map whose trajectory is the most likely, with the size of the noise found on the way."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from exactsindy.constraints import EquationConstraints
from exactsindy.data import Trajectories
from exactsindy.discovery.fitted_models import NODES, FittedModels
from exactsindy.discovery.trajectory_search import Comparison, TrajectorySearch
from exactsindy.errors import ProblemError
from exactsindy.forms import MapForm, corrected_problem, groups, lagged, one_step_noise
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import Selection, TrajectoryEvidence, shared_path
from exactsindy.solver import Deadline, Path, Settings
from exactsindy.trajectory_fit import MeasuredMap, Support, features_of, row_count, target_names

# Noise below this share of the root mean square of a state is rounding: of the samples, or of what computed them.
ROUNDING = 1e-10
# Samples of which the noise is estimated and moments are made.
_MOST_SAMPLES = 20_000
# Rounds of searching with the noise that the fit before left. The first estimate is within a few per cent already.
_ROUNDS = 3
# The search is repeated while the noise of a state changes by more than this share.
_SETTLED = 0.02
# Probability given to supports of the corrected regression beside those of the one-step rows: they are only starts.
_BESIDE = 0.01


def measured_map(data: Trajectories, library: Library, form: MapForm) -> MeasuredMap:
    """Return the samples in units of their noise, as one step of the whole library shows it; ``data`` are steps."""
    source = lagged(data, form.lags)
    squares = np.mean(np.vstack([member.states for member in data]) ** 2, axis=0)
    floor = np.maximum(ROUNDING * np.sqrt(squares), np.finfo(float).tiny ** 0.25)
    noise = one_step_noise(_first(source), library, form.lags)
    return MeasuredMap(data, groups(source, library), np.maximum(noise, floor), floor, form.lags)


def _first(data: Trajectories) -> Trajectories:
    """Return the first samples, enough for an estimate."""
    ranges, left = [], _MOST_SAMPLES
    for i, member in enumerate(data):
        if left > 2:
            ranges.append((i, 0, min(len(member), left)))
        left -= len(member)
    return data.slices(ranges)


def compare_maps(
    selection: Selection,
    measured: MeasuredMap,
    library: Library,
    k_max: int,
    settings: Settings,
    constraints: tuple[EquationConstraints, ...] = (),
) -> Comparison | None:
    """Return the model with the most likely trajectory; None if time is too short, or no trajectory was found."""
    clock = Deadline(Settings(threads=1, nodes=NODES, seconds=settings.seconds))
    paths = [selection.path]
    starts = [Problem((selection.path.problem.locate(i)[0],)) for i in range(len(selection.choices))]
    try:
        corrected = corrected_problem(_first(lagged(measured.data, measured.lags)), library, measured.noise)
        paths.append(shared_path(corrected, k_max, settings=clock.settings()))
        starts = [Problem((corrected.locate(i)[0],)) for i in range(len(selection.choices))]
    except ProblemError:  # a term is no monomial
        pass
    shares = [_shares(paths, measured, i) for i in range(len(selection.choices))]
    largest = paths[-1][len(paths[-1]) - 1]
    saturated = tuple(_columns(paths[-1], largest.support[i], measured, i) for i in range(len(shares)))
    best: Comparison | None = None
    for _ in range(_ROUNDS):
        fits = FittedModels(measured, starts, k_max, clock, constraints, whole=True)
        search = TrajectorySearch(fits, shares, range(len(shares)), saturated, map_evidence(measured))
        found = search.run()
        if found is None:
            break
        best = found
        again = measured.with_noise_of(found.fit.states)
        if clock.expired or (np.abs(np.log(again.noise / measured.noise)) < _SETTLED).all():
            break
        measured = again
        shares = [{**share, found.supports[i]: 1.0} for i, share in enumerate(_halved(shares))]
    return best


def _halved(shares: Sequence[dict[Support, float]]) -> list[dict[Support, float]]:
    return [{support: share / 2 for support, share in own.items()} for own in shares]


def map_evidence(measured: MeasuredMap) -> TrajectoryEvidence:
    """Return the evidence that compares the misfits of maps."""
    equations = range(len(target_names(measured)))
    terms = tuple(len(features_of(measured, i).terms) for i in equations)
    factors = tuple(tuple(term.complexity for term in features_of(measured, i).terms) for i in equations)
    rows = row_count(measured)
    least = rows * float(np.mean((measured.floor / measured.noise) ** 2))
    return TrajectoryEvidence.for_maps(rows, terms, factors, least, relative_noise(measured))


def relative_noise(measured: MeasuredMap) -> float:
    """Return the largest noise of a state that moves, as a share of its spread."""
    spread = measured.samples.std(axis=0)
    return float(1.0 / spread[spread > 0].min()) if (spread > 0).any() else 1.0


def _columns(path: Path, support: Sequence[int], measured: MeasuredMap, i: int) -> Support:
    names = features_of(measured, i).names
    return tuple(sorted(names.index(path.problem.names[j]) for j in support))


def _shares(paths: Sequence[Path], measured: MeasuredMap, i: int) -> dict[Support, float]:
    """Return supports to start from: of one-step rows by their BIC, and beside them those of corrected moments."""
    rows = paths[0].problem.n_samples_of(i)
    known = [(k, solution) for k, solution in enumerate(paths[0]) if math.isfinite(solution.objective[i])]
    # Residuals below rounding are equal.
    least = max(ROUNDING**2 * max(float(solution.objective[i]) for _, solution in known), np.finfo(float).tiny)
    values = np.array(
        [rows * math.log(max(float(s.objective[i]), least) / rows) + 2 * k * math.log(rows) for k, s in known]
    )
    weights = np.exp(-0.5 * (values - values.min()))
    weights /= weights.sum()
    shares = {
        _columns(paths[0], solution.support[i], measured, i): float(weight)
        for (_, solution), weight in zip(known, weights, strict=True)
    }
    size = known[int(np.argmax(weights))][0]
    for path in paths[1:]:
        for k in (size, size - 1, size + 1):
            if 0 < k < len(path):
                support = _columns(path, path[k].support[i], measured, i)
                shares[support] = max(shares.get(support, 0.0), _BESIDE)
    return shares
