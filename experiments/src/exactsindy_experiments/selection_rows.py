"""Result rows of the selection benchmark: one per data set, method and equation."""

from __future__ import annotations

from dataclasses import dataclass

KEY = ("part", "system", "samples", "noise", "seed", "method", "equation")

OURS = "discover"
CEILING = "best subset at the true k"
STLSQ, SSR = "STLSQ, tuned", "SSR, tuned"
METHODS = (OURS, CEILING, STLSQ, SSR)


@dataclass(frozen=True)
class SelectionRow:
    """What a method found for one equation of one data set.

    ``exact``: its terms are exactly the true ones; ``overlap``: true positives / (true positives + wrong + missed);
    ``confidence``: the printed probability (ours only); ``ratio``: the growth ratio; ``seconds``: of the data set.
    """

    part: str
    system: str
    samples: int
    noise: float
    seed: int
    method: str
    equation: str
    exact: bool
    overlap: float
    size: int
    true_size: int
    confidence: float
    ratio: float
    seconds: float
