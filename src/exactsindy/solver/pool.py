"""All near-optimal rivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._labelled import dataset, frame
from exactsindy.constraints import Constraint, compile_rules, constraint_list
from exactsindy.errors import SolverError
from exactsindy.problem import Problem, find_target
from exactsindy.solver import arguments, constrained_solving, display, interrupt, presence_proofs, proofs
from exactsindy.solver import checkpoint as checkpoints
from exactsindy.solver.arguments import Supports
from exactsindy.solver.checkpoint import CheckpointPath
from exactsindy.solver.equations import equations_of, local_starts
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.proofs import ProofPath
from exactsindy.solver.settings import BRIEF, Deadline, Settings, Total

CAPACITY = 1_000_000  # most supports kept for one equation


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

    ``complete[target]`` is True only if it is proved that the list misses nothing that was asked for: the ``count``
    best supports, or all with an objective of at most (1 + ``within``) times the best.
    """

    problem: Problem
    members: Mapping[str, tuple[Member, ...]]
    complete: Mapping[str, bool]
    count: int | None = None
    within: float | None = None

    def __getitem__(self, target: str | int) -> tuple[Member, ...]:
        if isinstance(target, str) and target in self.members:
            return self.members[target]
        name = self.problem.target_names[find_target(target, self.problem.target_names)]
        return next(members for names, members in self.members.items() if name in names.split(", "))

    def to_pandas(self) -> Any:
        """Return a pandas frame, one row per support: equation, rank, terms, objective, excess over the best."""
        rows = [(target, rank, m) for target, members in self.members.items() for rank, m in enumerate(members, 1)]
        return frame(
            {
                "equation": [target for target, *_ in rows],
                "rank": [rank for _, rank, _ in rows],
                "terms": [", ".join(m.terms) for *_, m in rows],
                "objective": [m.objective for *_, m in rows],
                "excess": [m.excess for *_, m in rows],
            }
        )

    def to_xarray(self) -> Any:
        """Return an xarray Dataset of coefficients (0 where absent), objective and excess of all supports."""
        rows = [(target, rank, m) for target, members in self.members.items() for rank, m in enumerate(members, 1)]
        names = list(dict.fromkeys(name for *_, m in rows for name in m.terms))
        values = np.array([[m.terms.get(name, 0.0) for name in names] for *_, m in rows]).reshape(len(rows), len(names))
        variables = {
            "coefficient": (("support", "term"), values),
            "objective": (("support",), [m.objective for *_, m in rows]),
            "excess": (("support",), [m.excess for *_, m in rows]),
        }
        labels = {"equation": ("support", [t for t, *_ in rows]), "rank": ("support", [r for _, r, _ in rows])}
        return dataset(variables, {"term": names, **labels})

    def __len__(self) -> int:
        return sum(len(members) for members in self.members.values())

    def __str__(self) -> str:
        lines = []
        for target, members in self.members.items():
            whole = "complete" if self.complete[target] else "NOT complete"
            lines.append(f"{target}: {len(members)} support{'s' if len(members) != 1 else ''}, {whole}")
            lines += [f"  {100 * m.excess:8.3f} %  {display.equation(target, m.terms.items())}" for m in members]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (target, str(rank), f"{100 * m.excess:.3g} %", ", ".join(f"{v:.4g} {t}" for t, v in m.terms.items()))
            for target, members in self.members.items()
            for rank, m in enumerate(members, 1)
        ]
        return display.html_table(("equation", "rank", "worse by", "terms"), rows)

    def __repr__(self) -> str:
        return f"<Pool of {len(self)} supports, {'complete' if all(self.complete.values()) else 'not complete'}>"


def solve_pool(
    problem: Problem,
    k: int | Sequence[int] | Mapping[str, int],
    *,
    within: float | None = None,
    count: int | None = None,
    ridge: ArrayLike = 0.0,
    constraints: Sequence[Constraint] = (),
    start: Supports | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    proof: ProofPath = None,
    checkpoint: CheckpointPath = None,
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
    ridge, constraints, start, settings, proof, checkpoint
        As in `solve`.

    Returns
    -------
    Pool
        At most 1 000 000 supports per equation; ``complete`` says whether something may be missing.

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
    arguments.check_problem(problem, settings)
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
    equations = equations_of(problem, weights)
    sizes = [e.size(size) for e, size in zip(equations, arguments.sizes(problem, k), strict=True)]
    starts = arguments.start(problem, start)
    constraints = constraint_list(constraints)
    if constraints:
        checkpoints.refuse(checkpoint, "under constraints")
    with interrupt.held():
        if constraints:
            rules = compile_rules(problem, constraints)
            if proof is not None:
                presence_proofs.check(proof, rules)
            deadline = Deadline(settings)
            outcomes = constrained_solving.pool(
                problem, tuple(sizes), constraints, weights, starts, settings, count, within
            )
            pools = [outcome for _, outcome in outcomes]
            deadline.nodes += sum(outcome.nodes for outcome in pools)
            limits = deadline.settings(least=BRIEF)
            presence_proofs.write_pool(proof, rules, equations, sizes, outcomes, (count, within), limits)
        else:
            searches = proofs.run(
                problem,
                proof,
                equations,
                sizes,
                local_starts(equations, starts),
                settings,
                checkpoint,
                pool=True,
                keep=count or 1,
                within=-1.0 if within is None else within,
                capacity=CAPACITY,
            )
            outcomes = [((e,), equations[e].placed(outcome)) for e, (outcome,) in enumerate(searches)]
    names = [", ".join(problem.target_names[e] for e in indices) for indices, _ in outcomes]
    members = {name: _members(problem, *entry) for name, entry in zip(names, outcomes, strict=True)}
    complete = {name: outcome.complete for name, (_, outcome) in zip(names, outcomes, strict=True)}
    return Pool(problem, members, complete, count, within)


def _members(problem: Problem, indices: Sequence[int], outcome: Outcome) -> tuple[Member, ...]:
    """Return the members of the pool of one equation, or of equations that constraints bind together."""
    width, best, single = len(problem.terms), outcome.objective, len(indices) == 1

    def label(v: int) -> str:
        name = problem.names[v % width]
        return name if single else f"{problem.target_names[v // width]}: {name}"

    return tuple(
        Member(
            support=tuple(v % width if single else v for v in answer.support),
            terms={label(v): value for v, value in zip(answer.support, answer.coef, strict=True)},
            objective=answer.objective,
            excess=answer.objective / best - 1.0 if best > 0 else (0.0 if answer.objective == 0 else float("inf")),
        )
        for answer in outcome.answers
    )
