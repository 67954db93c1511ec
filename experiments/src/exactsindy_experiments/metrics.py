"""How close found coefficients are to the true ones: the measures of the published experiments.

All take coefficients of all equations together, shape ``(m, D)``; a term counts as present if its coefficient
is not exactly zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.errors import DataError


@dataclass(frozen=True)
class SupportCounts:
    """Terms found rightly, found wrongly and missed, over all equations."""

    true_positives: int
    false_positives: int
    false_negatives: int


def support_counts(truth: ArrayLike, found: ArrayLike) -> SupportCounts:
    """Count right, wrong and missed terms.

    Examples
    --------
    >>> support_counts([[1.0, 0.0, 2.0]], [[0.9, 0.1, 0.0]])
    SupportCounts(true_positives=1, false_positives=1, false_negatives=1)
    """
    true, other = (array != 0 for array in _pair(truth, found))
    return SupportCounts(
        true_positives=int(np.count_nonzero(true & other)),
        false_positives=int(np.count_nonzero(~true & other)),
        false_negatives=int(np.count_nonzero(true & ~other)),
    )


def true_positivity_rate(truth: ArrayLike, found: ArrayLike) -> float:
    """Return ``tp / (tp + fp + fn)``: 1 if and only if the supports are equal (also if both are empty).

    Examples
    --------
    >>> true_positivity_rate([[1.0, 0.0, 2.0]], [[0.9, 0.1, 2.0]])
    0.6666666666666666
    """
    counts = support_counts(truth, found)
    union = counts.true_positives + counts.false_positives + counts.false_negatives
    return counts.true_positives / union if union else 1.0


def exact_support(truth: ArrayLike, found: ArrayLike) -> bool:
    """Return True if exactly the true terms were found, in every equation.

    Examples
    --------
    >>> exact_support([[1.0, 0.0]], [[0.5, 0.0]])
    True
    """
    counts = support_counts(truth, found)
    return counts.false_positives == counts.false_negatives == 0


def coefficient_error(truth: ArrayLike, found: ArrayLike) -> float:
    """Return ``|found - truth| / |truth|`` in the Frobenius norm.

    Examples
    --------
    >>> coefficient_error([[3.0, 4.0]], [[3.0, 4.5]])
    0.1
    """
    true, other = _pair(truth, found)
    norm = float(np.linalg.norm(true))
    if norm == 0:
        raise DataError("truth: all coefficients are zero, so a relative error has no meaning; compare absolutely.")
    return float(np.linalg.norm(other - true)) / norm


def _pair(truth: ArrayLike, found: ArrayLike) -> tuple[Array, Array]:
    true, other = (np.atleast_2d(np.asarray(array, dtype=np.float64)) for array in (truth, found))
    if true.shape != other.shape:
        raise DataError(
            f"found: got shape {other.shape}; expected {true.shape} as in truth: (equations, library terms)."
        )
    return true, other
