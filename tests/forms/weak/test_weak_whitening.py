"""Weak rows made independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from exactsindy.data import Trajectories
from exactsindy.errors import ProblemError
from exactsindy.forms import NotPositiveDefinite, WeakForm
from exactsindy.forms.base import groups, trial
from exactsindy.forms.weak.whitening import NoisyStates, WhitenedRows, stacked
from forms.cases import BURGERS, QUADRATIC, STEP, gram, least_squares, noisy_lorenz, on_support, slightly_noisy_burgers


def neighbours(residual):
    return (residual[1:] @ residual[:-1]) / (residual @ residual)


def test_rows_are_white_only_after_whitening(data, truth):
    white = WeakForm(400, width=0.2, model=truth).whiteness(data, QUADRATIC, truth)
    assert white.target_names == ("x'", "y'", "z'")
    assert np.all((white.ratio > 0.8) & (white.ratio < 1.25))
    assert np.all(np.abs(white.lag) < 0.15)
    plain = WeakForm(400, width=0.2)
    (members,) = plain._trajectories(data, groups(data, QUADRATIC))
    theta, target = stacked(members[0].rows(0, 400))
    for residual in (target - theta @ truth.T).T:
        assert neighbours(residual) > 0.5
    # The left-hand side alone carries too little of the noise.
    partial = WeakForm(400, width=0.2, model=np.zeros_like(truth)).whiteness(data, QUADRATIC, truth)
    assert np.all(partial.ratio > 1.25)


def test_whitening_improves_coefficients_from_long_windows(clean, truth):
    errors = []
    for seed in range(5):
        data = noisy_lorenz(clean, seed)
        problems = [WeakForm(300, width=0.5, model=model).problem(data, QUADRATIC) for model in (None, truth)]
        full = [np.linalg.norm(least_squares(p) - truth) for p in problems]
        errors.append(full + [np.linalg.norm(on_support(p, truth) - truth) for p in problems])
    plain, white, plain_support, white_support = np.median(errors, axis=0)
    assert white < 0.7 * plain
    assert white_support < plain_support


def test_iterating_from_the_solution_needs_no_truth(data, truth):
    start = least_squares(WeakForm(300, width=0.5).problem(data, QUADRATIC))
    again = least_squares(WeakForm(300, width=0.5, model=start).problem(data, QUADRATIC))
    assert np.linalg.norm(again - truth) < np.linalg.norm(start - truth)


def test_covariance_of_trajectory_rows_is_that_of_perturbed_samples():
    t = np.cumsum(np.random.default_rng(0).uniform(0.9, 1.1, 60)) * 0.05
    x = np.column_stack([np.sin(t), np.cos(t)])
    coef = np.zeros((2, 6))
    coef[0, [1, 4]], coef[1, [2, 3]] = (0.5, -1.0), (1.0, 2.0)
    form = WeakForm(12, width=0.5, layout="grid")

    def errors(states):
        found = Trajectories.from_arrays(states, time=t, states=("x", "y"))
        (members,) = form._trajectories(found, groups(found, QUADRATIC))
        theta, target = stacked(members[0].rows(0, len(members[0])))
        return target - theta @ coef.T, members[0], found

    _, rows, found = errors(x)
    maps = np.array([(errors(x + e)[0] - errors(x - e)[0]) / 2e-6 for e in 1e-6 * np.eye(120).reshape(120, 60, 2)])
    noise = np.array([0.3, 0.7])
    states = NoisyStates((rows.member,), (x,), noise)
    model = trial(coef, groups(found, QUADRATIC), "WeakForm")
    for j in range(2):
        scaled = maps[:, :, j] * np.tile(noise, 60)[:, None]
        assert np.allclose(states.covariance(rows, j, model), scaled.T @ scaled, rtol=1e-5, atol=1e-9)


def test_one_block_per_equation_and_folds_sum_to_the_whole(data, truth):
    @dataclass(frozen=True)
    class Solved:
        coef: np.ndarray

    form = WeakForm(120, model=Solved(truth))
    whole = form.problem(data, QUADRATIC)
    assert [block.target_names for block in whole.blocks] == [("x'",), ("y'",), ("z'",)]
    assert [block.n_samples for block in whole.blocks] == [120] * 3
    folds = form.folds(data, QUADRATIC, 4)
    for found, expected in zip(gram(sum(folds)), gram(whole), strict=True):
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_trajectories_are_whitened_one_by_one(clean, truth):
    halves = [noisy_lorenz(part, seed).members[0].states for seed, part in enumerate((clean[:900], clean[900:]))]
    data = Trajectories.from_arrays(halves, time=STEP, states=("x", "y", "z"))
    form = WeakForm(200, width=0.2, model=truth)
    white = form.whiteness(data, QUADRATIC, truth)
    assert np.all((white.ratio > 0.8) & (white.ratio < 1.25))


def test_clean_data_are_fitted_exactly(clean, truth):
    data = Trajectories.from_arrays(clean, time=STEP, states=("x", "y", "z"))
    found = least_squares(WeakForm(200, model=truth).problem(data, QUADRATIC))
    assert np.allclose(found, truth, atol=1e-4)


def test_messages(data, truth):
    with pytest.raises(ProblemError, match=r"WeakForm\(model=...\) has shape \(1, 2\); expected finite"):
        WeakForm(model=[[1.0, 2.0]]).problem(data, QUADRATIC)
    with pytest.raises(ProblemError, match=r"whitened only with WeakForm\(model=...\); give a trial model"):
        WeakForm().whiteness(data, QUADRATIC, truth)
    with pytest.raises(NotPositiveDefinite, match="covariance of the rows is not finite or not positive definite"):
        WhitenedRows.of(np.ones((2, 1)), np.ones(2), np.array([[1.0, 2.0], [2.0, 1.0]]))

    class Slopeless:
        def predict(self, group, values):
            return np.zeros((len(values), len(group.targets)))

        def jacobian(self, group, values, wrt):
            return np.zeros((len(values), len(group.targets), len(wrt)))

    zeros = WeakForm(50, model=np.zeros_like(truth)).problem(data, QUADRATIC)
    assert np.allclose(gram(WeakForm(50, model=Slopeless()).problem(data, QUADRATIC))[0], gram(zeros)[0])
    with pytest.raises(ProblemError, match=r"whiteness\(coef=...\): expected coefficients"):
        WeakForm(50, model=truth).whiteness(data, QUADRATIC, Slopeless())
    burgers_data, _ = slightly_noisy_burgers(0)
    with pytest.raises(ProblemError, match="for a field expected coefficients, equations x terms"):
        WeakForm(50, model=Slopeless()).problem(burgers_data, BURGERS)
