"""Checks of the arrays a problem is built from. Nothing here copies an array that is already one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from exactsindy.data import masked_entries
from exactsindy.errors import ProblemError
from exactsindy.problem.compress import Matrix, Numbers

# bool counts as 0/1; complex, object, str, dates and records are refused.
_REAL_KINDS = "biuf"

#: Default of the limit C on coefficients: a support counts only if |coefficient| |column| <= C |target| for its terms.
COEFFICIENT_LIMIT = 2.0**27


def as_real(values: npt.ArrayLike, argument: str) -> Numbers:
    """Return `values` as an array of real numbers of its own type, not yet checked for NaN."""
    if count := masked_entries(values):
        raise ProblemError(
            f"{argument} has {count} masked entries: drop their rows, or give them weight 0 and pass a plain array."
        )
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise ProblemError(f"{argument} cannot be read as an array ({error}).") from error
    if array.dtype.kind not in _REAL_KINDS:
        cure = "take .real or stack real and imaginary part" if array.dtype.kind == "c" else "convert it to float"
        raise ProblemError(f"{argument} has dtype {array.dtype}: expected real numbers, {cure}.")
    return array


def as_double(array: Numbers) -> Matrix:
    """Return a copy in doubles; values beyond them (of a longdouble) become infinite."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return array.astype(np.float64)


def as_rows(theta: npt.ArrayLike, targets: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    """Return theta (n, D) and targets (n, m) as arrays with the same number of rows."""
    left, right = as_real(theta, "theta"), as_real(targets, "targets")
    if left.ndim != 2:
        cure = "; use theta[:, None] for a single term" if left.ndim == 1 else ""
        raise ProblemError(f"theta has shape {left.shape}: expected 2 dimensions (samples, terms){cure}.")
    if right.ndim not in (1, 2):
        raise ProblemError(f"targets has shape {right.shape}: expected (samples,) or (samples, targets).")
    if right.ndim == 1:
        right = right[:, np.newaxis]
    for name, array in (("theta", left), ("targets", right)):
        if array.shape[1] == 0:
            what = "term" if name == "theta" else "target"
            raise ProblemError(f"{name} has shape {array.shape}: expected at least one column ({what}).")
    if left.shape[0] != right.shape[0]:
        raise ProblemError(
            f"theta has {left.shape[0]} rows, targets has {right.shape[0]}: expected one row per sample in "
            f"both{_transposed(left.shape, right.shape)}."
        )
    return left, right


def _transposed(theta: tuple[int, ...], targets: tuple[int, ...]) -> str:
    if theta[1] == targets[0]:
        return f"; theta has shape {theta}: transposed? Pass theta.T"
    if targets[1] == theta[0]:
        return f"; targets has shape {targets}: transposed? Pass targets.T"
    return ""


def as_weights(weights: npt.ArrayLike, n_rows: int) -> Matrix:
    """Return `weights` as (n,) doubles, finite and not negative."""
    array = as_double(as_real(weights, "weights"))
    if array.shape != (n_rows,):
        raise ProblemError(f"weights has shape {array.shape}: expected ({n_rows},), one weight per row of theta.")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ProblemError(
            f"weights has {int(bad.sum())} entries that are negative or not finite (first: {array[row]} "
            f"at row {row}): expected finite numbers >= 0; 0 leaves a row out."
        )
    return array


def as_square(values: npt.ArrayLike, argument: str, size: int | None = None) -> Matrix:
    """Return a finite symmetric matrix as doubles, its two triangles averaged."""
    array = as_double(as_real(values, argument))
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] == 0 or size not in (None, len(array)):
        wanted = "(D, D)" if size is None else f"({size}, {size})"
        raise ProblemError(f"{argument} has shape {array.shape}: expected a square matrix {wanted}.")
    check_finite(array, argument, cure="expected finite numbers")
    scale = np.sqrt(np.abs(np.diag(array)))
    distance = np.abs(array - array.T)
    # 1e-8: far above the rounding of any sum of products in double, far below a wrong matrix.
    worst = np.unravel_index(np.argmax(distance - 1e-8 * np.outer(scale, scale)), array.shape)
    if distance[worst] > 1e-8 * scale[worst[0]] * scale[worst[1]]:
        i, j = int(worst[0]), int(worst[1])
        raise ProblemError(
            f"{argument} is not symmetric: entry ({i}, {j}) is {array[i, j]!s}, entry ({j}, {i}) is {array[j, i]!s}."
        )
    return np.asarray(array / 2 + array.T / 2)


def check_finite(
    array: Numbers,
    argument: str,
    columns: Sequence[str] | None = None,
    weights: Matrix | None = None,
    *,
    cure: str = "drop or mend these rows",
) -> None:
    """Refuse NaN and infinity, saying how many there are and where the first one is.

    `columns` names the columns, if names help to find the place; rows of weight 0 may hold anything.
    """
    bad = ~np.isfinite(as_double(array))
    if weights is not None:
        bad[weights == 0] = False
    count = int(bad.sum())
    if count == 0:
        return
    row, column = (int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))
    label = f" ({columns[column]!r})" if columns is not None else ""
    values = "value" if count == 1 else "values"
    raise ProblemError(
        f"{argument} has {count} NaN or infinite {values} (first: {array[row, column]!s} at row {row}, "
        f"column {column}{label}): {cure}."
    )


def as_coefficients(
    coef: npt.ArrayLike, present: npt.NDArray[np.bool_], target_names: Sequence[str], names: Sequence[str]
) -> Matrix:
    """Return finite coefficients of the shape of `present`, zero where an equation does not have the term."""
    values = as_double(as_real(coef, "coef"))
    if values.ndim == 1 and len(present) == 1:
        values = values[np.newaxis]
    if values.shape != present.shape:
        raise ProblemError(f"coef has shape {values.shape}: expected {present.shape}, one row per target.")
    check_finite(values, "coef", names, cure="expected finite coefficients")
    for row, column in np.argwhere(~present & (values != 0)):
        raise ProblemError(
            f"coef[{row}, {column}] is {values[row, column]!s}, but the equation of {target_names[row]} has "
            f"no term {names[column]!r}: set it to 0."
        )
    return values
