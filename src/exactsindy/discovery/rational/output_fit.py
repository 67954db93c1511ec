"""Fit the constants of a rational law so that its rates leave the least residual: variable projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.discovery.rational.rows import Rows
from exactsindy.discovery.rational.shapes import Shape

# Largest number of Gauss-Newton steps, and the fall of the residual sum of squares (as a share) that ends them.
_STEPS, _ENOUGH = 25, 1e-10
# Attempts at a step, the damping raised ten-fold after each.
_TRIES = 8
# The denominator must stay above this share of its largest value at the samples: nearer to zero is a pole.
_LEAST_DENOMINATOR = 1e-6


@dataclass(frozen=True, eq=False)
class LawFit:
    """A law p + M / D with its coefficients; those of D without the normalised one. ``rss`` is that of the rows."""

    shape: Shape
    plain: Array
    over: Array
    under: Array
    rss: float

    def denominator(self, rows: Rows) -> Array:
        """Return D at the samples."""
        return denominator(rows, self.shape, self.under)

    def fraction(self, rows: Rows) -> Array:
        """Return M / D at the samples, 0 where nothing is divided."""
        if not self.shape.over:
            return np.zeros(len(rows.label))
        return np.asarray(rows.over[:, self.shape.over] @ self.over / self.denominator(rows))


def denominator(rows: Rows, shape: Shape, coef: Array) -> Array:
    """Return D at the samples for coefficients of its free terms."""
    if not shape.under:
        return np.ones(len(rows.label))
    return np.asarray(rows.under[:, shape.under[0]] + rows.under[:, shape.free_under] @ coef)


def keeps_sign(values: Array) -> bool:
    """Return True if a denominator is finite and stays away from zero, on one side of it."""
    if not np.isfinite(values).all():
        return False
    least = _LEAST_DENOMINATOR * np.abs(values).max()
    return bool((values > least).all() or (values < -least).all())


def fit_law(rows: Rows, shape: Shape, start: Array) -> LawFit | None:
    """Return the law of least residual near a start for the coefficients of D; None if that start has a pole.

    The coefficients of p and M are the least-squares ones at every D (variable projection); a step that would bring D
    to zero at a sample is refused.
    """
    present = _projected(rows, shape, np.asarray(start, dtype=float))
    if present is None or not len(shape.free_under) or not shape.over:
        return None if present is None else present[0]
    law, residual, basis = present
    damping = 0.0
    for _ in range(_STEPS):
        d = law.denominator(rows)
        slopes = rows.rates(-rows.under[:, shape.free_under] * (law.fraction(rows) / d)[:, None])
        slopes = slopes - basis @ (basis.T @ slopes)
        square, right = slopes.T @ slopes, slopes.T @ residual
        moved = None
        for _ in range(_TRIES):
            raised = square + np.diag((damping + 1e-14) * np.diag(square) + np.finfo(float).tiny)
            try:
                change = np.linalg.solve(raised, right)
            except np.linalg.LinAlgError:
                change = np.full(len(right), np.nan)
            trial = _projected(rows, shape, law.under + change) if np.isfinite(change).all() else None
            if trial is not None and trial[0].rss <= law.rss:
                moved = trial
                break
            damping = max(10 * damping, 1e-3)
        if moved is None:
            break
        fall = law.rss - moved[0].rss
        law, residual, basis = moved
        damping = damping / 10 if damping > 1e-6 else 0.0
        if fall <= _ENOUGH * law.rss or law.rss <= rows.floor:
            break
    return law


def _projected(rows: Rows, shape: Shape, under: Array) -> tuple[LawFit, Array, Array] | None:
    """Return the law of least residual for a given D, its residual, and an orthonormal basis of its columns."""
    d = denominator(rows, shape, under)
    if shape.over and not keeps_sign(d):
        return None
    columns = np.hstack([rows.plain[:, shape.plain], rows.over[:, shape.over] / d[:, None]])
    if not columns.shape[1]:
        rss = float(rows.target @ rows.target)
        return LawFit(shape, np.zeros(0), np.zeros(0), under, rss), rows.target, np.zeros((rows.count, 0))
    table = rows.rates(columns)
    size = np.sqrt((table**2).sum(axis=0))
    if not np.isfinite(size).all() or not (size > 0).all():
        return None
    u, s, vt = np.linalg.svd(table / size, full_matrices=False)
    kept = s > 1e-11 * s[0]
    basis = u[:, kept]
    shares = basis.T @ rows.target
    coef = (vt[kept].T @ (shares / s[kept])) / size
    residual = rows.target - basis @ shares
    count = len(shape.plain)
    law = LawFit(shape, coef[:count], coef[count:], under, float(residual @ residual))
    return law, residual, basis
