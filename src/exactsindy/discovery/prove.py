"""Prove the chosen sizes, and rank the supports that rival the chosen ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exactsindy.data import Notice
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.proof_folder import write_proof
from exactsindy.discovery.request import Request
from exactsindy.discovery.select import is_interrupted
from exactsindy.selection import Selection
from exactsindy.solver import Deadline, Pool, Solution, Status, Total, solve, solve_pool

# Supports of the chosen size that are ranked.
RIVALS = 10
# Fraction of the time limit for ranking them; the proof gets what is left of the others.
_POOL_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Proved:
    """A selection whose sizes are proved as far as time allowed, and the ranked supports of those sizes, if any.

    ``notices`` say why a proof file that was asked for is not there.
    """

    selection: Selection
    pool: Pool | None
    notices: tuple[Notice, ...] = ()


def prove(selection: Selection, request: Request, clock: Clock) -> Proved:
    """Return what is proved about the chosen sizes, and write a proof file if one was asked for."""
    proved = _proved(selection, request, clock)
    if request.proof is None:
        return proved
    limits = replace(clock.settings(), progress=None)
    return replace(proved, notices=write_proof(proved.selection.solution, request.constraints, request.proof, limits))


def _proved(selection: Selection, request: Request, clock: Clock) -> Proved:
    """Return the selection with its sizes proved, in the time left if the paths ran out of it, and with rivals.

    Supports that were not chosen for being the best of their size stay; the rivals tell what fits better. Rivals are
    not ranked for a shared budget, under constraints, or after Ctrl-C.
    """
    solution = selection.solution
    if is_interrupted(selection):
        return Proved(selection, None)
    done = all(status in (Status.OPTIMAL, Status.REFITTED) for status in solution.status)
    if not done and not clock.is_over():
        clock.begin("proving the chosen sizes")
        problem, k, ridge = solution.problem, solution.k, solution.ridge
        limits = clock.share(1.0 - _POOL_SHARE)
        best = solve(problem, k, ridge=ridge, constraints=request.constraints, start=solution, settings=limits)
        if Status.REFITTED in solution.status:
            kept = [status is Status.REFITTED for status in solution.status]
            best = Solution.rows(problem, [(solution if stays else best, i) for i, stays in enumerate(kept)])
        solution = best
        selection = replace(selection, solution=solution)
    if isinstance(solution.k, Total) or request.constraints:
        return Proved(selection, None)
    clock.begin("ranking the rivals")
    if clock.is_over():
        clock.cut.append("ranking the rivals")
        return Proved(selection, None)
    sizes = [len(support) for support in solution.support]
    settings = replace(clock.share(_POOL_SHARE), progress=None)
    begun = Deadline(settings)
    pool = solve_pool(solution.problem, sizes, count=RIVALS, ridge=solution.ridge, start=solution, settings=settings)
    if not all(pool.complete.values()) and begun.expired:
        clock.cut.append("ranking the rivals")
    return Proved(selection, pool)
