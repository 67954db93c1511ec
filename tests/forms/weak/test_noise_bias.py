"""Weak rows of fields without what noise adds to the mean of powers and products."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories
from exactsindy.errors import ProblemError
from exactsindy.forms import WeakForm
from exactsindy.forms.base import groups
from exactsindy.forms.weak.whitening import field_noise, stacked
from exactsindy.library import Derivatives, Polynomials, Terms

LIBRARY = Polynomials(3) + Polynomials(2) * Derivatives(1) + Terms(["u_x^2", "u u_xxx", "u v_x^2", "sin(u)"])


def fields(noise, seed):
    x, t = 2 * np.pi * np.arange(48) / 48, np.linspace(0, 1, 40)
    u, v = np.sin(x[:, None] - t), 0.5 * np.cos(2 * x[:, None] + t)
    rng = np.random.default_rng(seed)
    noisy = {"u": u + noise * rng.normal(size=u.shape), "v": v + noise * rng.normal(size=v.shape)}
    return Field.from_arrays(noisy, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))


def rows(data, hermite):
    form = WeakForm(20, width=(0.9, 0.15), seed=1, hermite=hermite)
    (found,) = form._field(data, groups(data, LIBRARY))
    theta, _ = stacked(found.rows(0, 20))
    return theta, [term.name for term in found.group.features.terms]


def test_the_mean_of_noisy_columns_is_the_clean_column(monkeypatch):
    monkeypatch.setattr("exactsindy.forms.weak.weak_form.field_noise", lambda data: np.array([0.2, 0.2]))
    clean, names = rows(fields(0.0, 0), False)
    draws = [[rows(fields(0.2, seed), hermite)[0] for hermite in (False, True)] for seed in range(120)]
    plain, corrected = np.mean(draws, axis=0)
    error = np.std([draw[1] for draw in draws], axis=0) / np.sqrt(len(draws))
    polynomial = [j for j, name in enumerate(names) if "sin" not in name]
    away = np.abs(corrected - clean)[:, polynomial] / np.maximum(error[:, polynomial], 1e-12)
    assert np.mean(away[error[:, polynomial] > 0] ** 2) < 1.6
    for name in ("u^2", "u^3", "u_x^2", "u^2 v"):
        j = names.index(name)
        assert np.abs(plain - clean)[:, j].mean() > 3 * np.abs(corrected - clean)[:, j].mean()


def test_noise_of_a_shock_is_not_its_jump():
    x, t = np.linspace(-1, 1, 100), np.linspace(0, 1, 90)
    u = np.where(x[:, None] < 0.5 * t - 0.2, 1.0, 0.0) + 0.01 * np.random.default_rng(0).normal(size=(100, 90))
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t})
    assert field_noise(data)[0] == pytest.approx(0.01, rel=0.15)


def test_hermite_is_refused_for_trajectories():
    t = np.linspace(0, 1, 100)
    data = Trajectories.from_arrays(np.exp(-t), time=t, states=("x",))
    with pytest.raises(ProblemError, match=r"hermite=True\) is for fields"):
        WeakForm(hermite=True).problem(data, Polynomials(2))
