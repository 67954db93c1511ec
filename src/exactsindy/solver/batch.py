"""Many problems in one call: folds, resamples, grids of ridges and sizes, on all cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.solver import arguments, interrupt, spreading
from exactsindy.solver.arguments import Supports
from exactsindy.solver.equations import Equation, equations_of, local_starts
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.path import Path, path_of
from exactsindy.solver.settings import Settings, Total
from exactsindy.solver.solution import Solution


def solve_many(
    problems: Sequence[Problem],
    k: int | Mapping[str, int] | Sequence[int | Sequence[int] | Mapping[str, int]],
    *,
    ridge: ArrayLike | Sequence[ArrayLike] = 0.0,
    start: Sequence[Supports | None] | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> list[Solution]:
    """Solve many problems in one call, such as folds, resamples, or one problem with many ridges.

    All equations of all problems are searched side by side on all cores, or by the workers of the Dask client that is
    open. Each answer is to the bit what `solve` gives for that problem alone.

    Parameters
    ----------
    problems
        The compressed regressions; the same one may stand there several times.
    k
        Number of terms: an int or a mapping ``{target: int}`` for all problems, or a list with one entry per problem,
        each as in `solve` (no `Total`).
    ridge
        As in `solve` for all problems; a list or tuple has one entry per problem, each as in `solve`.
    start
        Supports to start from: a list with one entry per problem, each as in `solve` or None.
    settings
        Limits of the whole call, threads and progress.

    Returns
    -------
    list of Solution
        One per problem, in their order.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=(100, 8))
    >>> problem = es.Problem.from_arrays(theta, theta[:, 2] - theta[:, 5] + 0.1 * rng.normal(size=100))
    >>> [s.support for s in es.solve_many([problem] * 3, 2, ridge=[0.0, 1.0, 10.0])]
    [((2, 5),), ((2, 5),), ((2, 5),)]
    """
    given = _problems(problems)
    sizes = _each(k, len(given), "k")
    if any(isinstance(size, Total) for size in sizes):
        raise SolverError("solve_many takes a number of terms per equation, not Total: call solve for each problem.")
    ridges, starts = _each(ridge, len(given), "ridge"), _each(start, len(given), "start")
    batch = [
        _Item.of(problem, arguments.sizes(problem, size), weights, first)
        for problem, size, weights, first in zip(given, sizes, ridges, starts, strict=True)
    ]
    return [
        Solution.of(item.problem, [o for (o,) in found], ridge=item.ridge, k=item.sizes, settings=settings)
        for item, found in zip(batch, _run(batch, settings, path=False), strict=True)
    ]


def solve_paths(
    problems: Sequence[Problem], k_max: int, *, ridge: Any = 0.0, start: Supports | None = None, settings: Settings
) -> list[Path]:
    """Return what `solve_path` returns for each problem, found side by side; arguments and start serve all of them."""
    largest = arguments.largest(problems[0], k_max)
    if isinstance(largest, Total):
        raise SolverError("solve_paths takes a number of terms, not Total: call solve_path for each problem.")
    batch = [_Item.of(p, (largest,) * len(p.target_names), ridge, start) for p in problems]
    return [
        path_of(item.problem, found, largest, item.ridge, settings)
        for item, found in zip(batch, _run(batch, settings, path=True), strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Item:
    """One problem of a batch, with its arguments in their plain form."""

    problem: Problem
    sizes: tuple[int, ...]
    ridge: Array
    equations: list[Equation]
    starts: list[list[tuple[int, ...]]]

    @classmethod
    def of(cls, problem: Problem, sizes: tuple[int, ...], ridge: Any, start: Any) -> _Item:
        weights = arguments.ridge_matrix(problem, ridge)
        equations = equations_of(problem, weights)
        starts = local_starts(equations, arguments.start(problem, start))
        return cls(problem, sizes, weights, equations, starts)


def _run(batch: Sequence[_Item], settings: Settings, *, path: bool) -> list[list[list[Outcome]]]:
    """Return the outcomes of each item: one list per equation, with supports numbered as in its problem."""
    equations = [e for item in batch for e in item.equations]
    sizes = [e.size(size) for item in batch for e, size in zip(item.equations, item.sizes, strict=True)]
    starts = [start for item in batch for start in item.starts]
    if settings.progress is not None:  # it is told about equations by name
        equations = [replace(e, target=f"{i}: {e.target}") for i, item in enumerate(batch) for e in item.equations]
    with interrupt.held():
        searches = iter(spreading.run(equations, sizes, starts, settings, path=path))
    return [[[e.placed(o) for o in next(searches)] for e in item.equations] for item in batch]


def _problems(problems: Any) -> list[Problem]:
    if isinstance(problems, Problem) or not isinstance(problems, Sequence):
        kind = type(problems).__name__
        raise SolverError(f"problems is of type {kind}: expected a list of Problems, e.g. [problem] * 3.")
    for problem in problems:
        arguments.check_problem(problem)
    return list(problems)


def _each(value: Any, count: int, name: str) -> list[Any]:
    """Return one value per problem: the entries of a list or tuple, or the same for all."""
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        cure = f"give one entry per problem (each as in solve), or one {name} for all that is no list"
        raise SolverError(f"{name} has {len(value)} entries, but there are {count} problems: {cure}.")
    return list(value)
