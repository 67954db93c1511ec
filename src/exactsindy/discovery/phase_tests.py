"""Tests whether the library holds the law of equations for x'', on trajectory fits in phase space."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from exactsindy._limits import passed
from exactsindy.discovery.fit_tests import FitTest
from exactsindy.discovery.row_tests import CLEAN, stretches
from exactsindy.discovery.wide_library import WideLibrary, with_additions
from exactsindy.selection import LackOfFit, mean_correlation
from exactsindy.trajectory_fit import MeasuredTrajectories, row_count

# Residual in units of the noise that stands for a model whose trajectories cannot be fitted at all.
_NO_TRAJECTORY = 100.0


def phase_tests(wide: WideLibrary, samples: MeasuredTrajectories, deadline: float) -> dict[str, LackOfFit]:
    """Return what the trajectory fit of the model chosen says against the law of every equation.

    Rows of smoothed velocities have errors of unknown size, so that trajectories alone are looked at: how much they
    leave of the samples, and what a function outside the library would add.
    """
    measured = replace(samples, smoothed=stretches(samples.smoothed, wide.samples), equations=wide.groups)
    test = FitTest.of(wide, measured, deadline)
    rows, found = row_count(measured), {}
    for i, choice in enumerate(wide.selection.choices):
        if not choice.k or passed(deadline):
            continue
        lack = _residuals(test, i, rows)
        if np.isfinite(test.fit.misfit):
            lack = with_additions(lack, test.additions(i), wide.places[choice.equation].names)
        found[choice.equation] = lack
    return found


def _residuals(test: FitTest, i: int, rows: int) -> LackOfFit:
    """Return size and correlation of what the trajectory leaves of the measured state of an equation."""
    measured, column = test.measured, int(test.measured.columns_of(i)[0])
    noise, floor = measured.smoothed.noise[column], measured.smoothed.floor[column]
    left = (measured.samples - test.fit.states)[:, column]
    known = bool(np.isfinite(test.fit.misfit))
    ratio = math.sqrt(float(np.mean(left**2))) if known else _NO_TRAJECTORY
    return LackOfFit(
        rows=rows,
        ratio=ratio,
        share=ratio / max(float(measured.samples[:, column].std()), float(np.finfo(float).tiny)),
        correlation=mean_correlation(left) if known else 1.0,
        resolved=ratio * noise > floor,
        noisy=bool(floor < CLEAN * noise),
    )
