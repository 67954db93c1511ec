"""Paths under a limit, in which no equation starves another."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from exactsindy.problem import Problem
from exactsindy.selection.paths import alone, merge
from exactsindy.solver import Path, Settings, Total, ridge_matrix, solve_path


def shared_path(
    problem: Problem,
    k_max: int | Total,
    *,
    ridge: Any = 0.0,
    constraints: Sequence[Any] = (),
    start: Any = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> Path:
    """Return what `solve_path` does, with a time limit shared out among the equations.

    `solve_path` takes equations in turn and small sizes first, so that a limit may leave the last equations without
    an answer of any size. Here each has its share of the time, and the node limit is for each.

    Parameters
    ----------
    problem, k_max, ridge, constraints, start, settings
        As in `solve_path`.

    Examples
    --------
    >>> import numpy as np
    >>> theta = np.random.default_rng(0).normal(size=(50, 6))
    >>> problem = Problem.from_arrays(theta, theta[:, :2])
    >>> shared_path(problem, 2, settings=Settings(seconds=5.0))[1].support
    ((0,), (1,))
    """
    limited = settings.seconds is not None or settings.nodes is not None
    if isinstance(k_max, Total) or tuple(constraints) or not limited or len(problem.target_names) == 1:
        return solve_path(problem, k_max, ridge=ridge, constraints=constraints, start=start, settings=settings)
    weights = ridge_matrix(problem, ridge)
    begin = time.monotonic()
    paths = []
    count = len(problem.target_names)
    for i in range(count):
        own = Problem((alone(problem, i),))
        columns = problem.columns(problem.locate(i)[0])
        mine = settings
        if settings.seconds is not None:
            left = settings.seconds - (time.monotonic() - begin)
            mine = replace(settings, seconds=max(left / (count - i), 0.02))
        first = None if start is None else [[problem.names[j] for j in start.support[i]]]
        paths.append(solve_path(own, k_max, ridge=weights[i, columns], start=first, settings=mine))
    return Path(problem, tuple(merge(problem, [(path[k], 0) for path in paths]) for k in range(len(paths[0]))))
