"""Size and autocorrelation of the residuals of whitened rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array


@dataclass(frozen=True)
class Whiteness:
    """How far the residuals of whitened rows are from independent noise of the expected size, per equation.

    ``ratio`` is their standard deviation (1 if the noise is as estimated), ``lag`` the correlation of
    neighbours (0 for white measurement noise).
    """

    target_names: tuple[str, ...]
    ratio: Array
    lag: Array

    def __str__(self) -> str:
        lines = (
            f"{name}: residual {ratio:.2f} of the noise, correlation of neighbours {lag:+.2f}"
            for name, ratio, lag in zip(self.target_names, self.ratio, self.lag, strict=True)
        )
        return "\n".join(lines)


def lag_correlation(residuals: Sequence[Array]) -> float:
    """Return the correlation of neighbouring residuals, pooled over stretches (samples, or samples x columns).

    The mean is not subtracted. Residuals that are all zero have correlation 0.

    Examples
    --------
    >>> lag_correlation([np.array([1.0, -1.0, 1.0, -1.0])])
    -0.75
    """
    square = sum(float((part**2).sum()) for part in residuals)
    product = sum(float((part[1:] * part[:-1]).sum()) for part in residuals)
    return product / max(square, float(np.finfo(float).tiny))
