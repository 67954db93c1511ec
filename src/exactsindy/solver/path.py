"""Every sparsity level, each proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._labelled import dataset, frame
from exactsindy._types import Array
from exactsindy.constraints import Constraint, compile_rules, constraint_list
from exactsindy.errors import SolverError, is_real
from exactsindy.problem import Problem
from exactsindy.solver import arguments, constrained_solving, display, interrupt, presence_proofs, proofs, spreading
from exactsindy.solver import checkpoint as checkpoints
from exactsindy.solver.arguments import Supports
from exactsindy.solver.checkpoint import CheckpointPath
from exactsindy.solver.equations import equations_of, local_starts
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.proofs import ProofPath
from exactsindy.solver.settings import BRIEF, Deadline, Settings, Status, Total
from exactsindy.solver.solution import Solution
from exactsindy.solver.solving import shared


@dataclass(frozen=True, eq=False)
class Path:
    """The best supports of at most 0, 1, ..., k_max terms; ``path[k]`` is a `Solution`.

    Small k are solved first, so that a limit leaves the larger ones unproved; every solution carries its status.
    """

    problem: Problem
    solutions: tuple[Solution, ...]

    def __getitem__(self, k: int) -> Solution:
        if not isinstance(k, int | np.integer) or not 0 <= k < len(self.solutions):
            raise IndexError(f"path[{k}]: this path goes from 0 to {len(self.solutions) - 1} terms")
        return self.solutions[k]

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    @property
    def objectives(self) -> Any:
        """Array (k_max + 1, m): objective of each size and equation."""
        return np.array([s.objective for s in self.solutions])

    def to_pandas(self) -> Any:
        """Return a pandas frame, one row per equation (or all, with a shared budget) and number of terms."""
        rows = [(target, k, solution, i) for k, solution in enumerate(self) for i, target in enumerate(self._labels)]
        return frame(
            {
                "equation": [target for target, *_ in rows],
                "k": [k for _, k, *_ in rows],
                "terms": [self._terms(solution, i) for *_, solution, i in rows],
                "objective": [float(solution.objective[i]) for *_, solution, i in rows],
                "lower_bound": [float(solution.lower_bound[i]) for *_, solution, i in rows],
                "status": [solution.status[i].name for *_, solution, i in rows],
            }
        )

    def to_xarray(self) -> Any:
        """Return an xarray Dataset of objective and lower bound over the number of terms k and the equation."""
        bounds = np.array([solution.lower_bound for solution in self.solutions])
        variables = {"objective": (("k", "equation"), self.objectives), "lower_bound": (("k", "equation"), bounds)}
        return dataset(variables, {"k": np.arange(len(self)), "equation": list(self._labels)})

    @property
    def _labels(self) -> tuple[str, ...]:
        """The equations of one entry each: all together with a shared budget."""
        names = self.problem.target_names
        return names if len(self[0].objective) == len(names) else (", ".join(names),)

    def _terms(self, solution: Solution, i: int) -> str:
        rows = list(solution.terms.items())
        if len(solution.objective) == len(rows):
            return ", ".join(rows[i][1])
        return "; ".join(f"{target}: {', '.join(terms)}" for target, terms in rows if terms)

    def penalised(self, lam: float) -> Solution:
        """Return what an l0 penalty would pick: per equation, the size with the least objective + lam * terms.

        Exact for the sizes of this path; only sizes on the lower convex hull of the objectives can be picked.
        """
        if not is_real(lam) or not lam >= 0:
            raise SolverError(f"penalised(lam={lam!r}): expected a number >= 0.")
        if self[0].joint:
            terms = np.array([[sum(map(len, s.support))] for s in self.solutions])
        else:
            terms = np.array([[len(support) for support in s.support] for s in self.solutions])
        penalty = np.multiply(float(lam), terms, out=np.zeros(terms.shape), where=terms > 0)
        picks = np.argmin(self.objectives + penalty, axis=0)
        if self[0].joint:
            return self.solutions[int(picks[0])]
        return self.at({target: int(k) for target, k in zip(self.problem.target_names, picks, strict=True)})

    def at(self, k: dict[str, int] | Sequence[int]) -> Solution:
        """Return the solution with its own number of terms for each equation."""
        if self[0].joint:
            raise SolverError(
                "path.at picks a size per equation; this path is of a shared budget (Total) or of equations that "
                "constraints bind together: use path[k]."
            )
        sizes = arguments.sizes(self.problem, k)
        if max(sizes) >= len(self):
            raise SolverError(f"at(k={k!r}): this path goes from 0 to {len(self) - 1} terms.")
        return Solution.rows(self.problem, [(self[size], i) for i, size in enumerate(sizes)])

    def _rows(self) -> Iterator[tuple[str, int, float, str, str]]:
        """Yield equation, size, objective, proof and terms."""
        joint, names, targets = self[0].joint, self.problem.names, self.problem.target_names
        for i in range(1 if joint else len(targets)):
            rows = range(len(targets)) if joint else [i]
            for k, item in enumerate(self.solutions):
                terms = [(f"{targets[row]}: " if joint else "") + names[j] for row in rows for j in item.support[row]]
                proof = "proved" if item.status[i] is Status.OPTIMAL else f"gap {item.gap[i]:.1e}"
                yield "all" if joint else targets[i], k, float(item.objective[i]), proof, ", ".join(terms) or "(none)"

    def __str__(self) -> str:
        lines = []
        for label, k, objective, proof, terms in self._rows():
            if k == 0:
                lines.append("all equations" if label == "all" else label)
            lines.append(f"  {k:3d}  {objective:.8g}  {proof}  {terms}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [(label, str(k), f"{objective:.6g}", *more) for label, k, objective, *more in self._rows()]
        return display.html_table(("equation", "k", "objective", "proof", "terms"), rows)

    def __repr__(self) -> str:
        proved = sum(s.optimal for s in self.solutions)
        return f"<Path of {len(self)} sizes, {proved} proved>"


def solve_path(
    problem: Problem,
    k_max: int | Total,
    *,
    ridge: ArrayLike = 0.0,
    constraints: Sequence[Constraint] = (),
    start: Supports | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    proof: ProofPath = None,
    checkpoint: CheckpointPath = None,
) -> Path:
    """Solve for every number of terms from 0 to k_max.

    Parameters
    ----------
    problem
        The compressed regression.
    k_max
        Largest number of terms of an equation, or ``Total(k_max, weights)`` for a budget shared by all.
    ridge, constraints, start, settings, proof, checkpoint
        As in `solve`; the limits are for the whole path, and the proof is of every size.

    Returns
    -------
    Path
        ``path[k]`` is what ``solve(problem, k)`` returns.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=(100, 8))
    >>> path = es.solve_path(es.Problem.from_arrays(theta, theta[:, 2] + 0.1 * rng.normal(size=100)), 3)
    >>> path[1].support, path[3].optimal
    (((2,),), True)
    """
    arguments.check_problem(problem, settings)
    weights = arguments.ridge_matrix(problem, ridge)
    starts = arguments.start(problem, start)
    constraints = constraint_list(constraints)
    largest = arguments.largest(problem, k_max)
    if constraints or isinstance(largest, Total):
        checkpoints.refuse(checkpoint, "under constraints and for Total")
    with interrupt.held():
        if constraints:
            rules = compile_rules(problem, constraints)
            if proof is not None:
                presence_proofs.check(proof, rules)
            deadline = Deadline(settings)
            solutions = tuple(constrained_solving.path(problem, largest, constraints, weights, starts, settings))
            deadline.nodes += sum(int(solution.nodes.sum()) for solution in solutions)
            presence_proofs.write(proof, rules, solutions, deadline.settings(least=BRIEF))
            return Path(problem, solutions)
        if isinstance(largest, Total):
            budgets = range(largest.k + 1)
            return Path(problem, tuple(shared(problem, largest, budgets, weights, starts, settings, proof=proof)))
        equations = equations_of(problem, weights)
        sizes = [equation.size(largest) for equation in equations]
        given = local_starts(equations, starts)
        if proof is None and checkpoint is None:
            searches = spreading.run(equations, sizes, given, settings, path=True)
        else:
            searches = proofs.run(problem, proof, equations, sizes, given, settings, checkpoint, path=True)
    placed = [[e.placed(outcome) for outcome in outcomes] for e, outcomes in zip(equations, searches, strict=True)]
    return path_of(problem, placed, largest, weights, settings)


def path_of(
    problem: Problem, placed: Sequence[Sequence[Outcome]], largest: int, ridge: Array, settings: Settings
) -> Path:
    """Return the path of what was found for each equation at the sizes from 0 on."""

    def of_size(k: int) -> Solution:
        outcomes = [outcomes[min(k, len(outcomes) - 1)] for outcomes in placed]
        return Solution.of(problem, outcomes, ridge=ridge, k=(k,) * len(placed), settings=settings)

    return Path(problem, tuple(of_size(k) for k in range(largest + 1)))
