"""Whitening by a tridiagonal covariance."""

from __future__ import annotations

import numpy as np

from exactsindy.forms.increment.tridiagonal import Increments, Whitening, increment_covariance
from exactsindy.forms.quadrature import integrate_intervals, interval_weights


def test_whitening_inverts_the_covariance():
    rng = np.random.default_rng(0)
    steps, slopes = rng.uniform(0.01, 0.02, 30), rng.normal(size=(31, 2))
    noise = np.array([0.3, 0.7])
    diagonal, off = increment_covariance(steps, slopes, noise, 1)
    covariance = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
    # The same from the definition: rows as linear maps of the noise of all samples.
    maps = np.zeros((30, 31, 2))
    for i in range(30):
        maps[i, i] = -steps[i] / 2 * slopes[i]
        maps[i, i + 1] = -steps[i] / 2 * slopes[i + 1]
        maps[i, i, 1] -= 1
        maps[i, i + 1, 1] += 1
    flat = (maps * noise).reshape(30, -1)
    assert np.allclose(covariance, flat @ flat.T, atol=1e-14)
    whitening = Whitening.of(diagonal, off)
    # Integrals over intervals from a dense matrix of weights, whitened by the dense factor.
    columns, change = rng.normal(size=(11, 31)), rng.normal(size=30)
    weights = interval_weights(np.concatenate(([0.0], np.cumsum(steps))))
    rows = np.column_stack([integrate_intervals(weights, columns.T), change])
    expected = np.linalg.solve(np.linalg.cholesky(covariance), rows)
    whole = whitening.apply(Increments(columns, 0, weights), change, 0, np.zeros(12))
    assert np.allclose(whole.T, expected, rtol=1e-12, atol=1e-10)
    previous = np.zeros(12)
    first = whitening.apply(Increments(columns[:, :14].copy(), 0, weights[:12]), change[:12], 0, previous)
    second = whitening.apply(Increments(columns[:, 11:].copy(), 1, weights[12:]), change[12:], 12, previous)
    assert np.array_equal(np.hstack([first, second]), whole)
    assert np.array_equal(previous, whole[:, -1])
