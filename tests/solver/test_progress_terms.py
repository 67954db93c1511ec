"""Progress names the best terms so far, and they have the objective that it shows."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es


def test_terms_of_progress_fit_as_well_as_it_says():
    rng = np.random.default_rng(0)
    problem = es.Problem.from_arrays(rng.normal(size=(80, 70)), rng.normal(size=(80, 2)))
    seen = []
    es.solve(problem, 9, settings=es.Settings(seconds=0.6, progress=seen.append))
    shown = [state for state in seen if all(len(terms) == 9 for terms in state.terms.values())]
    assert shown
    state = shown[-1]
    supports = [[problem.names.index(name) for name in state.terms[target]] for target in problem.target_names]
    again = es.refit(problem, supports).objective
    for value, target in zip(again, problem.target_names, strict=True):
        assert state.incumbent[target] == pytest.approx(value, rel=1e-9)
