"""The best support under constraints: by the search without constraints wherever that proves it.

Dropping constraints can only lower the value of a support. So the optimum without them is the optimum with them if it
satisfies them; otherwise every better support is among those whose value without constraints is at most that of some
feasible support. These pools are complete, and each member is fitted with all constraints. What is left (pools that
grow too large, columns that depend on each other) goes to the joint search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from exactsindy.solver.backends import native
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.combining import combinations
from exactsindy.solver.feasible import Feasible
from exactsindy.solver.nearby import Nearby
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.presence import decided
from exactsindy.solver.relaxation import SLACK, Relaxation, Support, only_presence
from exactsindy.solver.same_support import Alike
from exactsindy.solver.settings import BRIEF, Deadline, Settings, Status
from exactsindy.solver.shared_budget import Pair, Values, pair_of, solve_shared
from exactsindy.solver.tied_search import by_ties

TRIAL = 3_000  # nodes times variables that the joint search gets first: small problems are solved by then
SMALL = 100  # more variables: no such trial, its preparation alone would take too long
CAPACITY = 5_000  # most supports of a pool
_COMBINED = 50_000  # most combinations that are fitted
_ROUNDS, _TRIES, _BATCH = 20, 128, 32  # rounds of looking near the best support, and fits in each, in batches
_PASSES = 4  # times that pools are made, the later ones up to the value of a better support
EFFORTS = (0.05, 0.5, 4.0, 32.0)  # about so many seconds each for the relaxation and the joint search in turn


@dataclass(frozen=True)
class Sizes:
    """How many terms the equations of a component may have: each for itself, and all together (None: no such limit)."""

    caps: tuple[int, ...]
    total: int | None = None


def search(
    component: Component, budgets: Sequence[Budget], sizes: Sizes, starts: Sequence[int] | None, settings: Settings
) -> Outcome:
    """Find the best support of a component within its sizes.

    The relaxation and the joint search take turns with ever more nodes, because either may be the faster one by far.
    """
    alike = Alike.of(component, sizes.caps, sizes.total)
    found = None if alike is None else alike.search(starts, settings)
    if found is not None:
        return found
    state = Feasible(component, Deadline(settings))
    joint = partial(_joint, state, budgets, [] if starts is None else [starts])
    small = len(component.variables) <= SMALL
    presence = decided(component, budgets)
    trial = small and (presence is None or not only_presence(component, presence))
    done = joint(TRIAL // max(len(component.variables), 1)) if trial else None
    if done is not None and (done.stop is not None or not done.answers or _full(sizes, done)):
        return done  # (a relaxation can add nothing)
    limit = settings.coefficient_limit
    relaxation = None if presence is None else Relaxation.of(component, presence, sizes.caps, sizes.total, limit)
    # Where nothing is asked but which terms are in or out, the answer is that of the search without constraints, for
    # each equation with the limit on coefficients that its own target sets.
    simple = relaxation is not None and relaxation.exact
    if done is None and small and not trial and not simple:
        done = joint(TRIAL // max(len(component.variables), 1))
    for effort in EFFORTS if small else EFFORTS[1:]:
        if done is not None or relaxation is None or state.ended():
            break
        done = _by_relaxation(state, relaxation, sizes.total is not None, starts or (), nodes_for(relaxation, effort))
        if done is None and not state.ended():
            done = by_ties(state, relaxation, partial(few, state, state.deadline.nodes + nodes_for(relaxation, effort)))
        if done is None and not state.ended() and not state.hopeless and (small or effort > 1):
            done = joint(joint_nodes(component, effort))
    if done is None and state.ended():
        return state.outcome()
    done = done or replace(joint(None) or state.outcome(), seconds=state.deadline.elapsed)
    return done if relaxation is None or simple else _finished(state, relaxation, sizes.total is not None, done)


def _full(sizes: Sizes, done: Outcome) -> bool:
    """Whether the best support has as many terms as the sizes allow."""
    caps = sum(sizes.caps)
    return len(done.answers[0].support) >= (caps if sizes.total is None else min(caps, sizes.total))


def _joint(
    state: Feasible, budgets: Sequence[Budget], starts: list[Sequence[int]], nodes: int | None
) -> Outcome | None:
    """Let the joint search try with so many nodes (None: all that are left); None if it did not get done."""
    if nodes == 0:
        return None
    limits = state.deadline.settings(least=BRIEF)
    few = limits if nodes is None else replace(limits, nodes=min(nodes, limits.nodes or nodes))
    given = [*starts, *(answer.support for answer in state.ranking[:1])]
    outcome = state.component.solve(budgets, few, starts=given)
    state.deadline.nodes += outcome.nodes
    state.add(outcome.answers[:1])
    if outcome.stop is Status.NODE_LIMIT and nodes is not None:
        state.lower = max(state.lower, min(outcome.lower_bound, state.value))
        return None
    if state.value < outcome.objective:  # (a limit came before the start was looked at)
        outcome = replace(outcome, answers=tuple(state.ranking[:1]), runner_up=math.nan)
    bound = max(outcome.lower_bound, min(state.lower, outcome.objective))
    return replace(outcome, lower_bound=bound, nodes=state.deadline.nodes)


def _by_relaxation(
    state: Feasible, relaxation: Relaxation, shared: bool, starts: Sequence[int], nodes: int
) -> Outcome | None:
    """Return what the relaxation proves within some nodes; None where it proves nothing, or where a limit ended it."""
    limits = state.settings if relaxation.exact else partial(few, state, state.deadline.nodes + nodes)
    first = _relaxed(state, relaxation, shared, starts, limits)
    if first is None:
        return None
    if relaxation.exact and (first.stop is None or state.ended()):
        return replace(first, nodes=state.deadline.nodes, seconds=state.deadline.elapsed) if first.answers else None
    state.lower = max(state.lower, min(first.lower_bound, state.value))
    state.fit(relaxation.allowed([answer.support for answer in first.answers]))
    if first.answers and (first.stop is None or not state.best):
        if first.stop is None and _settled(state, relaxation, first):
            return state.outcome(state.rival)
        look_around(state, relaxation, first.answers[0].support)
    return _by_pools(state, relaxation, limits) if state.best and first.stop is None else None


def _finished(state: Feasible, relaxation: Relaxation, shared: bool, done: Outcome) -> Outcome:
    """Return what was found, or the best support without constraints where that satisfies them and is better.

    The joint search leaves out terms that gain less than a relative 1e-13; a constraint that asks for nothing must not
    change the answer.
    """
    if done.stop is not None or not done.answers or len(done.answers[0].support) >= relaxation.total:
        return done
    limits = partial(few, state, state.deadline.nodes + nodes_for(relaxation, EFFORTS[0]))
    first = _relaxed(state, relaxation, shared, (), limits)
    if first is None or first.stop is not None:
        return done
    state.fit(relaxation.allowed([answer.support for answer in first.answers]))
    best, known = state.ranking[0], done.answers[0]
    if best.support == known.support or best.objective > known.objective:
        return done
    rival = state.rival if _settled(state, relaxation, first) else math.nan
    return replace(done, answers=(best,), lower_bound=min(done.lower_bound, best.objective), runner_up=rival)


def nodes_for(relaxation: Relaxation, effort: float) -> int:
    """Return how many nodes of the search without constraints take about ``effort`` seconds."""
    width = max(len(equation.names) for equation in relaxation.equations)
    return int(effort / (1e-6 + 5e-9 * width**2)) + 100


def joint_nodes(component: Component, effort: float) -> int:
    """Return the same for the joint search."""
    return int(effort * 1e8 / len(component.variables) ** 2) + 1


def few(state: Feasible, end: int) -> Settings:
    """Return limits of a step that may fail: the nodes up to a count, and half of the time that is left."""
    limits = state.settings()
    left = max(end - state.deadline.nodes, 1)
    seconds = None if limits.seconds is None else max(0.5 * state.deadline.left(), BRIEF)
    return replace(limits, nodes=min(left, limits.nodes or left), seconds=seconds)


def _settled(state: Feasible, relaxation: Relaxation, first: Outcome) -> bool:
    """Whether the best two supports of the relaxation are feasible as they are: then nothing is between them."""
    if state.value > first.objective * (1 + SLACK) or relaxation.uneven(state.value):
        return False
    if len(state.ranking[0].support) < sum(relaxation.caps):  # rivals may have their terms in other equations
        return False
    return state.rival <= first.runner_up * (1 + SLACK)


def _relaxed(
    state: Feasible, relaxation: Relaxation, shared: bool, starts: Sequence[int], limits: Callable[[], Settings]
) -> Outcome | None:
    """Solve the relaxation; None if columns depend on each other in a way that matters."""

    def solve_one(e: int, size: int) -> Outcome:
        new = (e, size) not in relaxation.known
        outcome = relaxation.solve(e, size, limits(), starts)
        state.deadline.nodes += outcome.nodes if new else 0
        return outcome

    if shared:
        values = _values(state, relaxation, solve_one)
        weights = relaxation.component.weights
        whole = next(solve_shared(relaxation.equations, weights, relaxation.caps, values, [relaxation.total]))
        parts = list(relaxation.known.values())
    else:
        parts = [solve_one(e, cap) for e, cap in enumerate(relaxation.caps)]
        whole = _side_by_side(relaxation, parts)
    if any(part.dependent for part in parts) and not relaxation.exact:
        state.hopeless = True
        return None
    return whole


def _values(state: Feasible, relaxation: Relaxation, solve: Callable[[int, int], Outcome]) -> Values:
    """Return how a shared budget finds the values of equations; margins are of use only if nothing was relaxed."""

    def two_best(e: int, size: int) -> Pair:
        if not relaxation.exact or state.ended():
            return None
        (outcome,) = native.run([relaxation.equations[e]], [size], [[]], state.settings(), pool=True, keep=2)[0]
        state.deadline.nodes += outcome.nodes
        return pair_of(outcome)

    def guess(e: int) -> Sequence[Outcome]:
        limits = replace(state.deadline.limits, seconds=0.05, nodes=1, progress=None)
        return native.run([relaxation.equations[e]], [relaxation.caps[e]], [[]], limits, path=True)[0]

    return Values(solve, two_best, guess)


def _side_by_side(relaxation: Relaxation, parts: Sequence[Outcome]) -> Outcome:
    """Put the optima of all equations together; the second answer changes the one where that costs least."""
    equations, weights = relaxation.equations, relaxation.component.weights
    placed = [e.placed(part) for e, part in zip(equations, parts, strict=True)]
    lower = sum(w * part.bound for w, part in zip(weights, parts, strict=True))
    stops = [part.stop for part in parts if part.stop is not None]
    if not all(part.answers for part in parts):
        return Outcome((), lower, stop=stops[0] if stops else None)
    chosen = [[part.answers[0] for part in placed]]
    changes = [
        (w * (part.answers[1].objective - part.objective), e)
        for e, (w, part) in enumerate(zip(weights, placed, strict=True))
        if len(part.answers) > 1
    ]
    if changes:
        _, e = min(changes)
        chosen.append([part.answers[d == e] for d, part in enumerate(placed)])
    answers = []
    for choice in chosen:
        pairs = sorted((v, x) for answer in choice for v, x in zip(answer.support, answer.coef, strict=True))
        value = sum(w * answer.objective for w, answer in zip(weights, choice, strict=True))
        answers.append(Answer(tuple(v for v, _ in pairs), tuple(x for _, x in pairs), value))
    rivals = [
        math.nan if math.isnan(part.runner_up) else w * (part.runner_up - part.objective)
        for w, part in zip(weights, parts, strict=True)
    ]
    runner_up = answers[0].objective + min(rivals) if not any(map(math.isnan, rivals)) else math.nan
    return Outcome(tuple(answers), lower, runner_up, stops[0] if stops else None)


def look_around(state: Feasible, relaxation: Relaxation, first: Support) -> None:
    """Look for good feasible supports near that of the relaxation, and near what is found."""
    nearby = Nearby(relaxation)
    if not state.best or len(state.component.variables) > SMALL:  # (no trial has found a good one)
        state.fit(relaxation.allowed(list(nearby.patterns(first))))
    centre = first
    for _ in range(_ROUNDS):
        before = state.value
        if state.best:
            centre = state.ranking[0].support
        near = nearby.neighbours(centre, state.rival, _TRIES)
        for start in range(0, len(near), _BATCH):
            limit = state.rival
            state.fit(relaxation.allowed([s for value, s in near[start : start + _BATCH] if value < limit]))
        if not state.value < before or state.ended():
            return


def _by_pools(state: Feasible, relaxation: Relaxation, limits: Callable[[], Settings]) -> Outcome | None:
    """Prove the best support by complete pools of the relaxation up to its value, or up to that of its rival."""
    largest = relaxation.monotone  # supports of the largest size say all
    for attempt in range(_PASSES):
        before = state.value
        cut = state.target if attempt == 0 else before
        wanted = [relaxation.total] if largest and not relaxation.uneven(before) else None
        settings = limits()
        if attempt == 0 and cut > before and settings.nodes is not None:
            settings = replace(settings, nodes=max(settings.nodes // 2, 1))
        pools = relaxation.pools(cut, wanted, settings, CAPACITY)
        outcomes = [outcome for sizes in pools for outcome in sizes]
        state.deadline.nodes += sum(outcome.nodes for outcome in outcomes)
        state.hopeless = state.hopeless or any(outcome.dependent for outcome in outcomes)
        if state.hopeless or state.ended():
            return None
        if any(outcome.stop is not None for outcome in outcomes):
            if attempt > 0:
                return None
            continue  # too many nodes for the rival: at least the best support is to be proved
        found = combinations(relaxation, pools, cut, wanted, _COMBINED)
        reach = min(found.reach, cut) * (1 + SLACK)
        bound = state.fit_in_order(found, reach)
        if wanted is not None and state.exceeding([tuple(sorted(support)) for support in found.supports]):
            largest = False
            continue
        if state.stop is not None:
            state.lower = max(state.lower, min(bound, reach * (1 - SLACK), state.value))
            return None
        if state.value <= reach:
            state.lower = max(state.lower, min(bound, state.value))
            if state.lower < state.value * (1 - state.deadline.limits.gap):
                return None  # some fit was not found: the joint search may do better
            sure = state.rival <= reach and (wanted is None or len(state.ranking[0].support) == relaxation.total)
            return state.outcome(state.rival if sure else math.nan)
        state.lower = max(state.lower, min(bound, reach * (1 - SLACK)))
        if not state.value < before:
            return None
    return None
