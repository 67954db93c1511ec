"""The rows of maps: which samples they pair, what they are called, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.map_cases import henon, logistic

import exactsindy as es
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import lagged


def data_of(states, time=1.0, **more):
    names = ("x", "y")[: states.shape[1]] if np.ndim(states) == 2 else ("x",)
    return es.Trajectories.from_arrays(states, time=time, states=names, **more)


def test_rows_pair_each_sample_with_the_next():
    states = henon(50)
    problem = es.MapForm().problem(data_of(states), es.Polynomials(2))
    assert problem.target_names == ("x[k+1]", "y[k+1]")
    assert problem.n_samples == 49
    truth = np.zeros((2, 6))
    truth[0, [0, 2, 3]] = 1.0, 1.0, -1.4
    truth[1, 1] = 0.3
    assert problem.rss(truth).max() < 1e-24


def test_increments_are_for_the_change_and_say_so():
    problem = es.MapForm(increments=True).problem(data_of(logistic(60)), es.Polynomials(2))
    assert problem.target_names == ("x[k+1] - x[k]",)
    assert problem.rss([[0.0, 2.8, -3.8]])[0] < 1e-24
    assert problem.locate("x")[1] == 0


def test_rows_cross_neither_trajectories_nor_missing_samples():
    first, second = logistic(30), logistic(20, start=0.7)
    several = es.Trajectories.from_arrays([first[:, None], second[:, None]], time=1.0, states=("x",))
    assert es.MapForm().problem(several, es.Polynomials(2)).n_samples == 29 + 19
    times = np.delete(np.arange(30.0), [10, 11])
    broken = data_of(np.delete(first, [10, 11]), time=times)
    problem = es.MapForm().problem(broken, es.Polynomials(2))
    assert problem.n_samples == 27 - 1
    assert problem.rss([[0.0, 3.8, -3.8]])[0] < 1e-24


def test_unequal_steps_are_refused_with_the_cure():
    times = np.arange(30.0)
    times[12:] += 0.4
    with pytest.raises(DataError, match=r"steps are not equal: 1 most often, but 1\.4 after time 11.*leave the time"):
        es.MapForm().problem(data_of(logistic(30), time=times), es.Polynomials(2))


def test_months_are_equal_steps():
    days = np.cumsum([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] * 3).astype(float)
    assert es.MapForm().problem(data_of(logistic(36), time=days), es.Polynomials(1)).n_samples == 35


def test_lags_are_variables_of_terms():
    x = henon(60)[:, 0]
    problem = es.MapForm(lags=2).problem(data_of(x), es.Polynomials(2))
    assert {"x", "x[k-1]", "x[k-2]", "x^2", "x x[k-1]", "x[k-2]^2"} <= set(problem.names)
    assert problem.n_samples == 60 - 1 - 2
    coef = np.zeros((1, len(problem.names)))
    for name, value in {"1": 1.0, "x^2": -1.4, "x[k-1]": 0.3}.items():
        coef[0, problem.names.index(name)] = value
    assert problem.rss(coef)[0] < 1e-24


def test_lags_of_controls_come_with_those_of_states():
    u = np.sin(np.arange(40.0))
    data = es.Trajectories.from_arrays(logistic(40), time=1.0, states=("x",), controls=u, control_names=("u",))
    assert lagged(data, 1).control_names == ("u", "x[k-1]", "u[k-1]")
    np.testing.assert_array_equal(lagged(data, 1)[0].controls, np.column_stack([u[1:], data[0].states[:-1], u[:-1]]))


def test_folds_add_up_to_the_problem():
    data, form, library = data_of(henon(100)), es.MapForm(lags=1), es.Polynomials(2)
    folds = form.folds(data, library, 4)
    whole = form.problem(data, library)
    factor = sum(folds).blocks[0].factor
    np.testing.assert_allclose(factor.T @ factor, whole.blocks[0].factor.T @ whole.blocks[0].factor, rtol=1e-10)


def test_terms_may_use_controls_the_time_and_functions():
    u = np.cos(np.arange(50.0))
    data = es.Trajectories.from_arrays(logistic(50), time=1.0, states=("x",), controls=u, control_names=("u",))
    problem = es.MapForm().problem(data, es.Terms(["x u", "cos(t)", "sin(x)"]))
    assert problem.names == ("x u", "cos(t)", "sin(x)")


def test_libraries_per_equation_know_maps():
    library = es.PerEquation({"x": es.Terms(["1", "x^2", "y"]), "y[k+1]": es.Terms(["x"])})
    problem = es.MapForm().problem(data_of(henon(50)), library)
    assert es.solve(problem, [3, 1]).terms["y[k+1]"] == pytest.approx({"x": 0.3})


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"lags": -1}, r"MapForm\(lags=-1\): expected an integer from 0 to 50"),
        ({"lags": 1.5}, r"MapForm\(lags=1\.5\)"),
        ({"increments": "yes"}, r"MapForm\(increments='yes'\): expected True or False"),
    ],
)
def test_wrong_arguments_are_named(arguments, text):
    with pytest.raises(ProblemError, match=text):
        es.MapForm(**arguments)


def test_what_is_no_map_is_refused():
    form, library = es.MapForm(), es.Polynomials(1)
    with pytest.raises(DataError, match=r"the target \"x''\" is a derivative"):
        form.problem(data_of(logistic(30), targets=("x''",)), library)
    x = np.linspace(0, 1, 8)
    field = es.Field.from_arrays(np.outer(x, x), dims=("x", "t"), coords={"x": x, "t": x})
    with pytest.raises(DataError, match="MapForm is for trajectories"):
        form.problem(field, library)
    with pytest.raises(DataError, match=r"MapForm\(lags=9\): no stretch of equal steps has 11 samples"):
        es.MapForm(lags=9).problem(data_of(logistic(8)), library)
