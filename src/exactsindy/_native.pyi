from collections.abc import Callable, Sequence
from typing import Any

from numpy import float64
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
    progress: Callable[[list[float], list[float], int, float], None] | None,
) -> list[list[dict[str, Any]]]: ...
def refit(
    factor: NDArray[float64],
    target: NDArray[float64],
    rest: NDArray[float64],
    ridge: NDArray[float64],
    support: Sequence[int],
) -> tuple[tuple[list[int], list[float], float], float]: ...
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
) -> dict[str, Any]: ...
