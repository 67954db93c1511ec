"""What searches and backends return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from exactsindy.solver.settings import Status


@dataclass(frozen=True)
class BackendResult:
    """One solved equation: ``objective`` and ``lower_bound`` include the constant (``rest_square``).

    ``margin`` is (objective of the next-best support of the same size) / objective - 1: 0 is a tie, inf says
    that there is no rival, nan that nothing was proved. ``nodes`` counts what the backend counts (supports or
    tree nodes).
    """

    support: tuple[int, ...]
    coef: NDArray[np.float64]
    objective: float
    lower_bound: float
    margin: float
    status: Status
    nodes: int
    seconds: float


@dataclass(frozen=True)
class Found:
    """A support with its fit: an equation's own terms, or ``equation * D + term`` for equations solved together."""

    support: tuple[int, ...]
    values: tuple[float, ...]
    objective: float


@dataclass(frozen=True)
class Outcome:
    """What a search says of one size; no answers and an infinite bound: infeasible."""

    answers: tuple[Found, ...]
    runner_up: float
    lower_bound: float
    stop: Status | None  # None: the search was completed
    complete: bool
    nodes: int
    seconds: float

    @property
    def infeasible(self) -> bool:
        """Whether it was proved that no support satisfies the constraints."""
        return not self.answers and self.stop is None and self.lower_bound == float("inf")
