"""Paths with the time limit shared among equations, and paths joined from several variants of a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from exactsindy._limits import is_over
from exactsindy._types import Array
from exactsindy.problem import Block, Problem
from exactsindy.solver import Deadline, Path, Settings, Solution, Total, ridge_matrix, solve_path

# Seconds that an equation gets at least, also when the limit has passed: enough for a first support of every size. Many
# equations get less.
_LEAST_SECONDS = 0.02
# Seconds for all equations that are left when the call is over: each gets a greedy choice of every size.
_BRIEF = 1e-3


def shared_path(
    problem: Problem,
    k_max: int | Total,
    *,
    ridge: Any = 0.0,
    start: Any = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    **options: Any,
) -> Path:
    """Return the path that `solve_path` returns, with the time limit divided equally among the equations.

    `solve_path` takes equations in turn and small sizes first, so that a limit may leave the last equations without
    an answer of any size. Here each has its share of the time, and the node limit is for each. The arguments are those
    of `solve_path`; a shared budget or constraints are left to it. Once the call around it is over, the equations that
    are left get what a greedy choice finds, unproved.
    """
    limited = settings.seconds is not None or settings.nodes is not None
    count = len(problem.target_names)
    if isinstance(k_max, Total) or tuple(options.get("constraints", ())) or not limited or count == 1:
        return solve_path(problem, k_max, ridge=ridge, start=start, settings=settings, **options)
    weights, clock = ridge_matrix(problem, ridge), Deadline(settings)
    paths: list[tuple[Path, int]] = []
    least = _LEAST_SECONDS if settings.seconds is None else min(_LEAST_SECONDS, settings.seconds / count)
    for i in range(count):
        if is_over():
            last = _equations_from(problem, i)
            rest = [weights[j, problem.columns(problem.locate(j)[0])] for j in range(i, count)]
            brief = replace(settings, seconds=_BRIEF)
            greedy = solve_path(last, k_max, ridge=_ridge_of(last, rest), settings=brief)
            paths += [(greedy, j) for j in range(count - i)]
            break
        columns = problem.columns(problem.locate(i)[0])
        first = None if start is None else [[problem.names[j] for j in start.support[i]]]
        limits = clock.settings(count - i, least)
        alone = Problem((one_equation(problem, i),))
        paths.append((solve_path(alone, k_max, ridge=weights[i, columns], start=first, settings=limits), 0))
    sizes = range(len(paths[0][0]))
    return Path(problem, tuple(Solution.rows(problem, [(path[k], row) for path, row in paths]) for k in sizes))


def _equations_from(problem: Problem, first: int) -> Problem:
    """Return the equations from one on, those that share their rows still in one block."""
    if not first:
        return problem
    blocks, begin = [], 0
    for block in problem.blocks:
        count = len(block.target_names)
        skipped = min(max(first - begin, 0), count)
        begin += count
        if not skipped:
            blocks.append(block)
        elif skipped < count:
            size, left = len(block.terms), count - skipped
            factor = np.zeros((size + left, size + left))
            factor[:size, :size] = block.theta_factor
            factor[:size, size:] = block.factor[:size, size + skipped :]
            rest = np.linalg.qr(block.factor[size : max(block.n_samples, size), size + skipped :], mode="r")
            factor[size : size + len(rest), size:] = rest
            blocks.append(Block(factor, block.n_samples, block.terms, block.target_names[skipped:]))
    return Problem(tuple(blocks))


def _ridge_of(problem: Problem, weights: Sequence[Array]) -> Array:
    """Return the ridge of equations over all terms of a problem, from those over their own terms."""
    table = np.zeros((len(weights), len(problem.terms)))
    for i, own in enumerate(weights):
        table[i, problem.columns(problem.locate(i)[0])] = own
    return table


def join_problems(problems: Sequence[Problem]) -> Problem:
    """Return the problem whose i-th equation is that of the i-th problem (all have the same equations)."""
    if all(problem is problems[0] for problem in problems):
        return problems[0]
    return Problem(tuple(one_equation(problem, i) for i, problem in enumerate(problems)))


def join_paths(problem: Problem, paths: Sequence[Path]) -> Path:
    """Return the path of the joined problem: the i-th equation of the i-th path at every size."""
    if all(path is paths[0] for path in paths):
        return paths[0]
    sizes = range(len(paths[0]))
    return Path(problem, tuple(Solution.rows(problem, [(path[k], i) for i, path in enumerate(paths)]) for k in sizes))


def one_equation(problem: Problem, i: int) -> Block:
    """Return one equation as a block of its own."""
    block, j = problem.locate(i)
    if len(block.target_names) == 1:
        return block
    size = len(block.terms)
    z, residual = block.target(j)
    factor = np.zeros((size + 1, size + 1))
    factor[:size, :size], factor[:size, size] = block.theta_factor, z
    factor[size, size] = np.linalg.norm(residual)
    return Block(factor, block.n_samples, block.terms, (block.target_names[j],))
