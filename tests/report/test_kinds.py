"""Every kind of data has a report: inputs, second derivatives, several trajectories, one state, planes."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es

pytest.importorskip("plotly")
pytest.importorskip("jinja2")
T = np.arange(0.0, 8.0, 0.04)
QUICK = es.Settings(seconds=20.0, threads=1)


def shown(data, tmp_path, **options):
    options = {"library": es.Polynomials(2), "k_max": 4, "settings": QUICK, **options}
    found = es.discover(data, **options)
    return found, found.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_inputs(tmp_path):
    u = np.sin(3 * T)
    x = np.exp(-T) + (3 * np.exp(-T) - 3 * np.cos(3 * T) + u) / 10
    found, page = shown(
        es.Trajectories.from_arrays(x, time=T, states=("x",), controls=u, control_names=("u",)), tmp_path
    )
    assert found.model.equations(2) == ["x' = -x + u"]
    assert "<th>controls</th>" in page
    assert "One state has no phase portrait." in page
    simulated = es.plots.fit(found)[0].get_lines()[1].get_ydata()
    assert abs(simulated[-1] - x[-1]) < 1e-3


def test_second_derivatives(tmp_path):
    data = es.Trajectories.from_arrays(np.cos(2 * T), time=T, states=("angle",), targets=("angle''",))
    found, page = shown(data, tmp_path)
    assert found.model.equations(2) == ["angle'' = -4 angle"]
    assert "Not computed: the equations are not of the form" in page
    simulated = es.plots.fit(found)[0].get_lines()[1].get_ydata()
    assert abs(simulated[-1] - np.cos(2 * T[-1])) < 0.05


def test_several_trajectories(tmp_path):
    runs = [np.column_stack([np.cos(T + p), -np.sin(T + p)]) for p in range(6)]
    _, page = shown(es.Trajectories.from_arrays(runs, time=[T] * 6, states=("x", "v")), tmp_path)
    assert "x, trajectory 3" in page
    assert "Shown are 4 of 6 trajectories." in page


def test_states_without_an_equation_are_not_simulated(tmp_path):
    data = es.Trajectories.from_arrays(
        np.column_stack([np.cos(T), -np.sin(T)]), time=T, states=("x", "v"), targets=("x",)
    )
    found, page = shown(data, tmp_path)
    assert found.model.equations(2) == ["x' = v"]
    assert "The states v have no equation" in page
    assert '"title":"x\', residuals"' in page


def test_planes(tmp_path):
    x = np.arange(16) * 2 * np.pi / 16
    t = np.linspace(0, 1, 30)
    u = np.exp(-t) * (np.sin(x)[:, None, None] + np.cos(2 * x)[None, :, None] * np.exp(-3 * t))
    u = u + np.exp(-1.75 * t) * np.sin(x[:, None] + x)[:, :, None]  # so that u_xy and u_xx can be told apart
    u = u + 0.001 * np.random.default_rng(0).normal(size=u.shape)
    data = es.Field.from_arrays(
        u, dims=("x", "y", "t"), coords={"x": x, "y": x, "t": t}, periodic={"x": 2 * np.pi, "y": 2 * np.pi}
    )
    library = es.Polynomials(1, bias=False) + es.Derivatives(2)
    _, page = shown(data, tmp_path, library=library)
    assert '"title":"u, measured"' in page
    assert '"title":"u, simulated"' in page
    assert '"sliders"' in page


def test_fields_without_a_period_are_simulated_between_their_ends(tmp_path):
    x, t = np.linspace(0, 3, 40), np.linspace(0, 1, 40)
    u = np.exp(-t) * np.sin(x)[:, None] + np.exp(-4 * t) * np.sin(2 * x)[:, None]
    data = es.Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t})
    _, page = shown(data, tmp_path, library=es.Polynomials(1, bias=False) + es.Derivatives(2), form="strong")
    assert "the points at the ends of the axis follow the measurement." in page
    assert '"title":"u, measured"' in page
    assert '"title":"u, simulated"' in page
    assert '"title":"u at one time"' in page
