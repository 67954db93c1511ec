"""Trajectory fits within constraints: what is asked of coefficients and terms holds in what they choose."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.constraints import (
    AtMost,
    Bounds,
    Fixed,
    Forbid,
    Implies,
    Linear,
    NotBoth,
    Require,
    SemiContinuous,
    Sign,
)
from exactsindy.constraints import by_equation as split
from exactsindy.discovery.fitted_models import FittedModels
from exactsindy.discovery.prepare import fit_samples
from exactsindy.discovery.variants import whitened_increments
from exactsindy.problem import Problem
from exactsindy.selection import TRAJECTORY_FIT
from exactsindy.solver import Deadline
from exactsindy.trajectory_fit import TrajectoryModel, features_of

ONE = es.Settings(seconds=60.0, threads=1)
LAW = {"x'": {"x": -10.0, "y": 10.0}, "y'": {"x": 28.0, "y": -1.0, "x z": -1.0}, "z'": {"z": -8 / 3, "x y": 1.0}}
TERMS = {name: set(terms) for name, terms in LAW.items()}
LIBRARY = es.Polynomials(2)


@pytest.fixture(scope="module")
def data():
    """Lorenz' system for 6 s with noise of a tenth of its spread: every equation is compared by trajectories."""
    clean = es.Model.from_coefficients(LAW).simulate([-8.0, 8.0, 27.0], np.linspace(0.0, 6.0, 601)).x
    noisy = clean + np.random.default_rng(1).normal(0, 0.1 * clean.std(), clean.shape)
    return es.Trajectories.from_arrays(noisy, time=0.01, states=("x", "y", "z"))


@pytest.mark.parametrize(
    "constraint",
    [
        Fixed("y'", "x z", -1.0),
        Sign("y'", "y", "-"),
        Bounds("z'", "z", -2.7, -2.0),
        Linear({("x'", "x"): 1.0, ("x'", "y"): 1.0}, "==", 0.0),
        Linear({("y'", "x"): 1.0, ("y'", "y"): 1.0}, "<=", 26.0),
        SemiContinuous("z'", "x y", 0.5),
        Require("y'", "y"),
        Forbid("x'", "x z"),
        AtMost(1, [("y'", "y"), ("y'", "y z")]),
        NotBoth(("y'", "y"), ("y'", "y z")),
        Implies(("y'", "x z"), ("y'", "x")),
    ],
    ids=lambda constraint: type(constraint).__name__,
)
def test_the_law_is_found_within_each_kind_of_constraint(data, constraint):
    found = es.discover(data, library=LIBRARY, constraints=[constraint], settings=ONE)
    assert {choice.variant for choice in found.selection.choices} == {TRAJECTORY_FIT}
    assert {name: set(terms) for name, terms in found.solution.terms.items()} == TERMS
    assert found.solution.constraints == (constraint,)
    assert es.verify(found.problem, found.solution).ok


def test_a_ridge_leaves_the_terms_to_trajectory_fits_and_shrinks_their_coefficients(data):
    plain, ridged = (es.discover(data, library=LIBRARY, ridge=ridge, settings=ONE) for ridge in (0.0, 10.0))
    assert {choice.variant for choice in ridged.selection.choices} == {TRAJECTORY_FIT}
    assert {name: set(terms) for name, terms in ridged.solution.terms.items()} == TERMS
    assert (ridged.solution.ridge == 10.0).all()
    assert es.verify(ridged.problem, ridged.solution).ok
    size = [float(np.abs(found.solution.coef).sum()) for found in (plain, ridged)]
    assert size[1] < size[0]


def test_constraints_of_several_equations_leave_the_choice_to_the_regressions(data):
    problem = es.StrongForm().problem(data, LIBRARY)
    assert split(problem, ["x': x == y': y"]) is None
    parts = split(problem, [Fixed("y'", "x z", -1.0), Forbid("z'", "x"), Require("z'", "z")])
    assert [part.binding for part in parts] == [False, True, False]
    assert [len(part.constraints) for part in parts] == [0, 1, 2]


def fitted_models(data, constraints):
    variant = whitened_increments(data, LIBRARY, ONE)[-1]
    measured = fit_samples(variant, data, LIBRARY)
    starts = [Problem((variant.problem.locate(i)[0],)) for i in range(3)]
    parts = split(variant.problem, constraints)
    fits = FittedModels(measured, starts, 8, Deadline(ONE), parts)
    names = [features_of(measured, i).names for i in range(3)]
    model = tuple(tuple(sorted(names[i].index(term) for term in LAW[name])) for i, name in enumerate(LAW))
    return fits, model


def test_the_misfit_within_a_constraint_is_the_least_over_what_it_allows(data):
    """x' = c (y - x): the least misfit over c of trajectories whose coefficients in x' are held."""
    free, model = fitted_models(data, [])
    bound, _ = fitted_models(data, [Linear({("x'", "x"): 1.0, ("x'", "y"): 1.0}, "==", 0.0)])
    best = bound.fit(model)
    assert best.coef[0][0] == pytest.approx(-best.coef[0][1], rel=1e-9)
    assert free.fit(model).misfit <= best.misfit
    held = TrajectoryModel(bound.measured, model, frozenset({0}))
    c = best.coef[0][1]
    scan = [held.fit([np.array([-v, v]), *best.coef[1:]], best.states).misfit for v in c + np.linspace(-0.3, 0.3, 7)]
    assert min(scan) >= best.misfit - 0.1
    assert np.argmin(scan) == 3
    assert scan[0] > best.misfit + 1
    assert scan[-1] > best.misfit + 1


def test_a_support_that_no_coefficients_fit_is_not_chosen(data):
    """A value that is both 1 or more and 0: such a model has no trajectory."""
    fits, model = fitted_models(data, [Bounds("x'", "x", -20.0, -1.0)])
    assert np.isfinite(fits.fit(model).misfit)
    without = ((model[0][1],), *model[1:])
    assert fits.fit(without).misfit == np.inf
