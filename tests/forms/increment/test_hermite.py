"""Library columns without the bias of noise."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.forms.increment.increment_rows import HermiteFeatures
from exactsindy.library import Terms


def test_hermite_columns_have_no_bias():
    rng = np.random.default_rng(1)
    x = np.array([1.2, -0.7])
    values = x + rng.normal(size=(200000, 2)) * [0.5, 0.3]
    features = Terms(["x^2", "x^3", "x^2 y^2", "x y", "sin(x) x^2"]).bind(("x", "y"))
    columns = HermiteFeatures(features, np.array([0.5, 0.3])).evaluate(values).mean(axis=0)
    expected = features.evaluate(x[None])[0]
    assert np.allclose(columns[:4], expected[:4], atol=0.02)
    assert columns[4] == pytest.approx((np.sin(values[:, 0]) * values[:, 0] ** 2).mean())
