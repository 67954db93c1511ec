"""Constraints from statistics: significance, outliers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exactsindy.constraints.rules import RulesBuilder
from exactsindy.errors import ConstraintError
from exactsindy.problem import NamedTerm, Problem, TermLike

#: How `with_row_terms` names the term that explains one row.
_ROW = "row "


@dataclass(frozen=True)
class Significant:
    """Every coefficient has a t-statistic of at least ``t`` in size.

    t^2 = (rise of the objective without the term) (n - terms) / objective. Only `solve` and `solve_path` take it, for
    equations that are solved apart. It is checked for whole supports, best first, so the answer is exact.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=(60, 5))
    >>> problem = es.Problem.from_arrays(theta, theta[:, 0] + 0.5 * rng.normal(size=60))
    >>> es.solve(problem, 3).support, es.solve(problem, 3, constraints=[es.constraints.Significant(3)]).support
    (((0, 2, 4),), ((0,),))
    """

    t: float

    def write(self, rules: RulesBuilder) -> None:
        """Set the level."""
        level = rules.number(self.t, "t")
        if level <= 0:
            raise ConstraintError(f"{rules.speaker}: t={level:g}: expected a number > 0, e.g. 2.")
        rules.t_level = max(rules.t_level, level)


@dataclass(frozen=True)
class Outliers:
    """At most ``rows`` rows are left out, and at most ``terms`` terms are used, per equation.

    For problems of `with_row_terms`, where each row has a term of its own: a row whose term is present is fitted
    exactly and so left out. Solve with ``k = terms + rows``.
    """

    rows: int
    terms: int

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        most, few = rules.count(self.rows, "rows"), rules.count(self.terms, "terms")
        own = [rules.problem.names[v % rules.width].startswith(_ROW) for v in range(len(rules.exists))]
        if not any(own):
            raise ConstraintError(f"{rules.speaker}: the problem has no terms of rows: build it with with_row_terms.")
        for e in range(len(rules.problem.target_names)):
            variables = rules.all_of(e)
            rules.present({v: 1 for v in variables if own[v]}, most)
            rules.present({v: 1 for v in variables if not own[v]}, few)


def with_row_terms(
    theta: npt.ArrayLike,
    targets: npt.ArrayLike,
    *,
    names: Iterable[str | TermLike] | None = None,
    target_names: Iterable[str] | None = None,
) -> Problem:
    """Build a problem in which each row has a term of its own, to leave outliers out with `Outliers`.

    The arguments are those of `Problem.from_arrays`. The rows are kept, so this is for small data: the search is exact,
    and takes about as long as looking at all sets of outliers. Above some fifty rows a time limit leaves a gap, which
    the answer states.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> x = np.arange(12.0)
    >>> y = 2 * x
    >>> y[[3, 8]] = 40, -7
    >>> problem = es.constraints.with_row_terms(x[:, None], y, names=["x"], target_names=["x'"])
    >>> solution = es.solve(problem, 3, constraints=[es.constraints.Outliers(rows=2, terms=1)])
    >>> {name: round(value, 9) for name, value in solution.terms["x'"].items()}
    {'x': 2.0, 'row 3': 34.0, 'row 8': -23.0}
    """
    matrix = np.asarray(theta, dtype=np.float64)
    if matrix.ndim != 2:
        raise ConstraintError(f"with_row_terms: theta has {matrix.ndim} dimensions: expected 2 (rows x terms).")
    columns = list(names) if names is not None else [f"theta{j}" for j in range(matrix.shape[1])]
    rows = [NamedTerm(f"{_ROW}{i}") for i in range(len(matrix))]
    stacked = np.hstack([matrix, np.eye(len(matrix))])
    return Problem.from_arrays(stacked, targets, names=[*columns, *rows], target_names=target_names)
