"""Plain enumeration of all supports: slow, simple, and the oracle for everything else.

What counts as a support: all solvers of this package follow one rule. A zero column never belongs to a support. Go
through the columns of a support in index order, on the ridge-augmented columns [R_j; sqrt(ridge_j) e_j]: if the
distance of each to the span of the earlier ones is more than 1e-13 of its norm, the product of these relative distances
is more than 2^-80, and its least-squares coefficients satisfy |coefficient| |column| <= `Settings.coefficient_limit`
|target|, the support is *admissible*. Only admissible supports are compared. The objective is RSS + sum ridge_j xi_j^2,
the constant included; ties go to the smaller support, then to the lexicographically first.

How: depth first over prefixes, with the columns projected off the prefix (modified Gram-Schmidt, no Gram matrix of the
data), closing the last two columns for all pairs at once. Doubles only sort out: each residual norm carries a rounding
interval, and all supports that might be best or second best are compared in exact arithmetic.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.solver import interrupt
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.backends.rational import DEPENDENCE, LEAST_VOLUME, ExactEquation, as_float
from exactsindy.solver.backends.scaling import EPS, augmented, column_norms, power_of_two, triangular
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import Deadline, Settings, Status

#: More supports than this are refused: the answer would take minutes to hours.
MOST_SUPPORTS = 50_000_000
#: The same where each is fitted under constraints, which takes about 0.1 ms.
MOST_CONSTRAINED = 1_000_000
#: The fit of a support under constraints is right to about this, relative to its objective.
_ROUNDING = 1e-10
_CHUNK = 1 << 18
_KEEP = 4096


class _Stop(Exception):
    """Raised inside the enumeration when a limit is reached; carries the status."""

    def __init__(self, status: Status) -> None:
        self.status = status


def solve_equation(equation: Equation, size: int, settings: Settings) -> Outcome:
    """Solve one equation by looking at every support of at most ``size`` terms (one thread).

    The optimum and its runner-up are exact for the given doubles; ``nodes`` is the number of supports. Stopped by a
    limit, it returns the best support so far with the residual off all columns as true bound.
    """
    deadline = Deadline(settings)
    kept = tuple(np.flatnonzero(np.any(equation.factor != 0, axis=0)).tolist())
    size = min(size, len(kept))
    supports = sum(math.comb(len(kept), s) for s in range(size + 1))
    if supports > MOST_SUPPORTS:
        raise SolverError(
            f"Enumeration refuses {supports:.1e} supports ({len(kept)} terms, size <= {size}): at most "
            f"{MOST_SUPPORTS:.0e}. Use backend='native', a smaller library or a smaller size."
        )
    search, rest, stop, runner_up = _Search(equation, kept, size, deadline), Fraction(equation.constant), None, math.nan
    try:
        search.run()
        winner, value, rival = search.decide()
        runner_up = math.inf if rival is None else as_float(rival + rest)
    except _Stop as limit:
        winner, stop = search.leader(), limit.status
        value = search.exact.value(winner)
    objective = as_float(value + rest)
    return Outcome(
        answers=(Answer(winner, search.exact.coefficients(winner), objective),),
        lower_bound=objective if stop is None else equation.constant,
        runner_up=runner_up,
        stop=stop,
        nodes=search.count,
        seconds=deadline.elapsed,
    )


def solve_component(component: Component, budgets: Sequence[Budget], settings: Settings) -> Outcome:
    """Fit every support that budgets and presence rows allow (one thread), each by the native search.

    So this checks which support is best and that none was missed, not the fit; `verify` has a fit of its own.
    """
    deadline, width = Deadline(settings), len(component.variables)
    largest = min(width, min(budgets[0][1], width) if len(budgets[0][0]) == width else sum(n for _, n in budgets))
    if sum(math.comb(width, size) for size in range(largest + 1)) > MOST_CONSTRAINED:
        most = f"more than {MOST_CONSTRAINED:.0e} supports ({width} coefficients)"
        raise SolverError(f"Enumeration refuses {most}: use backend='native'.")
    everything = tuple(component.variables.tolist())
    answers: tuple[Answer, ...] = ()
    bound, stop = math.inf, None
    for support in _allowed(component, budgets, largest):
        deadline.nodes += 1
        stop = Status.INTERRUPTED if interrupt.pressed() else Status.TIME_LIMIT if deadline.expired else None
        if settings.nodes is not None and deadline.nodes > settings.nodes:
            stop = Status.NODE_LIMIT
        if stop is not None:
            break
        absent = tuple(v for i, v in enumerate(everything) if i not in support)
        exactly = [(everything, len(support))]
        limits = Settings(coefficient_limit=settings.coefficient_limit)
        fit = component.solve([(absent, 0)] if absent else [], limits, runner_up=False, exactly=exactly)
        if fit.answers and (not answers or fit.objective < answers[0].objective * (1 - 1e-12)):
            answers, bound = fit.answers[:1], fit.objective * (1 - _ROUNDING)
    bound = bound if stop is None else -math.inf
    return Outcome(answers, bound, stop=stop, nodes=deadline.nodes, seconds=deadline.elapsed)


def _allowed(component: Component, budgets: Sequence[Budget], largest: int) -> Iterator[frozenset[int]]:
    """Yield the supports (positions in the search) that budgets and presence rows allow, smaller ones first."""
    rows = [(row.variables, row.coefs, row.rhs) for row in component.presence]
    rows += [(variables, (1.0,) * len(variables), float(limit)) for variables, limit in budgets]
    matrix: Array = np.zeros((len(rows), len(component.variables)))
    for line, (variables, coefs, _) in zip(matrix, rows, strict=True):
        line[[component.position[v] for v in variables]] = coefs
    rhs = np.array([limit for _, _, limit in rows])
    for size in range(largest + 1):
        for support in itertools.combinations(range(len(component.variables)), size):
            if np.all(matrix[:, support].sum(axis=1) <= rhs):
                yield frozenset(support)


@dataclass(frozen=True)
class _Node:
    """A prefix, and everything projected off it: one row per later column, scaled to norms in [1, 2)."""

    prefix: tuple[int, ...]
    first: int
    columns: Array
    residual: Array
    on_prefix: Array
    fit: Array
    volume: float  # of the unit columns of the prefix


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

    def __init__(self, equation: Equation, kept: tuple[int, ...], size: int, deadline: Deadline) -> None:
        columns = augmented(equation.factor, equation.ridge)[:, kept]
        target = np.concatenate([equation.z, np.zeros(len(columns) - len(equation.z))])[:, None]
        stacked = np.column_stack([columns, target])
        triangle = triangular(stacked * power_of_two(column_norms(stacked)))
        self.norms = np.linalg.norm(triangle, axis=0)
        self.constant = equation.constant
        scale = power_of_two(column_norms(stacked))
        plain = column_norms(equation.factor[:, kept]) * scale[:-1]
        whole = math.hypot(float(np.linalg.norm(equation.z)), math.sqrt(equation.constant)) * float(scale[-1])
        self.reach = deadline.limits.coefficient_limit * whole / plain
        self.kept, self.size, self.deadline, self.count = kept, size, deadline, 1
        self.exact = ExactEquation(equation.factor, equation.z, equation.ridge)
        self.found = [_Candidates(s) for s in range(size + 1)]
        width = len(kept)
        rows = np.ascontiguousarray(triangle[:, :width].T)
        self.root = _Node((), 0, rows, triangle[:, width], np.empty((width, 0)), np.empty(0), 1.0)
        # Rounding of Gram-Schmidt least squares: eps per projection, relative to |y| + sum |xi_j| |theta_j|.
        self.rounding = 16 * (size + 2) * EPS * max(1.0, math.sqrt(width) / 4)

    def run(self) -> None:
        columns, target = self.root.columns, self.root.residual
        self._record(
            np.empty((1, 0), dtype=np.int64), np.array([np.linalg.norm(target)]), self.rounding * self.norms[-1]
        )
        if self.size >= 1:
            x = columns @ target / np.einsum("ij,ij->i", columns, columns)
            norm = np.linalg.norm(target - x[:, None] * columns, axis=1)
            slack = self.rounding * (self.norms[-1] + np.abs(x) * self.norms[:-1])
            self.count += len(columns)
            self._record(np.arange(len(columns))[:, None], norm, slack)
        if self.size >= 2:
            self._descend(self.root)

    def _descend(self, node: _Node) -> None:
        usable = self._usable(node)
        self._pairs(node, usable)
        if len(node.prefix) + 2 < self.size:
            for i in np.flatnonzero(usable[:-2]):
                self._descend(self._extend(node, int(i)))

    def _usable(self, node: _Node) -> NDArray[np.bool_]:
        lengths = np.linalg.norm(node.columns, axis=1)
        own = self.norms[node.first : -1]
        slack = self.rounding * (own + np.abs(node.on_prefix) @ self.norms[list(node.prefix)])
        indices = np.arange(node.first, node.first + len(lengths))[:, None]
        supports = np.hstack([_rows(node.prefix, len(lengths)), indices])
        return self._independent(supports, lengths, own, slack, np.full(len(lengths), node.volume))

    def _independent(
        self, supports: NDArray[np.int64], lengths: Array, norms: Array, slack: Array, volume: Array
    ) -> NDArray[np.bool_]:
        """Apply the rule to the last column of each support, exactly where doubles cannot tell.

        ``volume`` is that of the columns before.
        """
        whole = volume * lengths / norms
        answer = np.asarray((lengths > DEPENDENCE * norms) & (whole > LEAST_VOLUME))
        near = (whole > 0.01 * LEAST_VOLUME) & (whole < 100 * LEAST_VOLUME)
        for i in np.flatnonzero((np.abs(lengths - DEPENDENCE * norms) <= slack) | near):
            answer[i] = self.exact.admissible(self.kept[j] for j in supports[i])
        return answer

    def _within(self, supports: NDArray[np.int64], coefs: Array) -> NDArray[np.bool_]:
        """Return which supports have coefficients within their limit, exactly where doubles cannot tell."""
        if not self.reach.any():  # the target is zero, and so are all coefficients
            return np.ones(len(supports), dtype=np.bool_)
        share = np.max(np.abs(coefs) / self.reach[supports], axis=1, initial=0.0)
        answer = np.asarray(share <= 1.0)
        for i in np.flatnonzero((share > 0.01) & (share < 100.0)):
            answer[i] = self.exact.within(
                self._terms(supports[i]), self.deadline.limits.coefficient_limit, self.constant
            )
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
            node.volume * math.sqrt(square) / self.norms[node.first + i],
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
            self._check_time()
            if self.count >= (self.deadline.limits.nodes or math.inf):
                raise _Stop(Status.NODE_LIMIT)
            self.count += len(i)
            share = shares[i, j]
            off = columns[j] - share[:, None] * columns[i]
            on_prefix = np.column_stack([node.on_prefix[j] - share[:, None] * node.on_prefix[i], share])
            norms = self.norms[node.first : -1]
            heads = np.column_stack([np.tile(self.norms[list(node.prefix)], (len(i), 1)), norms[i]])
            supports = np.column_stack([_rows(node.prefix, len(i)), i + node.first, j + node.first])
            lengths = np.sqrt(np.einsum("ij,ij->i", off, off))
            slack = self.rounding * (norms[j] + np.sum(np.abs(on_prefix) * heads, axis=1))
            volume = node.volume * np.sqrt(squares[i]) / norms[i]
            good = self._independent(supports, lengths, norms[j], slack, volume)
            last = np.einsum("ij,ij->i", off, residuals[i]) / np.where(good, lengths, 1.0) ** 2
            rest = residuals[i] - last[:, None] * off
            fit = np.column_stack([node.fit - x[i, None] * node.on_prefix[i], x[i]]) - last[:, None] * on_prefix
            size = self.norms[-1] + np.abs(last) * norms[j] + np.sum(np.abs(fit) * heads, axis=1)
            norm = np.sqrt(np.einsum("ij,ij->i", rest, rest))
            good[good] = self._within(supports[good], np.column_stack([fit, last])[good])
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
        value, level = self.exact.value(()), math.inf
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
