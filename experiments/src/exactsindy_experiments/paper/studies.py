"""The published experiments: systems, grids, axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from exactsindy import errors
from exactsindy.errors import DataError
from exactsindy_experiments.paper.records import PROTOCOLS, Case, rounded

RIDGES = (0.0, 1e-5, 1e-3, 0.01, 0.05, 0.2)
#: Relaxation parameters of SR3.
RELAXATIONS = (1 / 30, 1 / 10, 1 / 3, 1.0, 10 / 3)
_HEURISTICS = ("stlsq", "ssr", "sr3", "e-stlsq")


@dataclass(frozen=True)
class Setup:
    """One system of an experiment: library, axis and grids.

    Parameters
    ----------
    system
        Name in `SYSTEMS` or `FIELD_SYSTEMS`.
    degree
        Degree of the library (0 for fields, whose library belongs to the system).
    values
        What the experiment varies: durations or noise levels.
    stlsq, sr3
        Thresholds tried.
    """

    system: str
    degree: int
    values: tuple[float, ...]
    stlsq: tuple[float, ...] = ()
    sr3: tuple[float, ...] = ()


@dataclass(frozen=True)
class Study:
    """An experiment of the paper.

    Parameters
    ----------
    axis
        ``"duration"`` or ``"noise"``, the varied quantity; the other one is ``fixed`` (several values in the
        constraint experiment).
    """

    name: str
    title: str
    axis: str
    fixed: tuple[float, ...]
    setups: tuple[Setup, ...]
    algorithms: tuple[str, ...]
    protocols: tuple[str, ...] = PROTOCOLS

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.title}"]
        other = "noise" if self.axis == "duration" else "duration"
        held = f", {_span(other, self.fixed)}" if any(self.fixed) else ""
        for setup in self.setups:
            library = f"degree {setup.degree}, " if setup.degree else ""
            lines.append(f"  {setup.system}: {library}{_span(self.axis, setup.values)}{held}")
        return "\n".join([*lines, f"  algorithms {', '.join(self.algorithms)}; protocols {', '.join(self.protocols)}"])

    def setup(self, system: str, degree: int | None = None) -> Setup:
        """Return the setup of a system.

        Raises
        ------
        DataError
            If the experiment does not have the system.
        """
        key = system.strip().lower().replace("-", "_")
        for setup in self.setups:
            if setup.system == key and degree in (None, setup.degree):
                return setup
        names = list(dict.fromkeys(setup.system for setup in self.setups))
        raise DataError(f"systems: {self.name} has no system {system!r}; expected some of {', '.join(names)}.")

    def cases(
        self,
        *,
        trials: Sequence[int],
        systems: Sequence[str] | None = None,
        algorithms: Sequence[str] | None = None,
        protocols: Sequence[str] | None = None,
        values: Sequence[float] | None = None,
        fixed: Sequence[float] | None = None,
    ) -> list[Case]:
        """Return the configuration rows, trial by trial, so that what is done first covers every cell.

        Raises
        ------
        DataError
            If a name is unknown.
        """
        known = {setup.system for setup in self.setups}
        wanted = known if systems is None else {self.setup(name).system for name in systems}
        chosen = _some(algorithms, self.algorithms, "algorithms", self.name)
        ways = _some(protocols, self.protocols, "protocols", self.name)
        found = []
        for trial in trials:
            for setup in self.setups:
                if setup.system in wanted:
                    found += list(self._cases(setup, trial, chosen, ways, (values, fixed)))
        return found

    def _cases(
        self,
        setup: Setup,
        trial: int,
        algorithms: Sequence[str],
        protocols: Sequence[str],
        places: tuple[Sequence[float] | None, Sequence[float] | None],
    ) -> Iterator[Case]:
        for fixed in _nearest_of(places[1], self.fixed):
            for value in _nearest_of(places[0], setup.values):
                duration, noise = (value, fixed) if self.axis == "duration" else (fixed, value)
                for protocol in protocols:
                    for algorithm in algorithms:
                        # `ours` is a protocol of our solver alone; heuristics have no default of their own.
                        if protocol == "ours" and not algorithm.startswith("exact"):
                            continue
                        yield Case(self.name, setup.system, protocol, algorithm, setup.degree, duration, noise, trial)


def nearest(value: float, values: Sequence[float]) -> float:
    """Return the nearest of some values >= 0, by ratio.

    Examples
    --------
    >>> nearest(0.7, (0.49, 0.694, 0.97))
    0.694
    """
    return min(values, key=lambda v: abs(v - value) / ((v + value) or 1.0))


def _span(axis: str, values: Sequence[float]) -> str:
    scale, name, unit = (1.0, "", " s") if axis == "duration" else (100.0, "noise ", " %")
    few = f"{scale * values[0]:.3g}" if len(values) == 1 else f"{scale * values[0]:.3g} to {scale * values[-1]:.3g}"
    return f"{name}{few}{unit}" + (f" ({len(values)} values)" if len(values) > 1 else "")


def _nearest_of(given: Sequence[float] | None, values: tuple[float, ...]) -> tuple[float, ...]:
    return values if given is None else tuple(dict.fromkeys(nearest(v, values) for v in given))


def _some(given: Sequence[str] | None, known: Sequence[str], argument: str, study: str) -> tuple[str, ...]:
    if given is None:
        return tuple(known)
    for name in given:
        if name not in known:
            raise DataError(f"{argument}: {study} has no {name!r}; expected some of {', '.join(known)}.")
    return tuple(given)


def _powers(base: float, low: float, high: float, count: int) -> tuple[float, ...]:
    return tuple(rounded(v) for v in base ** np.linspace(low, high, count))


def _differential(name: str, title: str, degrees: Mapping[str, int]) -> Study:
    def setup(system: str, times: tuple[float, float], stlsq: tuple[float, float], sr3: tuple[float, float]) -> Setup:
        return Setup(system, degrees[system], _powers(2, *times, 12), _powers(10, *stlsq, 50), _powers(10, *sr3, 50))

    setups = (
        setup("lorenz", (-2, 3.4), (-2, 1), (-1.5, 1.5)),
        setup("hopf", (0, 4), (-3, 0), (-3.5, 0.5)),
        setup("mhd", (-1, 4), (-1.5, 1.5), (-2, 2)),
    )
    return Study(name, title, "duration", (0.002,), setups, ("exact", *_HEURISTICS))


def _weak() -> Study:
    levels = _powers(10, -2, -0.3, 12)
    grids = {"van_der_pol": (-1, 5), "lotka_volterra": (-3, 4), "roessler": (2, 6)}
    setups = tuple(
        Setup(system, 3, levels, _powers(2, *grid, 50), _powers(2, *grid, 50)) for system, grid in grids.items()
    )
    return Study("weak", "Weak form under noise", "noise", (50.0,), setups, ("exact", *_HEURISTICS))


def _pde() -> Study:
    def levels(step: float) -> tuple[float, ...]:
        return tuple(round(step * i, 6) for i in range(1, 13))

    ks, rd = tuple(np.linspace(0.4, 2.0, 20).tolist()), tuple(np.linspace(0.04, 0.16, 20).tolist())
    setups = (
        Setup("kuramoto_sivashinsky", 0, levels(0.25), ks, ks),
        Setup("reaction_diffusion", 0, levels(0.025), rd, rd),
    )
    return Study("pde", "Partial differential equations", "noise", (0.0,), setups, ("exact", *_HEURISTICS))


def _constraint() -> Study:
    grid = _powers(10, -3, 0, 50)
    setup = Setup("duffing", 3, tuple(float(t) for t in range(10, 101, 10)), grid, grid)
    noise = tuple(round(0.01 * i, 2) for i in range(1, 11))
    algorithms = ("exact", "exact-constrained", "sr3", "sr3-constrained")
    return Study("constraint", "Physical constraints (2D Duffing)", "duration", noise, (setup,), algorithms)


def _runtime() -> Study:
    times = _powers(2, -1, 7, 12)
    fixed = {"lorenz": 0.05, "hopf": 0.01, "mhd": 0.2}
    setups = tuple(
        Setup(system, degree, times, (value,), (value,)) for system, value in fixed.items() for degree in (3, 5)
    )
    ours = ("exact", "exact-all-cores", "exact-warm", "exact-short")
    algorithms = (*ours, *_HEURISTICS, "gurobi")
    return Study("runtime", "Time of one fit", "duration", (0.002,), setups, algorithms, ("published",))


STUDIES: Mapping[str, Study] = MappingProxyType(
    {
        study.name: study
        for study in (
            _differential("differential", "Sample efficiency", {"lorenz": 5, "hopf": 5, "mhd": 3}),
            _differential("differential-small", "Sample efficiency, tight library", {"lorenz": 2, "hopf": 3, "mhd": 2}),
            _weak(),
            _pde(),
            _constraint(),
            _runtime(),
        )
    }
)


def find_study(name: str) -> Study:
    """Return the experiment of that name.

    Raises
    ------
    DataError
        If there is none; the message lists the nearest names.

    Examples
    --------
    >>> find_study("weak").fixed
    (50.0,)
    """
    if name in STUDIES:
        return STUDIES[name]
    raise DataError(f"experiment: there is no experiment {name!r}. {errors.nearest(name, STUDIES)}")
