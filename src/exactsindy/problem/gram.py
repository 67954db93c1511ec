"""A triangular factor from a Gram matrix, for those who have kept nothing better."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exactsindy.errors import ProblemError
from exactsindy.problem.checks import as_double, as_real, as_square, check_finite
from exactsindy.problem.compress import Matrix, triangular_factor

# Rounding may turn eigenvalues of the matrix (scaled to a diagonal near 1) negative, but not beyond this.
_INDEFINITE = 1e-8


def factors_of_gram(
    gram: npt.ArrayLike, moments: npt.ArrayLike, target_square: npt.ArrayLike, n_samples: int
) -> tuple[tuple[Matrix, ...], int]:
    """Return the factor of [[gram, moments], [moments', target_square]] and the number of targets.

    One factor per target where `target_square` holds only squares: products between targets are not made up.
    """
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ProblemError(f"n_samples is {n_samples!r}: expected an integer >= 1.")
    theta = as_square(gram, "gram")
    cross = _as_moments(moments, len(theta))
    m = cross.shape[1]
    squares = as_real(target_square, "target_square")
    if squares.ndim == 2:
        return (_factor(theta, cross, as_square(squares, "target_square", m), int(n_samples)),), m
    if squares.ndim > 2 or squares.size != m:
        raise ProblemError(f"target_square has shape {squares.shape}: expected ({m},) or ({m}, {m}) for {m} targets.")
    diagonal = as_double(squares.reshape(m, 1))
    check_finite(diagonal, "target_square", cure="expected finite numbers")
    return tuple(_factor(theta, cross[:, [j]], diagonal[[j]], int(n_samples)) for j in range(m)), m


def _as_moments(moments: npt.ArrayLike, size: int) -> Matrix:
    cross = as_double(as_real(moments, "moments"))
    if cross.ndim == 1:
        cross = cross[:, np.newaxis]
    if cross.ndim != 2 or cross.shape[0] != size or cross.shape[1] == 0:
        raise ProblemError(
            f"moments has shape {cross.shape}: expected ({size},) or ({size}, targets), "
            f"one row per column of the {size} x {size} gram."
        )
    check_finite(cross, "moments", cure="expected finite numbers")
    return cross


def _factor(theta: Matrix, cross: Matrix, target_square: Matrix, n_samples: int) -> Matrix:
    """Return R, upper triangular with at most `n_samples` nonzero rows, with R'R = the Gram matrix up to rounding."""
    matrix = np.block([[theta, cross], [cross.T, target_square]])
    squares = np.diag(matrix)
    if (squares < 0).any():
        raise ProblemError(f"the Gram matrix has a negative diagonal entry ({squares.min()!s}): not a Gram matrix.")
    kept = np.flatnonzero(squares)
    exponents = (np.frexp(squares[kept])[1] + 1) // 2
    if np.delete(matrix, kept, axis=0).any():
        raise ProblemError("the Gram matrix has a zero on the diagonal and nonzeros beside it: not a Gram matrix.")
    scaled = np.ldexp(np.ldexp(matrix[np.ix_(kept, kept)], -exponents), -exponents[:, np.newaxis])
    part = _factor_scaled(scaled, n_samples)
    # Row i starts at column kept[i] >= i: still upper triangular with the zero columns put back.
    factor = np.zeros_like(matrix)
    factor[: len(part), kept] = np.ldexp(part, exponents)
    return factor


def _factor_scaled(scaled: Matrix, n_samples: int) -> Matrix:
    if len(scaled) <= n_samples:
        try:
            return np.ascontiguousarray(np.linalg.cholesky(scaled).T)
        except np.linalg.LinAlgError:
            pass  # singular up to rounding, or no Gram matrix: the eigenvalues tell
    values, vectors = np.linalg.eigh(scaled)
    largest = values[-1] if len(values) else 0.0
    if len(values) and values[0] < -_INDEFINITE * largest:
        raise ProblemError(
            "gram, moments and target_square do not belong to one data set: the whole matrix has the "
            f"negative eigenvalue {values[0]:.3g} beside {largest:.3g} (columns scaled to norm 1). "
            "Check that all three sum over the same samples."
        )
    if len(values) > n_samples and values[-n_samples - 1] > _INDEFINITE * largest:
        raise ProblemError(
            f"the Gram matrix has more independent columns than n_samples = {n_samples} rows can have: check n_samples."
        )
    kept = slice(max(0, len(values) - n_samples), None)
    rows = np.sqrt(np.maximum(values[kept], 0.0))[:, np.newaxis] * vectors[:, kept].T
    return triangular_factor(rows)
