"""One budget for all equations: values per equation, combined by dynamic programming.

Without constraints that couple equations, the best joint support of K terms is a best support of s_j terms for each
equation with sum s_j <= K. Only the values v_j(s) that could matter are solved for: an unsolved size counts with a
lower bound, and is solved when the best combination would use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from exactsindy.solver import interrupt
from exactsindy.solver.backends import native
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Answer, Outcome, joined, lower_sum
from exactsindy.solver.settings import BRIEF, Deadline, Settings, Status

_ENDED = (Status.TIME_LIMIT, Status.NODE_LIMIT, Status.INTERRUPTED)  # a limit or Ctrl-C is for the whole call
# A margin may need values of more terms than the answer has; they cost more with every term, so stop after this many.
_FURTHER = 5

#: Objectives of the best and of the next-best support of a size (inf: there is none); None: not known.
Pair = tuple[float, float] | None


@dataclass(frozen=True)
class Values:
    """How the values of single equations are found.

    ``solve(equation, size)`` returns the best support of at most so many terms, ``two_best(equation, size)`` the
    objectives of the two best of exactly so many, and ``guess(equation)`` some support of every size, quickly, for when
    a limit was reached.
    """

    solve: Callable[[int, int], Outcome]
    two_best: Callable[[int, int], Pair] = lambda equation, size: None
    guess: Callable[[int], Sequence[Outcome]] = lambda equation: ()


def native_values(
    equations: Sequence[Equation],
    starts: Sequence[int] | None,
    most: Sequence[int],
    settings: Settings,
    search: Callable[..., Outcome],
) -> Values:
    """Return the values of equations without constraints; the limits are for all of them.

    ``search(equation, size, starts, settings, pool=..., keep=...)`` is that of a `Recording`.
    """
    deadline = Deadline(settings)
    pairs: dict[tuple[int, int], Pair] = {}  # the budgets of a path ask for the same ones

    def run(j: int, size: int, *, rivals: bool) -> Outcome:
        local = [] if rivals or starts is None else [equations[j].local(starts)]
        outcome = search(j, size, local, deadline.settings(least=BRIEF), pool=rivals, keep=2)
        deadline.nodes += outcome.nodes
        return outcome

    def two_best(j: int, size: int) -> Pair:
        if pairs.get((j, size)) is None:
            pairs[j, size] = None if interrupt.pressed() else pair_of(run(j, size, rivals=True))
        return pairs[j, size]

    def guess(j: int) -> Sequence[Outcome]:
        limits = replace(settings, seconds=0.05, nodes=1, progress=None)
        return native.run([equations[j]], [most[j]], [[]], limits, path=True)[0]

    return Values(
        solve=lambda j, size: run(j, size, rivals=False),
        two_best=two_best,
        guess=guess,
    )


def pair_of(pool: Outcome) -> Pair:
    """Return the objectives of the two best supports of a pool, None if it is not complete."""
    objectives = [answer.objective for answer in pool.answers] + [np.inf, np.inf]
    return (objectives[0], objectives[1]) if pool.complete else None


@dataclass
class _Table:
    """Values of one equation by size, weighted: upper[s] >= v(s) >= lower[s]; sizes beyond the list are unsolved."""

    weight: float
    trivial: float
    largest: int
    outcomes: list[Outcome] = field(default_factory=list)

    def upper(self, s: int) -> float:
        return self.weight * self.outcomes[s].objective if s < len(self.outcomes) else np.inf

    def lower(self, s: int) -> float:
        return self.weight * self.outcomes[s].bound if s < len(self.outcomes) else self.trivial

    def pair(self, s: int) -> Pair:
        """Return the values of the two best supports of exactly s terms, if the outcomes tell."""
        if s >= len(self.outcomes) or not self.outcomes[s].answers or len(self.outcomes[s].answers[0].support) != s:
            return None
        best, margin = self.upper(s), self.outcomes[s].margin
        if best == 0 or np.isnan(margin):
            return None
        return best, np.inf if np.isinf(margin) else best * (1.0 + margin)

    @property
    def stopped(self) -> list[Status]:
        """Why searches ended before they were done."""
        return [outcome.stop for outcome in self.outcomes if outcome.stop is not None]


def solve_shared(
    equations: Sequence[Equation], weights: Sequence[float], most: Sequence[int], values: Values, budgets: Sequence[int]
) -> Iterator[Outcome]:
    """Yield the best joint support for each of increasing budgets, all equations together in one outcome.

    ``equations`` have ridge / weight as their ridge; ``most`` limits the terms of each.
    """
    tables = [
        _Table(float(w), float(w * e.constant) * (1 - 1e-12), n)
        for e, w, n in zip(equations, weights, most, strict=True)
    ]
    for budget in budgets:
        _fill(tables, budget, values)
        ended = [t.outcomes[-1].stop for t in tables if t.outcomes[-1].stop in _ENDED]
        if ended or interrupt.pressed():
            for j, table in enumerate(tables):
                # Supports of the sizes that a limit left unsolved, with bounds that hold but say little.
                stop = ended[0] if ended else Status.INTERRUPTED
                table.outcomes += [replace(o, stop=stop) for o in values.guess(j)[len(table.outcomes) :]]
        yield _combined(equations, tables, budget, values)


def _fill(tables: list[_Table], budget: int, values: Values) -> None:
    """Solve sizes until no unsolved one could be part of the best combination."""
    for j, table in enumerate(tables):
        if not table.outcomes:
            table.outcomes.append(values.solve(j, 0))
    if any(stop in _ENDED for table in tables for stop in table.stopped):
        return
    while True:
        sizes = best_sizes([[t.lower(s) for s in range(min(t.largest, budget) + 1)] for t in tables], budget)
        unsolved = [j for j, (t, s) in enumerate(zip(tables, sizes, strict=True)) if s >= len(t.outcomes)]
        if not unsolved:
            return
        for j in unsolved:
            tables[j].outcomes.append(values.solve(j, len(tables[j].outcomes)))
            if tables[j].outcomes[-1].stop in _ENDED or interrupt.pressed():
                return


def best_sizes(values: list[list[float]], budget: int) -> list[int]:
    """Return sizes s_j with sum <= budget and the least sum of values; fewer terms win ties."""
    best, choices = [0.0] + [math.inf] * budget, []
    for row in values:
        following, choice = [math.inf] * (budget + 1), [0] * (budget + 1)
        for used in range(budget + 1):
            for s in range(min(len(row) - 1, used) + 1):
                value = best[used - s] + row[s]
                if value < following[used]:
                    following[used], choice[used] = value, s
        best = following
        choices.append(choice)
    used, sizes = best.index(min(best)), []
    for choice in reversed(choices):
        sizes.append(choice[used])
        used -= sizes[-1]
    return sizes[::-1]


def _combined(equations: Sequence[Equation], tables: list[_Table], budget: int, values: Values) -> Outcome:
    """Return the best combination of the solved sizes, with a bound that holds for the unsolved ones too."""
    solved = [min(len(t.outcomes) - 1, budget) for t in tables]
    sizes = best_sizes([[t.upper(s) for s in range(n + 1)] for t, n in zip(tables, solved, strict=True)], budget)
    lower = [[t.lower(s) for s in range(min(t.largest, budget) + 1)] for t in tables]
    lower_bound = lower_sum(row[s] for row, s in zip(lower, best_sizes(lower, budget), strict=True))
    chosen = [e.placed(t.outcomes[s]) for e, t, s in zip(equations, tables, sizes, strict=True)]
    best = [answer for outcome in chosen for answer in outcome.answers[:1]]
    objective = sum(t.weight * outcome.objective for t, outcome in zip(tables, chosen, strict=True))
    stops = [stop for table in tables for stop in table.stopped]
    pressed = Status.INTERRUPTED if interrupt.pressed() else None
    none = len(best) < len(tables) and not stops  # some equation has no support that counts
    return Outcome(
        answers=() if none else (joined(best, objective),),
        lower_bound=lower_bound,
        runner_up=np.nan if stops or len(best) < len(tables) else _runner_up(tables, best, objective, values),
        stop=stops[0] if stops else pressed,
        nodes=sum(outcome.nodes for table in tables for outcome in table.outcomes),
        seconds=sum(outcome.seconds for table in tables for outcome in table.outcomes),
    )


def _runner_up(tables: list[_Table], best: Sequence[Answer], objective: float, values: Values) -> float:
    sizes = [len(answer.support) for answer in best]

    def pair(j: int, s: int) -> Pair:
        known = tables[j].pair(s)
        if known is not None or s > sizes[j] + _FURTHER:
            return known
        two = values.two_best(j, s)
        return None if two is None else (tables[j].weight * two[0], tables[j].weight * two[1])

    rival = _next_best(sizes, [t.largest for t in tables], [t.trivial for t in tables], pair)
    # Below the objective (by more than rounding): a coarse gap was asked for, and there is a better support.
    return rival if rival >= objective * (1 - 1e-12) else np.nan


def _next_best(
    sizes: Sequence[int], largest: Sequence[int], trivial: Sequence[float], pair: Callable[[int, int], Pair]
) -> float:
    """Return the objective of the next-best joint support of the same number of terms, nan where it cannot be proved.

    It has the same number of terms for every equation and the next-best support in one of them, or other numbers of
    terms that add up to the same. Values of *exactly* s terms are asked for only where they could matter.
    ``pair(j, s)`` gives the weighted values of the two best, ``trivial`` a lower bound of every value of an equation.
    """
    known: dict[tuple[int, int], tuple[float, float]] = {}
    unknown = list(enumerate(sizes))
    while True:
        for j, s in unknown:
            both = pair(j, s)
            if both is None:
                return float("nan")
            known[j, s] = both
        objective = sum(known[j, s][0] for j, s in enumerate(sizes))
        rival = min(objective - known[j, s][0] + known[j, s][1] for j, s in enumerate(sizes))
        values = [
            [known[j, s][0] if (j, s) in known else trivial[j] for s in range(min(most, sum(sizes)) + 1)]
            for j, most in enumerate(largest)
        ]
        other, chosen = min(_other_sizes(values, sizes), key=lambda entry: entry[0], default=(np.inf, ()))
        unknown = [(j, s) for j, s in enumerate(chosen) if (j, s) not in known]
        if other >= rival or not unknown:
            return float(min(rival, other))


def _other_sizes(values: list[list[float]], sizes: Sequence[int]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """For each equation and each other size of it, the best combination with as many terms in all."""
    total = sum(sizes)
    for j, row in enumerate(values):
        for s in range(len(row)):
            if s != sizes[j]:
                others = [row if i != j else [np.inf] * s + [row[s]] for i, row in enumerate(values)]
                yield _exactly(others, total)


def _exactly(values: list[list[float]], total: int) -> tuple[float, tuple[int, ...]]:
    """Return the least sum of one value per row whose indices add up to ``total``, and those indices."""
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for row in values:
        following: dict[int, tuple[float, tuple[int, ...]]] = {}
        for used, (value, sizes) in best.items():
            for s, extra in enumerate(row[: total - used + 1]):
                if used + s not in following or value + extra < following[used + s][0]:
                    following[used + s] = (value + extra, (*sizes, s))
        best = following
    return best.get(total, (np.inf, ()))
