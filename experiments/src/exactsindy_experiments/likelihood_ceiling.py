"""How far the likelihood of whole trajectories prefers the true law: what a choice by it could reach at best."""

from __future__ import annotations

import math
from collections.abc import Sequence

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.discovery.fitted_models import FittedModels, changed
from exactsindy.discovery.prepare import fit_samples
from exactsindy.discovery.variants import whitened_increments
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import TrajectoryEvidence
from exactsindy.solver import Deadline, Settings
from exactsindy.trajectory_fit import MeasuredTrajectories, features_of, row_count

# Rivals of an equation: what was chosen, and so many that the likelihood linearised at the true model proposes.
_PROPOSED = 4
_K_MAX = 8
_LIMITS = Settings(threads=1, nodes=2000, seconds=150.0)


def truth_leads(
    data: Trajectories, library: Library, truth: Sequence[frozenset[str]], chosen: Sequence[frozenset[str]]
) -> list[float]:
    """Return for each equation the extended BIC of its best rival less that of the true terms.

    Above 0 the true terms are preferred, all other equations being the true ones. nan if a trajectory of the true model
    cannot be fitted, or time is up.

    Parameters
    ----------
    data, library
        What was measured, and the candidate terms.
    truth, chosen
        True terms of each equation, and those that `discover` chose, which are among the rivals.
    """
    measured, fits = _fits(data, library)
    equations = range(len(truth))
    columns = [{name: j for j, name in enumerate(features_of(measured, i).names)} for i in equations]
    true, other = (
        tuple(tuple(sorted(columns[i][name] for name in terms[i])) for i in equations) for terms in (truth, chosen)
    )
    evidence = TrajectoryEvidence(row_count(measured), tuple(len(names) for names in columns))
    own = evidence.criterion(fits.fit(true).misfit, true)
    leads = []
    for i in equations:
        proposed = fits.proposed(evidence, true, i)
        rivals = {other[i], *sorted(proposed, key=lambda s: proposed[s])[: _PROPOSED + 1]} - {true[i]}
        models = [changed(true, i, rival) for rival in rivals]
        prices = [evidence.criterion(fits.fit(model, true).misfit, model) for model in models]
        known = math.isfinite(own) and proposed and not fits.late
        leads.append(min(prices) - own if known else math.nan)
    return leads


def law_lead(data: Trajectories, library: Library, clean: Array, chosen: Sequence[frozenset[str]]) -> float:
    """Return twice the log-likelihood ratio of a law outside the library against the model chosen.

    That of the law is exact: its trajectory without noise is known, and nothing is fitted. Where even so the ratio is
    not above 0, the data prefer the wrong model to the law itself, and no test on them could tell. nan if the
    trajectory of the model cannot be fitted.

    Parameters
    ----------
    data, library
        What was measured, and the candidate terms.
    clean
        The samples without noise (samples x states).
    chosen
        The terms chosen for each equation.
    """
    measured, fits = _fits(data, library)
    if measured.samples.shape != clean.shape:
        return math.nan
    places = [{name: j for j, name in enumerate(features_of(measured, i).names)} for i in range(len(chosen))]
    model = tuple(tuple(sorted(of[name] for name in terms)) for of, terms in zip(places, chosen, strict=True))
    left = measured.samples - clean / measured.smoothed.noise
    lead = fits.fit(model).misfit - float((left**2).sum())
    return lead if math.isfinite(lead) else math.nan


def _fits(data: Trajectories, library: Library) -> tuple[MeasuredTrajectories, FittedModels]:
    """Return the samples for trajectory fits, and the fits of models of them."""
    variant = whitened_increments(data, library, _LIMITS)[-1]
    measured = fit_samples(variant, data, library)
    assert isinstance(measured, MeasuredTrajectories)
    starts = [Problem((variant.problem.locate(i)[0],)) for i in range(len(data.targets))]
    return measured, FittedModels(measured, starts, _K_MAX, Deadline(_LIMITS))
