"""The best support where equalities tie coefficients: by the search without constraints for each choice of ties."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exactsindy.solver.backends import native
from exactsindy.solver.combining import Combinations, sums
from exactsindy.solver.feasible import Feasible
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.relaxation import SLACK, Relaxation, added
from exactsindy.solver.settings import LARGEST_LIMIT, Settings
from exactsindy.solver.shared_budget import best_sizes
from exactsindy.solver.tied import Group, choices, longest

Values = NDArray[np.float64]
_CAPACITY = 5_000  # most supports of a pool
_PASSES = 3  # times that pools are made, the later ones up to the value of a better support


@dataclass(eq=False)
class _Part:
    """A group of equations with its values by the number of columns, solved from 0 on as far as they were asked for."""

    group: Group
    solved: list[Outcome]  # shared by the choices that hold the same group

    @property
    def lower(self) -> Values:
        """Lower bounds of the weighted values of 0, 1, ... columns."""
        known = [outcome.bound for outcome in self.solved[: self.group.cap + 1]]
        unknown = [self.group.equation.constant] * (self.group.cap + 1 - len(known))
        return _lowered(np.array(known + unknown), self.group) * (1 - SLACK)


@dataclass(eq=False)
class _Choice:
    """The groups of equations for one choice of ties."""

    parts: tuple[_Part, ...]
    columns: int  # most in all

    def least(self, but: int | None = None) -> Values:
        """Return the least sum over all groups (but one) with at most 0, 1, ... columns."""
        total = np.zeros(self.columns + 1)
        for g, part in enumerate(self.parts):
            if g != but:
                total = added(total, part.lower)
        return total

    def sizes(self) -> list[int]:
        """Return how many columns of each group have the least sum."""
        return best_sizes([part.lower.tolist() for part in self.parts], self.columns)

    def support(self) -> tuple[int, ...]:
        """Return the support with the least sum, if it is solved."""
        found: list[int] = []
        for part, size in zip(self.parts, self.sizes(), strict=True):
            answers = part.solved[size].answers if size < len(part.solved) else ()
            found += part.group.support(answers[0].support) if answers else ()
        return tuple(sorted(found))


def by_ties(state: Feasible, relaxation: Relaxation, given: Callable[[], Settings]) -> Outcome | None:
    """Return what the choices of ties prove; None where constraints are more than ties, or where a limit came first."""
    limit = relaxation.within(state.deadline.limits).coefficient_limit * longest(relaxation)
    if limit > LARGEST_LIMIT:
        return None
    plain = choices(relaxation, limit)

    def limits() -> Settings:
        return replace(given(), coefficient_limit=limit)

    found = None if plain is None else _solved(state, relaxation, list(plain), limits)
    if found is None or not state.best:
        return None
    state.lower = max(state.lower, min(*(float(choice.least()[-1]) for choice in found), state.value))
    for attempt in range(_PASSES):
        before, cut = state.value, state.target if attempt == 0 else state.value
        members = _members(state, relaxation, found, cut, limits)
        if state.ended():
            return None
        if members is None:
            if attempt > 0:
                return None
            continue  # too many for the rival: at least the best support is to be proved
        reach = min(members.reach, cut) * (1 + SLACK)
        bound = state.fit_in_order(members, reach)
        if state.stop is not None:
            return None
        state.lower = max(state.lower, min(bound, reach * (1 - SLACK), state.value))
        if state.value <= reach:
            if state.lower < state.value * (1 - state.deadline.limits.gap):
                return None
            return state.outcome(state.rival if state.rival <= reach else math.nan)
        if not state.value < before:
            return None
    return None


def _solved(
    state: Feasible, relaxation: Relaxation, plain: Sequence[tuple[Group, ...]], limits: Callable[[], Settings]
) -> list[_Choice] | None:
    """Solve the groups of all choices as far as they matter, and fit the best support of each choice.

    None: a limit ended that, or columns depend on each other.
    """
    known: dict[object, list[Outcome]] = {}
    found = []
    for groups in plain:
        parts = []
        for group in groups:
            equation = group.equation
            if not equation.factor[:, list(equation.required)].any(axis=0).all():
                return None
            key = (group.members, equation.required, equation.factor.any(axis=0).tobytes())
            parts.append(_Part(group, known.setdefault(key, [])))
        choice = _Choice(tuple(parts), relaxation.total - sum(group.extra for group in groups))
        found.append(choice)
        if not _fill(state, choice, limits):
            return None
        if choice.least()[-1] <= state.target:
            state.fit(relaxation.allowed([choice.support()]))
    return found


def _fill(state: Feasible, choice: _Choice, limits: Callable[[], Settings]) -> bool:
    """Solve sizes until no unsolved one could be part of the best combination, or of one that matters."""
    while choice.least()[-1] <= state.target:
        sizes = choice.sizes()
        unsolved = [part for part, size in zip(choice.parts, sizes, strict=True) if size >= len(part.solved)]
        if not unsolved:
            break
        for part in unsolved:
            equation, size = part.group.equation, len(part.solved)
            (outcome,) = native.run([equation], [size], [[]], limits())[0]
            state.deadline.nodes += outcome.nodes
            if outcome.stop is not None or outcome.dependent or state.ended():
                return False
            part.solved.append(outcome)
    return True


def _lowered(values: Values, group: Group) -> Values:
    """Return lower bounds of weighted values, from values of columns that may have been rounded."""
    return np.asarray(np.maximum(np.sqrt(np.maximum(values, 0.0)) - group.blur, 0.0) ** 2 * group.weight)


def _members(
    state: Feasible, relaxation: Relaxation, found: Sequence[_Choice], cut: float, limits: Callable[[], Settings]
) -> Combinations | None:
    """Return every support of the choices with a value of at most ``cut``, least first; None if that takes too long."""
    supports: list[tuple[int, ...]] = []
    values: list[float] = []
    reach = cut
    for choice in found:
        if not choice.least()[-1] <= cut * (1 + SLACK):
            continue
        wanted = []
        groups = [part.group for part in choice.parts]
        for g, part in enumerate(choice.parts):
            group, row = part.group, part.lower
            room = choice.columns - np.arange(len(row))
            others = np.where(room >= 0, choice.least(g)[np.maximum(room, 0)], np.inf)
            left = cut * (1 + SLACK) - others
            limit = (np.sqrt(np.maximum(left, 0.0) / group.weight) + group.blur) ** 2 * (1 + SLACK)
            wanted.append(np.where(left >= row, limit, -1.0).tolist())
        equations, caps = [group.equation for group in groups], [group.cap for group in groups]
        settings = replace(limits(), gap=0.0)  # a pool that ends early would not be complete
        starts: list[list[tuple[int, ...]]] = [[] for _ in equations]
        pools = native.run(equations, caps, starts, settings, pool=True, capacity=_CAPACITY, limits=wanted)
        outcomes = [outcome for sizes in pools for outcome in sizes]
        state.deadline.nodes += sum(outcome.nodes for outcome in outcomes)
        whole = all(outcome.complete or not outcome.answers for outcome in outcomes)
        if not whole or any(outcome.stop is not None or outcome.dependent for outcome in outcomes):
            return None
        lists = []
        for group, sizes in zip(groups, pools, strict=True):
            answers = [answer for outcome in sizes for answer in outcome.answers]
            lowered = _lowered(np.array([answer.objective for answer in answers]), group)
            counts = [len(answer.support) for answer in answers]
            lists.append(([group.support(answer.support) for answer in answers], lowered.tolist(), counts))
        combined = sums(lists, cut, choice.columns)
        supports += combined.supports
        values += combined.values.tolist()
        reach = min(reach, combined.reach)
    sorted_supports = [tuple(sorted(support)) for support in supports]
    allowed = set(relaxation.allowed(sorted_supports))
    order = sorted(
        (value, support) for value, support in zip(values, sorted_supports, strict=True) if support in allowed
    )
    return Combinations([support for _, support in order], np.array([value for value, _ in order]), reach)
