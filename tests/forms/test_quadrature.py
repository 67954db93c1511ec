"""Integrals between samples by local cubics."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.forms.quadrature import integrate_intervals, interval_weights


@pytest.mark.parametrize("irregular", [False, True])
def test_quadrature_is_exact_for_cubics_and_of_fourth_order(irregular):
    def grid(n):
        t = np.linspace(0, 2, n)
        return t + 0.3 / n * np.sin(5 * t) * irregular

    t = grid(9)
    for degree, inner in ((2, slice(None)), (3, slice(1, -1))):
        exact = np.diff(t ** (degree + 1)) / (degree + 1)
        found = integrate_intervals(interval_weights(t), t**degree)
        assert np.allclose(found[inner], exact[inner], atol=1e-13)
    errors = []
    for t in (grid(41), grid(81)):
        found = integrate_intervals(interval_weights(t), np.sin(3 * t))
        errors.append(np.abs(found - np.diff(-np.cos(3 * t) / 3))[1:-1].sum())
    assert errors[0] / errors[1] > 10
