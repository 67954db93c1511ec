"""The likelihood of all models near an orbit as a regression, which can be solved exactly."""

from __future__ import annotations

import numpy as np

from exactsindy.errors import ProblemError
from exactsindy.problem import Problem
from exactsindy.trajectory_fit.fit import SCHEDULE, TrajectoryFit, TrajectoryModel
from exactsindy.trajectory_fit.measured import Measured, features_of, row_count, target_names
from exactsindy.trajectory_fit.protocols import Support

# Relative rounding errors of the curvature, which is what a large number leaves of another.
_ROUNDING = 1e-10


def tangent_problem(
    measured: Measured, supports: tuple[Support, ...], orbit: TrajectoryFit, equation: int
) -> Problem | None:
    """Return the regression of one equation whose residual sum of squares is the misfit near an orbit.

    States and the coefficients of the other equations are free (of their own terms) and already minimised over; the
    orbit is linearised. Its solution over the terms of the orbit's model is that model.

    Parameters
    ----------
    measured, supports, orbit
        The samples, the terms of every equation, and the orbit fitted with them.
    equation
        Which one may take any terms of its library.

    Returns
    -------
    Problem or None
        None if the library overflows on the orbit or terms are dependent beyond rounding.
    """
    features = features_of(measured, equation)
    open_supports = (*supports[:equation], tuple(range(len(features.terms))), *supports[equation + 1 :])
    model = TrajectoryModel(measured, open_supports)
    current = np.zeros(len(features.terms))
    current[list(supports[equation])] = orbit.coef[equation]
    coef = [current if i == equation else xi for i, xi in enumerate(orbit.coef)]
    step = model.step(orbit.states, np.concatenate(coef), SCHEDULE[-1])
    if step is None:
        return None
    mine = slice(model.first[equation], model.first[equation + 1])
    others = np.r_[0 : mine.start, mine.stop : model.first[-1]]
    gram, slope = step.curvature[mine, mine], step.slope[mine]
    constant = orbit.misfit
    if len(others):
        between = step.curvature[mine, others]
        try:
            taken = np.linalg.solve(
                step.curvature[np.ix_(others, others)], np.column_stack([between.T, step.slope[others]])
            )
        except np.linalg.LinAlgError:
            return None
        gram, slope = gram - between @ taken[:, :-1], slope - between @ taken[:, -1]
        constant -= float(step.slope[others] @ taken[:, -1])
    gram = (gram + gram.T) / 2 + np.diag(_ROUNDING * np.diag(step.curvature)[mine])
    moments = slope + gram @ current
    square = constant + float(current @ (slope + moments))
    rows, name = row_count(measured), target_names(measured)[equation]
    try:
        return Problem.from_gram(gram, moments, square, rows, names=features.terms, target_names=(name,))
    except ProblemError:
        return None
