"""Results as frames and xarray objects, and the accessor."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import exactsindy as es
from exactsindy.model import Model

pandas = pytest.importorskip("pandas")
xarray = pytest.importorskip("xarray")
MODEL = Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0, "x v": 0.5}})
T = np.linspace(0, 1, 5)


def test_coefficients_are_a_mapping():
    table = MODEL.coefficients
    assert dict(table) == {"x'": {"v": 1.0}, "v'": {"x": -1.0, "x v": 0.5}} == table.to_dict()
    assert list(table) == ["x'", "v'"]
    assert len(table) == 2
    assert "x'" in table
    assert table["v'"]["x v"] == 0.5


def test_coefficients(oscillator):
    frame = oscillator.coefficients.to_pandas()
    assert list(frame["equation"]) == ["x'", "v'"]
    assert frame.loc[0, "standard_error"] > 0
    assert frame.loc[0, "share"] == pytest.approx(1.0)
    data = oscillator.coefficients.to_xarray()
    assert float(data["coefficient"].sel(equation="x'", term="v")) == oscillator.coefficients["x'", "v"]


def test_simulations():
    run = MODEL.simulate([1.0, 0.0], T)
    np.testing.assert_array_equal(np.asarray(run), run.x)
    frame = run.to_pandas()
    assert frame.index.name == "t"
    np.testing.assert_array_equal(frame["v"], run["v"])
    data = run.to_xarray()
    np.testing.assert_array_equal(data["x"].sel(t=T[2]), run["x"][2])
    assert data.attrs["status"] == "COMPLETE"
    heat = Model.from_coefficients({"u_t": {"u_xx": 0.5}})
    fields = heat.simulate_field(np.sin(2 * np.pi * np.arange(16) / 16), T, periods=1.0).to_xarray()
    assert fields["u"].dims == ("x", "t")


def test_paths_and_pools(oscillator):
    path = oscillator.selection.path
    frame = path.to_pandas()
    assert len(frame) == 2 * len(path)
    chosen = frame[(frame["equation"] == "x'") & (frame["k"] == 1)].iloc[0]
    assert (chosen["terms"], chosen["status"]) == ("v", "OPTIMAL")
    assert float(path.to_xarray()["objective"].sel(k=1, equation="x'")) == chosen["objective"]
    pool = oscillator.pool
    rivals = pool.to_pandas()
    assert len(rivals) == len(pool)
    assert rivals.loc[0, "excess"] == 0
    best = pool.to_xarray().isel(support=0)
    assert (str(best["equation"].values), int(best["rank"])) == ("x'", 1)
    assert float(best["coefficient"].sel(term="v")) == pool["x'"][0].terms["v"]


def test_shared_budgets():
    theta = np.random.default_rng(0).normal(size=(40, 4))
    path = es.solve_path(es.Problem.from_arrays(theta, theta[:, :2], names=list("abcd")), es.Total(2))
    frame = path.to_pandas()
    assert len(frame) == 3
    first, second = path.problem.target_names
    assert frame["terms"].iloc[2] == f"{first}: a; {second}: b"


def test_score(oscillator):
    assert 0 < oscillator.score(differentiation=es.differentiation.SmoothedFiniteDifference()) <= 1


def test_the_accessor_is_there_once_asked_for():
    code = "import xarray, exactsindy; print(hasattr(xarray.Dataset(), 'sindy'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    import exactsindy.xarray  # noqa: F401

    t = np.arange(0.0, 10.0, 0.05)
    data = xarray.Dataset({"x": ("t", np.cos(t)), "v": ("t", -np.sin(t))}, coords={"t": t})
    assert data.sindy.discover(degree=1, threads=1).model.equations(2) == ["x' = v", "v' = -x"]
    assert data["x"].sindy.data().state_names == ("x",)
