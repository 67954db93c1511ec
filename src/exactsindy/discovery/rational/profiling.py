"""Denominators of few terms whose constants fit best under all candidates of p and M: where searches of sums start.

The regression that is linear in the constants of D has the noise of the derivative in its columns, which draws them to
zero. The residual of p + M / D itself, all candidates of p and M being free, has no such error: it is looked at on a
grid of the constants, one or two of them, and followed down from the best points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.discovery.rational.output_fit import keeps_sign
from exactsindy.discovery.rational.rows import Rows
from exactsindy.discovery.rational.shapes import Columns
from exactsindy.solver import Deadline

# Constants of D on the grid, as the mean size of their term over that of the normalised one: of one term, and of two.
_ONE: tuple[float, ...] = tuple(np.geomspace(0.1, 30.0, 9).tolist())
_TWO = (0.2, 1.0, 5.0)
# Negative ones as shares of what brings D to zero at a sample.
_NEGATIVE = (0.5, 0.9)
# Denominators that are followed down from the grid, and kept beside those 1 + d psi, which most laws have; residuals
# looked at on the way, and sizes of constants, over the grid's largest, that are no answer but another normalisation.
_FOLLOWED, _KEPT, _LOOKS, _FAR = 12, 6, 40, 30.0
# Columns of p and M nearer to each other than this share of their length are dependent.
_DEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class _Profile:
    """Residuals of p + M / D for constants of D: a basis of the columns of p, and the target orthogonal to it."""

    rows: Rows
    basis: Array
    target: Array

    @classmethod
    def of(cls, rows: Rows) -> _Profile:
        table = rows.rates(rows.plain)
        from scipy.linalg import qr  # loaded when needed: it takes as much memory as numpy

        basis, r, _ = qr(table / np.sqrt((table**2).sum(axis=0)), mode="economic", pivoting=True)
        basis = basis[:, np.abs(np.diag(r)) > _DEPENDENT]
        return cls(rows, basis, rows.target - basis @ (basis.T @ rows.target))

    def rss(self, under: Columns, coef: Array) -> float:
        """Return the least residual sum of squares with this denominator; infinite where it has a pole."""
        bottom = self.rows.under[:, under[0]] + self.rows.under[:, under[1:]] @ coef
        if not keeps_sign(bottom):
            return math.inf
        columns = self.rows.rates(self.rows.over / bottom[:, None])
        columns = columns / np.sqrt((columns**2).sum(axis=0))
        columns = columns - self.basis @ (self.basis.T @ columns)
        from scipy.linalg import qr

        q, r, _ = qr(columns, mode="economic", pivoting=True, check_finite=False)
        q = q[:, np.abs(np.diag(r)) > _DEPENDENT]
        left = self.target - q @ (q.T @ self.target)
        return float(left @ left)


def profiled(rows: Rows, clock: Deadline) -> list[tuple[Columns, Array]]:
    """Return denominators of two or three terms, the first normalised, with constants that fit best, the best first."""
    from scipy.optimize import minimize  # loaded when needed: it costs more than numpy

    if not np.isfinite(rows.plain).all() or not rows.plain.any(axis=0).all():
        return []
    profile, n = _Profile.of(rows), rows.count
    if n <= rows.plain.shape[1] + rows.over.shape[1]:
        return []

    size = np.sqrt(np.mean(rows.under**2, axis=0))
    constant = next((j for j in range(len(size)) if np.ptp(rows.under[:, j]) == 0), None)

    def value(under: Columns, coef: Array) -> float:
        far = np.abs(coef) * size[list(under[1:])] > _FAR * _ONE[-1] * size[under[0]]
        rss = math.inf if far.any() else profile.rss(under, coef)
        return n * math.log(max(rss, rows.floor) / n) + len(coef) * math.log(n) if math.isfinite(rss) else math.inf

    best: dict[Columns, tuple[float, Array]] = {}
    for under, coef in grid(rows.under):
        go_on()
        if clock.expired:
            break
        found = value(under, coef)
        if found < best.get(under, (math.inf, coef))[0]:
            best[under] = found, coef
    ranked = sorted(best.items(), key=lambda item: item[1][0])
    simple = {under for under in best if len(under) == 2 and under[0] == constant}
    followed = []
    for rank, (under, (_, coef)) in enumerate(ranked):
        if rank >= _FOLLOWED and under not in simple:
            continue
        go_on()
        if clock.expired:
            break
        simplex = np.vstack([coef, *(coef * np.where(np.arange(len(coef)) == j, 1.3, 1.0) for j in range(len(coef)))])
        limits = {"maxfev": _LOOKS * len(coef), "initial_simplex": simplex, "xatol": 1e-4 * np.abs(coef).min()}
        result = minimize(
            lambda d, under=under: min(value(under, d), 1e300), coef, method="Nelder-Mead", options=limits
        )
        followed.append((float(result.fun), under, np.asarray(result.x, dtype=float)))
    followed.sort(key=lambda item: item[0])
    return [(under, coef) for rank, (_, under, coef) in enumerate(followed) if rank < _KEPT or under in simple]


def grid(under: Array, of_two: Sequence[float] = _TWO) -> Iterator[tuple[Columns, Array]]:
    """Yield denominators with constants on the grid: of two terms, and of three of which the first is the constant.

    ``of_two`` are the constants where there are two.
    """
    size = np.sqrt(np.mean(under**2, axis=0))
    usable = [j for j in range(under.shape[1]) if np.isfinite(size[j]) and size[j] > 0]
    for first, second in combinations(usable, 2):
        for step in _steps(under, size, first, second, _ONE):
            yield (first, second), np.array([step])
    constant = next((j for j in usable if np.ptp(under[:, j]) == 0), None)
    if constant is None:
        return
    for second, third in combinations([j for j in usable if j != constant], 2):
        for steps in product(*(_steps(under, size, constant, j, of_two) for j in (second, third))):
            yield (constant, second, third), np.array(steps)


def _steps(under: Array, size: Array, first: int, second: int, sizes: Sequence[float]) -> list[float]:
    scale = size[first] / size[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = under[:, first] / under[:, second]
    least = float(np.min(ratio, initial=np.inf, where=ratio > 0))
    negative = [-share * least for share in _NEGATIVE] if np.isfinite(least) else []
    return [*(s * float(scale) for s in sizes), *negative]
