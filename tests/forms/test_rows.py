"""Correlation of neighbouring residuals."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.forms import Whiteness, lag_correlation


def test_the_correlation_of_an_autoregression_is_found():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(20000, 2))
    series = np.zeros_like(noise)
    for i in range(1, len(series)):
        series[i] = 0.6 * series[i - 1] + noise[i]
    assert lag_correlation([series]) == pytest.approx(0.6, abs=0.02)
    assert lag_correlation([noise]) == pytest.approx(0.0, abs=0.02)


def test_stretches_are_pooled_but_not_joined():
    a, b = np.array([1.0, 2.0]), np.array([3.0, -1.0, 2.0])
    assert lag_correlation([a, b]) == pytest.approx((2.0 - 3.0 - 2.0) / (1 + 4 + 9 + 1 + 4))


def test_no_residual_has_no_correlation():
    assert lag_correlation([np.zeros(5)]) == 0.0
    assert lag_correlation([]) == 0.0


def test_text_names_every_equation():
    text = str(Whiteness(("x'", "y'"), np.array([1.0, 2.5]), np.array([0.01, -0.5])))
    assert text.splitlines() == [
        "x': residual 1.00 of the noise, correlation of neighbours +0.01",
        "y': residual 2.50 of the noise, correlation of neighbours -0.50",
    ]
