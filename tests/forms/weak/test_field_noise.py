"""How noise reaches the weak rows of fields."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field
from exactsindy.forms import WeakForm
from exactsindy.forms.base import groups, trial
from exactsindy.forms.weak.whitening import FieldNoise, field_noise, stacked
from exactsindy.library import Derivatives, Polynomials, Terms
from forms.cases import BURGERS, burgers, least_squares, slightly_noisy_burgers


def test_whitened_burgers_is_white_and_better():
    errors = []
    for seed in range(20):
        data, truth = slightly_noisy_burgers(seed)
        forms = [WeakForm(200, width=(0.4, 0.1), model=model) for model in (None, truth)]
        errors.append([np.linalg.norm(least_squares(form.problem(data, BURGERS)) - truth) for form in forms])
        if seed < 3:
            found = forms[1].whiteness(data, BURGERS, truth)
            assert 0.8 < found.ratio[0] < 1.25
            assert abs(found.lag[0]) < 0.2
    plain, white = np.median(errors, axis=0)
    assert white <= plain


@pytest.mark.parametrize("periodic", [("x",), ()])
def test_covariance_of_field_rows_is_that_of_perturbed_cells(periodic):
    x, t = 2 * np.pi * np.arange(24) / 24, np.linspace(0, 1, 12)
    x = x if periodic else x + 0.02 * np.sin(x) ** 2
    u, v = np.sin(x[:, None] - t), 1 + 0.5 * np.cos(x[:, None] + t)
    library = Polynomials(2) + Derivatives(2) + Terms(["u u_x", "u_x^2", "u v_xx"])
    form = WeakForm(12, width=(1.2, 0.3), seed=1)

    def errors(fields):
        coords = {"x": x, "t": t}
        found = Field.from_arrays({"u": fields[0], "v": fields[1]}, dims=("x", "t"), coords=coords, periodic=periodic)
        (rows,) = form._field(found, groups(found, library))
        theta, target = stacked(rows.rows(0, len(rows)))
        return target - theta @ coef.T, rows, found

    coef = np.random.default_rng(0).normal(size=(2, 13))
    base = np.stack([u, v])
    _, rows, found = errors(base)
    assert coef.shape[1] == len(rows.group.features.terms)
    noise, model = np.array([0.3, 0.7]), trial(coef, groups(found, library), "WeakForm")
    directions = np.random.default_rng(1).normal(size=(4, *base.shape))
    changes = [(errors(base + 1e-5 * e)[0] - errors(base - 1e-5 * e)[0]) / 2e-5 for e in directions]
    for j in range(2):
        source = FieldNoise(rows, j, model, noise)
        maps = np.zeros((len(rows), base.size))
        for k, row in enumerate(maps):
            for cells, weights in source._weights(k, 0, len(t)):
                np.add.at(row, cells, weights)
        for e, change in zip(directions, changes, strict=True):
            assert np.allclose(maps @ (e / noise[:, None, None]).reshape(-1), change[:, j], rtol=1e-6, atol=1e-7)
        assert np.allclose(source.covariance(), maps @ maps.T, rtol=1e-10, atol=1e-12)


def test_slabs_do_not_change_the_covariance(monkeypatch):
    data, truth = slightly_noisy_burgers(0)
    equations = groups(data, BURGERS)
    (rows,) = WeakForm(40)._field(data, equations)
    noise = FieldNoise(rows, 0, trial(truth, equations, "WeakForm"), field_noise(data))
    whole = noise.covariance()
    monkeypatch.setattr("exactsindy.forms.weak.whitening._NUMBERS", 1000)
    assert np.allclose(noise.covariance(), whole, rtol=1e-10, atol=1e-12 * whole.max())


def test_field_noise_is_found():
    _, _, u, _ = burgers()
    data, _ = slightly_noisy_burgers(3)
    assert field_noise(data)[0] == pytest.approx(0.05 * u.std(), rel=0.1)
