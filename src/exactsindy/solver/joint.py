"""One budget for all equations: per-equation values combined by dynamic programming.

Without constraints that couple equations, the best joint support of K terms is a best support of s_j terms for each
equation with sum s_j <= K. Only the values v_j(s) that could matter are solved for: an unsolved size counts with a
lower bound, and is solved when the best combination would use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from exactsindy.errors import SolverError
from exactsindy.solver import arguments, assemble, backends, interrupt
from exactsindy.solver.backends import native
from exactsindy.solver.backends.result import BackendResult
from exactsindy.solver.deadline import Deadline
from exactsindy.solver.joint_margin import joint_margin
from exactsindy.solver.settings import Settings, Status, Total
from exactsindy.solver.solution import Solution, floors, relative_gap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.problem import Problem

# A limit or Ctrl-C is for the whole call.
_ENDED = (Status.TIME_LIMIT, Status.NODE_LIMIT, Status.INTERRUPTED)

#: Seconds that each of many short solves gets at least once the time limit has passed.
BRIEF = 1e-3

Solver = Callable[[int, int], BackendResult]


@dataclass
class _Table:
    """Values of one equation by size, weighted: upper[s] >= v(s) >= lower[s]; sizes beyond the list are unsolved."""

    weight: float
    trivial: float
    largest: int
    results: list[BackendResult] = field(default_factory=list)

    def upper(self, s: int) -> float:
        return self.weight * self.results[s].objective if s < len(self.results) else np.inf

    def lower(self, s: int) -> float:
        return self.weight * self.results[s].lower_bound if s < len(self.results) else self.trivial

    def pair(self, s: int) -> tuple[float, float] | None:
        """Values of the two best supports of exactly s terms, if the results tell."""
        if s >= len(self.results) or len(self.results[s].support) != s or np.isnan(self.results[s].margin):
            return None
        best = self.upper(s)
        rival = np.inf if np.isinf(self.results[s].margin) and best > 0 else best * (1.0 + self.results[s].margin)
        return None if best == 0 else (best, rival)


def solve(
    problem: Problem,
    k: Total,
    ridge: NDArray[np.float64],
    starts: list[tuple[int, ...]] | None,
    settings: Settings,
) -> Solution:
    """Best joint support of at most ``k.k`` terms."""
    return next(_solve(problem, k, [k.k], ridge, starts, settings))


def path(
    problem: Problem,
    k: Total,
    ridge: NDArray[np.float64],
    starts: list[tuple[int, ...]] | None,
    settings: Settings,
) -> Iterator[Solution]:
    """Best joint supports of at most 0..k.k terms."""
    return _solve(problem, k, range(k.k + 1), ridge, starts, settings)


def _solve(
    problem: Problem,
    k: Total,
    budgets: Sequence[int],
    ridge: NDArray[np.float64],
    starts: list[tuple[int, ...]] | None,
    settings: Settings,
) -> Iterator[Solution]:
    _, weights = arguments.total(problem, k)
    # w_j RSS_j + ridge |xi_j|^2 = w_j (RSS_j + (ridge / w_j) |xi_j|^2)
    equations = arguments.equations(problem, ridge / weights[:, None])
    deadline = Deadline(settings)

    def solve_one(j: int, size: int) -> BackendResult:
        e = equations[j]
        local = [tuple(int(i) for i in np.flatnonzero(np.isin(e.columns, starts[j])))] if starts else []
        outcome = native.run([e], [size], [local], deadline.settings(least=BRIEF))[0][0]
        deadline.nodes += outcome.nodes
        return assemble.result_of(outcome)

    tables = [
        _Table(float(w), float(w * (e.rest @ e.rest)) * (1 - 1e-12), arguments.clipped(e, cap))
        for e, w, cap in zip(equations, weights, arguments.caps(problem, k), strict=True)
    ]

    def pair(j: int, size: int, most: int) -> tuple[float, float] | None:
        known = tables[j].pair(size)
        if known is not None or size > most or interrupt.pressed():
            return known
        e = equations[j]
        outcome = native.run([e], [size], [[]], deadline.settings(least=BRIEF), pool=True, keep=2)[0][0]
        deadline.nodes += outcome.nodes
        if not outcome.complete:
            return None
        values = [tables[j].weight * found.objective for found in outcome.answers] + [np.inf, np.inf]
        return values[0], values[1]

    def guess(j: int, reason: Status) -> None:
        """Good supports of the sizes that a limit left unsolved, with bounds that hold but say little."""
        limits = replace(settings, seconds=0.05, nodes=1, progress=None)
        outcomes = native.run([equations[j]], [tables[j].largest], [[]], limits, path=True)[0]
        for outcome in outcomes[len(tables[j].results) :]:
            tables[j].results.append(replace(assemble.result_of(outcome), status=reason))

    for budget in budgets:
        _fill(tables, budget, solve_one)
        reasons = [t.results[-1].status for t in tables if t.results[-1].status in _ENDED]
        if reasons or interrupt.pressed():
            for j in range(len(tables)):
                guess(j, reasons[0] if reasons else Status.INTERRUPTED)
        yield _assemble(problem, equations, tables, replace(k, k=budget), ridge, settings, pair)


def _fill(tables: list[_Table], budget: int, solve_one: Solver) -> None:
    """Solve sizes until no unsolved one could be part of the best combination."""
    for j, table in enumerate(tables):
        if not table.results:
            table.results.append(solve_one(j, 0))
    if any(r.status in _ENDED for t in tables for r in t.results):
        return
    while True:
        sizes = _combine([[t.lower(s) for s in range(min(t.largest, budget) + 1)] for t in tables], budget)
        unsolved = [j for j, (t, s) in enumerate(zip(tables, sizes, strict=True)) if s >= len(t.results)]
        if not unsolved:
            return
        for j in unsolved:
            tables[j].results.append(solve_one(j, len(tables[j].results)))
            if tables[j].results[-1].status in _ENDED or interrupt.pressed():
                return


def _combine(values: list[list[float]], budget: int) -> list[int]:
    """Sizes s_j with sum <= budget and the least sum of values; fewer terms win ties."""
    best = np.full((len(values) + 1, budget + 1), np.inf)
    best[0, 0] = 0.0
    choice = np.zeros((len(values), budget + 1), dtype=int)
    for j, row in enumerate(values):
        for used in range(budget + 1):
            for s in range(min(len(row) - 1, used) + 1):
                value = best[j, used - s] + row[s]
                if value < best[j + 1, used]:
                    best[j + 1, used] = value
                    choice[j, used] = s
    used = int(np.argmin(best[-1]))
    sizes = []
    for j in range(len(values) - 1, -1, -1):
        sizes.append(int(choice[j, used]))
        used -= sizes[-1]
    return sizes[::-1]


def _least(values: list[list[float]], budget: int) -> float:
    return sum(row[s] for row, s in zip(values, _combine(values, budget), strict=True))


def _assemble(
    problem: Problem,
    equations: list[arguments.Equation],
    tables: list[_Table],
    k: Total,
    ridge: NDArray[np.float64],
    settings: Settings,
    pair: Callable[[int, int, int], tuple[float, float] | None],
) -> Solution:
    solved = [min(len(t.results) - 1, k.k) for t in tables]
    sizes = _combine([[t.upper(s) for s in range(n + 1)] for t, n in zip(tables, solved, strict=True)], k.k)
    lower_bound = _least([[t.lower(s) for s in range(min(t.largest, k.k) + 1)] for t in tables], k.k)
    chosen = [t.results[s] for t, s in zip(tables, sizes, strict=True)]
    objective = sum(t.weight * r.objective for t, r in zip(tables, chosen, strict=True))
    coef = assemble.coefficients(problem, equations, chosen)
    objectives, bounds = np.array([objective]), np.array([min(lower_bound, objective)])
    gap = float(relative_gap(objectives, bounds, floors(problem, coef, k))[0])
    stops = [r.status for t in tables for r in t.results if r.status is not Status.OPTIMAL]
    proved = gap <= max(settings.gap, 1e-12)
    status = Status.OPTIMAL if proved else (stops[0] if stops else Status.INTERRUPTED)
    return Solution(
        problem=problem,
        coef=coef,
        support=assemble.supports(equations, chosen),
        objective=objectives,
        lower_bound=bounds,
        margin=np.array([_margin(tables, [len(r.support) for r in chosen], pair) if proved else np.nan]),
        status=(status,),
        nodes=np.array([sum(r.nodes for t in tables for r in t.results)], dtype=np.int64),
        seconds=np.array([sum(r.seconds for t in tables for r in t.results)]),
        ridge=ridge,
        k=k,
    )


# A margin may need values of more terms than the answer has; they get dearer with every term, so stop after this many.
_FURTHER = 5


def _margin(
    tables: list[_Table], sizes: list[int], pair: Callable[[int, int, int], tuple[float, float] | None]
) -> float:
    return joint_margin(
        sizes,
        [t.largest for t in tables],
        [t.trivial for t in tables],
        lambda j, s: pair(j, s, sizes[j] + _FURTHER),
    )


def by_backend(problem: Problem, k: Total, ridge: NDArray[np.float64], settings: Settings, backend: str) -> Solution:
    """Run the same dynamic programming on the values of another backend."""
    if backend not in ("enumerate",):
        raise SolverError(f"backend={backend!r} does not take Total: use 'native' or 'enumerate'.")
    solver = backends.load(backend)
    _, weights = arguments.total(problem, k)
    equations = arguments.equations(problem, ridge / weights[:, None])

    def solve_one(j: int, size: int) -> BackendResult:
        e = equations[j]
        result = solver(e.factor, e.z, float(e.rest @ e.rest), e.ridge, size, settings=settings)
        return replace(result, coef=np.asarray(result.coef)[list(result.support)])

    return by_values(problem, equations, k, ridge, settings, solve_one)


def by_values(
    problem: Problem,
    equations: list[arguments.Equation],
    k: Total,
    ridge: NDArray[np.float64],
    settings: Settings,
    solve_one: Solver,
    two_best: Callable[[int, int], tuple[float, float] | None] | None = None,
) -> Solution:
    """Run the dynamic programming on the values ``solve_one(equation, size)`` finds.

    ``two_best(equation, size)`` gives the values of the two best supports of exactly that size, for the margin.
    """
    _, weights = arguments.total(problem, k)
    tables = [
        _Table(float(w), float(w * (e.rest @ e.rest)) * (1 - 1e-12), min(cap, len(e.names)))
        for e, w, cap in zip(equations, weights, arguments.caps(problem, k), strict=True)
    ]
    _fill(tables, k.k, solve_one)

    def pair(j: int, size: int, most: int) -> tuple[float, float] | None:
        known = tables[j].pair(size)
        if known is not None or two_best is None or size > most:
            return known
        found = two_best(j, size)
        return None if found is None else (tables[j].weight * found[0], tables[j].weight * found[1])

    return _assemble(problem, equations, tables, k, ridge, settings, pair)
