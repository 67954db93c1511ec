"""All near-optimal rivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy.errors import SolverError
from exactsindy.solver import arguments, constrained, display, interrupt
from exactsindy.solver.backends import native
from exactsindy.solver.backends.result import Outcome
from exactsindy.solver.best import local_starts
from exactsindy.solver.settings import Settings, Total

if TYPE_CHECKING:
    from exactsindy.problem import Problem

CAPACITY = 200_000  # most supports kept for one equation


@dataclass(frozen=True)
class Member:
    """One support of a pool; ``excess`` is its objective / the best one - 1."""

    support: tuple[int, ...]
    terms: Mapping[str, float]
    objective: float
    excess: float


@dataclass(frozen=True, eq=False)
class Pool:
    """Supports of exactly k terms per equation, best first.

    Equations that constraints bind together have one entry, named ``"x', y'"``: its supports are indices
    ``equation * D + term``, its terms are named ``"x': x y"``.

    ``complete[target]`` is True only if it is proved that the list misses nothing that was asked for.
    """

    problem: Problem
    members: Mapping[str, tuple[Member, ...]]
    complete: Mapping[str, bool]

    def __getitem__(self, target: str | int) -> tuple[Member, ...]:
        from exactsindy.problem import find_target

        if isinstance(target, str) and target in self.members:
            return self.members[target]
        name = self.problem.target_names[find_target(target, self.problem.target_names)]
        return next(members for names, members in self.members.items() if name in names.split(", "))

    def __len__(self) -> int:
        return sum(len(members) for members in self.members.values())

    def __str__(self) -> str:
        return display.pool(self)

    def _repr_html_(self) -> str:
        from exactsindy.solver import html  # only notebooks need it

        return html.pool(self)

    def __repr__(self) -> str:
        return f"<Pool of {len(self)} supports, {'complete' if all(self.complete.values()) else 'not complete'}>"


def solve_pool(
    problem: Problem,
    k: int | Sequence[int] | Mapping[str, int],
    *,
    within: float | None = None,
    count: int | None = None,
    ridge: Any = 0.0,
    constraints: Sequence[Any] = (),
    start: Any = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> Pool:
    """Find all supports of exactly k terms that are nearly as good as the best one.

    Parameters
    ----------
    problem
        The compressed regression.
    k
        Number of terms, as in `solve` (no `Total`).
    within
        Keep every support with objective <= (1 + within) * best; 0.02 is 2 %.
    count
        Keep the ``count`` best supports. Give one of ``within`` and ``count``.
    ridge, constraints, start, settings
        As in `solve`.

    Returns
    -------
    Pool
        At most 200 000 supports per equation; ``complete`` says whether something may be missing.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=(60, 6))
    >>> problem = es.Problem.from_arrays(theta, theta[:, 0] + rng.normal(size=60), target_names=["x'"])
    >>> pool = es.solve_pool(problem, 1, count=3)
    >>> [member.support for member in pool["x'"]][0], pool.complete["x'"]
    ((0,), True)
    """
    arguments.check_problem(problem)
    if (within is None) == (count is None):
        raise SolverError("solve_pool needs one of within= (a share, e.g. 0.02) and count= (how many supports).")
    share: object = within
    if share is not None and not (isinstance(share, int | float | np.number) and 0 <= share < float("inf")):
        raise SolverError(f"within={within!r}: expected a share >= 0, e.g. 0.02 for 2 %.")
    number: object = count
    if number is not None and not (
        isinstance(number, int | np.integer) and not isinstance(number, bool) and 1 <= number <= CAPACITY
    ):
        raise SolverError(f"count={count!r}: expected a number of supports from 1 to {CAPACITY}.")
    if isinstance(k, Total):
        raise SolverError("solve_pool takes a number of terms per equation, not Total: ask for each equation's rivals.")
    weights = arguments.ridge_matrix(problem, ridge)
    equations = arguments.equations(problem, weights)
    sizes = [arguments.clipped(e, s) for e, s in zip(equations, arguments.sizes(problem, k), strict=True)]
    starts = None if start is None else arguments.supports(problem, start, "start")
    given = arguments.constraint_list(constraints)
    if given:
        pools = constrained.pool(problem, tuple(sizes), given, weights, starts, settings, count or 0, within)
        joined = [_joint_members(problem, component.indices, outcome) for component, outcome in pools]
        return Pool(problem, {n: m for n, m, _ in joined}, {n: complete for n, _, complete in joined})
    with interrupt.held():
        outcomes = native.run(
            equations,
            sizes,
            local_starts(equations, starts),
            settings,
            pool=True,
            keep=count or 1,
            within=-1.0 if within is None else within,
            capacity=CAPACITY,
        )
    members: dict[str, tuple[Member, ...]] = {}
    for equation, (outcome,) in zip(equations, outcomes, strict=True):
        best = outcome.answers[0].objective if outcome.answers else 0.0
        members[equation.target] = tuple(
            Member(
                support=tuple(int(equation.columns[j]) for j in found.support),
                terms={equation.names[j]: value for j, value in zip(found.support, found.values, strict=True)},
                objective=found.objective,
                excess=_excess(found.objective, best),
            )
            for found in outcome.answers
        )
    complete = {e.target: o[0].complete for e, o in zip(equations, outcomes, strict=True)}
    return Pool(problem, members, complete)


def _excess(objective: float, best: float) -> float:
    return objective / best - 1.0 if best > 0 else (0.0 if objective == 0 else float("inf"))


def _joint_members(
    problem: Problem, equations: Sequence[int], outcome: Outcome
) -> tuple[str, tuple[Member, ...], bool]:
    """Return name, members and completeness of the pool of equations that constraints bind together."""
    targets, width = [problem.target_names[e] for e in equations], len(problem.terms)
    best = outcome.answers[0].objective if outcome.answers else 0.0
    single = len(equations) == 1

    def label(v: int) -> str:
        name = problem.names[v % width]
        return name if single else f"{problem.target_names[v // width]}: {name}"

    members = tuple(
        Member(
            support=tuple(v % width if single else v for v in found.support),
            terms={label(v): value for v, value in zip(found.support, found.values, strict=True)},
            objective=found.objective,
            excess=_excess(found.objective, best),
        )
        for found in outcome.answers
    )
    return ", ".join(targets), members, outcome.complete
