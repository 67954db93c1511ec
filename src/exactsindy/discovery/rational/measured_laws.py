"""The rational laws of trajectories: where windows say to begin, and what the likelihood of trajectories chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.discovery.rational.concrete import readable, standard_errors
from exactsindy.discovery.rational.joint_candidates import JointCandidates
from exactsindy.discovery.rational.labelled import FoundLaw, FoundLaws
from exactsindy.discovery.rational.output_fit import LawFit
from exactsindy.discovery.rational.poles import PoleCheck, box_of
from exactsindy.discovery.rational.rows import window_rows
from exactsindy.discovery.rational.screening import screened
from exactsindy.discovery.rational.shapes import Candidates
from exactsindy.discovery.rational.trajectory_laws import JointFit, TrajectoryLaws
from exactsindy.forms import Smoothed
from exactsindy.library import Variables
from exactsindy.solver import Deadline

# Laws of the rows of windows that trajectories are fitted to, beside the best one of every size.
_STARTS = 4
# Fraction of the time for the rows of windows, all equations together.
_ROWS_SHARE = 0.4


def trajectory_laws(
    data: Trajectories, smoothed: Smoothed, candidates: Sequence[Candidates], largest: int, clock: Deadline
) -> list[FoundLaws]:
    """Return the laws of all equations by the likelihood of trajectories that obey all of them together."""
    variables = Variables.of(data)
    names = (*data.state_names, *data.control_names)
    box = box_of(np.hstack([np.vstack(smoothed.values), np.vstack([piece.controls for piece in smoothed.pieces])]))
    reduced, starts, fitted, poles = [], [], [], []
    for target, own in zip(data.targets, candidates, strict=True):
        limits = Deadline(replace(clock.share(_ROWS_SHARE / len(candidates)), threads=1))
        few = screened(window_rows(own, variables, smoothed, target.state), own, limits)
        check = PoleCheck(few.candidates, names, box)
        search = few.searched(largest, limits, check)
        laws_of_rows = [*search.ranked()[:_STARTS], *search.best_of_sizes()]
        starts.append([start.law for start in dict.fromkeys(laws_of_rows)])
        fitted.append(len(search.fits))
        reduced.append(few.candidates)
        poles.append(check)
    joint = JointCandidates(smoothed, variables, data.targets, tuple(reduced), tuple(poles))
    joined = TrajectoryLaws(joint, largest, clock)
    best = joined.searched(starts)
    words = "likelihood of trajectories (extended BIC)"
    found = []
    for i, (target, own, rows) in enumerate(zip(data.targets, reduced, fitted, strict=True)):
        laws: list[FoundLaw] = []
        for rival in joined.rivals(best, i):
            law = readable(rival.laws[i], own)
            errors = np.full(law.shape.size, np.nan) if laws else trajectory_errors(joined, rival, i, law)
            laws.append(FoundLaw(law, rival.criterion, errors))
        count, unchecked = rows + len(joined.fits), poles[i].is_open(laws[0].law)
        found.append(
            FoundLaws(target.name, own, tuple(laws), count, words, among=candidates[i].free, unchecked=unchecked)
        )
    return found


def trajectory_errors(joined: TrajectoryLaws, joint: JointFit, i: int, law: LawFit) -> Array:
    """Return the standard errors of the coefficients of one law, all others and the trajectory being free."""
    curvature = joined.curvature((*joint.laws[:i], law, *joint.laws[i + 1 :]), joint)
    if curvature is None:
        return np.full(law.shape.size, np.nan)
    table, places = curvature
    rows = sum(len(piece) for piece in joined.joint.smoothed.pieces) * len(joint.laws)
    variance = max(joint.misfit / max(rows - len(table), 1), 0.0)
    return standard_errors(table, variance)[places[i]]
