from __future__ import annotations

import numpy as np
import pytest

from exactsindy.problem import Problem
from exactsindy.selection import PathEvidence
from exactsindy.selection.choices import Candidate
from exactsindy.selection.growth import log_gains
from exactsindy.selection.path_evidence import FEATURES, MODE_WEIGHTS, SIGNIFICANCE, features, log_ratio, significance
from exactsindy.solver import solve_path


def path_of(sizes, m=2000, terms=8, k_max=6, seed=0):
    """A regression on orthogonal columns whose terms gain about m ln(1 + size^2) each."""
    rng = np.random.default_rng(seed)
    theta, _ = np.linalg.qr(rng.normal(size=(m, terms)))
    y = np.sqrt(m) * theta[:, : len(sizes)] @ np.array(sizes) + rng.normal(size=m)
    return solve_path(Problem.from_arrays(theta, y), k_max)


def test_gains_are_compared_with_their_penalty():
    path = path_of([1.0, 0.15])
    found = significance(path, 0)
    assert found.shape == (5, len(SIGNIFICANCE))
    gains = 2000 * log_gains(path)[:, 0]
    # ln m + 2 ln of the factor by which the number of supports of 8 terms grows from one size to the next.
    penalties = np.log(2000) + 2 * np.log([8, 7 / 2, 6 / 3, 5 / 4, 4 / 5, 3 / 6])
    worth = np.log(gains / penalties).clip(-2, 2)
    assert found[1] == pytest.approx([worth[:2].min(), worth[2:].max()])
    assert found[0, 1] > 0 > found[1, 1]


def test_a_weak_but_significant_term_is_kept_for_modes():
    path = path_of([1.0, 0.7, 0.17])
    rule = PathEvidence.for_modes()
    assert len(rule.weights) == len(MODE_WEIGHTS) == len(FEATURES) + len(SIGNIFICANCE)
    assert rule.features(path, 0).shape == (5, 8)
    assert PathEvidence().features(path, 0).shape == (5, 6)
    candidate = Candidate("", 0.0, path.problem, (), path)
    score = rule.scores(candidate)[0]
    assert score.k == 3
    # What the significance says speaks for the third term, and against a fourth.
    blind = PathEvidence((*MODE_WEIGHTS[:6], 0.0, 0.0), rule.none).scores(candidate)[0]
    assert score.values[3] - score.values[2] > blind.values[3] - blind.values[2] + 0.3
    assert score.values[3] - score.values[4] > blind.values[3] - blind.values[4] + 1.0


def test_gains_and_margins_below_the_floor_say_nothing():
    rng = np.random.default_rng(5)
    theta = rng.normal(size=(500, 8))
    y = theta[:, 1] + 0.5 * theta[:, 4] + 1e-6 * theta[:, 6] + 1e-9 * rng.normal(size=500)
    path = solve_path(Problem.from_arrays(theta, y), 6)
    floor = (500 * 1e-5**2,)
    assert log_gains(path)[2, 0] > 10  # the third term is real for the rows,
    assert (log_gains(path, floor)[2:] == 0).all()  # but smaller than errors that are no noise
    assert (log_gains(path, floor)[:2] > 1).all()
    near = FEATURES.index("ln of half the log-likelihood ratio to the next best support of the size")
    assert features(path, 0)[2, near] > 5
    assert features(path, 0, floor)[2, near] == pytest.approx(np.log(0.05))
    assert features(path, 0, floor)[1, near] > 5
    chosen = [PathEvidence().scores(Candidate("", 0.0, path.problem, (), path, floor=f))[0].k for f in ((), floor)]
    assert chosen == [3, 2]


def test_the_ratio_of_residuals_counts_from_the_floor():
    assert log_ratio(2.0, 0.5, 1.0) == pytest.approx(np.log(1.5))
    assert log_ratio(2.0, 0.5, 2.5) == pytest.approx(np.log(3.0 / 2.5))
    assert log_ratio(2.0, 0.5, 4.0) == 0.0
    assert log_ratio(2.0, np.inf, 4.0) == np.inf
