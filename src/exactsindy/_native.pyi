"""
Native core of exactsindy: exact best-subset search on a triangular factor.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Answer:
    """A support with its coefficients and its objective."""

    @property
    def support(self) -> list[int]:
        """Columns, increasing."""

    @property
    def coef(self) -> list[float]:
        """One coefficient per column of the support."""

    @property
    def objective(self) -> float: ...

    @property
    def fine(self) -> float:
        """What the double of the objective leaves out."""

class Written:
    """A finished search in a proof file."""

    @property
    def section(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def cut(self) -> float:
        """No support with an objective at or below this was discarded."""

    @property
    def columns(self) -> list[int]:
        """The columns of `delta` and `exponents`."""

    @property
    def exponents(self) -> list[int]:
        """Powers of two of the points of perspective bounds."""

    @property
    def delta(self) -> list[float]:
        """Of perspective bounds; empty: there are none."""

class Outcome:
    """What a search says about one size or one pool."""

    @property
    def answers(self) -> list[Answer]:
        """Best first; empty: infeasible, or nothing met before a limit."""

    @property
    def runner_up(self) -> float:
        """
        Objective of the next-best support of the same size; inf: there is none; NaN: not proved.
        """

    @property
    def lower_bound(self) -> float:
        """Proved lower bound of the objective; inf: infeasible."""

    @property
    def stop(self) -> str | None:
        """Name of the limit that ended the search; None: it was done."""

    @property
    def complete(self) -> bool:
        """True if the pool holds everything asked for."""

    @property
    def dependent(self) -> bool:
        """True if supports that are not admissible were passed over."""

    @property
    def nodes(self) -> int: ...

    @property
    def written(self) -> list[Written]:
        """Finished searches that were written down, the largest size first."""

    @property
    def seconds(self) -> float: ...

class Snapshot:
    """What a running search knows about one request."""

    @property
    def incumbent(self) -> float:
        """Objective of the best support so far; inf: none yet."""

    @property
    def lower_bound(self) -> float:
        """Proved lower bound of the objective."""

    @property
    def support(self) -> list[int]:
        """Columns of the best support so far."""

max_size: int = 64

def kernel_name() -> str:
    """Return the instruction set chosen at run time."""

def solve(requests: Sequence[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], int, Sequence[Sequence[int]], Sequence[int], Sequence[int], Sequence[float]]], path: bool, pool: bool, keep: int, within: float, capacity: int, gap: float, seconds: float, nodes: int, threads: int, coefficient_limit: float, proof: str, first_section: int, progress: Callable[[list[Snapshot], int, float], None] | None, stopped: Callable[[], bool], save: Callable[[dict[int, list[int]]], None] | None = None, save_every: float = 10.0, resume: Mapping[int, Sequence[int]] = {}) -> list[list[Outcome]]:
    """
    Solve (factor, target, rest, ridge, size, starts, required, forbidden, limits) requests; one list of outcomes per request.
    """

def finished_chunks(numbers: Sequence[int], columns: int) -> list[int] | None:
    """
    Return the chunks of its proof that a stored search has finished; None: all of them.
    """

def refit(factor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], support: Sequence[int]) -> tuple[Answer, float]:
    """
    Return the canonical least-squares fit of one support, and a lower bound of its objective.
    """

def solve_constrained(equations: Sequence[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], float]], rows: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], intervals: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], presence: Sequence[tuple[Sequence[int], Sequence[int], int]], starts: Sequence[Sequence[int]], runner_up: bool, keep: int, within: float, constraint_rows: int, coefficient_limit: float, seconds: float, nodes: int, threads: int, progress: Callable[[list[Snapshot], int, float], None] | None, stopped: Callable[[], bool]) -> Outcome:
    """Return the best supports of several equations under constraints."""

def fit_supports(equations: Sequence[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], float]], rows: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], intervals: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], presence: Sequence[tuple[Sequence[int], Sequence[int], int]], supports: Sequence[Sequence[int]], coefficient_limit: float) -> list[tuple[Answer | None, float]]:
    """
    Return the fit of each support under constraints (None: there is none) and a lower bound of its objective.
    """

def solve_together(equations: Sequence[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], size: int, keep: int, starts: Sequence[Sequence[int]], seconds: float, nodes: int, coefficient_limit: float, progress: Callable[[list[Snapshot], int, float], None] | None, stopped: Callable[[], bool]) -> Outcome:
    """
    Find the best supports of exactly `size` terms that the equations (factor, target, rest, ridge) have in common; coefficients are those of one equation after the other.
    """

def smooth(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], moments: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gram: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, lam: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rss: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], trace: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], fitted: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None) -> None:
    """Third-difference penalised fits; fills rss, trace and fitted."""

def absorb(factor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu')], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], trapezoid: bool) -> None:
    """
    Overwrite a triangular factor by that of itself with more rows below it.
    """

def tridiagonal_cholesky(diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], below: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """Factor in place; False if not positive definite."""

def whiten(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], before: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], change: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], below: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], previous: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Integrate the columns over the intervals and whiten them and the target; fills out and previous.
    """

def trajectory_step(misfit: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], measured: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], defect: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slopes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], state_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tight: float, damping: float, states: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], curvature: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[bool, bool]:
    """
    One Gauss-Newton step; tells whether curvature and slope, and whether the changes hold.
    """

def integrated_step(misfit: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], measured: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], defect: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], forward: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], tight: float, damping: float, states: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], curvature: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[bool, bool]:
    """
    The same where the equations of all states were integrated over the intervals.
    """

def integrate(start: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cubics: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], substeps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], term: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coefficient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slope: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], derivatives: bool, ends: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Integrate polynomial right-hand sides over intervals by a Runge-Kutta method; fills the ends.
    """
