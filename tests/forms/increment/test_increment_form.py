"""Whitened increments of trajectories."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import IncrementForm, NotPositiveDefinite, StartRegression, smooth, smooth_guided
from exactsindy.forms.increment.tridiagonal import Whitening
from exactsindy.library import PerEquation, Polynomials, Terms
from exactsindy.systems import add_noise, find_system
from forms.cases import gram, least_squares, on_support

STEP = 0.006
CUBIC = Polynomials(3)


def truth_of(system, data, library=CUBIC):
    return system.coefficients(library.bind(data).names)


@pytest.mark.parametrize("name", ["lorenz", "van_der_pol", "roessler"])
def test_residuals_of_the_truth_are_white_and_of_the_right_size(name):
    system = find_system(name)
    start, span, step = {
        "lorenz": ([1.0, 2.0, 20.0], 18, 0.006),
        "van_der_pol": ([1.0, 1.0], 60, 0.02),
        "roessler": ([5.0, 3.0, 0.0], 60, 0.02),
    }[name]
    clean = system.simulate(start, np.arange(0, span, step))
    data = Trajectories.from_arrays(add_noise(clean, 0.05, np.random.default_rng(0)), time=step, states=system.states)
    truth = truth_of(system, data)
    found = IncrementForm(model=truth).whiteness(data, CUBIC, truth)
    assert ((found.ratio > 0.9) & (found.ratio < 1.1)).all()
    assert (np.abs(found.lag) < 0.1).all()
    plain = IncrementForm().whiteness(data, CUBIC, truth)
    assert plain.ratio.max() > 1.5
    assert "x': residual 1.0" in str(found)


def test_guided_residuals_are_white_where_states_follow_the_model():
    system = find_system("lotka_volterra")
    clean = system.simulate([0.51, 0.95], np.arange(0, 20, 0.01))
    data = Trajectories.from_arrays(add_noise(clean, 0.05, np.random.default_rng(1)), time=0.01, states=system.states)
    truth = truth_of(system, data)
    states = smooth(data)
    for _ in range(3):
        states = smooth_guided(data, CUBIC, truth, start=states)
    found = IncrementForm("guided", model=truth, smoothed=states).whiteness(data, CUBIC, truth)
    assert ((found.ratio > 0.9) & (found.ratio < 1.1)).all()
    assert (np.abs(found.lag) < 0.1).all()


def test_coefficients_gain_from_whitening(lorenz, noisy):
    truth = truth_of(lorenz, noisy)
    errors = [
        np.abs(on_support(form.problem(noisy, CUBIC), truth) - truth).max()
        for form in (IncrementForm(), IncrementForm(model=truth), IncrementForm("guided", model=truth))
    ]
    assert errors[1] < 0.5
    assert errors[1] < errors[0] / 3
    assert errors[2] < 0.5


def test_clean_data_give_exact_coefficients(lorenz, clean):
    data = Trajectories.from_arrays(clean, time=STEP, states=lorenz.states)
    library = Polynomials(2)
    truth = truth_of(lorenz, data, library)
    problem = IncrementForm(model=truth).problem(data, library)
    assert np.abs(least_squares(problem) - truth).max() < 0.02
    assert [block.target_names for block in problem.blocks] == [("x'",), ("y'",), ("z'",)]


def test_folds_sum_to_the_whole_and_blocks_do_not_show(lorenz, clean, monkeypatch):
    values = add_noise(clean, 0.05, np.random.default_rng(1))
    t = np.arange(len(values)) * STEP + 0.001 * np.sin(np.arange(len(values)))
    data = Trajectories.from_arrays([values[:1000], values[1000:]], time=[t[:1000], t[1000:]], states=lorenz.states)
    truth = truth_of(lorenz, data)
    form = IncrementForm(model=truth)
    whole = form.problem(data, CUBIC)
    folds = form.folds(data, CUBIC, 3)
    assert whole.n_samples == len(values) - 2
    assert [fold.n_samples for fold in folds] == [999, 1000, 999]
    monkeypatch.setattr("exactsindy.forms.increment.increment_rows.BLOCK_ROWS", 101)
    for other in (sum(folds), form.problem(data, CUBIC)):
        for a, b in zip(gram(other), gram(whole), strict=True):
            scale = np.sqrt(np.diag(b))
            assert np.abs((a - b) / np.outer(scale, scale)).max() < 1e-9
    found = form.whiteness(data, CUBIC, truth)
    assert (np.abs(found.ratio - 1) < 0.1).all()


def test_controls_time_and_libraries_per_equation():
    t = np.arange(0, 20, 0.01)
    u = np.sin(2 * t)
    x = np.cos(t) + 0.5 * np.sin(2 * t)
    data = Trajectories.from_arrays(x, time=t, states=("x",), controls=u, control_names=("u",))
    library = PerEquation({"x": Terms(["sin(t)", "cos(2 t)", "u"])})
    assert np.allclose(least_squares(IncrementForm().problem(data, library)), [[-1.0, 1.0, 0.0]], atol=1e-4)


def test_units_do_not_matter(lorenz, noisy):
    truth = truth_of(lorenz, noisy, Polynomials(2))
    base = IncrementForm(model=truth).problem(noisy, Polynomials(2))
    scaled = Trajectories.from_arrays(8.0 * noisy[0].states, time=STEP, states=lorenz.states)
    degrees = np.array([term.degree for term in base.terms])
    other = IncrementForm(model=truth * 8.0 ** (1 - degrees)).problem(scaled, Polynomials(2))
    assert np.allclose(base.rss(truth), other.rss(truth * 8.0 ** (1 - degrees)), rtol=1e-6)


def test_errors_name_the_cure(noisy):
    pde = Field.from_arrays(np.ones((5, 20)), dims=("x", "t"), coords={"x": 1.0, "t": 1.0})
    with pytest.raises(ProblemError, match=r"states='smooth'\): expected 'raw' or 'guided'"):
        IncrementForm("smooth")
    with pytest.raises(DataError, match=r"IncrementForm is for trajectories .* use ModalForm or WeakForm"):
        IncrementForm().problem(pde, Polynomials(1))
    with pytest.raises(ProblemError, match=r"model=\.\.\.\) has shape \(2, 4\); .*equations x terms = \(3, 4\)"):
        IncrementForm(model=np.zeros((2, 4))).problem(noisy, Polynomials(1))
    second = Trajectories.from_arrays(noisy[0].states, time=STEP, targets=("x0''",))
    with pytest.raises(DataError, match=r"equation x0'' is of order 2; .*Add the velocities as states"):
        IncrementForm().problem(second, Polynomials(1))
    short = Trajectories.from_arrays(np.ones((5, 1)) * np.arange(5)[:, None], time=1.0)
    with pytest.raises(DataError, match=r"no trajectory has 8 samples in a row without a gap"):
        IncrementForm().problem(short, Polynomials(1))
    with pytest.raises(ProblemError, match=r"drift_ratio=\[1, 2\]\): expected a number >= 0, or one for each of 3"):
        StartRegression(drift_ratio=[1, 2]).problem(noisy, Polynomials(1))
    with pytest.raises(NotPositiveDefinite, match=r"not positive definite.*Use model=None"):
        Whitening.of(np.ones(3), np.ones(2))
    with pytest.raises(ProblemError, match=r"whiteness\(coef=\.\.\.\): expected coefficients"):
        IncrementForm().whiteness(noisy, Polynomials(1), None)
    with pytest.raises(ProblemError, match=r"drift_ratios\(model=\.\.\.\): expected coefficients"):
        StartRegression().drift_ratios(noisy, Polynomials(1), None)
