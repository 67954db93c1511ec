"""Fields on domains that are not periodic."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field
from exactsindy.forms import ModalForm, smooth_field, smooth_field_guided
from exactsindy.library import Terms
from forms.cases import WIDE as LIBRARY
from forms.cases import gram, noisy_burgers, on_support


def cut_burgers(noise):
    data, truth, scale = noisy_burgers(noise, n=192)
    coords = {"x": data.coords[0][:140], "t": data.times}
    return Field.from_arrays(data.values[0][:140], dims=("x", "t"), coords=coords), truth, scale


@pytest.mark.parametrize("noise", [0.05, 0.2])
def test_open_domains_use_windowed_waves(noise):
    data, truth, scale = cut_burgers(noise)
    smoothed = smooth_field(data)
    assert smoothed.noise[0] == pytest.approx(scale, rel=0.03)
    form = ModalForm(model=truth, smoothed=smoothed)
    found = form.whiteness(data, LIBRARY, truth)
    assert 0.9 < found.ratio[0] < 1.1
    assert abs(found.lag[0]) < 0.1
    assert np.abs(on_support(form.problem(data, LIBRARY), truth) - truth).max() < 0.1
    guided = smooth_field_guided(data, LIBRARY, truth, start=smoothed)
    assert (guided.score <= smoothed.score).all()


def test_open_domains_clean_and_in_folds():
    data, truth, _ = cut_burgers(0.0)
    form = ModalForm(model=truth)
    problem = form.problem(data, LIBRARY)
    assert np.abs(on_support(problem, truth) - truth).max() < 1e-4
    first, second = gram(problem)[0], gram(sum(form.folds(data, LIBRARY, 3)))[0]
    norms = np.sqrt(np.diag(first))
    assert np.abs((first - second) / np.outer(norms, norms)).max() < 1e-9


def test_open_domains_in_two_dimensions_with_coordinates():
    x, y, t = np.linspace(0, 3, 40), np.linspace(0, 2, 36), np.linspace(0, 1, 80)
    # u_t = u_xx - u_y + x: heat in x, drift in y, a source that grows with x.
    u = np.exp(-t) * np.sin(x)[:, None, None] + np.cos(2 * (y[:, None] - t)) + x[:, None, None] * t
    noisy = u + 0.03 * np.random.default_rng(0).normal(size=u.shape)
    data = Field.from_arrays(noisy, dims=("x", "y", "t"), coords={"x": x, "y": y, "t": t})
    library = Terms(["u", "u_x", "u_y", "u_xx", "u_yy", "x", "t", "u u_x"])
    truth = np.array([[0.0, 0.0, -1.0, 1.0, 0.0, 1.0, 0.0, 0.0]])
    form = ModalForm(model=truth)
    assert np.abs(on_support(form.problem(data, library), truth) - truth).max() < 0.1
    found = form.whiteness(data, library, truth)
    assert 0.9 < found.ratio[0] < 1.1
    # Windowed waves are not eigenfunctions of the derivatives: a little correlation is left.
    assert abs(found.lag[0]) < 0.2
