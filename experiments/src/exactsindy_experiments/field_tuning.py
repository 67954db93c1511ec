"""Examples for the weights of `PathEvidence` on modes of fields: drawn equations other than those reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from exactsindy.data import Field
from exactsindy.discovery.prepare import fit_samples
from exactsindy.discovery.refine import compare
from exactsindy.discovery.request import default_size
from exactsindy.discovery.variants import Variant, whitened_modes
from exactsindy.errors import DataError
from exactsindy.selection import PathEvidence, select, shared_path
from exactsindy.solver import Path, Settings
from exactsindy.systems import FieldSystem, add_field_noise
from exactsindy_experiments.random_fields import LINES, PLANES, random_field
from exactsindy_experiments.selection_tuning import Compared, Example

LINE_NOISES, PLANE_NOISES = (0.02, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0), (0.02, 0.1, 0.3, 0.6)
LINE_DRAWS, PLANE_DRAWS = 5, 2
_LIMITS = Settings(threads=1, seconds=30.0)


@dataclass(frozen=True)
class TunedPath:
    """The proved path of one drawn field, and the true terms of its equations."""

    system: str
    noise: float
    path: Path
    truth: tuple[frozenset[str], ...]

    def right(self, entry: int, k: int) -> bool:
        """Return True if the support of a size is the true one."""
        names = self.path.problem.names
        return frozenset(names[j] for j in self.path[k].support[entry]) == self.truth[entry]


@dataclass(frozen=True)
class Drawn:
    """One drawn field with noise, its rows, and the true terms of its equations."""

    system: FieldSystem
    noise: float
    data: Field
    prepared: Variant

    @property
    def truth(self) -> tuple[frozenset[str], ...]:
        """Return the true terms of every equation."""
        return tuple(frozenset(terms) for terms in self.system.truth.values())


def drawn_fields(half: int, *, planes: bool = True, say: Callable[[str], None] = print) -> Iterator[Drawn]:
    """Yield the fields of a half (0: tuning, 1: checking): every family, several draws, several noise levels."""
    jobs: list[tuple[str, int, tuple[float, ...]]] = [
        (name, draw, LINE_NOISES) for name in LINES for draw in range(LINE_DRAWS)
    ]
    jobs += [(name, draw, PLANE_NOISES) for name in PLANES for draw in range(PLANE_DRAWS)] if planes else []
    for name, draw, noises in jobs:
        seed = 2 * draw + half
        system = random_field(name, seed)
        try:
            clean = system.simulate(np.random.RandomState(seed))
        except DataError as error:
            say(f"{name}-{seed}: left out, {error}")
            continue
        for noise in noises:
            data = add_field_noise(clean, noise, np.random.RandomState(seed))
            yield Drawn(system, noise, data, whitened_modes(data, system.library, _LIMITS))
            say(f"{system.name}, noise {100 * noise:g} %")


def tuning_paths(half: int, *, say: Callable[[str], None] = print) -> Iterator[TunedPath]:
    """Yield the proved paths of a half."""
    for drawn in drawn_fields(half, say=say):
        problem = drawn.prepared.problem
        path = shared_path(problem, default_size(drawn.data, problem), settings=_LIMITS)
        yield TunedPath(drawn.system.name, drawn.noise, path, drawn.truth)


def compared_fields(half: int, *, say: Callable[[str], None] = print) -> Iterator[Compared]:
    """Yield the trajectory fits compared where the rows, judged by `PathEvidence.for_modes`, are ambiguous."""
    for drawn in drawn_fields(half, planes=False, say=say):
        problem = drawn.prepared.problem
        size = default_size(drawn.data, problem)
        selection = select({"modes": problem}, k_max=size, rule=PathEvidence.for_modes(), settings=_LIMITS)
        samples = fit_samples(drawn.prepared, drawn.data, drawn.system.library)
        comparison = None if samples is None else compare(selection, samples, size, _LIMITS)
        if samples is not None and comparison is not None:
            yield Compared(samples, comparison, drawn.truth)


def field_examples(paths: Iterable[TunedPath]) -> list[Example]:
    """Return the examples of paths: one per equation."""
    rule = PathEvidence.for_modes()
    return [
        Example(rule.features(item.path, entry), np.array([item.right(entry, k) for k in range(1, len(item.path) - 1)]))
        for item in paths
        for entry in range(len(item.truth))
    ]
