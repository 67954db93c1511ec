"""How often a choice with a given growth ratio is right, from random systems kept for tuning."""

from __future__ import annotations

import numpy as np

# log10 of the ratio, and the share of equations whose terms were exactly right.
_LOG_RATIO = (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
_SHARE = (0.05, 0.14, 0.33, 0.60, 0.90, 0.98, 0.995)


def probability(ratio: float) -> float:
    """Return the probability that the terms chosen with this growth ratio are exactly the true ones."""
    return float(np.interp(np.log10(max(ratio, 1.0)), _LOG_RATIO, _SHARE))
