"""Fields that low modes do not hold: windows decide, and say so by what they leave."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery.field_windows import WINDOWS


def shock(height, points, times, last, noise=0.0):
    """Return inviscid Burgers from a ramp: it steepens to a shock at half of the time."""
    x, t = np.linspace(-4.0, 4.0, points), np.linspace(0.0, last, times)
    at, when = np.meshgrid(x, t, indexing="ij")
    breaking = last / 2
    left = height * (when - breaking)
    ramp = height * at / np.minimum(left, -1e-12)
    before = np.where(at <= left, height, np.where(at >= 0, 0.0, ramp))
    u = np.where(when < breaking, before, np.where(at < height / 2 * (when - breaking), height, 0.0))
    u = u + noise * np.sqrt(np.mean(u**2)) * np.random.default_rng(3).normal(size=u.shape)
    return es.Field.from_arrays({"u": u}, dims=("x", "t"), coords={"x": x, "t": t})


LIBRARY = es.Polynomials(3) + es.Polynomials(3) * es.Derivatives(4)


def found(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return es.discover(data, library=LIBRARY, seconds=600, threads=1)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_shock_is_found(noise):
    answer = found(shock(3.0, 120, 110, 2.0, noise))
    assert set(answer.solution.terms["u_t"]) == {"u u_x"}
    assert answer.solution.terms["u_t"]["u u_x"] == pytest.approx(-1.0, abs=0.02)
    assert answer.selection.choices[0].variant == WINDOWS
    assert answer.confidence["u_t"] > 0.9
    assert {notice.kind for notice in answer.warnings} >= {"shock"}


def test_clean_solitons_have_no_terms_of_rounding():
    x, t = 2 * np.pi * np.arange(128) / 128, np.linspace(0.0, 0.02, 120)
    start = sum(3 * a**2 / np.cosh(0.5 * a * (x - np.pi + b)) ** 2 for a, b in ((10.0, 1.5), (7.0, 0.2)))
    law = es.Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xxx": -1.0}})
    run = law.simulate_field({"u": start}, t, coords={"x": x}, periods={"x": 2 * np.pi})
    data = es.Field.from_arrays({"u": run["u"]}, dims=("x", "t"), coords={"x": x, "t": t}, periodic={"x": 2 * np.pi})
    answer = found(data)
    assert set(answer.solution.terms["u_t"]) == {"u u_x", "u_xxx"}
    assert answer.confidence["u_t"] > 0.9


def test_a_smooth_field_has_no_shock():
    x, t = 2 * np.pi * np.arange(64) / 64, np.linspace(0.0, 1.0, 60)
    u = np.sin(x[:, None] - t) + 0.05 * np.random.default_rng(0).normal(size=(64, 60))
    data = es.Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    assert not [notice for notice in found(data).warnings if notice.kind == "shock"]


def test_the_time_limit_holds_while_windows_are_compared(monkeypatch):
    monkeypatch.setattr("exactsindy.discovery.field_windows._UNTIL", 1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = es.discover(shock(3.0, 120, 110, 2.0), library=LIBRARY, seconds=60, threads=1)
    assert answer.selection.choices[0].variant != WINDOWS
    assert any("the comparison with windows" in notice.message for notice in answer.warnings if notice.kind == "limit")
