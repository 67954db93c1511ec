"""Fields from a scheme of second order: what it errs by is named, and not called the law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import exactsindy as es

LAW = ["u_xx", "u u_x"]


def burgers(points, viscosity, rows=81, noise=0.0):
    """Return Burgers' equation on points, its derivatives central differences of second order."""
    x, t = np.linspace(-1.0, 1.0, points), np.linspace(0.0, 1.0, rows)
    h = x[1] - x[0]

    def rate(_, u):
        inner = viscosity * (u[2:] - 2 * u[1:-1] + u[:-2]) / h**2 - u[1:-1] * (u[2:] - u[:-2]) / (2 * h)
        return np.concatenate([[0.0], inner, [0.0]])

    u = solve_ivp(rate, (0.0, 1.0), -np.sin(np.pi * x), method="BDF", t_eval=t, rtol=1e-9, atol=1e-10).y
    u = u + noise * np.random.default_rng(0).normal(size=u.shape)
    return es.Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t})


@pytest.mark.parametrize(("points", "viscosity"), [(65, 0.05), (49, 0.1)])
def test_terms_of_the_scheme_are_named_and_left_out_by_hand(points, viscosity):
    found = es.discover(burgers(points, viscosity), threads=1)
    coefficients, h = found.solution.terms["u_t"], 2.0 / (points - 1)
    assert coefficients["u u_xxx"] == pytest.approx(-(h**2) / 6, rel=0.05)  # the equation that the scheme solves
    assert found.confidence["u_t"] is None
    assert not found.identified
    (notice,) = [note for note in found.warnings if note.kind == "scheme"]
    assert notice.equation == "u_t"
    assert "u_xxxx, u u_xxx are as small as what differences of second order err by" in notice.message
    assert ".at(k=2)" in notice.message
    assert "errors of a simulation on a grid" in found.headlines["u_t"]
    assert list(found.at(k=2).solution.terms["u_t"]) == LAW


def test_noise_hides_the_scheme_and_nothing_is_said():
    found = es.discover(burgers(65, 0.05, noise=0.01), threads=1)
    assert list(found.solution.terms["u_t"]) == LAW
    assert "scheme" not in {note.kind for note in found.warnings}


def test_high_derivatives_of_a_law_are_not_errors():
    x, t = np.linspace(0.0, 20.0, 128, endpoint=False), np.linspace(0.0, 2.0, 101)
    k = 2 * np.pi / 20.0 * np.arange(1, 6)
    phase = k[:, None, None] * x[:, None] + (0.8 * k**3)[:, None, None] * t
    u = (np.array([1.0, 0.7, 0.5, 0.3, 0.2])[:, None, None] * np.cos(phase + k[:, None, None])).sum(axis=0)
    found = es.discover(es.Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",)), threads=1)
    assert list(found.solution.terms["u_t"]) == ["u_xxx"]
    assert "scheme" not in {note.kind for note in found.warnings}
