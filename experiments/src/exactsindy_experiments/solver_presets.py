"""Which cases a benchmark run consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType

from exactsindy.systems import SYSTEMS
from exactsindy_experiments.instances import DURATIONS
from exactsindy_experiments.peers import EXACT_PEERS
from exactsindy_experiments.solver_rows import OURS, Case, Limits, Task

GUROBI = ("gurobi published", "gurobi sos1")
#: The ridge of the published runtime experiment, and one near zero as most tuned models have.
RIDGES = (0.01, 1e-5)


@dataclass(frozen=True)
class Preset:
    """A named list of cases with its limits. Each group of cases starts with our own solver."""

    name: str
    cases: tuple[Case, ...]
    paths: tuple[Task, ...]
    limits: Limits = field(default_factory=Limits)

    def with_seconds(self, seconds: float) -> Preset:
        """Return the preset with one time limit for every solver."""
        return replace(self, limits=replace(self.limits, seconds=seconds, seconds_of={}))


@dataclass(frozen=True)
class Library:
    """A system and degree, with the durations and equations to take (equation indices; None is all)."""

    system: str
    degree: int
    durations: Sequence[float] = DURATIONS
    equations: Sequence[int] | None = None
    largest: int = 5

    def targets(self) -> Iterable[tuple[str, int]]:
        """Yield the names of the equations with their true number of terms."""
        system = SYSTEMS[self.system]
        for index in range(len(system.targets)) if self.equations is None else self.equations:
            yield system.targets[index], system.sizes[index]


def groups(
    libraries: Iterable[Library],
    solvers: Callable[[Task, bool], Iterable[str]],
    *,
    seeds: Sequence[int] = (1,),
    ridges: Sequence[float] = RIDGES,
) -> tuple[Case, ...]:
    """List the cases: for each equation the true size and the library's largest, each ridge, each solver.

    ``solvers`` names the peers for a task, given whether its size is the true one.
    """
    cases: list[Case] = []
    for library in libraries:
        for duration, seed, (target, true_size) in product(library.durations, seeds, library.targets()):
            for size, ridge in product(dict.fromkeys((true_size, library.largest)), ridges):
                task = Task(library.system, library.degree, duration, seed, target, size, ridge)
                cases.append(Case(task, OURS))
                cases.extend(Case(task, name) for name in solvers(task, size == true_size))
    return tuple(cases)


def paths_of(cases: Iterable[Case], size: int = 6) -> tuple[Task, ...]:
    """List the paths for the equations of some cases, to ``size`` terms (4 for D = 462)."""
    tasks = (case.task for case in cases)
    sizes = ((task, 4 if (task.system, task.degree) == ("mhd", 5) else size) for task in tasks)
    return tuple(dict.fromkeys(replace(task, size=largest) for task, largest in sizes))


def quick() -> Preset:
    """One equation of each published library, short limits: under two minutes."""
    libraries = [
        Library("lorenz", 5, DURATIONS[3:4], (1,)),
        Library("hopf", 5, DURATIONS[3:4], (0,)),
        Library("mhd", 3, DURATIONS[3:4], (0,)),
    ]
    cases = groups(libraries, lambda task, true: EXACT_PEERS, ridges=RIDGES[:1])
    return Preset("quick", cases, paths_of(cases, 5), Limits(seconds=3.0, repeats=2))


def standard() -> Preset:
    """All libraries, durations from 0.5 to 128 s, one equation each: under half an hour on two cores."""
    libraries = [
        Library("hopf", 3, DURATIONS[3::6], (0,)),
        Library("lorenz", 3, DURATIONS[3::6], (2,)),
        Library("hopf", 5, (DURATIONS[0], DURATIONS[3], DURATIONS[6], DURATIONS[11]), (1,)),
        Library("lorenz", 5, (DURATIONS[0], DURATIONS[3], DURATIONS[6], DURATIONS[11]), (1,)),
        Library("mhd", 3, (DURATIONS[0], DURATIONS[3], DURATIONS[6], DURATIONS[11]), (0,)),
        Library("mhd", 5, (DURATIONS[3], DURATIONS[6]), (0,), largest=4),
    ]

    def solvers(task: Task, true: bool) -> Iterable[str]:
        if true and task.ridge == RIDGES[1]:
            return ("enumeration",)
        # The other peers reach their limit nearly always: a few cases per library show it.
        every = true and task.duration in (DURATIONS[3], DURATIONS[6])
        return EXACT_PEERS if every else (*GUROBI, "enumeration")

    cases = groups(libraries, solvers)
    limits = Limits(seconds_of=dict.fromkeys(("scip", "enumeration", "okridge", "l0bnb"), 10.0))
    return Preset("standard", cases, paths_of(cases), limits)


def full() -> Preset:
    """Every library, duration, equation, size and ridge with every peer: many hours."""
    libraries = [Library(system, degree) for degree in (3, 5) for system in ("hopf", "lorenz")]
    libraries += [Library("mhd", 3), Library("mhd", 5, largest=4)]
    cases = groups(libraries, lambda task, true: EXACT_PEERS)
    return Preset("full", cases, paths_of(cases))


PRESETS: Mapping[str, Callable[[], Preset]] = MappingProxyType({"quick": quick, "standard": standard, "full": full})
