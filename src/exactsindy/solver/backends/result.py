"""What every backend returns for one equation."""

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
