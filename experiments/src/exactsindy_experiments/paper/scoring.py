"""How good a found model is: the published measures and the analytic ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from exactsindy.differentiation import SmoothedFiniteDifference
from exactsindy.library import Polynomials
from exactsindy.systems import find_system
from exactsindy_experiments.metrics import support_counts, true_positivity_rate

Array = NDArray[np.float64]

TEST_STEP, TEST_DURATION, TEST_COUNT = 0.01, 10.0, 10


def compare(truth: Array, coef: Array) -> dict[str, float | int | bool]:
    """Return the counts, the rate and the coefficient errors.

    Examples
    --------
    >>> found = compare(np.array([[1.0, 0.0]]), np.array([[0.9, 0.0]]))
    >>> found["exact"], round(found["coef_l2"], 3)
    (True, 0.1)
    """
    counts = support_counts(truth, coef)
    error = coef - truth
    return {
        "tp": counts.true_positives,
        "fp": counts.false_positives,
        "fn": counts.false_negatives,
        "tpr": true_positivity_rate(truth, coef),
        "exact": counts.false_positives == counts.false_negatives == 0,
        "coef_l1": float(np.abs(error).sum() / np.abs(truth).sum()),
        "coef_l2": float(np.linalg.norm(error) / np.linalg.norm(truth)),
        "coef_linf": float(np.abs(error).max() / np.abs(truth).max()),
    }


@dataclass(frozen=True, eq=False)
class TestSet:
    """Ten clean trajectories: library, differences and true right-hand side of each, (10, n, ...)."""

    __test__ = False  # not a test of pytest's

    theta: Array
    differences: Array
    rates: Array

    def rmse(self, coef: Array) -> dict[str, float]:
        """Return the published test error and the one against the right-hand side.

        Root mean square over time and equations per trajectory, then the mean over trajectories.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = self.theta @ coef.T
            return {
                "test_rmse": _rmse(predicted - self.differences),
                "rhs_rmse": _rmse(predicted - self.rates),
            }


def _rmse(error: Array) -> float:
    return float(np.sqrt((error**2).mean(axis=(1, 2))).mean())


@lru_cache(maxsize=2)
def test_set(name: str, trial: int, degree: int, window: int) -> TestSet:
    """Return the test set of a trial: its seed plus one draws ten initial conditions."""
    system = find_system(name)
    states = _trajectories(name, trial)
    times = np.arange(0, TEST_DURATION, TEST_STEP)
    smooth = SmoothedFiniteDifference(window)
    features = Polynomials(degree).bind(system.states)
    theta = np.stack([features.evaluate(member) for member in states])
    return TestSet(theta, np.stack([smooth(member, times) for member in states]), system.right_hand_side(states))


@lru_cache(maxsize=2)
def _trajectories(name: str, trial: int) -> Array:
    system = find_system(name)
    times = np.arange(0, TEST_DURATION, TEST_STEP)
    starts = system.initial_conditions(np.random.RandomState(trial + 1), TEST_COUNT)
    return np.stack([system.simulate(start, times) for start in starts])
