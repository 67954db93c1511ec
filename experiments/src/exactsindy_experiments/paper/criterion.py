"""The information criterion of the published experiments, as coded."""

from __future__ import annotations

from typing import Any

import numpy as np


def aicc(rss: Any, m: float, k: float) -> Any:
    """Return 2k + m ln(RSS/m) + 2(k+1)(k+2)/max(m-k-2, 1).

    The published code counts in ``k`` the terms of all equations even where RSS and m are of one.

    Examples
    --------
    >>> round(float(aicc(2.0, 100, 3)), 3)
    -384.781
    """
    with np.errstate(divide="ignore"):
        return 2 * k + m * np.log(np.asarray(rss) / m) + 2 * (k + 1) * (k + 2) / max(m - k - 2, 1)
