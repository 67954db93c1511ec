"""Instances of `bench torture`: a family, a seed and a number make a problem, a call of the solver and its check."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from exactsindy.errors import ProblemError
from exactsindy.problem import Block, Problem
from exactsindy.solver import Settings, Solution, Status, Total, solve, solve_path, solve_pool
from exactsindy_experiments.exact_values import Array, ExactValues
from exactsindy_experiments.torture_checks import check_pool, check_solution, check_total, fuzzy
from exactsindy_experiments.torture_draws import Draw
from exactsindy_experiments.torture_families import FAMILIES

LIMIT = 2.0**27  # the default of Settings.coefficient_limit
TINY = 1e-120  # a part of the target below this share of the whole, rounded up to a power of two, counts as zero
VERBS = ("solve", "path", "count", "within", "total")
_SHARES = (0.45, 0.2, 0.14, 0.15, 0.06)
_LARGE = ("chain",)  # families with sizes up to 8
_SLOW = ("ridge_mixed", "scales", "small_targets", "large_targets")  # integers of thousands of bits

Kind = Literal["right", "wrong", "excused", "refused"]


@dataclass(frozen=True)
class Task:
    """The name of one instance."""

    family: str
    seed: int
    index: int

    @property
    def rng(self) -> np.random.Generator:
        """The generator of everything that is random about the instance."""
        return np.random.default_rng([self.seed, list(FAMILIES).index(self.family), self.index])


@dataclass(frozen=True)
class Verdict:
    """How an instance went: right, wrong, excused (not called optimal) or refused before a search.

    ``beyond``: the search looked at more than its root; ``band``: a threshold left its optimum open.
    """

    task: Task
    kind: Kind
    beyond: bool = False
    band: bool = False
    text: str = ""


@dataclass(frozen=True)
class Instance:
    """A problem and the call that is checked."""

    problem: Problem
    ridge: Array
    size: int
    verb: str
    threads: int
    count: int
    within: float
    weights: tuple[float, float]

    @property
    def settings(self) -> Settings:
        """The settings of the call."""
        return Settings(threads=self.threads)


def draw(task: Task) -> Instance:
    """Make the instance of a name; ProblemError if the package refuses its numbers."""
    rng = task.rng
    width, size = _shape(rng, task.family)
    verb = str(rng.choice(VERBS, p=_SHARES))
    threads = 2 if rng.random() < 0.15 else 1
    count, within = int(rng.integers(1, 12)), float(rng.choice([0.0, 0.01, 0.1, 1.0]))
    weights = (1.0, float(rng.choice([1.0, 2.5, 1e-3])))
    if verb == "total":
        width, size = min(width, 8), min(size, 4)
    first = FAMILIES[task.family](rng, width)
    draws = [first, FAMILIES[task.family](rng, width)] if verb == "total" else [first]
    ridge = np.array([_ridge(rng, d) for d in draws])
    blocks = tuple(_block(d, f"y{i}'") for i, d in enumerate(draws))
    return Instance(Problem(blocks), ridge, size, verb, threads, count, within, weights)


def _shape(rng: np.random.Generator, family: str) -> tuple[int, int]:
    if family in _LARGE:
        width = int(rng.integers(5, 11))
        return width, int(rng.integers(2, min(width, 8) + 1))
    if family in _SLOW:
        width = int(rng.integers(5, 9))
        return width, int(rng.integers(1, 5))
    kind = rng.random()
    if kind < 0.05:
        return 14, int(rng.integers(3, 7))
    if kind < 0.08:
        return 20, int(rng.integers(3, 5))
    width = int(rng.integers(5, 13))
    return width, min(int(rng.integers(1, 7)), 4 if width > 10 else 6, width)


def _ridge(rng: np.random.Generator, drawn: Draw) -> Array:
    width = drawn.matrix.shape[1] - 1
    kind = rng.integers(8)
    if drawn.ridge is not None:
        return drawn.ridge
    if kind > 1:
        return np.zeros(width)
    largest = float(np.abs(drawn.matrix[:, :width]).max())
    scale = 10.0 ** rng.uniform(-6, 0) * min(max(largest, 1e-100), 1e100) ** 2
    return np.asarray(scale * (rng.uniform(0, 1, width) if kind else np.ones(width)))


def _block(drawn: Draw, target: str) -> Block:
    matrix, width = drawn.matrix, drawn.matrix.shape[1] - 1
    names = [f"t{j}" for j in range(width)]
    (block,) = Problem.from_arrays(matrix[:, :width], matrix[:, width], names=names, target_names=[target]).blocks
    return Block(matrix, width + 1, block.terms, block.target_names) if drawn.triangle else block


def examine(task: Task) -> Verdict:
    """Solve one instance and check everything that is claimed."""
    try:
        instance = draw(task)
    except ProblemError as refusal:
        return Verdict(task, "refused", text=str(refusal))
    problem, ridge, settings = instance.problem, instance.ridge, instance.settings
    solutions: list[Solution] = []
    if instance.verb == "solve":
        solutions = [solve(problem, instance.size, ridge=ridge, settings=settings)]
    elif instance.verb == "path":
        solutions = list(solve_path(problem, instance.size, ridge=ridge, settings=settings))
    elif instance.verb == "total":
        budget = Total(instance.size, weights=instance.weights)
        solutions = [solve(problem, budget, ridge=ridge * np.array(instance.weights)[:, None], settings=settings)]
    parts = [_values(instance, row) for row in range(len(problem.blocks))]
    if solutions:
        statuses = [status for solution in solutions for status in solution.status]
        beyond = any(int(solution.nodes.max()) > 1 for solution in solutions)
        excused = any(status is not Status.OPTIMAL for status in statuses)
        errors = list(itertools.islice(_solution_errors(instance, parts, solutions), 3))
    else:
        pool = solve_pool(
            problem,
            instance.size,
            ridge=ridge,
            settings=settings,
            **({"count": instance.count} if instance.verb == "count" else {"within": instance.within}),
        )
        (complete,) = pool.complete.values()
        count, within = (instance.count, None) if instance.verb == "count" else (None, instance.within)
        errors = list(itertools.islice(check_pool(parts[0], pool[0], instance.size, complete, count, within), 3))
        beyond, excused = instance.size > 2, not complete
    band = any(fuzzy(part, instance.size) for part in parts)
    kind: Kind = "wrong" if errors else "excused" if excused else "right"
    return Verdict(task, kind, beyond, band, "; ".join(errors) if errors else "not called optimal" if excused else "")


def _values(instance: Instance, row: int) -> ExactValues:
    block = instance.problem.blocks[row]
    z, rest = block.target(0)
    if np.linalg.norm(z) < TINY * 2.0 ** np.frexp(np.linalg.norm([*z, *rest]))[1]:
        z = np.zeros_like(z)
    return ExactValues(block.theta_factor, z, rest, instance.ridge[row], instance.size, LIMIT)


def _solution_errors(instance: Instance, parts: list[ExactValues], solutions: list[Solution]) -> Iterator[str]:
    for size, solution in enumerate(solutions):
        if any(status is not Status.OPTIMAL for status in solution.status):
            continue
        if instance.verb == "total":
            yield from check_total(parts, instance.weights, solution, instance.size)
        else:
            wanted = size if instance.verb == "path" else instance.size
            yield from (f"k = {wanted}: {text}" for text in check_solution(parts[0], solution, wanted))
