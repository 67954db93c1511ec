"""Boxes cut from fields, and derivatives that see beyond them."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field
from exactsindy.forms.weak.patch import Patches, box_of
from exactsindy.library import Variable

N = 40
X, T = 2 * np.pi * np.arange(N) / N, np.linspace(0.0, 1.0, 9)
U = np.sin(X[:, None] - T)


def field(periodic):
    return Field.from_arrays(U, dims=("x", "t"), coords={"x": X, "t": T}, periodic=periodic)


def test_a_box_goes_round_the_ends():
    values = np.arange(20.0).reshape(10, 2)
    assert box_of(values, [-2, 0], [3, 2])[:, 0].tolist() == [16.0, 18.0, 0.0, 2.0, 4.0]
    assert np.shares_memory(box_of(values, [2, 0], [5, 1]), values)


@pytest.mark.parametrize(("periodic", "start"), [(("x",), -3), ((), 0), ((), 12), ((), N - 8)])
def test_derivatives_in_a_box_are_those_of_the_field(periodic, start):
    box = Patches(field(periodic), 4).get(Variable("u", ("x",)), [start, 2], [8, 4])
    exact = np.cos(X[np.arange(start, start + 8) % N][:, None] - T[2:6])
    assert np.abs(box - exact).max() < 2e-3


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(("periodic", "start"), [(("x",), 4), ((), 0), ((), 12)])
def test_the_transposed_derivative_is_the_adjoint(periodic, start, order):
    patches = Patches(field(periodic), 4)
    values = np.random.default_rng(0).normal(size=(8, 4))
    low, weights = patches.transposed(values, 0, order, start)
    direct = (values * patches.get(Variable("u", ("x",) * order), [start, 2], [8, 4])).sum()
    moved = (weights * box_of(U, [low, 2], [low + len(weights), 6])).sum()
    assert moved == pytest.approx(direct, rel=1e-9)
