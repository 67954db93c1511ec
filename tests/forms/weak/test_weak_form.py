"""The weak form of trajectories and fields."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Trajectories
from exactsindy.differentiation import FiniteDifference
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import StrongForm, WeakForm
from exactsindy.library import Derivatives, PerEquation, Polynomials, Terms
from exactsindy.systems import add_noise, lorenz
from forms.cases import clean_burgers, gram, least_squares

BURGERS = Polynomials(2, bias=False) + Polynomials(1) * Derivatives(2)


@pytest.fixture(scope="module")
def states():
    return lorenz().simulate([1.0, 2.0, 20.0], np.arange(0, 6, 0.002))


@pytest.fixture(scope="module")
def data(states):
    return Trajectories.from_arrays(states, time=0.002, states=("x", "y", "z"))


def test_lorenz_is_recovered(data):
    problem = WeakForm(domains=400).problem(data, Polynomials(2))
    truth = lorenz().coefficients(problem.names)
    assert problem.n_samples == 400
    assert np.abs(least_squares(problem) - truth).max() < 1e-7


def test_strong_and_weak_agree_on_clean_data(data):
    weak = least_squares(WeakForm(domains=400).problem(data, Polynomials(2)))
    strong = least_squares(StrongForm(FiniteDifference(order=6)).problem(data, Polynomials(2)))
    assert np.abs(weak - strong).max() < 1e-3


def test_weak_needs_no_derivative_of_noise(states):
    noisy = add_noise(states, 0.02, np.random.default_rng(3))
    data = Trajectories.from_arrays(noisy, time=0.002, states=("x", "y", "z"))
    true = Terms(["x", "y", "z", "x y", "x z"])
    truth = lorenz().coefficients(true.bind(data).names)
    weak = np.abs(least_squares(WeakForm(domains=600).problem(data, true)) - truth).max()
    strong = np.abs(least_squares(StrongForm().problem(data, true)) - truth).max()
    assert weak < 1.0
    assert weak < strong / 2


@pytest.mark.parametrize("irregular", [False, True])
def test_folds_sum_to_the_whole(states, irregular):
    t = np.arange(len(states)) * 0.002
    if irregular:
        t = t + 0.0005 * np.sin(np.arange(len(t)))
    data = Trajectories.from_arrays([states[:1000], states[1000:]], time=[t[:1000], t[1000:]])
    form = WeakForm(domains=100)
    folds = form.folds(data, Polynomials(2), 4)
    assert [fold.n_samples for fold in folds] == [25] * 4
    assert np.allclose(gram(sum(folds))[0], gram(form.problem(data, Polynomials(2)))[0], rtol=1e-9)


def test_unequal_steps_converge():
    errors = []
    for n in (60, 120):
        t = np.linspace(0, 4, n) + 0.3 / n * np.sin(np.arange(n))
        data = Trajectories.from_arrays(np.exp(-np.sin(t)), time=t, states=("x",))
        library = Terms([("f", lambda x, t: -np.cos(t) * x)])
        errors.append(abs(least_squares(WeakForm(width=0.8).problem(data, library))[0, 0] - 1))
    assert errors[1] < 1e-6
    assert errors[0] / errors[1] > 16


def test_second_derivatives_and_controls():
    t = np.linspace(0, 10, 2001)
    u = np.cos(3 * t)
    data = Trajectories.from_arrays(
        np.sin(t) + 0.2 * u, time=t, states=("x",), controls=u, control_names=("u",), targets=("x''",)
    )
    problem = WeakForm(domains=200).problem(data, Terms(["x", "u", "cos(t)"]))
    assert np.allclose(least_squares(problem), [[-1.0, -1.6, 0.0]], atol=1e-8)


def test_a_library_per_equation(data):
    library = PerEquation({"x": Polynomials(1)}, default=Polynomials(2))
    problem = WeakForm(domains=60).problem(data, library)
    whole = WeakForm(domains=60).problem(data, Polynomials(2))
    assert [len(block.terms) for block in problem.blocks] == [4, 10]
    assert np.allclose(gram(problem)[1][-1, -1], gram(whole)[0][-1, -1])


def test_units_and_order_of_states_do_not_matter(states, data):
    base = WeakForm(domains=100, width=0.05).problem(data, Polynomials(2))
    other = WeakForm(domains=100, width=0.05).problem(
        Trajectories.from_arrays(8.0 * states[:, [1, 0, 2]], time=0.002, states=("y", "x", "z")), Polynomials(2)
    )
    first = dict(zip(base.names, least_squares(base)[0], strict=True))
    second = dict(zip(other.names, least_squares(other)[1], strict=True))
    assert second["x"] == pytest.approx(first["x"], rel=1e-6)
    assert 8 * second["z^2"] == pytest.approx(first["z^2"], abs=1e-6)


@pytest.mark.parametrize("periodic", [(), ("x",)])
def test_burgers_is_recovered(periodic):
    data, nu = clean_burgers(periodic)
    problem = WeakForm(domains=150).problem(data, BURGERS)
    coef = dict(zip(problem.names, least_squares(problem)[0], strict=True))
    expected = {"u u_x": -1.0, "u_xx": nu}
    assert all(abs(coef[name] - expected.get(name, 0.0)) < 1e-6 for name in coef)
    folds = WeakForm(domains=150).folds(data, BURGERS, 3)
    assert [fold.n_samples for fold in folds] == [50] * 3
    assert np.allclose(gram(sum(folds))[0], gram(problem)[0], rtol=1e-9)


def test_errors_name_the_cure(data):
    pde, _ = clean_burgers(periodic=())
    with pytest.raises(ProblemError, match=r"domains=0\): expected an integer >= 1"):
        WeakForm(domains=0)
    with pytest.raises(ProblemError, match=r"layout='hex'\): expected 'random' or 'grid'"):
        WeakForm(layout="hex")
    with pytest.raises(ProblemError, match=r"order=0\): expected an integer >= 1"):
        WeakForm(order=0)
    with pytest.raises(ProblemError, match=r"order=2\): the test function must take derivatives of order 2"):
        WeakForm(order=2).problem(pde, Terms(["u_xx"]))
    with pytest.raises(ProblemError, match=r"width=\(1, 2, 3\)\): expected one positive half-width"):
        WeakForm(width=(1, 2, 3)).problem(pde, Terms(["u"]))
    with pytest.raises(ProblemError, match=r"width=\.\.\.\) names y; expected one half-width for each of x, t"):
        WeakForm(width={"y": 1.0}).problem(pde, Terms(["u"]))
    with pytest.raises(DataError, match=r"half-width 4 along t do not fit between 0 and 5.998 \(3000 samp"):
        WeakForm(width=4.0).problem(data, Polynomials(1))
    with pytest.raises(DataError, match=r"the window around t = 0 leaves the data"):
        WeakForm(width=0.1, centres=[0.0]).problem(data, Polynomials(1))
    with pytest.raises(ProblemError, match=r"centres=\.\.\.\) has shape \(1, 2\); expected windows x 1"):
        WeakForm(width=0.1, centres=[[0.0, 1.0]]).problem(data, Polynomials(1))
    with pytest.raises(DataError, match=r"expected an integer from 2 to 10, the number of windows"):
        WeakForm(domains=10).folds(data, Polynomials(1), 11)
