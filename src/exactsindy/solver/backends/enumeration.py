"""Plain enumeration of all supports: slow, simple, and the oracle for everything else.

What counts as a support
------------------------
All solvers of this package follow one rule. A zero column never belongs to a support. Go through the columns
of a support in index order, on the ridge-augmented columns [R_j; sqrt(ridge_j) e_j]: if the distance of each
to the span of the earlier ones is more than 1e-13 of its norm, the support is *admissible*. An inadmissible
support counts as the smaller one without its dependent (later) columns, so only admissible supports are
compared. The objective is RSS + sum ridge_j xi_j^2, the constant included; ties go to the smaller support,
then to the lexicographically first.

How
---
Depth first over prefixes, with the columns projected off the prefix (modified Gram-Schmidt, no Gram matrix of
the data), closing the last two columns for all pairs at once. Doubles only sort out: each residual norm
carries a rounding interval, and all supports that might be best or second best are compared in exact
arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.solver.backends.rational import DEPENDENCE, ExactEquation, as_float
from exactsindy.solver.backends.scaling import EPS, augmented, column_norms, power_of_two, triangular
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import Deadline, Settings, Status

#: More supports than this are refused: the answer would take minutes to hours.
MOST_SUPPORTS = 50_000_000
_CHUNK = 1 << 18
_KEEP = 4096


class _Stop(Exception):
    """Raised inside the enumeration when a limit is reached; carries the status."""

    def __init__(self, status: Status) -> None:
        self.status = status


def solve_equation(equation: Equation, size: int, settings: Settings) -> Outcome:
    """Solve one equation by looking at every support of at most ``size`` terms.

    The optimum and its runner-up are exact for the given doubles; ``nodes`` is the number of supports. Stopped
    by a limit (``settings.seconds`` and ``settings.nodes``; it runs in one thread), it returns the best support so far
    with the residual off all columns as true bound.

    Raises
    ------
    SolverError
        There are more than 5e7 supports.
    """
    deadline = Deadline(settings)
    theta_factor, z, ridge = equation.factor, equation.z, equation.ridge
    kept = [int(j) for j in np.flatnonzero(np.any(theta_factor != 0, axis=0))]
    size = min(size, len(kept))
    supports = sum(math.comb(len(kept), s) for s in range(size + 1))
    if supports > MOST_SUPPORTS:
        raise SolverError(
            f"Enumeration refuses {supports:.1e} supports ({len(kept)} terms, size <= {size}): at most "
            f"{MOST_SUPPORTS:.0e}. Use backend='native', a smaller library or a smaller size."
        )
    exact, rest = ExactEquation(theta_factor, z, ridge), Fraction(equation.constant)
    search = _Search(theta_factor, z, ridge, tuple(kept), size, exact, deadline)
    stop, runner_up = None, math.nan
    try:
        search.run()
        winner, value, rival = search.decide()
        runner_up = math.inf if rival is None else as_float(rival + rest)
    except _Stop as limit:
        winner, stop = search.leader(), limit.status
        value = exact.value(winner)
    objective = as_float(value + rest)
    return Outcome(
        answers=(Answer(winner, exact.coefficients(winner), objective),),
        lower_bound=objective if stop is None else equation.constant,
        runner_up=runner_up,
        stop=stop,
        nodes=search.count,
        seconds=deadline.elapsed,
    )


@dataclass(frozen=True)
class _Node:
    """A prefix, and everything projected off it: one row per later column, scaled to norms in [1, 2)."""

    prefix: tuple[int, ...]
    first: int
    columns: Array
    residual: Array
    on_prefix: Array
    fit: Array


class _Candidates:
    """The supports of one size that may be best or second best; intervals of their residual norms."""

    def __init__(self, size: int) -> None:
        self.supports = np.empty((0, size), dtype=np.int64)
        self.low, self.high = np.empty(0), np.empty(0)
        self._least = np.array([math.inf, math.inf])
        self._new: list[tuple[NDArray[np.int64], Array, Array]] = []
        self._room = _KEEP

    def add(self, supports: NDArray[np.int64], low: Array, high: Array) -> None:
        self._least = np.partition(np.concatenate([self._least, high]), 1)[:2]
        close = low <= self.threshold()
        if close.any():
            self._new.append((supports[close], low[close], high[close]))
            self._room -= int(close.sum())
            if self._room < 0:
                self.settle()

    def settle(self) -> None:
        """Merge what was added, and drop what has been overtaken since."""
        parts = [(self.supports, self.low, self.high), *self._new]
        supports, low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
        close = low <= self.threshold()
        self.supports, self.low, self.high = supports[close], low[close], high[close]
        self._new, self._room = [], max(_KEEP, len(self.low))

    def threshold(self, rank: int = 1) -> float:
        """Return the level above which no support can be among the ``rank + 1`` best."""
        return float(self._least[rank]) * (1 + 1e-9)


class _Search:
    """State of one enumeration; created, run once, and thrown away."""

    def __init__(
        self,
        theta_factor: Array,
        z: Array,
        ridge: Array,
        kept: tuple[int, ...],
        size: int,
        exact: ExactEquation,
        deadline: Deadline,
    ) -> None:
        columns = augmented(theta_factor, ridge)[:, kept]
        target = np.concatenate([z, np.zeros(len(columns) - len(z))])[:, None]
        stacked = np.column_stack([columns, target])
        triangle = triangular(stacked * power_of_two(column_norms(stacked)))
        self.norms = np.linalg.norm(triangle, axis=0)
        self.kept, self.size, self.exact, self.deadline = kept, size, exact, deadline
        self.count = 1
        self.found = [_Candidates(s) for s in range(size + 1)]
        width = len(kept)
        self.root = _Node(
            (), 0, np.ascontiguousarray(triangle[:, :width].T), triangle[:, width], np.empty((width, 0)), np.empty(0)
        )
        # Rounding of Gram-Schmidt least squares: eps per projection, relative to |y| + sum |xi_j| |theta_j|.
        self.rounding = 16 * (size + 2) * EPS * max(1.0, math.sqrt(width) / 4)

    def run(self) -> None:
        norm = np.array([np.linalg.norm(self.root.residual)])
        slack = self.rounding * self.norms[-1]
        self.found[0].add(np.empty((1, 0), dtype=np.int64), np.maximum(norm - slack, 0), norm + slack)
        if self.size >= 1:
            self._singles()
        if self.size >= 2:
            self._descend(self.root)

    def _singles(self) -> None:
        columns, target = self.root.columns, self.root.residual
        x = columns @ target / np.einsum("ij,ij->i", columns, columns)
        norm = np.linalg.norm(target - x[:, None] * columns, axis=1)
        slack = self.rounding * (self.norms[-1] + np.abs(x) * self.norms[:-1])
        self.count += len(columns)
        self._record(np.arange(len(columns))[:, None], norm, slack)

    def _descend(self, node: _Node) -> None:
        usable = self._usable(node)
        self._pairs(node, usable)
        if len(node.prefix) + 2 < self.size:
            for i in np.flatnonzero(usable[:-2]):
                self._descend(self._extend(node, int(i)))

    def _usable(self, node: _Node) -> NDArray[np.bool_]:
        lengths = np.linalg.norm(node.columns, axis=1)
        own = self.norms[node.first : -1]
        slack = self.rounding * (own + np.abs(node.on_prefix) @ self._prefix_norms(node))
        indices = np.arange(node.first, node.first + len(lengths))[:, None]
        return self._independent(np.hstack([_rows(node.prefix, len(lengths)), indices]), lengths, own, slack)

    def _prefix_norms(self, node: _Node) -> Array:
        return np.asarray(self.norms[list(node.prefix)])

    def _independent(
        self, supports: NDArray[np.int64], lengths: Array, norms: Array, slack: Array
    ) -> NDArray[np.bool_]:
        """Apply the rule to the last column of each support, exactly where doubles cannot tell."""
        answer = np.asarray(lengths > DEPENDENCE * norms)
        for i in np.flatnonzero(np.abs(lengths - DEPENDENCE * norms) <= slack):
            answer[i] = self.exact.admissible(self.kept[j] for j in supports[i])
        return answer

    def _extend(self, node: _Node, i: int) -> _Node:
        pivot, later = node.columns[i], node.columns[i + 1 :]
        square = pivot @ pivot
        share, x = later @ pivot / square, float(pivot @ node.residual / square)
        return _Node(
            (*node.prefix, node.first + i),
            node.first + i + 1,
            later - share[:, None] * pivot,
            node.residual - x * pivot,
            np.hstack([node.on_prefix[i + 1 :] - share[:, None] * node.on_prefix[i], share[:, None]]),
            np.append(node.fit - x * node.on_prefix[i], x),
        )

    def _pairs(self, node: _Node, usable: NDArray[np.bool_]) -> None:
        """Evaluate prefix + {i, j} for all pairs i < j of later columns."""
        columns = node.columns
        squares = np.einsum("ij,ij->i", columns, columns)
        safe = np.where(usable, squares, 1.0)
        shares = columns @ columns.T / safe[:, None]
        x = columns @ node.residual / safe
        residuals = node.residual - x[:, None] * columns
        for i, j in self._pair_chunks(usable, columns.shape[1]):
            self._check_limits()
            self.count += len(i)
            share = shares[i, j]
            off = columns[j] - share[:, None] * columns[i]
            on_prefix = np.column_stack([node.on_prefix[j] - share[:, None] * node.on_prefix[i], share])
            norms = self.norms[node.first : -1]
            heads = np.column_stack([np.tile(self._prefix_norms(node), (len(i), 1)), norms[i]])
            supports = np.column_stack([_rows(node.prefix, len(i)), i + node.first, j + node.first])
            lengths = np.sqrt(np.einsum("ij,ij->i", off, off))
            slack = self.rounding * (norms[j] + np.sum(np.abs(on_prefix) * heads, axis=1))
            good = self._independent(supports, lengths, norms[j], slack)
            last = np.einsum("ij,ij->i", off, residuals[i]) / np.where(good, lengths, 1.0) ** 2
            rest = residuals[i] - last[:, None] * off
            fit = np.column_stack([node.fit - x[i, None] * node.on_prefix[i], x[i]]) - last[:, None] * on_prefix
            size = self.norms[-1] + np.abs(last) * norms[j] + np.sum(np.abs(fit) * heads, axis=1)
            norm = np.sqrt(np.einsum("ij,ij->i", rest, rest))
            self._record(supports[good], norm[good], self.rounding * size[good])

    def _pair_chunks(
        self, usable: NDArray[np.bool_], rows: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        chosen = np.flatnonzero(usable)
        i, j = np.triu_indices(len(chosen), 1)
        step = max(1, _CHUNK // rows)
        for start in range(0, len(i), step):
            yield chosen[i[start : start + step]], chosen[j[start : start + step]]

    def _record(self, supports: NDArray[np.int64], norm: Array, slack: Array) -> None:
        self.found[supports.shape[1]].add(supports, np.maximum(norm - slack, 0.0), norm + slack)

    def _check_limits(self) -> None:
        self._check_time()
        nodes = self.deadline.limits.nodes
        if nodes is not None and self.count >= nodes:
            raise _Stop(Status.NODE_LIMIT)

    def _check_time(self) -> None:
        if self.deadline.expired:
            raise _Stop(Status.TIME_LIMIT)

    def leader(self) -> tuple[int, ...]:
        """Return the support with the smallest residual so far, in doubles."""
        for candidates in self.found:
            candidates.settle()
        best = min((c for c in self.found if len(c.high)), key=lambda c: float(c.high.min()))
        return self._terms(best.supports[int(np.argmin(best.high))])

    def decide(self) -> tuple[tuple[int, ...], Fraction, Fraction | None]:
        """Return the best support, its exact value, and that of its best rival of the same size."""
        winner: tuple[int, ...] = ()
        value = self.exact.value(())
        level = math.inf
        for candidates in self.found:
            if not value:
                break
            candidates.settle()
            close = candidates.low <= min(level, candidates.threshold(0))
            for support, other in self._exact(candidates.supports[close]):
                if other < value:
                    winner, value = support, other
                if not other:
                    break
            level = min(level, candidates.threshold(0))
        candidates = self.found[len(winner)]
        rival: Fraction | None = None
        for support, other in self._exact(candidates.supports[candidates.low <= candidates.threshold(1)]):
            if support != winner and (rival is None or other < rival):
                rival = other
                if not other:
                    break
        return winner, value, rival

    def _exact(self, supports: NDArray[np.int64]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """Yield supports with their exact values in lexicographic order, so that the first of a tie wins."""
        for row in sorted(map(tuple, supports.tolist())):
            self._check_time()
            terms = self._terms(row)
            yield terms, self.exact.value(terms)

    def _terms(self, row: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.kept[j] for j in row)


def _rows(prefix: tuple[int, ...], count: int) -> NDArray[np.int64]:
    return np.tile(np.array(prefix, dtype=np.int64), (count, 1))
