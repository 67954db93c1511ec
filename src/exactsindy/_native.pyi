from collections.abc import Callable, Sequence
from typing import Any

from numpy import float64, int64
from numpy.typing import NDArray

max_size: int

def kernel_name() -> str: ...
def solve(
    requests: Sequence[
        tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64], int, Sequence[Sequence[int]]]
    ],
    path: bool,
    pool: bool,
    keep: int,
    within: float,
    capacity: int,
    gap: float,
    seconds: float,
    nodes: int,
    threads: int,
    progress: Callable[[list[float], list[float], list[list[int]], int, float], None] | None,
    stopped: Callable[[], bool],
) -> list[list[dict[str, Any]]]: ...
def refit(
    factor: NDArray[float64],
    target: NDArray[float64],
    rest: NDArray[float64],
    ridge: NDArray[float64],
    support: Sequence[int],
) -> tuple[tuple[list[int], list[float], float], float]: ...
def smooth(
    values: NDArray[float64],
    moments: NDArray[float64],
    gram: NDArray[float64] | None,
    start: NDArray[int64] | None,
    weights: NDArray[float64] | None,
    lam: NDArray[float64],
    column: NDArray[int64],
    rss: NDArray[float64],
    trace: NDArray[float64],
    fitted: NDArray[float64] | None,
) -> None: ...
def absorb(factor: NDArray[float64], rows: NDArray[float64], trapezoid: bool) -> None: ...
def tridiagonal_cholesky(diagonal: NDArray[float64], below: NDArray[float64]) -> bool: ...
def whiten(
    values: NDArray[float64],
    before: int,
    weights: NDArray[float64],
    change: NDArray[float64],
    diagonal: NDArray[float64],
    below: NDArray[float64],
    previous: NDArray[float64],
    out: NDArray[float64],
) -> None: ...
def orbit_step(
    misfit: NDArray[float64],
    defect: NDArray[float64],
    weights: NDArray[float64],
    slopes: NDArray[float64],
    columns: NDArray[float64],
    own: NDArray[int64],
    first: NDArray[int64],
    tight: float,
    damping: float,
    states: NDArray[float64],
    coefficients: NDArray[float64],
    curvature: NDArray[float64],
    slope: NDArray[float64],
) -> tuple[bool, bool]: ...
def solve_constrained(
    equations: Sequence[tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64], float]],
    rows: tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]],
    intervals: tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]],
    presence: Sequence[tuple[Sequence[int], Sequence[int], int]],
    starts: Sequence[Sequence[int]],
    runner_up: bool,
    keep: int,
    within: float,
    constraint_rows: int,
    seconds: float,
    nodes: int,
    progress: Callable[[float, float, int, float], None] | None,
    stopped: Callable[[], bool],
) -> dict[str, Any]: ...
