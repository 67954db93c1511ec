"""What assembly costs: a model fitted to measurements, and a simulated cluster that checks where it is extended to."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy_experiments.scale_cases import Measured


@dataclass(frozen=True)
class CostModel:
    """CPU seconds of n rows with D terms and m targets: n (rest + column D + product (D + m)^2)."""

    rest: float
    column: float
    product: float
    error: float  # largest relative error at the measurements

    @classmethod
    def fitted(cls, rows: Sequence[Measured]) -> CostModel:
        """Fit the model to measurements, all with the same relative weight; no part of the cost is negative."""
        from scipy.optimize import nnls

        design = np.array([[1.0, r.terms, (r.terms + r.size) ** 2] for r in rows])
        cost = np.array([r.cpu / r.rows for r in rows])
        parts, _ = nnls(design / cost[:, None], np.ones(len(rows)))
        error = float(np.abs(design @ parts / cost - 1).max())
        rest, column, product = (float(part) for part in parts)
        return cls(rest, column, product, error)

    def seconds(self, rows: float, terms: int, targets: int = 3) -> float:
        """Return the CPU seconds of assembly."""
        return rows * (self.rest + self.column * terms + self.product * (terms + targets) ** 2)


@dataclass(frozen=True)
class Cluster:
    """What is assumed of a cluster.

    ``slow`` is the share of pieces that take ``factor`` times as long, ``spread`` the standard deviation of the
    logarithm of all others; ``failures`` are failures of a worker per hour, after which it is back in ``restart``
    seconds; a merge takes ``merge`` seconds and moving a problem ``move``.
    """

    workers: int = 10_000
    slow: float = 0.01
    factor: float = 5.0
    spread: float = 0.1
    failures: float = 0.01
    restart: float = 60.0
    merge: float = 1e-3
    move: float = 5e-3


@dataclass(frozen=True)
class Simulated:
    """The end of a simulated assembly in seconds: of the pieces, of the sum; workers lost, pieces done again."""

    pieces: float
    total: float
    lost: int
    again: int


def predicted(cluster: Cluster, pieces: int, seconds: float) -> float:
    """Return the time of assembly by the model: equal shares of the mean piece, then the levels of the tree."""
    rounds = -(-pieces // cluster.workers)
    levels = int(np.ceil(np.log2(max(pieces, 2))))
    mean = (1 - cluster.slow) * np.exp(cluster.spread**2 / 2) + cluster.slow * cluster.factor
    return float(rounds * mean * seconds + levels * (cluster.merge + cluster.move))


def simulated(cluster: Cluster, pieces: int, seconds: float, seed: int) -> Simulated:
    """Return one run: free workers take the next piece; one that fails loses its piece and the one it did before.

    What a lost worker held is done again by others. A sum is made as soon as both of its parts are there.
    """
    rng = np.random.default_rng(seed)
    workers = [(0.0, i) for i in range(min(cluster.workers, pieces))]
    heapq.heapify(workers)
    mean_life = np.inf if cluster.failures == 0 else 3600.0 / cluster.failures
    dies = rng.exponential(mean_life, len(workers)) if np.isfinite(mean_life) else np.full(len(workers), np.inf)
    previous = np.full(len(workers), -1)
    ends = np.zeros(pieces)
    waiting = list(range(pieces - 1, -1, -1))
    lost = again = 0
    while waiting:
        now, worker = heapq.heappop(workers)
        piece = waiting.pop()
        slow = rng.random() < cluster.slow
        took = seconds * (cluster.factor if slow else np.exp(cluster.spread * rng.normal()))
        if now + took > dies[worker]:
            lost += 1
            redo = [p for p in (piece, int(previous[worker])) if p >= 0]
            again += len(redo)
            waiting += redo
            now = float(dies[worker]) + cluster.restart
            dies[worker], previous[worker] = now + rng.exponential(mean_life), -1
            heapq.heappush(workers, (now, worker))
            continue
        ends[piece], previous[worker] = now + took, piece
        heapq.heappush(workers, (now + took, worker))
    level = ends
    while len(level) > 1:
        joined = np.maximum(level[: len(level) // 2 * 2 : 2], level[1::2]) + cluster.merge + cluster.move
        level = np.concatenate([joined, level[len(joined) * 2 :]])
    return Simulated(float(ends.max()), float(level[0]), lost, again)
