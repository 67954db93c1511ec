"""Weak rows of fields: points, dimensions, memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories
from exactsindy.forms import WeakForm
from exactsindy.forms.weak import product
from exactsindy.library import Derivatives, Polynomials, Terms
from exactsindy.systems import lorenz
from forms.cases import least_squares


@pytest.fixture(scope="module")
def states():
    return lorenz().simulate([1.0, 2.0, 20.0], np.arange(0, 6, 0.002))


@pytest.fixture(scope="module")
def data(states):
    return Trajectories.from_arrays(states, time=0.002, states=("x", "y", "z"))


def test_unequal_points_in_space_and_time():
    fine = np.linspace(0, 1, 121)
    x, t = 1.5 * (fine + 0.05 * np.sin(6 * fine)), np.linspace(0, 1, 101) ** 1.2
    # Burgers without viscosity; u v_x needs a derivative of the data.
    u = (x[:, None] + 1) / (1 + t)
    v = np.sin(x[:, None]) * np.cos(t)
    data = Field.from_arrays({"u": u, "v": v}, dims=("x", "t"), coords={"x": x, "t": t}, targets=("u_t",))
    problem = WeakForm(domains=200, width=(0.2, 0.15)).problem(data, Terms(["u u_x", "v_xx", "u v_x", "v u_x"]))
    assert np.allclose(least_squares(problem), [[-1.0, 0.0, 0.0, 0.0]], atol=1e-5)


def test_memory_stays_near_that_of_a_window():
    x, t = 0.1 * np.arange(64), 0.05 * np.arange(100)
    u = np.sin(x[:, None, None] + x[:, None] - t)
    data = Field.from_arrays(u, dims=("x", "y", "t"), coords={"x": x, "y": x, "t": t}, periodic=())
    tracemalloc.start()
    WeakForm(domains=50, width=(0.6, 0.6, 0.3)).problem(data, Polynomials(3) * Derivatives(2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < u.nbytes


def test_three_space_dimensions_and_coordinates():
    x, y, z = (np.linspace(0, 1, n) for n in (26, 28, 30))
    t = np.linspace(0, 1, 32)
    shape = np.sin(x)[:, None, None, None] * np.cos(y)[:, None, None] * (z**2)[:, None]
    data = Field.from_arrays(shape * np.exp(-t), dims=("x", "y", "z", "t"), coords={"x": x, "y": y, "z": z, "t": t})
    problem = WeakForm(domains=20, width=0.22).problem(data, Terms(["z u_z", "u_xx", "u u_y"]))
    assert problem.rss([[0.0, 1.0, 0.0]])[0] < 1e-12 * problem.rss([[0.0, 0.0, 0.0]])[0]
    assert problem.rss([[-0.5, 0.0, 0.0]])[0] < 1e-12 * problem.rss([[0.0, 0.0, 0.0]])[0]


@pytest.mark.parametrize("m, k, n", [(2, 5, 3), (20, 9000, 30), (300, 200, 70), (70, 200, 300)])
def test_product_in_pieces_is_the_product(m, k, n):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    np.testing.assert_allclose(product(left, right), left @ right, atol=1e-10)
