"""One problem and one path from the variants that were best for each equation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from exactsindy.problem import Block, Problem
from exactsindy.solver import Path, Solution


def join_problems(problems: Sequence[Problem]) -> Problem:
    """Return the problem whose i-th equation is that of the i-th problem (all have the same equations)."""
    if all(problem is problems[0] for problem in problems):
        return problems[0]
    return Problem(tuple(alone(problem, i) for i, problem in enumerate(problems)))


def join_paths(problem: Problem, paths: Sequence[Path]) -> Path:
    """Return the path of the joined problem: the i-th equation of the i-th path at every size."""
    if all(path is paths[0] for path in paths):
        return paths[0]
    sizes = range(len(paths[0]))
    return Path(problem, tuple(merge(problem, [(path[k], i) for i, path in enumerate(paths)]) for k in sizes))


def alone(problem: Problem, i: int) -> Block:
    """Return one equation as a block of its own."""
    block, j = problem.locate(i)
    if len(block.target_names) == 1:
        return block
    size = len(block.terms)
    z, rest = block.target(j)
    factor = np.zeros((size + 1, size + 1))
    factor[:size, :size], factor[:size, size] = block.theta_factor, z
    factor[size, size] = np.linalg.norm(rest)
    return Block(factor, block.n_samples, block.terms, (block.target_names[j],))


def merge(problem: Problem, rows: Sequence[tuple[Solution, int]]) -> Solution:
    """Return the solution whose equations are given ones of other solutions, over the terms of ``problem``."""
    position = {name: j for j, name in enumerate(problem.names)}
    columns = [np.array([position[name] for name in s.problem.names]) for s, _ in rows]

    def spread(name: str) -> Any:
        table = np.zeros((len(rows), len(problem.terms)))
        for i, (s, row) in enumerate(rows):
            table[i, columns[i]] = getattr(s, name)[row]
        return table

    def pick(name: str) -> Any:
        return np.array([getattr(s, name)[row] for s, row in rows])

    return Solution(
        problem=problem,
        coef=spread("coef"),
        support=tuple(tuple(sorted(int(columns[i][j]) for j in s.support[r])) for i, (s, r) in enumerate(rows)),
        objective=pick("objective"),
        lower_bound=pick("lower_bound"),
        margin=pick("margin"),
        status=tuple(s.status[row] for s, row in rows),
        nodes=pick("nodes"),
        seconds=pick("seconds"),
        ridge=spread("ridge"),
        k=tuple(int(s.k[row]) for s, row in rows),  # type: ignore[index]
        constraints=rows[0][0].constraints,  # by name, so they mean the same in the joined problem
    )
