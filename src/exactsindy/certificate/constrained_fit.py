"""The best fit of a support under linear conditions, in plain NumPy on scaled numbers.

Columns have norm 1, the target has norm 1, and every row of the conditions, restricted to the support, is divided by
its largest entry: what is feasible does not depend on the units of anything. The fit is least distance programming by
nonnegative least squares (Lawson and Hanson 1974, ch. 23): after an orthogonal change of variables, min |y|^2 subject
to G y >= h is the residual of the NNLS problem [G'; h'] u = (0, ..., 0, 1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.condition_records import LinearRow
from exactsindy.certificate.conditions import Conditions
from exactsindy.certificate.exact import CheckedEquation, as_float

Array = NDArray[np.float64]
_RANK = 1e-12  # singular values below this share of the largest are rounding
_FEASIBLE = 1e-10  # by this share of what it adds up a condition may be missed
_NOISE = 1e-14  # of the largest coefficient: rounding
#: Residual norms of these fits are right to this share of the norm of the target.
ACCURACY = 1e-9


@dataclass(frozen=True, eq=False)
class Fitter:
    """Equations that are fitted together: ``scale^2 |target - matrix u|^2 + constant``, x_v = u_v scale / norm_v."""

    conditions: Conditions
    variables: tuple[int, ...]
    matrix: Array
    target: Array
    norms: Array  # of the columns, by which they were divided
    scale: float
    constant: float

    @classmethod
    def of(cls, conditions: Conditions, equations: Sequence[CheckedEquation], rows: Sequence[int]) -> Fitter:
        """Stack equations, the columns that are not zero."""
        names = conditions.names
        variables: list[int] = []
        norms: list[float] = []
        scale = math.hypot(*(math.sqrt(e.weight) * e.target_norm for e in equations)) or 1.0
        height, blocks, targets = 0, [], []
        for e, equation in zip(rows, equations, strict=True):
            used = [j for j in range(len(equation.columns)) if equation.norms[j]]
            own = np.array([equation.norms[j] for j in used])
            ridge = np.sqrt(equation.ridge[used]) / own if used else np.zeros(0)
            body = math.sqrt(equation.weight) * (equation.factor[:, used] / own)
            blocks.append(np.vstack([body, np.diag(ridge)[ridge > 0]]))
            targets.append(np.append(math.sqrt(equation.weight) * equation.z / scale, np.zeros(int((ridge > 0).sum()))))
            variables += [e * names.width + equation.columns[j] for j in used]
            norms += own.tolist()
            height += len(blocks[-1])
        matrix, row, column = np.zeros((height, len(variables))), 0, 0
        for block in blocks:
            matrix[row : row + block.shape[0], column : column + block.shape[1]] = block
            row, column = row + block.shape[0], column + block.shape[1]
        constant = as_float(sum((e.constant for e in equations), start=equations[0].constant * 0))
        return cls(conditions, tuple(variables), matrix, np.concatenate(targets), np.array(norms), scale, constant)

    def fit(self, support: frozenset[int], *, sizes: bool = True) -> tuple[float, dict[int, float]]:
        """Return the least objective on a support under all linear conditions and its coefficients; inf if none.

        ``sizes`` says whether present terms have to have their sizes.
        """
        columns = [p for p, v in enumerate(self.variables) if v in support]
        if len(columns) < len(support):
            return math.inf, {}
        chosen = [self.variables[p] for p in columns]
        rows = [row for meaning in self.conditions.meanings for row in meaning.rows]
        best, coefficients = math.inf, {}
        for extra in self._sizes(chosen) if sizes else [[]]:
            system = self._system([*rows, *extra], chosen, columns)
            u = None if system is None else _convex_fit(self.matrix[:, columns], self.target, *system)
            if u is None:
                continue
            residual = self.target - self.matrix[:, columns] @ u
            value = float(residual @ residual) * self.scale**2 + self.constant
            if value < best:
                best = value
                coefficients = dict(zip(chosen, (u * self.scale / self.norms[columns]).tolist(), strict=True))
        return best, coefficients

    def _sizes(self, chosen: Sequence[int]) -> Iterator[list[LinearRow]]:
        """Yield the rows for each choice of signs of terms whose size is limited."""
        limits: dict[int, tuple[float, float]] = {}
        for meaning in self.conditions.meanings:
            for v, (least, most) in meaning.sizes.items():
                low, high = limits.get(v, (0.0, math.inf))
                limits[v] = max(low, least), min(high, most)
        limited = [v for v in chosen if v in limits]
        # A largest size alone needs no choice of a sign.
        signed = [v for v in limited if limits[v][0] > 0]
        both = [
            LinearRow({v: sign}, limits[v][1], False)
            for v in limited
            for sign in (1.0, -1.0)
            if limits[v][1] < math.inf
        ]
        for signs in itertools.product((1.0, -1.0), repeat=len(signed)):
            yield both + [LinearRow({v: -s}, -limits[v][0], False) for v, s in zip(signed, signs, strict=True)]

    def _system(
        self, rows: Sequence[LinearRow], chosen: Sequence[int], columns: Sequence[int]
    ) -> tuple[Array, Array, Array, Array] | None:
        """Return equalities (E, e) and inequalities G u >= h on the support, scaled; None if one cannot hold."""
        position = {v: p for p, v in enumerate(chosen)}
        equal: list[tuple[Array, float]] = []
        below: list[tuple[Array, float]] = []
        for row in rows:
            line = np.zeros(len(chosen))
            for v, number in row.numbers.items():
                if v in position:
                    line[position[v]] = number * (self.scale / self.norms[columns[position[v]]])
            largest = float(np.abs(line).max(initial=0.0))
            if largest == 0.0:
                if row.rhs < 0 or (row.equal and row.rhs != 0):
                    return None
                continue
            (equal if row.equal else below).append((line / largest, row.rhs / largest))
        e, d = _stacked(equal, len(chosen))
        g, h = _stacked(below, len(chosen))
        return e, d, -g, -h


def _stacked(rows: Sequence[tuple[Array, float]], width: int) -> tuple[Array, Array]:
    return np.array([line for line, _ in rows]).reshape(len(rows), width), np.array([rhs for _, rhs in rows])


def _convex_fit(matrix: Array, target: Array, equal: Array, rhs: Array, g: Array, h: Array) -> Array | None:
    """Return the least |target - matrix u|^2 subject to equal u == rhs and g u >= h; None if nothing satisfies them."""
    particular, null = _affine(equal, rhs, matrix.shape[1])
    if particular is None:
        return None
    g_null, gap = g @ null, h - g @ particular
    y = _least_squares(matrix @ null, target - matrix @ particular)
    if np.any(_missing(g, h, particular + null @ y) > _FEASIBLE):
        bounded = _constrained(matrix @ null, target - matrix @ particular, g_null, gap)
        if bounded is None or np.any(_missing(g, h, particular + null @ bounded) > 1e-7):
            return None
        y = bounded
    return np.asarray(particular + null @ y)


def _missing(g: Array, h: Array, u: Array) -> Array:
    """Return by which share of what they add up conditions are missed; coefficients of rounding size do not count."""
    noise = _NOISE * float(np.abs(u).max(initial=0.0)) / _FEASIBLE
    return np.asarray((h - g @ u) / (np.abs(g) @ np.abs(u) + np.abs(h) + noise + 1e-300))


def _affine(equal: Array, rhs: Array, n: int) -> tuple[Array | None, Array]:
    """Return a solution and the null space of equal @ u == rhs; None if there is no solution."""
    if len(equal) == 0:
        return np.zeros(n), np.eye(n)
    u, values, vt = np.linalg.svd(equal)
    rank = int(np.sum(values > _RANK * float(values[0])))
    solution = vt[:rank].T @ ((u[:, :rank].T @ rhs) / values[:rank])
    off = np.abs(equal @ solution - rhs)
    noise = _NOISE * float(np.abs(solution).max(initial=0.0))
    if np.any(off > 1e-9 * (np.abs(equal) @ np.abs(solution) + np.abs(rhs)) + noise):
        return None, vt[rank:].T
    return solution, vt[rank:].T


def _least_squares(matrix: Array, target: Array) -> Array:
    return np.asarray(np.linalg.lstsq(matrix, target, rcond=_RANK)[0]) if matrix.shape[1] else np.zeros(0)


def _constrained(matrix: Array, target: Array, g: Array, h: Array) -> Array | None:
    """Return the minimiser under g y >= h by least distance programming; None if infeasible."""
    from scipy.optimize import nnls

    count = matrix.shape[1]
    if count == 0:
        return None
    # Directions the data do not see are held by a weak pull to 0, so that a factor exists.
    pull = 1e-9 * max(float(np.abs(matrix).max(initial=0.0)), 1e-300) * np.eye(count)
    q, r = np.linalg.qr(np.vstack([matrix, pull]))
    inverse = np.linalg.inv(r)
    centre = q.T @ np.concatenate([target, np.zeros(count)])
    rows, right = g @ inverse, h - g @ inverse @ centre
    size = np.linalg.norm(np.column_stack([rows, right]), axis=1)
    size[size == 0] = 1.0
    stacked = np.vstack([(rows / size[:, None]).T, right / size])
    goal = np.zeros(count + 1)
    goal[-1] = 1.0
    multipliers, _ = nnls(stacked, goal, maxiter=100 * stacked.shape[1] + 100)
    residual = stacked @ multipliers - goal
    if np.linalg.norm(residual) <= 1e-9:
        return None
    y = inverse @ (-residual[:-1] / residual[-1] + centre)
    return np.asarray(_polished(matrix, target, g, h, multipliers > 0, y))


def _polished(matrix: Array, target: Array, g: Array, h: Array, active: NDArray[np.bool_], fallback: Array) -> Array:
    """Return the minimiser on the active inequalities taken as equalities, if it is feasible."""
    particular, null = _affine(g[active], h[active], matrix.shape[1])
    if particular is None:
        return fallback
    y = particular + null @ _least_squares(matrix @ null, target - matrix @ particular)
    return y if not np.any(_missing(g, h, y) > 1e-9) else fallback
