"""All equations of a constrained problem as one dense least-squares problem, for plain methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.constraints import Rules


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
        problem, own = rules.problem, []
        blocks, targets, constant = [], [], 0.0
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
        presence = [(row.variables, row.coefs, row.rhs) for row in rules.presence]
        presence += [(tuple(vs), (1.0,) * len(vs), float(limit)) for vs, limit in budgets]
        return cls(
            variables,
            np.vstack([_diagonal(blocks, len(variables)), ridge_rows]),
            np.concatenate([*targets, np.zeros(len(ridge_rows))]),
            constant,
            *_dense([(row.variables, row.coefs, row.rhs) for row in rules.equalities], position),
            *_dense([(row.variables, row.coefs, row.rhs) for row in rules.inequalities], position),
            rules.lower[variables],
            rules.upper[variables],
            rules.least[variables],
            rules.most[variables],
            *_dense(presence, position),
        )

    def scaled(self) -> tuple[Stacked, float]:
        """Return the same problem in units in which columns and target have norm 1, and the unit of the objective."""
        size = np.linalg.norm(self.matrix, axis=0)
        size[size == 0] = 1.0
        unit = float(np.linalg.norm(self.target)) or 1.0
        to_user = unit / size  # x = to_user * scaled x
        return (
            Stacked(
                self.variables,
                self.matrix / size,
                self.target / unit,
                self.constant / unit**2,
                self.equal * to_user,
                self.equal_rhs,
                self.below * to_user,
                self.below_rhs,
                self.lower / to_user,
                self.upper / to_user,
                self.least / to_user,
                self.most / to_user,
                self.presence,
                self.presence_rhs,
            ),
            unit**2,
        )


def _diagonal(blocks: Sequence[NDArray[np.float64]], width: int) -> NDArray[np.float64]:
    matrix = np.zeros((sum(len(block) for block in blocks), width))
    row = column = 0
    for block in blocks:
        matrix[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return matrix


def _dense(
    rows: Sequence[tuple[Sequence[int], Sequence[float], float]], position: Mapping[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows that concern these variables, as a matrix and right sides."""
    own = [row for row in rows if row[0] and row[0][0] in position]
    matrix = np.zeros((len(own), len(position)))
    for line, (variables, coefs, _) in zip(matrix, own, strict=True):
        line[[position[v] for v in variables]] = coefs
    return matrix, np.array([rhs for _, _, rhs in own])
