"""Result rows of the selection benchmark: one per data set, method and equation."""

from __future__ import annotations

from dataclasses import dataclass

OURS = "discover"
CEILING = "best subset at the true k"
STLSQ, SSR = "STLSQ, tuned", "SSR, tuned"
METHODS = (OURS, CEILING, STLSQ, SSR)


@dataclass(frozen=True)
class SelectionCase:
    """One data set: ``system`` is ``random-3``, ``lorenz`` (a half's initial condition) or a field system."""

    part: str
    system: str
    samples: int
    noise: float
    seed: int


@dataclass(frozen=True)
class SelectionRow:
    """What a method found for one equation of one data set.

    ``exact``: its terms are exactly the true ones; ``overlap``: true positives / (true positives + wrong + missed);
    ``confidence``: the printed probability (ours only); ``ratio``: the growth ratio; ``seconds``: of the data set.
    """

    case: SelectionCase
    method: str
    equation: str
    exact: bool
    overlap: float
    size: int
    true_size: int
    confidence: float
    ratio: float
    seconds: float

    @property
    def key(self) -> tuple[SelectionCase, str, str]:
        """What identifies the row."""
        return self.case, self.method, self.equation
