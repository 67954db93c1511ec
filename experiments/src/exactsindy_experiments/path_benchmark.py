"""What a whole path costs beside its dearest single size."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace

from exactsindy.solver.settings import Settings
from exactsindy_experiments.instances import Instance, equation, prepare
from exactsindy_experiments.solver_benchmark import Solver, native
from exactsindy_experiments.solver_rows import Limits


@dataclass(frozen=True)
class PathCase:
    """One equation and the largest size of its path."""

    system: str
    degree: int
    duration: float
    seed: int
    equation: str
    size: int
    ridge: float

    @property
    def key(self) -> tuple[object, ...]:
        """The values that identify the row of this case."""
        return tuple(asdict(self).values())


@dataclass(frozen=True)
class PathRow:
    """Times of the path 0..size, of all sizes alone and of the dearest one; ``proved``: all of them."""

    system: str
    degree: int
    duration: float
    seed: int
    equation: str
    size: int
    ridge: float
    n_terms: int
    path_seconds: float
    sum_seconds: float
    dearest_seconds: float
    dearest_size: int
    ratio: float
    proved: bool


KEY = tuple(PathCase.__dataclass_fields__)


def measure_path(case: PathCase, *, limits: Limits | None = None, single: Solver = native) -> PathRow:
    """Measure one path and its single sizes, each the least of some repeats if it is fast."""
    from exactsindy.solver import solve_path

    limits = Limits() if limits is None else limits
    problem = prepare(Instance(case.system, case.degree, case.duration, case.seed)).problem
    subject = equation(problem, case.equation, case.size, case.ridge)
    settings = Settings(seconds=limits.seconds)
    path_seconds, proved = float("inf"), True
    for _ in range(limits.repeats):
        started = time.perf_counter()
        path = solve_path(subject.problem, case.size, ridge=case.ridge, settings=settings)
        path_seconds = min(path_seconds, time.perf_counter() - started)
        proved = all(path[k].optimal for k in range(case.size + 1))
        if path_seconds >= limits.repeat_below:
            break
    times = []
    for size in range(1, case.size + 1):
        best = float("inf")
        for _ in range(limits.repeats):
            answer = single(replace(subject, size=size), limits.seconds)
            best = min(best, answer.wall_seconds)
            proved = proved and answer.status == "optimal"
            if best >= limits.repeat_below:
                break
        times.append(best)
    dearest = max(times)
    return PathRow(
        **asdict(case),
        n_terms=len(subject.z),
        path_seconds=path_seconds,
        sum_seconds=sum(times),
        dearest_seconds=dearest,
        dearest_size=1 + times.index(dearest),
        ratio=path_seconds / dearest,
        proved=proved,
    )
