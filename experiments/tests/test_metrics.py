"""Measures of agreement with the true coefficients."""

import numpy as np
import pytest

from exactsindy.errors import DataError
from exactsindy_experiments.metrics import (
    SupportCounts,
    coefficient_error,
    exact_support,
    support_counts,
    true_positivity_rate,
)

TRUTH = np.array([[1.0, 0.0, -2.0, 0.0], [0.0, 3.0, 0.0, 0.0]])


def test_perfect_answer():
    assert support_counts(TRUTH, TRUTH) == SupportCounts(3, 0, 0)
    assert true_positivity_rate(TRUTH, TRUTH) == 1.0
    assert exact_support(TRUTH, 0.5 * TRUTH)
    assert coefficient_error(TRUTH, TRUTH) == 0.0


def test_equations_are_not_interchangeable():
    assert support_counts(TRUTH, TRUTH[::-1]) == SupportCounts(0, 3, 3)
    assert true_positivity_rate(TRUTH, TRUTH[::-1]) == 0.0


@pytest.mark.parametrize(
    ("row", "column", "value", "rate"),
    [(0, 1, 1e-300, 3 / 4), (0, 0, 0.0, 2 / 3), (1, 1, -3.0, 1.0)],
)
def test_one_change(row, column, value, rate):
    found = TRUTH.copy()
    found[row, column] = value
    assert true_positivity_rate(TRUTH, found) == pytest.approx(rate)
    assert exact_support(TRUTH, found) is (rate == 1.0)


def test_wrong_and_missing_term_share_the_denominator():
    found = TRUTH.copy()
    found[0] = [1.0, 5.0, 0.0, 0.0]
    assert support_counts(TRUTH, found) == SupportCounts(2, 1, 1)
    assert true_positivity_rate(TRUTH, found) == 0.5


def test_coefficient_error_is_the_relative_frobenius_norm():
    found = TRUTH + np.array([[0.0, 0.0, 0.0, 0.3], [0.4, 0.0, 0.0, 0.0]])
    assert coefficient_error(TRUTH, found) == pytest.approx(0.5 / np.sqrt(14))


def test_nothing_to_find_and_nothing_found():
    assert true_positivity_rate(np.zeros((1, 3)), np.zeros((1, 3))) == 1.0
    with pytest.raises(DataError, match="truth: all coefficients are zero"):
        coefficient_error(np.zeros((1, 3)), np.ones((1, 3)))


def test_shapes_must_agree():
    with pytest.raises(DataError, match=r"found: got shape \(1, 4\); expected \(2, 4\) as in truth"):
        true_positivity_rate(TRUTH, TRUTH[:1])
