"""Plots and report of maps: each sample and the next."""

from __future__ import annotations

import numpy as np
import pytest
from tests.map_cases import henon, logistic, noisy

import exactsindy as es
from exactsindy.plots import replay, step_pairs

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def found():
    return es.discover(noisy(henon(200), 0.01), form="map", states=("x", "y"), degree=2, threads=1)


def test_pairs_are_of_neighbouring_samples():
    data = es.Trajectories.from_arrays(logistic(30), time=1.0, states=("x",))
    for target, terms in (("x[k+1]", {"x": 3.8, "x^2": -3.8}), ("x[k+1] - x[k]", {"x": 2.8, "x^2": -3.8})):
        (pair,) = step_pairs(es.Model.from_coefficients({target: terms}), data)
        np.testing.assert_array_equal(pair.later[:-1], pair.now[1:])
        np.testing.assert_allclose(pair.predicted, pair.later, atol=1e-12)


def test_fit_shows_the_next_sample_against_this_one(found):
    panels = found.plot()
    assert [(panel.get_xlabel(), panel.get_ylabel()) for panel in panels] == [("x[k]", "x[k+1]"), ("y[k]", "y[k+1]")]


def test_phase_portrait_and_replay_iterate_the_map(found):
    assert es.plots.phase(found).get_xlabel() == "x"
    (run,) = replay(found.model, found.data)
    assert (run.time_name, run.problem) == ("k", "")
    np.testing.assert_allclose(run.simulated[:3], run.measured[:3], atol=0.1)


def test_report_has_the_steps_and_no_rates(found, tmp_path):
    text = found.report(tmp_path / "map.html").read_text(encoding="utf-8")
    assert "Each sample and the next" in text
    assert "R² of predictions from every sample" in text
    assert "Phase portrait" not in text
