"""The maps of the benchmark obey the laws they are compared with, and rows survive interruption."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy_experiments.drawn_maps import draw_map
from exactsindy_experiments.map_benchmark import known_report, run_known
from exactsindy_experiments.map_cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_samples_obey_the_law(name):
    case = CASES[name]
    states, inputs = case.samples(200, 1)
    data = es.Trajectories.from_arrays(
        states, time=1.0, states=case.names, **({"controls": inputs, "control_names": ("u",)} if case.control else {})
    )
    problem = es.MapForm().problem(data, es.Polynomials(case.degree))
    supports = [[problem.names.index(term) for term in terms] for terms in case.law.values()]
    fitted = es.refit(problem, supports)
    scale = np.array([problem.rss(np.zeros_like(fitted.coef))]).ravel()
    assert (problem.rss(fitted.coef) < 1e-18 * scale).all()


def test_drawn_maps_repeat_and_halves_differ():
    first, again, other = draw_map("tuning", 0), draw_map("tuning", 0), draw_map("reporting", 0)
    np.testing.assert_array_equal(first.states, again.states)
    assert first.states.shape != other.states.shape or not np.array_equal(first.states, other.states)
    assert set(first.law) == {f"{name}[k+1]" for name in first.names}


def test_a_later_call_goes_on(tmp_path):
    said: list[str] = []
    run_known(tmp_path, [0.0], 1, ["Logistic"], said.append)
    before = (tmp_path / "maps.csv").read_text()
    run_known(tmp_path, [0.0], 1, ["Logistic"], said.append)
    assert (tmp_path / "maps.csv").read_text() == before
    assert said == ["Logistic, noise 0: 1 of 1"] * 2
    assert "| Logistic | 1 of 1 |" in known_report(tmp_path)
