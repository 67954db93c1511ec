"""Gauss-Newton steps with many states, against dense algebra."""

import numpy as np

from exactsindy.trajectory_fit.block_banded import profile_states


def test_a_step_solves_the_normal_equations():
    """Against a dense least-squares problem, with states that have no equation and coefficients shared by rows."""
    rng = np.random.default_rng(0)
    for trial in range(30):
        n, s, p = int(rng.integers(4, 9)), int(rng.integers(1, 5)), int(rng.integers(0, 4))
        own = np.sort(rng.permutation(s)[: rng.integers(1, s + 1)])
        e = len(own)
        weights = rng.normal(size=(n - 1, 4))
        weights[0, 0] = weights[-1, 3] = 0.0
        residual, defect = rng.normal(size=(n, s)), rng.normal(size=(n - 1, e))
        slopes, integrals = rng.normal(size=(n, e, s)), rng.normal(size=(n - 1, e, p))
        precision, damping = 10.0 ** rng.uniform(-1, 3), 0.0 if trial % 3 else 0.2
        found = profile_states(residual, defect, weights, slopes, integrals, own, precision, damping)
        big = np.zeros(((n - 1) * e, n * s))
        for i in range(n - 1):
            rows = slice(i * e, (i + 1) * e)
            for b in range(4):
                j = i - 1 + b
                if 0 <= j < n:
                    big[rows, j * s : (j + 1) * s] -= weights[i, b] * slopes[j]
            big[i * e + np.arange(e), i * s + own] -= 1.0
            big[i * e + np.arange(e), (i + 1) * s + own] += 1.0
        flat = integrals.reshape((n - 1) * e, p)
        a = np.eye(n * s) + precision * big.T @ big
        a[np.diag_indices(n * s)] *= 1 + damping
        across = precision * big.T @ flat
        first = residual.ravel() - precision * big.T @ defect.ravel()
        curvature = precision * flat.T @ flat - across.T @ np.linalg.solve(a, across)
        slope = precision * flat.T @ defect.ravel() + across.T @ np.linalg.solve(a, first)
        np.testing.assert_allclose(found.curvature, curvature, rtol=1e-7, atol=1e-7 * precision)
        np.testing.assert_allclose(found.slope, slope, rtol=1e-7, atol=1e-7 * precision)
        if p <= 2 and found.moves:
            change = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), slope) if p else np.zeros(0)
            np.testing.assert_allclose(found.coef, change, rtol=1e-5, atol=1e-8)
            states = np.linalg.solve(a, first + across @ change)
            np.testing.assert_allclose(found.states.ravel(), states, rtol=1e-5, atol=1e-7)
