"""Choose the terms of equations for x'' by trajectory fits in phase space, where x' has no samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exactsindy.constraints import EquationConstraints
from exactsindy.discovery.fitted_models import NODES, FittedModels, Supports
from exactsindy.discovery.trajectory_search import Comparison, TrajectorySearch
from exactsindy.problem import Problem
from exactsindy.selection import Selection, TrajectoryEvidence
from exactsindy.solver import Deadline, Settings
from exactsindy.trajectory_fit import MeasuredTrajectories, Support, features_of

# Largest size of the supports of the regressions that are compared for every equation.
_LARGEST = 6


def compare_in_phase_space(
    selection: Selection,
    measured: MeasuredTrajectories,
    k_max: int,
    settings: Settings,
    constraints: tuple[EquationConstraints, ...],
    rule: TrajectoryEvidence,
) -> Comparison | None:
    """Return the model with the most likely trajectory fit; None if time is too short or no trajectory fits.

    The regressions give supports of every size and first coefficients; they choose no size, because the errors of
    their rows, which hold smoothed velocities, are neither independent nor of known size.
    """
    equations = range(len(selection.choices))
    columns = [{name: j for j, name in enumerate(features_of(measured, i).names)} for i in equations]
    shares = [_equal_shares(selection, i, columns[i]) for i in equations]
    starts = [Problem((selection.solution.problem.locate(i)[0],)) for i in equations]
    clock = Deadline(Settings(threads=1, nodes=NODES, seconds=settings.seconds))
    largest = selection.path[len(selection.path) - 1]
    names = selection.path.problem.names
    saturated = tuple(tuple(sorted(columns[i][names[j]] for j in largest.support[i])) for i in equations)
    small = _of_every_size(selection, columns)

    def search(samples: MeasuredTrajectories) -> TrajectorySearch:
        fits = FittedModels(samples, starts, k_max, clock, constraints)
        return TrajectorySearch(fits, shares, list(equations), saturated, rule, None, integrable, small)

    integrable = measured.can_integrate
    found = search(measured).run()
    if found is not None or not integrable:
        return found
    fine = replace(measured, integrated=True)
    found = search(fine).run_coarse()
    if found is None or clock.expired:
        return found
    again = search(fine.with_noise_of(found.fit.states)).run_coarse(found.supports)
    return found if again is None else again


def _equal_shares(selection: Selection, i: int, columns: Mapping[str, int]) -> dict[Support, float]:
    """Return the supports of an equation that the regressions find best of their size, all alike; the choice first."""
    choice = selection.choices[i]
    chosen = tuple(sorted(columns[name] for name in selection.solution.terms[choice.equation]))
    rows = [row for row in selection.table if row.equation == choice.equation and 0 < row.k <= _LARGEST]
    supports = dict.fromkeys([chosen, *(tuple(sorted(columns[name] for name in row.terms)) for row in rows)])
    return dict.fromkeys(supports, 1.0 / len(supports))


def _of_every_size(selection: Selection, columns: Sequence[Mapping[str, int]]) -> tuple[Supports, ...]:
    """Return models whose equations all have the same number of terms, the best ones of every regression."""
    terms = {(row.variant, row.k, row.equation): row.terms for row in selection.table}
    models = []
    for variant, k in dict.fromkeys((row.variant, row.k) for row in selection.table if 0 < row.k <= _LARGEST):
        parts = [terms.get((variant, k, choice.equation), ()) for choice in selection.choices]
        models.append(tuple(tuple(sorted(of[n] for n in part)) for of, part in zip(columns, parts, strict=True)))
    return tuple(dict.fromkeys(models))
