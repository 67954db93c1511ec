"""How often a choice with a given growth ratio is right."""

from __future__ import annotations

import numpy as np

# By kind of rows: log10 of the ratio, and the share of equations whose terms were exactly right. Increments: random
# systems of the tuning half. Modes: eight 1-D equations, Kuramoto-Sivashinsky and reaction-diffusion, 5 to 600 % noise.
BANDS = {
    "increments": ((0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0), (0.05, 0.14, 0.33, 0.60, 0.90, 0.98, 0.995)),
    "modes": ((0.0, 0.7, 0.9, 1.3, 1.8, 2.5, 3.5), (0.10, 0.60, 0.77, 0.90, 0.92, 0.99, 0.995)),
}


def probability(ratio: float, rows: str = "increments") -> float:
    """Return the probability that the terms chosen with this growth ratio are exactly the true ones."""
    level, share = BANDS[rows]
    return float(np.interp(np.log10(max(ratio, 1.0)), level, share))
