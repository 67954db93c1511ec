"""The test function and the weights that integrate samples with it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

from exactsindy.forms.weak.windows import Cells, bump


@pytest.mark.parametrize("d", range(5))
def test_bump_derivatives_match_the_expanded_polynomial(d):
    s = np.linspace(-1, 1, 41)
    power = np.polynomial.Polynomial([1.0, 0.0, -1.0]) ** 3
    assert np.allclose(bump(s, 3, d), power.deriv(d)(s) if d else power(s), atol=1e-11)
    assert bump(np.array([-1.5, 2.0]), 3, d).tolist() == [0.0, 0.0]


def test_weights_integrate_polynomials_exactly():
    s = np.sort(np.random.default_rng(0).uniform(-1.3, 1.3, 40))
    fine = np.linspace(-1, 1, 200001)
    cells = Cells.of(s, 8)
    first, weights = cells.weights(0.0, 1.0, 4, 1)
    for degree in range(6):
        expected = trapezoid(bump(fine, 4, 1) * fine**degree, fine)
        assert weights @ s[first : first + len(weights)] ** degree == pytest.approx(expected, abs=1e-6)
