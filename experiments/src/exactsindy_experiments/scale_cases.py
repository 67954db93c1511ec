"""Data of any length, made chunk by chunk, and what one measurement of the scaling study does with them."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from dataclasses import field as field_of
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import exactsindy as es
from exactsindy._optional import optional

#: Rows of a chunk of trajectories, and times of a chunk of a field.
CHUNK, TIMES = 1 << 17, 16
_STEP = 0.002
#: Runs of what takes less than a second, of which the shortest counts: other programs share the caches.
_SHORT = 40


@dataclass(frozen=True)
class Measured:
    """One measurement: what was done, its size, CPU and wall seconds of the assembly, peak memory of the process.

    ``made`` are the CPU seconds in which the data were made, which do not belong to the assembly (of workers: what the
    busiest takes without work); ``load`` is the load average of the machine at the end (0: not known).
    """

    kind: str
    rows: float
    terms: int
    size: int
    workers: int
    cpu: float
    wall: float
    made: float
    peak: float
    note: str = ""
    load: float = field_of(default_factory=lambda: os.getloadavg()[0])


def orbit(rows: int = CHUNK) -> np.ndarray:
    """Return a Lorenz orbit (rows x 3), scaled to size one."""
    start = np.array([-8.0, 7.0, 27.0])
    states = np.empty((rows, 3))
    x = start
    for i in range(rows):  # fourth order, so that no solver's interpolation enters
        states[i] = x
        k1 = _rates(x)
        k2 = _rates(x + 0.5 * _STEP * k1)
        k3 = _rates(x + 0.5 * _STEP * k2)
        x = x + _STEP / 6 * (k1 + 2 * k2 + 2 * k3 + _rates(x + _STEP * k3))
    return states / 30.0


def _rates(x: Any) -> np.ndarray:
    return np.array([10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]])


class Chunks:
    """Trajectories of so many rows, one chunk at a time: the same orbit with noise of its own in each."""

    def __init__(self, rows: float, base: np.ndarray) -> None:
        self.rows, self.base, self.seconds = int(rows), base, 0.0

    def __iter__(self) -> Iterator[es.Trajectories]:
        for start in range(0, self.rows, CHUNK):
            begin = time.process_time()
            count = min(CHUNK, self.rows - start)
            noise = np.random.default_rng(start).standard_normal((count, 3), dtype=np.float32)
            states = self.base[:count] + 1e-3 * noise
            chunk = es.Trajectories.from_arrays(states, time=_STEP, states=("x", "y", "z"))
            self.seconds += time.process_time() - begin
            yield chunk


def peak() -> float:
    """Return the peak memory of this process in bytes."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def assembly(rows: float, degree: int) -> Measured:
    """Assemble so many rows of three states at a degree of the library."""
    base, library = orbit(), es.Polynomials(degree)
    es.StrongForm().problem(iter(Chunks(CHUNK, base)), library)  # warm
    chunks, cpu, wall = Chunks(rows, base), time.process_time(), time.perf_counter()
    problem = es.StrongForm().problem(iter(chunks), library)
    spent = time.process_time() - cpu - chunks.seconds
    return Measured(
        "rows", rows, len(problem.terms), 3, 1, spent, time.perf_counter() - wall, chunks.seconds, peak(), "StrongForm"
    )


def limit(terms: int) -> Measured:
    """Multiply a matrix of as many columns with itself by one product of BLAS: the arithmetic of a factorisation.

    ``made`` are the CPU seconds in which the matrix is copied once: the limit of the memory.
    """
    rows, width = 100_000, terms + 3
    first = np.random.default_rng(0).normal(size=(rows, width))
    second, best, copied = first.copy(), np.inf, np.inf
    for _ in range(_SHORT):
        cpu = time.process_time()
        first.T @ second
        best, cpu = min(best, time.process_time() - cpu), time.process_time()
        np.copyto(second, first)
        copied = min(copied, time.process_time() - cpu)
    return Measured("dgemm", rows, terms, 3, 1, best, best, copied, peak())


def short(degree: int) -> Measured:
    """Assemble 100,000 rows of three states several times and return the shortest."""
    rows, base, library = 100_000, orbit(100_000), es.Polynomials(degree)
    data, best, problem = es.Trajectories.from_arrays(base, time=_STEP), np.inf, None
    for _ in range(_SHORT):
        cpu = time.process_time()
        problem = es.StrongForm().problem(data, library)
        best = min(best, time.process_time() - cpu)
    assert problem is not None
    return Measured("short", rows, len(problem.terms), 3, 1, best, best, 0.0, peak())


def lazy_field(times: int, points: int = 256) -> es.Field:
    """Return two fields over points x points x times as Dask arrays that are made when they are read."""
    da = optional("dask.array", "dask", "Lazy fields")
    x = 2 * np.pi * np.arange(points) / points

    def block(seed: int, block_info: Any = None) -> np.ndarray:
        # Waves that move one point per time: making them costs little beside reading and regressing them.
        (first, _), count = block_info[None]["array-location"][-1], block_info[None]["chunk-shape"][-1]
        shape = _shape(points, seed)
        return np.stack([np.roll(shape, first + i, axis=0) for i in range(count)], axis=-1)

    chunks = ((points,), (points,), tuple(min(TIMES, times - a) for a in range(0, times, TIMES)))
    arrays = {
        name: da.map_blocks(block, seed, dtype=np.float32, chunks=chunks, meta=np.empty((0, 0, 0), np.float32))
        for seed, name in enumerate(("u", "v"))
    }
    coords = {"x": x, "y": x, "t": 0.01 * np.arange(times)}
    return es.Field.from_arrays(arrays, dims=("x", "y", "t"), coords=coords, periodic=("x", "y"))


@lru_cache(maxsize=4)
def _shape(points: int, seed: int) -> np.ndarray:
    x = 2 * np.pi * np.arange(points) / points
    wave = np.sin(x[:, None] + seed) * np.cos(2 * x[None, :]) + 0.3 * np.sin(3 * x[None, :] + x[:, None])
    return np.asarray(wave, dtype=np.float32)


def field(times: float, form: str) -> Measured:
    """Assemble two lazy fields of 256 x 256 points over 109 terms."""
    from exactsindy.chunked import reading

    data = lazy_field(int(times))
    library = es.Polynomials(3, bias=False) + es.Polynomials(3) * es.Derivatives(2)
    width = {"x": 0.2, "y": 0.2, "t": 0.1}
    chosen = es.StrongForm(spectral=False) if form == "strong" else es.WeakForm(domains=2000, width=width)
    cpu, wall = time.process_time(), time.perf_counter()
    with reading() as count:
        problem = chosen.problem(data, library)
    return Measured(
        f"field, {form}",
        float(times) * 256 * 256,
        len(problem.terms),
        2,
        1,
        time.process_time() - cpu,
        time.perf_counter() - wall,
        0.0,
        peak(),
        f"{count}; {8 * 2 * 256 * 256 * times / 1e9:.3g} GB as doubles; {problem.n_samples} rows",
    )


def solves(degree: int, k: int) -> Measured:
    """Solve the problem of a million rows for one size."""
    base, library = orbit(), es.Polynomials(degree)
    problem = es.StrongForm().problem(iter(Chunks(1e6, base)), library)
    cpu, wall = time.process_time(), time.perf_counter()
    solution = es.solve(problem, k, settings=es.Settings(seconds=60, threads=1))
    spent, passed = time.process_time() - cpu, time.perf_counter() - wall
    proved = all(status.name == "OPTIMAL" for status in solution.status)
    return Measured("solve", 1e6, len(problem.terms), k, 1, spent, passed, 0.0, peak(), "" if proved else "not proved")


def stream(rows: int = 1000, chunks: int = 60) -> Measured:
    """Absorb chunks of a stream, each with a proof, and return the median CPU time of one."""
    base, seconds, same = orbit(rows * chunks), [], 0
    noisy = base + 1e-3 * np.random.default_rng(0).normal(size=base.shape)
    flow = es.Stream(es.StrongForm(), es.Polynomials(5), k=5)
    before = None
    for i in range(chunks):
        part = slice(i * rows, (i + 1) * rows)
        times = _STEP * np.arange(part.start, part.stop)
        chunk = es.Trajectories.from_arrays(noisy[part], time=times, states=("x", "y", "z"))
        cpu = time.process_time()
        solution = flow.update(chunk)
        seconds.append(time.process_time() - cpu)
        assert solution is not None
        same += before == solution.support
        before = solution.support
    warm = sorted(seconds[10:])
    note = f"slowest after warm-up {1e3 * warm[-1]:.1f} ms; optimum stayed in {same} of {chunks - 1} chunks"
    return Measured("stream", rows, 56, 5, 1, warm[len(warm) // 2], 0.0, 0.0, peak(), note)


CASES: dict[str, Callable[..., Measured]] = {
    "rows": assembly,
    "dgemm": limit,
    "short": short,
    "field": field,
    "solve": solves,
    "stream": stream,
}


def run(name: str, *arguments: Any) -> None:
    """Print one measurement as JSON: the body of a process."""
    print(json.dumps(asdict(CASES[name](*arguments))))


def known(path: Path) -> list[Measured]:
    """Return the measurements in a file, one JSON line each."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Measured(**{"load": 0.0, **json.loads(line)["measured"]}) for line in lines]
