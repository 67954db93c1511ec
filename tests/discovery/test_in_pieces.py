"""discover on data that are read piece by piece."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from typer.testing import CliRunner

import exactsindy as es
from exactsindy.chunked import fields, parquet
from exactsindy.cli import app
from exactsindy.errors import DataError
from pieced_data import write_parquet

pytest.importorskip("dask.array")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def runs():
    """Eight noisy records of a Lotka-Volterra system from different starts."""
    rng, members = np.random.default_rng(1), []
    t = np.arange(0.0, 20.0, 0.02)
    for _ in range(8):
        run = solve_ivp(_rates, (0.0, 20.0), rng.uniform(0.5, 2.0, 2), t_eval=t, rtol=1e-9, atol=1e-9)
        states = run.y.T + 0.005 * rng.normal(size=(len(t), 2))
        members.append(es.Trajectories.from_arrays(states, time=t, states=("x", "y"))[0])
    return es.Trajectories(members)


def _rates(_, state):
    x, y = state
    return [x - x * y, x * y - y]


@pytest.fixture
def folder(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "PIECE_BYTES", 24 * 1000)
    write_parquet(runs, tmp_path, rows=500)
    return tmp_path


def terms(found):
    return [set(equation) for equation in found.solution.terms.values()]


def notice(found):
    (text,) = [note.message for note in found.warnings if note.kind == "pieces"]
    return text


LAW = [{"x", "x y"}, {"y", "x y"}]


def test_parquet_data_sets(folder, runs):
    found = es.discover(es.scan_parquet(folder, time="time", trajectory="run"), seconds=None)
    assert terms(found) == LAW
    assert found.problem.n_samples > 7500  # all of the data, or the sample that is as large
    assert notice(found).startswith("The data were read once in 8 pieces")
    assert "Trajectories(8 of x, y" in notice(found)
    np.testing.assert_allclose(found.solution.coef[0][found.solution.coef[0] != 0], [1.0, -1.0], atol=0.01)


def test_a_form_that_is_asked_for(folder):
    found = es.discover(str(folder / "*.parquet"), "time", trajectory="run", form="strong", seconds=None)
    assert terms(found) == LAW
    assert found.problem.n_samples == 8000


def test_lazy_fields(monkeypatch):
    xr = pytest.importorskip("xarray")
    x, t, rng = 2 * np.pi * np.arange(64) / 64, 0.05 * np.arange(400), np.random.default_rng(0)
    waves = [(k, rng.normal(), rng.uniform(0, 6)) for k in range(1, 6)]
    u = sum(a * np.exp(-0.02 * k**2 * t) * np.sin(k * (x[:, None] - t) + p) for k, a, p in waves)
    monkeypatch.setattr(fields, "PIECE_BYTES", 8 * 64 * 50)
    data = xr.DataArray(u + 1e-3 * rng.normal(size=u.shape), dims=("x", "t"), coords={"x": x, "t": t}, name="u")
    lazy = es.Field.from_arrays(data.chunk({"t": 50}), periodic=("x",))
    found = es.discover(lazy, library=es.Derivatives(3), seconds=None)
    assert terms(found) == [{"u_x", "u_xx"}]
    assert "read once in 8 pieces" in notice(found)


def test_arguments_that_do_not_fit_are_refused(folder):
    pieces = es.scan_parquet(folder, time="time", trajectory="run")
    with pytest.raises(DataError, match="states: data that are read piece by piece carry their own names"):
        es.discover(pieces, states=("x",))
    with pytest.raises(DataError, match="give them to scan_parquet or Field"):
        es.discover(pieces, targets=("x",))
    with pytest.raises(DataError, match="gaps and parameters are for data in memory"):
        es.discover(folder, "time", gaps="split")


def test_the_command_line_takes_patterns_and_stores(folder):
    command = ["discover", str(folder / "*.parquet"), "--time", "time", "--trajectory", "run", "--strong", "--seconds"]
    done = CliRunner().invoke(app, [*command, "600"])
    assert done.exit_code == 0, done.output
    assert "x' = " in done.output
    done = CliRunner().invoke(app, [*command, "600", "--scheduler", "tcp://127.0.0.1:1"])
    assert done.exit_code != 0
    assert "no scheduler answers there" in done.output + str(done.stderr)
