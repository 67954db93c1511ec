"""`exactsindy discover --map` on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.map_cases import henon, logistic
from typer.testing import CliRunner

from exactsindy.cli.commands import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_counts_without_a_time_column(tmp_path):
    file = tmp_path / "counts.csv"
    np.savetxt(file, logistic(200), header="x", comments="")
    result = run("discover", file, "--map", "--quiet", "--json", "--threads", 1)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["equations"][0].startswith("x[k+1] = 3.")
    assert answer["coefficients"]["x[k+1]"] == pytest.approx({"x": 3.8, "x^2": -3.8}, rel=1e-12)


def test_lags(tmp_path):
    file = tmp_path / "henon.csv"
    np.savetxt(file, henon(300)[:, 0], header="x", comments="")
    result = run("discover", file, "--map", "--lags", 1, "--degree", 2, "--quiet", "--json", "--threads", 1)
    assert set(json.loads(result.stdout)["coefficients"]["x[k+1]"]) == {"1", "x^2", "x[k-1]"}


def test_options_that_contradict_each_other(tmp_path):
    file = tmp_path / "counts.csv"
    np.savetxt(file, logistic(50), header="x", comments="")
    assert "add --map" in run("discover", file, "--time", 1, "--lags", 1).output
    assert "a map has no derivatives" in run("discover", file, "--map", "--weak").output


def test_simulate_iterates(tmp_path):
    import exactsindy as es

    es.Model.from_coefficients({"x[k+1]": {"x": 2.0}}).save(tmp_path / "map.json")
    result = run("simulate", tmp_path / "map.json", "--start", 1, "--until", 3)
    assert result.stdout.split() == ["k,x", "0,1", "1,2", "2,4", "3,8"]
    assert "this is a map" in run("simulate", tmp_path / "map.json", "--start", 1, "--until", 3, "--step", 0.1).output
