"""Whether coefficients are the best ones on their support under conditions: multipliers that explain the gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.condition_records import Form, LinearRow
from exactsindy.certificate.conditions import Conditions
from exactsindy.certificate.exact import CheckedEquation, as_float

#: A condition counts as active if it holds with equality to this share of what it adds up (the second: of a form).
_ACTIVE, _ACTIVE_FORM = 1e-7, 1e-5
#: A coefficient below this share of |y| / |column| cannot be told from 0.
_NOTHING = 1e-13


def excess(row: LinearRow, x: Mapping[int, float]) -> tuple[float, float]:
    """Return by how much a row is exceeded, and the size of what it adds up, from exact sums."""
    parts = [Fraction(number) * Fraction(x.get(v, 0.0)) for v, number in row.numbers.items()]
    size = as_float(sum((abs(part) for part in parts), abs(Fraction(row.rhs))))
    over = sum(parts, Fraction(0)) - Fraction(row.rhs)
    return (as_float(over) if over >= 0 else -as_float(-over)), size


def unexplained_gradient(
    conditions: Conditions,
    equations: Sequence[CheckedEquation],
    rows: Sequence[int],
    x: Mapping[int, float],
    natural: Mapping[int, float],
) -> tuple[float | None, str]:
    """Return the largest relative gradient on the nonzero coefficients that no multipliers explain.

    At a constrained optimum the gradient is a combination of the gradients of the conditions, with multipliers >= 0 for
    the active inequalities; ``natural`` is the size |y| / |column| of each coefficient. Or None, and why it was not
    computed.
    """
    from scipy.optimize import nnls

    slopes: dict[int, float] = {}
    norms: dict[int, float] = {}
    for equation, e in zip(equations, rows, strict=True):
        own = [x.get(e * conditions.names.width + j, 0.0) for j in equation.columns]
        size = equation.size(own)
        for j in np.flatnonzero(own).tolist():
            v = e * conditions.names.width + equation.columns[j]
            slope = equation.slope(own, j)
            norms[v] = equation.norms[j] * size
            slopes[v] = (as_float(abs(slope)) / norms[v] if norms[v] else 0.0) * (1.0 if slope > 0 else -1.0)
    if not slopes:
        return 0.0, ""
    order = sorted(v for v in slopes if norms[v])
    columns: list[NDArray[np.float64]] = []
    for row in (row for meaning in conditions.meanings for row in meaning.rows):
        column = np.array([row.numbers.get(v, 0.0) / norms[v] for v in order])
        over, size = excess(row, x)
        if row.equal:
            columns += [column, -column]
        elif over > -_ACTIVE * size - _NOTHING * sum(abs(c) * natural.get(v, 0.0) for v, c in row.numbers.items()):
            columns.append(column)
    for v, (least, most) in ((v, limits) for meaning in conditions.meanings for v, limits in meaning.sizes.items()):
        if v in slopes:
            unit = np.array([float(u == v) for u in order]) * (1.0 if x[v] > 0 else -1.0)
            columns += [-unit] if least and abs(x[v]) <= least * (1 + _ACTIVE) else []
            columns += [unit] if abs(x[v]) >= most * (1 - _ACTIVE) else []
    for form in (form for meaning in conditions.meanings for form in meaning.forms):
        found, reason = _form_columns(form, order, norms, x)
        if reason:
            return None, reason
        columns += found
    target = np.array([slopes[v] for v in order])
    kept = [column / np.abs(column).max() for column in columns if np.any(column)]
    if not kept:
        return float(np.abs(target).max(initial=0.0)), ""
    matrix = np.column_stack(kept)
    multipliers, _ = nnls(matrix, target, maxiter=1000 + 100 * matrix.shape[1])
    return float(np.abs(target - matrix @ multipliers).max()), ""


def outside(form: Form, x: Mapping[int, float]) -> float:
    """Return by which share of what it adds up a form is missed."""
    values = np.array([x.get(v, 0.0) for v in form.variables])
    if form.square is not None and form.linear is not None:
        parts = [np.outer(values, values) * form.square, values * form.linear]
        size = sum(float(np.abs(part).sum()) for part in parts) + abs(form.rhs)
        return (float(sum(part.sum() for part in parts)) - form.rhs) / (size or 1.0)
    matrix, size = _matrix(form, values)
    return -float(np.linalg.eigvalsh(matrix)[0]) / (size or 1.0)


def _matrix(form: Form, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    assert form.constant is not None
    parts = [form.constant, *(value * part for value, part in zip(values, form.parts, strict=True))]
    return np.asarray(sum(parts)), sum(float(np.abs(part).max(initial=0.0)) for part in parts)


def _form_columns(
    form: Form, order: Sequence[int], norms: Mapping[int, float], x: Mapping[int, float]
) -> tuple[list[NDArray[np.float64]], str]:
    """Return the gradients that a form can take part with, or why they are not known."""
    values = np.array([x.get(v, 0.0) for v in form.variables])
    if outside(form, x) < -_ACTIVE_FORM:
        return [], ""
    if form.square is not None and form.linear is not None:
        gradient = dict(zip(form.variables, 2 * form.square @ values + form.linear, strict=True))
        return [np.array([gradient.get(v, 0.0) / norms[v] for v in order])], ""
    matrix, size = _matrix(form, values)
    eigenvalues, vectors = np.linalg.eigh(matrix)
    null = vectors[:, eigenvalues <= _ACTIVE_FORM * (size or 1.0)]
    if null.shape[1] > 1:
        return [], "a semidefinite constraint is singular in several directions: its multipliers are not looked for"
    # The multiplier of a matrix is a matrix that lives in its null space; minus, as the matrix must not decrease.
    gradient = {v: -float(null[:, 0] @ part @ null[:, 0]) for v, part in zip(form.variables, form.parts, strict=True)}
    return [np.array([gradient.get(v, 0.0) / norms[v] for v in order])], ""
