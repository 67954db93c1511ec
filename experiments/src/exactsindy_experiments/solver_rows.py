"""What the solver benchmark measures, and what a measurement says: plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from exactsindy_experiments.instances import Instance

OURS = "exactsindy"
#: Objectives of refitted supports that agree to this relative difference count as equal.
AGREEMENT = 1e-9
#: Statuses without a time, for reasons that lie in the peer.
REFUSALS = ("licence", "skipped", "failed", "not installed")


@dataclass(frozen=True)
class Task:
    """One equation of one data set. ``equation`` is the name of the target; ``ridge`` the published alpha."""

    system: str
    degree: int
    duration: float
    seed: int
    equation: str
    size: int
    ridge: float

    @property
    def instance(self) -> Instance:
        """The data set and library."""
        return Instance(self.system, self.degree, self.duration, self.seed)

    @property
    def library(self) -> str:
        """The library, as tables call it."""
        return f"{self.system} degree {self.degree}"


@dataclass(frozen=True)
class Case:
    """What to measure: one solver on one task."""

    task: Task
    solver: str


@dataclass(frozen=True)
class Row:
    """What was measured.

    ``seconds`` is the solver's own time from the compressed problem to the answer, ``wall_seconds`` that of
    the call from Python (ours only); both the least of ``repeats``. ``objective`` is that of its support,
    refitted; ``lower_bound`` and ``gap`` are its claims. ``excess`` is objective / proved optimum - 1,
    ``truly_optimal`` whether that is at most 1e-9 (empty if nothing is proved), ``ratio`` its time / ours,
    ``call_ratio`` its time / that of our call from Python.
    ``library_seconds`` and ``compress_seconds`` were spent once for all solvers.
    """

    case: Case
    n_terms: int
    n_samples: int
    status: str
    seconds: float
    wall_seconds: float
    repeats: int
    time_limit: float
    objective: float
    lower_bound: float
    gap: float
    nodes: int
    truly_optimal: bool | None
    excess: float
    ratio: float
    call_ratio: float
    library_seconds: float
    compress_seconds: float
    support: str
    note: str

    @property
    def key(self) -> Case:
        """What identifies the row."""
        return self.case

    @property
    def task(self) -> Task:
        """The equation of the case."""
        return self.case.task

    @property
    def solver(self) -> str:
        """The solver of the case."""
        return self.case.solver


@dataclass(frozen=True)
class PathRow:
    """Times of the path 0..size, of all sizes alone and of the costliest one; ``proved``: all of them."""

    task: Task
    n_terms: int
    path_seconds: float
    sum_seconds: float
    costliest_seconds: float
    costliest_size: int
    ratio: float
    proved: bool

    @property
    def key(self) -> Task:
        """What identifies the row."""
        return self.task


@dataclass(frozen=True)
class Limits:
    """How long and how often: runs shorter than ``repeat_below`` seconds are repeated, the least counts."""

    seconds: float = 30.0
    repeats: int = 3
    repeat_below: float = 1.0
    seconds_of: Mapping[str, float] = field(default_factory=dict)

    def of(self, solver: str) -> float:
        """Return the time limit of a solver."""
        return self.seconds_of.get(solver, self.seconds)


@dataclass(frozen=True)
class Answer:
    """What a solver said about one equation."""

    support: tuple[int, ...]
    status: str
    seconds: float
    wall_seconds: float
    lower_bound: float
    nodes: int
    note: str = ""
