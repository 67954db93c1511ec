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
#: A multiplier this small beside the largest may have the wrong sign.
_NEGATIVE = 1e-9
#: What elimination leaves of a row below this share is rounding of its numbers; up to the second, nobody can tell.
_ROUNDING, _DOUBTFUL = Fraction(1, 10**14), Fraction(1, 10**10)


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

    slopes: dict[int, Fraction] = {}
    norms: dict[int, Fraction] = {}
    for equation, e in zip(equations, rows, strict=True):
        own = [x.get(e * conditions.names.width + j, 0.0) for j in equation.columns]
        size = equation.size(own)
        for j in np.flatnonzero(own).tolist():
            v = e * conditions.names.width + equation.columns[j]
            if equation.norms[j] * size:
                slopes[v], norms[v] = equation.slope(own, j), Fraction(equation.norms[j]) * Fraction(size)
    if not slopes:
        return 0.0, ""
    equal, active = [], []
    for row in (row for meaning in conditions.meanings for row in meaning.rows):
        numbers = {v: Fraction(number) for v, number in row.numbers.items() if v in slopes}
        over, size = excess(row, x)
        if row.equal:
            equal.append(numbers)
        elif over > -_ACTIVE * size - _NOTHING * sum(abs(c) * natural.get(v, 0.0) for v, c in row.numbers.items()):
            active.append(numbers)
    for v, (least, most) in ((v, limits) for meaning in conditions.meanings for v, limits in meaning.sizes.items()):
        if v in slopes:
            sign = 1 if x[v] > 0 else -1
            active += [{v: Fraction(-sign)}] if least and abs(x[v]) <= least * (1 + _ACTIVE) else []
            active += [{v: Fraction(sign)}] if abs(x[v]) >= most * (1 - _ACTIVE) else []
    for form in (form for meaning in conditions.meanings for form in meaning.forms):
        found, reason = _form_gradients(form, x)
        if reason:
            return None, reason
        active += [{v: Fraction(number) for v, number in gradient.items() if v in slopes} for gradient in found]
    solved = _solved(equal, norms)
    if solved is None:
        return None, "the equalities of the constraints are too close to dependent"
    free = sorted(v for v in slopes if v not in solved)
    scales = [norms[v] + sum((abs(row.get(v, Fraction(0))) * norms[p] for p, row in solved.items())) for v in free]

    def reduced(numbers: Mapping[int, Fraction]) -> NDArray[np.float64]:
        left = [
            numbers.get(v, Fraction(0)) - sum(numbers.get(p, Fraction(0)) * row.get(v, 0) for p, row in solved.items())
            for v in free
        ]
        return np.array([float(value / scale) for value, scale in zip(left, scales, strict=True)])

    target = reduced(slopes)
    columns = [column / np.abs(column).max() for column in map(reduced, active) if np.any(column)]
    if not columns or not free:
        return float(np.abs(target).max(initial=0.0)), ""
    matrix = np.column_stack(columns)
    multipliers, _ = nnls(matrix, target, maxiter=1000 + 100 * matrix.shape[1])
    left = _left(matrix, multipliers, target)
    for used in (matrix[:, multipliers > 0], matrix):  # again, without the rounding of the way there
        again = np.linalg.lstsq(used, target, rcond=None)[0]
        if np.all(again >= -_NEGATIVE * np.abs(again).max(initial=0.0)):
            left = min(left, _left(used, again, target))
    return left, ""


def _left(matrix: NDArray[np.float64], multipliers: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    """Return what multipliers leave of a gradient, beyond the rounding of their products."""
    rounding = 8 * float(np.finfo(np.float64).eps * (np.abs(matrix) @ np.abs(multipliers)).max())
    return max(float(np.abs(target - matrix @ multipliers).max()) - rounding, 0.0)


def _solved(
    rows: Sequence[Mapping[int, Fraction]], norms: Mapping[int, Fraction]
) -> dict[int, dict[int, Fraction]] | None:
    """Return equalities solved for some coefficients, exactly: ``{p: {v: number}}`` with 1 for p and 0 for other p.

    None if they are nearly, but not quite dependent.
    """
    solved: dict[int, dict[int, Fraction]] = {}
    for given in rows:
        row = dict(given)
        scale = max((abs(c) / norms[v] for v, c in row.items()), default=Fraction(0))
        for p, known in solved.items():
            if factor := row.pop(p, Fraction(0)):
                for v, c in known.items():
                    if v != p:
                        row[v] = row.get(v, Fraction(0)) - factor * c
        row = {v: c for v, c in row.items() if c}
        most = max((abs(c) / norms[v] for v, c in row.items()), default=Fraction(0))
        if most <= scale * _ROUNDING:
            continue
        if most <= scale * _DOUBTFUL:
            return None
        pivot = max(row, key=lambda v: abs(row[v]) / norms[v])
        row = {v: c / row[pivot] for v, c in row.items()}
        for known in solved.values():
            if factor := known.pop(pivot, Fraction(0)):
                for v, c in row.items():
                    if v != pivot:
                        known[v] = known.get(v, Fraction(0)) - factor * c
        solved[pivot] = row
    return solved


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


def _form_gradients(form: Form, x: Mapping[int, float]) -> tuple[list[dict[int, float]], str]:
    """Return the gradients that a form can take part with, or why they are not known."""
    values = np.array([x.get(v, 0.0) for v in form.variables])
    if outside(form, x) < -_ACTIVE_FORM:
        return [], ""
    if form.square is not None and form.linear is not None:
        return [dict(zip(form.variables, (2 * form.square @ values + form.linear).tolist(), strict=True))], ""
    matrix, size = _matrix(form, values)
    eigenvalues, vectors = np.linalg.eigh(matrix)
    null = vectors[:, eigenvalues <= _ACTIVE_FORM * (size or 1.0)]
    if null.shape[1] > 1:
        return [], "a semidefinite constraint is singular in several directions: its multipliers are not looked for"
    # The multiplier of a matrix is a matrix that lives in its null space; minus, as the matrix must not decrease.
    parts = zip(form.variables, form.parts, strict=True)
    return [{v: -float(null[:, 0] @ part @ null[:, 0]) for v, part in parts}], ""
