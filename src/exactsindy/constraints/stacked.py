"""All equations of a constrained problem as one dense least-squares problem, for plain methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exactsindy.constraints.rules import Row, Rules

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stacked:
    """``|target - matrix x|^2 + constant`` for all equations at once, with every constraint as a dense row."""

    variables: NDArray[np.intp]  # in the numbering of the rules
    matrix: NDArray[np.float64]
    target: NDArray[np.float64]
    constant: float
    equal: NDArray[np.float64]
    equal_rhs: NDArray[np.float64]
    below: NDArray[np.float64]
    below_rhs: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    presence: NDArray[np.float64]
    presence_rhs: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        rules: Rules,
        equations: Sequence[int],
        ridge: NDArray[np.float64],
        weights: Sequence[float],
        budgets: Sequence[tuple[Sequence[int], int]],
    ) -> Stacked:
        """Stack some equations of a problem; ``budgets`` are variables with how many of them may be present."""
        problem, own, blocks, targets, constant = rules.problem, [], [], [], 0.0
        for e, weight in zip(equations, weights, strict=True):
            block, j = problem.locate(problem.target_names[e])
            z, rest = block.target(j)
            own.append(e * rules.width + problem.columns(block))
            blocks.append(np.sqrt(weight) * block.theta_factor)
            targets.append(np.sqrt(weight) * z)
            constant += weight * float(rest @ rest)
        variables = np.concatenate(own)
        position = {int(v): i for i, v in enumerate(variables)}
        ridge_rows = np.diag(np.sqrt(ridge.ravel()[variables]))
        ridge_rows = ridge_rows[np.any(ridge_rows != 0, axis=1)]
        budget_rows = [Row(tuple(vs), (1.0,) * len(vs), float(limit), source=-1) for vs, limit in budgets]
        return cls(
            variables,
            np.vstack([_diagonal(blocks, len(variables)), ridge_rows]),
            np.concatenate([*targets, np.zeros(len(ridge_rows))]),
            constant,
            *_dense(rules.equalities, position),
            *_dense(rules.inequalities, position),
            rules.lower[variables],
            rules.upper[variables],
            rules.least[variables],
            rules.most[variables],
            *_dense([*rules.presence, *budget_rows], position),
        )

    def restricted(self, columns: Sequence[int], lower: Array, upper: Array) -> Stacked:
        """Return the problem on some columns alone, between other bounds; presences are decided by the choice."""
        chosen = list(columns)
        return replace(
            self,
            variables=self.variables[chosen],
            matrix=self.matrix[:, chosen],
            equal=self.equal[:, chosen],
            below=self.below[:, chosen],
            lower=lower,
            upper=upper,
            least=self.least[chosen],
            most=self.most[chosen],
            presence=np.zeros((0, len(chosen))),
            presence_rhs=np.zeros(0),
        )

    def inequalities(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return all inequalities and bounds of the coefficients as ``G x >= h``."""
        eye = np.eye(len(self.lower))
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        g = np.vstack([-self.below, eye[low], -eye[high]])
        return g, np.concatenate([-self.below_rhs, self.lower[low], -self.upper[high]])


def _diagonal(blocks: Sequence[NDArray[np.float64]], width: int) -> NDArray[np.float64]:
    matrix = np.zeros((sum(len(block) for block in blocks), width))
    row = column = 0
    for block in blocks:
        matrix[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return matrix


def _dense(rows: Sequence[Row], position: Mapping[int, int]) -> tuple[Array, Array]:
    """Return the rows that concern these variables, as a matrix and right sides."""
    kept = [row for row in rows if row.variables and row.variables[0] in position]
    matrix = np.zeros((len(kept), len(position)))
    for line, row in zip(matrix, kept, strict=True):
        line[[position[v] for v in row.variables]] = row.coefs
    return matrix, np.array([row.rhs for row in kept])
