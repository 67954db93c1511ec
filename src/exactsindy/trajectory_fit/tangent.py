"""The likelihood of all models near a trajectory fit as a regression, which can be solved exactly."""

from __future__ import annotations

import numpy as np

from exactsindy.errors import ProblemError
from exactsindy.problem import Problem
from exactsindy.trajectory_fit.fit import TrajectoryFit, TrajectoryModel, last_tolerance
from exactsindy.trajectory_fit.protocols import Measured, Support, features_of, row_count, target_names

# Relative rounding error of the curvature, added to its diagonal: the curvature is the small difference of large
# numbers, in which about six of sixteen digits are lost.
_ROUNDING = 1e-10


def tangent_problem(
    measured: Measured,
    supports: tuple[Support, ...],
    fit: TrajectoryFit,
    equation: int,
    held: frozenset[int] = frozenset(),
) -> Problem | None:
    """Return the regression of one equation whose residual sum of squares is the misfit near a trajectory fit.

    States and the coefficients of the other equations are free (of their own terms) and already minimised over; those
    of the equations ``held`` stay as they are; the trajectory is linearised. Its solution over the terms of the fitted
    model is that model; ``equation`` may take any terms of its library. None if the library overflows on the trajectory
    or terms are dependent beyond rounding.
    """
    features = features_of(measured, equation)
    every = tuple(range(len(features.terms)))
    held = held - {equation}
    model = TrajectoryModel(measured, (*supports[:equation], every, *supports[equation + 1 :]), held)
    current = np.zeros(len(features.terms))
    current[list(supports[equation])] = fit.coef[equation]
    coef = [current if i == equation else xi for i, xi in enumerate(fit.coef)]
    step = model.step(fit.states, np.concatenate(coef), last_tolerance(measured))
    if step is None:
        return None
    own = slice(model.first[equation], model.first[equation + 1])
    free = [i for i in range(len(supports)) if i != equation and i not in held]
    others = np.concatenate([np.zeros(0, dtype=int), *(np.arange(model.first[i], model.first[i + 1]) for i in free)])
    gram, slope = step.curvature[own, own], step.slope[own]
    constant = fit.misfit
    if len(others):
        between = step.curvature[own, others]
        try:
            profiled = np.linalg.solve(
                step.curvature[np.ix_(others, others)], np.column_stack([between.T, step.slope[others]])
            )
        except np.linalg.LinAlgError:
            return None
        gram, slope = gram - between @ profiled[:, :-1], slope - between @ profiled[:, -1]
        constant -= float(step.slope[others] @ profiled[:, -1])
    gram = (gram + gram.T) / 2 + np.diag(_ROUNDING * np.diag(step.curvature)[own])
    moments = slope + gram @ current
    square = constant + float(current @ (slope + moments))
    rows, name = row_count(measured), target_names(measured)[equation]
    try:
        return Problem.from_gram(gram, moments, square, rows, names=features.terms, target_names=(name,))
    except ProblemError:
        return None
