"""Models that data cannot tell apart: the start at which they differ most is said."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery.next_experiment import _spread_points, differences, motions
from exactsindy.model import Model


def reactor():
    times = np.linspace(0.0, 4.0, 80)
    substrate = 3.0 + 7.0 * np.exp(-times)
    noise = 0.05 * np.random.default_rng(0).normal(size=(80, 2))
    return times, np.column_stack([substrate, 10.0 - substrate]) + noise


def suggested(found):
    return [notice for notice in found.warnings if notice.kind == "next experiment"]


def test_the_start_is_off_the_line_on_which_all_agree():
    times, states = reactor()
    found = es.discover(states, times, states=("S", "P"), degree=2)
    (notice,) = suggested(found)
    assert notice.equation == "S', P'"
    assert notice.message.startswith("S', P': a start near S = ")
    place = notice.message.split("near ")[1].split(" would")[0]
    substrate, product = (float(part.split(" = ")[1]) for part in place.split(", "))
    assert abs(substrate + product - 10.0) > 2.0, "on S + P = 10 all supports are the same"
    assert "times the noise" in notice.message


def test_a_measurement_from_that_start_tells_them_apart():
    times, states = reactor()
    rng = np.random.default_rng(1)
    # The law of these data is S' = 3 - S, P' = 7 - P; the start is the one that was suggested.
    more = np.column_stack([3 + 8 * np.exp(-times), 7 + 0.6 * np.exp(-times)]) + 0.05 * rng.normal(size=(80, 2))
    found = es.discover([states, more], [times, times], states=("S", "P"), degree=2)
    assert {name: set(terms) for name, terms in found.solution.terms.items()} == {"S'": {"1", "S"}, "P'": {"1", "P"}}
    assert not suggested(found)


def test_nothing_is_said_where_nothing_is_ambiguous():
    times = np.arange(0.0, 20.0, 0.05)
    states = np.column_stack([np.cos(times), -np.sin(times)]) + 0.01 * np.random.default_rng(0).normal(size=(400, 2))
    assert not suggested(es.discover(states, times))


def test_nothing_is_simulated_with_inputs():
    times, states = reactor()
    found = es.discover(states, times, states=("S", "P"), controls={"u": np.sin(9 * times)}, degree=1)
    assert not suggested(found)


def test_motions_follow_the_model_and_stop_where_they_run_away():
    decay = Model.from_coefficients({"x'": {"x": -1.0}})
    path = motions(decay, np.array([[1.0], [2.0]]), 2.0, np.array([10.0]))
    assert np.allclose(path[-1, :, 0], [np.exp(-2.0), 2 * np.exp(-2.0)], rtol=1e-6)
    growth = Model.from_coefficients({"x'": {"x^2": 1.0}})
    away = motions(growth, np.array([[1.0], [0.1]]), 2.0, np.array([10.0]))
    assert np.isnan(away[-1, 0, 0])
    assert away[-1, 1, 0] == pytest.approx(0.125, rel=1e-4)
    assert np.isnan(differences(away, path, np.array([0.1]))[0]), "nobody should start there"
    assert (differences(path, away, np.array([0.1])) > 5).all()


def test_starts_fill_the_box_evenly():
    points = _spread_points(256, 3)
    assert ((points >= 0) & (points < 1)).all()
    counts = np.histogramdd(points, bins=(2, 2, 2))[0]
    assert counts.min() > 20
