"""Convex constraints that are not linear: quadratic and semidefinite ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from exactsindy.constraints.physics import coordinates
from exactsindy.constraints.rules import Coefficient, RulesBuilder
from exactsindy.errors import ConstraintError

_INDEFINITE = 1e-12  # eigenvalues below minus this share of the largest are not rounding


@dataclass(frozen=True, eq=False)
class Cone:
    """``offset - matrix @ x[variables]`` lies in a cone: second-order, or symmetric PSD matrices (upper triangle).

    A PSD matrix is stored column by column with off-diagonal entries times sqrt(2), so that products are traces.
    """

    kind: Literal["second-order", "semidefinite"]
    variables: tuple[int, ...]
    matrix: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    source: int


@dataclass(frozen=True)
class Quadratic:
    """``sum q[a, b] a b + sum linear[c] c <= rhs`` over coefficients, for a positive semidefinite q.

    Parameters
    ----------
    q
        Mapping from a pair of coefficients ``(a, b)`` to a number; ``(a, b)`` and ``(b, a)`` add up.
    rhs
        The right side.
    linear
        Mapping from coefficient to number.

    Examples
    --------
    >>> import exactsindy as es
    >>> a, b = ("x'", "x"), ("y'", "y")
    >>> es.constraints.Quadratic({(a, a): 1, (b, b): 1}, 4).rhs
    4
    """

    q: Mapping[tuple[Coefficient, Coefficient], float]
    rhs: float
    linear: Mapping[Coefficient, float] | None = None

    def write(self, rules: RulesBuilder) -> None:
        """Add its cone: |L'x|^2 <= r with q = L L' is ((1 + r) / 2, L'x, (1 - r) / 2) in a second-order cone."""
        pairs = [(rules.variable(a), rules.variable(b), rules.number(v, "q")) for (a, b), v in self.q.items()]
        line = {rules.variable(c): rules.number(v, "linear") for c, v in (self.linear or {}).items()}
        used = sorted({v for a, b, _ in pairs for v in (a, b)} | set(line))
        at = {v: i for i, v in enumerate(used)}
        q = np.zeros((len(used), len(used)))
        for a, b, value in pairs:
            q[at[a], at[b]] += value / 2
            q[at[b], at[a]] += value / 2
        values, vectors = np.linalg.eigh(q) if used else (np.zeros(0), q)
        if np.any(values < -_INDEFINITE * max(float(np.abs(values).max(initial=0.0)), 1e-300)):
            form = f"the quadratic form is not convex (it has the eigenvalue {values.min():.3g})"
            raise ConstraintError(f"{rules.speaker}: {form}: the matrix q must be positive semidefinite.")
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        slope = np.array([line.get(v, 0.0) for v in used])
        rhs = rules.number(self.rhs, "rhs")
        matrix = np.vstack([slope / 2, -root, -slope / 2])
        offset = np.concatenate([[(1 + rhs) / 2], np.zeros(len(root)), [(1 - rhs) / 2]])
        rules.convex.append(Cone("second-order", tuple(used), matrix, offset, rules.source))


@dataclass(frozen=True, eq=False)
class PositiveSemidefinite:
    """``constant + sum c * parts[c]`` is positive semidefinite; all matrices symmetric, of one size."""

    constant: npt.ArrayLike
    parts: Mapping[Coefficient, npt.ArrayLike]

    def write(self, rules: RulesBuilder) -> None:
        """Add its cone."""
        constant = _symmetric(rules, self.constant, None)
        parts = {rules.variable(c): _symmetric(rules, m, len(constant)) for c, m in self.parts.items()}
        used = tuple(sorted(parts))
        matrix = np.column_stack([-triangle(parts[v]) for v in used])
        rules.convex.append(Cone("semidefinite", used, matrix, triangle(constant), rules.source))


@dataclass(frozen=True)
class Dissipative:
    """The linear part A of the equations takes energy out: -(A + A')/2 - margin I is positive semidefinite.

    Then x'Ax <= -margin |x|^2, so A is stable (its eigenvalues have real parts <= -margin).
    """

    margin: float = 0.0

    def write(self, rules: RulesBuilder) -> None:
        """Add its cone."""
        states = coordinates(rules, None)
        count = len(states)
        names = {name: j for j, name in enumerate(rules.problem.names)}
        parts: dict[Coefficient, npt.ArrayLike] = {}
        for i, (e, _) in enumerate(states):
            for j, (_, other) in enumerate(states):
                if other in names and rules.exists[e * rules.width + names[other]]:
                    part = np.zeros((count, count))
                    part[i, j] = -0.5
                    parts[e, names[other]] = part + part.T
        PositiveSemidefinite(-rules.number(self.margin, "margin") * np.eye(count), parts).write(rules)


def triangle(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the upper triangle column by column, off-diagonal entries times sqrt(2)."""
    rows, columns = np.triu_indices(len(matrix))
    order = np.lexsort((rows, columns))
    rows, columns = rows[order], columns[order]
    return np.asarray(np.where(rows == columns, 1.0, np.sqrt(2.0)) * matrix[rows, columns])


def _symmetric(rules: RulesBuilder, given: npt.ArrayLike, size: int | None) -> npt.NDArray[np.float64]:
    matrix = np.asarray(given, dtype=np.float64)
    wanted = (size, size) if size else (len(matrix), len(matrix)) if matrix.ndim else ()
    if matrix.ndim != 2 or matrix.shape != wanted or not np.isfinite(matrix).all():
        raise ConstraintError(f"{rules.speaker}: a matrix has shape {matrix.shape}: expected {wanted or '(n, n)'}.")
    if not np.allclose(matrix, matrix.T, rtol=1e-14, atol=0):
        raise ConstraintError(f"{rules.speaker}: a matrix is not symmetric.")
    return matrix
