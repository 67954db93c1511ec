"""Pools under constraints: complete pools without them, each member fitted with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from exactsindy.solver import constrained_search
from exactsindy.solver.backends import native
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.combining import combinations
from exactsindy.solver.constrained_search import few, joint_nodes, look_around, nodes_for
from exactsindy.solver.feasible import Feasible
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.presence import decided
from exactsindy.solver.relaxation import SLACK, Relaxation
from exactsindy.solver.same_support import Alike
from exactsindy.solver.settings import BRIEF, Deadline, Settings, Status

CAPACITY = 200_000  # most supports of a pool


def pool(
    component: Component,
    budgets: Sequence[Budget],
    caps: Sequence[int],
    starts: Sequence[int] | None,
    settings: Settings,
    *,
    count: int | None,
    within: float | None,
) -> Outcome:
    """Find the ``count`` best supports of exactly so many terms, or all ``within`` a share of the best."""
    alike = Alike.of(component, caps, None)
    if alike is not None and count is not None and max(caps) == alike.size:
        found = alike.run(alike.size, count, [], settings)
        if found.answers and not found.dependent:
            return found
    state, share = Feasible(component, Deadline(settings)), -1.0 if within is None else within
    given = [] if starts is None else [starts]
    width, small = len(component.variables), len(component.variables) <= constrained_search.SMALL

    def joint(nodes: int | None) -> Outcome | None:
        """Let the joint search try with so many nodes (None: all that are left); None if it did not get done."""
        limits = state.deadline.settings(least=BRIEF)
        limits = limits if nodes is None else replace(limits, nodes=min(nodes, limits.nodes or nodes))
        found = component.solve([], limits, starts=given, exactly=budgets, keep=count or 0, within=share)
        state.deadline.nodes += found.nodes
        unfinished = nodes is not None and found.stop is Status.NODE_LIMIT and not state.ended()
        return None if unfinished else replace(found, nodes=state.deadline.nodes, seconds=state.deadline.elapsed)

    done = joint(constrained_search.TRIAL // width) if small and width <= constrained_search.TRIAL else None
    presence = None if done is not None else decided(component, budgets)
    relaxation = (
        None if presence is None else Relaxation.of(component, presence, caps, None, settings.coefficient_limit)
    )
    if relaxation is not None and relaxation.caps != tuple(caps):
        relaxation = None  # fewer terms than that have a column
    if relaxation is not None and relaxation.exact and len(caps) == 1:
        (equation,), local = relaxation.equations, [relaxation.equations[0].local(starts)] if starts else []
        (outcome,) = native.run(
            [equation], caps, [local], state.settings(), pool=True, keep=count or 1, within=share, capacity=CAPACITY
        )[0]
        if outcome.answers:
            return equation.placed(outcome)
        relaxation = None
    for effort in constrained_search.EFFORTS if small else constrained_search.EFFORTS[1:]:
        if done is not None or relaxation is None or state.ended():
            break
        done = _filtered(state, relaxation, count, within, effort)
        if done is None and not state.ended() and not state.hopeless and (small or effort > 1):
            done = joint(joint_nodes(component, effort))
    return done or joint(None) or Outcome((), state.lower, stop=state.stop)


def _filtered(
    state: Feasible, relaxation: Relaxation, count: int | None, within: float | None, effort: float
) -> Outcome | None:
    """Return the members of complete pools without constraints that satisfy them; None if that takes too long."""
    limits, parts = partial(few, state, state.deadline.nodes + nodes_for(relaxation, effort)), []
    for e, cap in enumerate(relaxation.caps):
        new = (e, cap) not in relaxation.known
        parts.append(relaxation.solve(e, cap, limits()))
        state.deadline.nodes += parts[-1].nodes if new else 0
        state.hopeless = state.hopeless or parts[-1].dependent or (parts[-1].stop is None and not parts[-1].answers)
        if parts[-1].stop is not None or state.hopeless:
            return None
    first = [v for e, p in zip(relaxation.equations, parts, strict=True) for v in e.placed(p).answers[0].support]
    look_around(state, relaxation, tuple(sorted(first)))
    number, share = (count, 0.0) if count is not None else (1, within or 0.0)
    members = _members(state, relaxation.total)
    if len(members) < number:
        return None
    cut = members[number - 1].objective * (1 + share) * (1 + SLACK)
    pools = relaxation.pools(cut, [relaxation.total], limits(), CAPACITY)
    outcomes = [outcome for sizes in pools for outcome in sizes]
    state.deadline.nodes += sum(outcome.nodes for outcome in outcomes)
    state.hopeless = state.hopeless or any(outcome.dependent for outcome in outcomes)
    if state.hopeless or any(outcome.stop is not None for outcome in outcomes):
        return None
    found = combinations(relaxation, pools, cut, [relaxation.total], CAPACITY)
    state.fit_in_order(found, found.reach, all_of_them=True)
    unknown = any(answer is None and lower == 0 for answer, lower in state.fitted.values())
    if found.reach < cut or state.stop is not None or unknown:
        return None
    members = _members(state, relaxation.total)
    limit = members[number - 1].objective * (1 + share)
    chosen = [a for a in members if a.objective <= limit][: count or CAPACITY]
    lower = min(state.fitted[a.support][1] for a in chosen)
    return Outcome(tuple(chosen), lower, complete=True, nodes=state.deadline.nodes, seconds=state.deadline.elapsed)


def _members(state: Feasible, size: int) -> list[Answer]:
    """Return supports of exactly so many terms all of which matter, best first."""
    whole = [a for support, (a, _) in state.fitted.items() if a is not None and a.support == support]
    return sorted((a for a in whole if len(a.support) == size), key=lambda a: (a.objective, a.support))
