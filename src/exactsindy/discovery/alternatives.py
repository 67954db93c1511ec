"""Other sizes and other supports than those chosen: what `Discovery.at` shows."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

import numpy as np

from exactsindy.errors import SolverError
from exactsindy.problem import find_target
from exactsindy.solver import Path, Pool, Solution, Total, refit


def other_size(path: Path, shown: Solution, k: Any) -> Solution:
    """Return the solution with ``k`` terms of a path; equations that a mapping ``k`` leaves out stay as shown."""
    shared = isinstance(path[0].k, Total)
    try:
        each = [k] if isinstance(k, int | np.integer) else list(k.values()) if isinstance(k, Mapping) else list(k)
    except TypeError:
        text = f"at(k={k!r}): expected a number of terms, or a mapping from equation to one."
        raise SolverError(text) from None
    sizes = [k] if shared else each
    for size in sizes:
        if not isinstance(size, int | np.integer) or not 0 <= size < len(path):
            raise SolverError(f"at(k={k!r}): this path goes from 0 to {len(path) - 1} terms.")
    return _answered(path, _of_size(path, shown, k, shared), f"at(k={k!r})")


def _of_size(path: Path, shown: Solution, k: Any, shared: bool) -> Solution:
    if shared:
        return path[int(k)]
    names = path.problem.target_names
    if isinstance(k, Mapping):
        chosen = {name: len(s) for name, s in zip(names, shown.support, strict=True)}
        chosen.update({names[find_target(target, names)]: int(size) for target, size in k.items()})
        return path.at(chosen)
    return path[int(k)] if isinstance(k, int | np.integer) else path.at(k)


def _answered(path: Path, solution: Solution, call: str) -> Solution:
    """Refuse a solution with an equation that has no answer: constraints may ask for more terms."""
    for i, objective in enumerate(solution.objective):
        if not np.isfinite(objective):
            names = path.problem.target_names
            name = ", ".join(names) if len(solution.objective) < len(names) else names[i]
            sizes = [size for size, other in enumerate(path) if np.isfinite(other.objective[i])]
            text = f"{call}: no model of {name} of this size satisfies the constraints"
            raise SolverError(f"{text}; the smallest that does has {sizes[0]} terms.")
    return solution


def other_support(pool: Pool | None, shown: Solution, rival: int | Mapping[str, int]) -> Solution:
    """Return the fit of ranked supports, 1 being the best: one rank of whole models, or ranks by equation."""
    if pool is None:
        raise SolverError("at(rival=...): no rivals were computed (a shared budget, constraints, or an interruption).")
    names = pool.problem.target_names
    if isinstance(rival, Mapping):
        ranks = {names[find_target(target, names)]: rank for target, rank in rival.items()}
        picks = [ranks.get(name, 1) - 1 for name in names]
    else:
        picks = _ranked(pool, rival)
    for name, pick in zip(names, picks, strict=True):
        if not 0 <= pick < max(len(pool[name]), 1):
            text = f"at(rival={rival!r}): {name} has {len(pool[name])} ranked supports"
            raise SolverError(f"{text}; expected a number from 1 to that.")
    supports = [pool[name][pick].support if pool[name] else () for name, pick in zip(names, picks, strict=True)]
    return refit(pool.problem, supports, ridge=shown.ridge)


def _ranked(pool: Pool, rank: int) -> list[int]:
    """Return the member of each equation in the rank-th best model, by best-first search over their ranks."""
    if isinstance(rank, bool) or not isinstance(rank, int | np.integer):
        raise SolverError(f"at(rival={rank!r}): expected a number from 1, or a mapping from equation to one.")
    names = pool.problem.target_names
    rows = [0.5 * pool.problem.n_samples_of(i) for i in range(len(names))]
    costs = [[n * np.log1p(m.excess) for m in pool[name]] or [0.0] for n, name in zip(rows, names, strict=True)]
    first = (0,) * len(names)
    queue, seen = [(0.0, first)], {first}
    for _ in range(max(rank, 1) - 1):
        cost, state = heapq.heappop(queue)
        for i in range(len(names)):
            if state[i] + 1 < len(costs[i]):
                later = (*state[:i], state[i] + 1, *state[i + 1 :])
                if later not in seen:
                    seen.add(later)
                    heapq.heappush(queue, (cost + costs[i][later[i]] - costs[i][state[i]], later))
        if not queue:
            break
    if rank < 1 or not queue:
        text = f"at(rival={rank!r}): there are fewer ranked models"
        raise SolverError(f"{text}; expected a number from 1 to {len(seen)}.")
    return list(queue[0][1])
