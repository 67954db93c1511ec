"""Where windows lie: seeds, widths, layouts, missing cells, and widths chosen from the data."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories
from exactsindy.errors import DataError
from exactsindy.forms import WeakForm
from exactsindy.library import Derivatives, Polynomials, Terms
from exactsindy.model import Model
from exactsindy.solver import solve
from exactsindy.systems import lorenz
from forms.cases import burgers, clean_burgers, gram, least_squares, on_support


@pytest.fixture(scope="module")
def states():
    return lorenz().simulate([1.0, 2.0, 20.0], np.arange(0, 6, 0.002))


@pytest.fixture(scope="module")
def data(states):
    return Trajectories.from_arrays(states, time=0.002, states=("x", "y", "z"))


def test_seeds_widths_and_layouts(data):
    def of(**settings):
        return gram(WeakForm(domains=50, **settings).problem(data, Polynomials(1)))[0]

    assert np.array_equal(of(seed=1), of(seed=1))
    assert not np.allclose(of(seed=1), of(seed=2))
    assert np.array_equal(of(seed=np.random.default_rng(1)), of(seed=1))
    grid = of(layout="grid", width=0.1)
    assert np.array_equal(grid, of(layout="grid", width=0.1, seed=5))
    centre = 0.002 * np.linspace(50, 2949, 50).round()
    assert np.allclose(of(centres=centre, width=0.1), grid)


def test_trajectories_shorter_than_a_window_are_left_out(states):
    form = WeakForm(domains=100, width=0.1)
    both = form.problem(Trajectories.from_arrays([states[:1000], states[1000:1050]], time=0.002), Polynomials(1))
    assert both.n_samples == 95


def test_windows_go_round_the_period():
    data, _ = clean_burgers()
    ends = [[0.0, 0.5], [2 * np.pi * 127 / 128, 0.5]]
    problem = WeakForm(centres=ends, width=(0.6, 0.2)).problem(data, Terms(["u u_x", "u_xx"]))
    assert problem.rss([[-1.0, 0.3]])[0] < 1e-16 * problem.rss([[0.0, 0.0]])[0]


def test_windows_avoid_missing_cells():
    def holes(u):
        u[60:64, 40:44] = np.nan
        return u

    data, nu = clean_burgers(missing="keep", change=holes)
    problem = WeakForm(domains=100, width=(0.5, 0.1)).problem(data, Terms(["u u_x", "u_xx"]))
    assert problem.n_samples == 100
    assert np.allclose(least_squares(problem), [[-1.0, nu]], atol=1e-7)

    def everywhere(u):
        u[::4, ::4] = np.nan
        return u

    data, _ = clean_burgers(missing="keep", change=everywhere)
    with pytest.raises(DataError, match=r"every window meets one of the 832 missing cells; reduce the width"):
        WeakForm(domains=20, width=(0.5, 0.1)).problem(data, Terms(["u"]))


def kuramoto_sivashinsky(noise):
    terms = {"u u_x": -1.0, "u_xx": -1.0, "u_xxxx": -1.0}
    model = Model.from_coefficients({"u_t": terms})
    length, n = 8 * np.pi, 128
    x = length * np.arange(n) / n
    start = np.cos(2 * np.pi * x / length) * (1 + np.sin(4 * np.pi * x / length))
    run = model.simulate_field(start, np.r_[0.0, np.arange(20.0, 60.0, 0.4)], periods={"x": length})
    u = run.values[0][:, 1:]
    return x, run.t[1:], u, terms, noise * np.sqrt((u**2).mean())


def cole_hopf(noise):
    x, t, u, nu = burgers(nt=151)
    return x, t, u, {"u u_x": -1.0, "u_xx": nu}, noise * np.sqrt((u**2).mean())


@pytest.mark.parametrize(("case", "noise", "error"), [(kuramoto_sivashinsky, 0.05, 0.05), (cole_hopf, 0.1, 0.1)])
def test_default_windows_of_noisy_fields_give_support_and_coefficients(case, noise, error):
    x, t, u, terms, level = case(noise)
    u = u + level * np.random.default_rng(0).normal(size=u.shape)
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    library = Polynomials(3, bias=False) + Polynomials(3) * Derivatives(4)
    names = library.bind(data).names
    truth = np.array([[terms.get(name, 0.0) for name in names]])
    problem = WeakForm(300).problem(data, library)
    assert solve(problem, len(terms)).support[0] == tuple(np.flatnonzero(truth[0]))
    wrong = np.abs(on_support(problem, truth) - truth).max() / np.abs(truth).max()
    assert wrong < error
    if case is kuramoto_sivashinsky:
        # Windows as narrow as the noise alone would allow.
        narrow = WeakForm(300, width={"x": 8 * (x[1] - x[0]), "t": 8 * (t[1] - t[0])}).problem(data, library)
        assert np.abs(on_support(narrow, truth) - truth).max() > 5 * wrong
