"""What physics says of polynomial systems, as identities between polynomials whose coefficients are compared.

A polynomial here has numbers as values for each product of powers, and each of these is a sum of numbers times
coefficients of the model: ``{powers: {coefficient: number}}``. The identity asks that all these sums vanish.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from exactsindy.certificate.condition_names import Names, Powers, powers_of, state_of
from exactsindy.certificate.condition_text import split_sum
from exactsindy.errors import ConstraintError

#: Sums of this share of what is added up are rounding of a symmetry's matrix.
_NOISE = Fraction(1, 10**12)
Sums = dict[Powers, dict[int, list[Fraction]]]


def vanishing(sums: Sums) -> list[dict[int, float]]:
    """Return the sums that must be 0, as numbers by coefficient."""
    rows = []
    for parts in sums.values():
        totals = {v: sum(values, Fraction(0)) for v, values in parts.items()}
        sizes = {v: max(Fraction(1), sum(map(abs, values), Fraction(0))) for v, values in parts.items()}
        row = {v: float(total) for v, total in totals.items() if abs(total) > _NOISE * sizes[v]}
        if row:
            rows.append(row)
    return rows


def gradient(names: Names, field: Iterable[tuple[int, str, int]]) -> list[dict[int, float]]:
    """Return the rows that make a field (equation, variable, sign) a gradient: its mixed derivatives are equal."""
    known, rows = list(field), []
    for i, (e, x, s) in enumerate(known):
        for f, y, t in known[i + 1 :]:
            sums: Sums = {}
            for equation, variable, sign in ((e, y, s), (f, x, -t)):
                for v, powers in _terms(names, equation):
                    _add(sums, _derivative(powers, variable), v, sign)
            rows += vanishing(sums)
    return rows


def energy(names: Names, degree: int, weights: Mapping[str, float]) -> list[dict[int, float]]:
    """Return the rows that make the terms of one degree do no work."""
    sums: Sums = {}
    for e, state in enumerate(names.states()):
        for v, powers in _terms(names, e):
            if sum(n for _, n in powers) == degree:
                _add(sums, {_times(powers, ((state, 1),)): Fraction(1)}, v, float(weights.get(state, 1.0)))
    return vanishing(sums)


def symmetry(names: Names, given: Any) -> list[dict[int, float]]:
    """Return the rows of f(M x) = M f(x)."""
    states = names.states()
    if isinstance(given, Mapping):
        diagonal = {state_of(name): value for name, value in given.items()}
        if not set(diagonal) <= set(states):
            raise ConstraintError("a constraint cannot be read: Symmetry names a state that there is not.")
        matrix = np.diag([float(diagonal.get(state, 1.0)) for state in states])
    else:
        matrix = np.asarray(given, dtype=np.float64)
        if matrix.shape != (len(states), len(states)) or not np.isfinite(matrix).all():
            raise ConstraintError("a constraint cannot be read: the matrix of Symmetry does not fit the states.")
    matrix = np.where(np.abs(matrix) > float(_NOISE), matrix, 0.0)
    image: dict[str, dict[Powers, Fraction]] = {
        state: {((other, 1),): Fraction(float(value)) for other, value in zip(states, line, strict=True) if value}
        for state, line in zip(states, matrix, strict=True)
    }
    rows = []
    for i in range(len(states)):
        sums: Sums = {}
        for v, powers in _terms(names, i):
            _add(sums, _composed(powers, image), v, 1)
        for k in np.flatnonzero(matrix[i]).tolist():
            for v, powers in _terms(names, k):
                _add(sums, {powers: Fraction(1)}, v, -float(matrix[i, k]))
        rows += vanishing(sums)
    return rows


def conserved(names: Names, quantity: str | Mapping[str, float]) -> list[dict[int, float]]:
    """Return the rows of sum_i dQ/dx_i f_i = 0."""
    given = split_sum(quantity) if isinstance(quantity, str) else [(float(c), name) for name, c in quantity.items()]
    sums: Sums = {}
    for c, name in given:
        powers = powers_of(name) if name else ()
        if powers is None or not {variable for variable, _ in powers} <= set(names.states()):
            raise ConstraintError(f"a constraint cannot be read: {name!r} is no product of powers of states.")
        for e, state in enumerate(names.states()):
            for part, factor in _derivative(powers, state).items():
                for v, own in _terms(names, e):
                    _add(sums, {_times(part, own): factor}, v, c)
    return vanishing(sums)


def _terms(names: Names, equation: int) -> list[tuple[int, Powers]]:
    found = []
    for v in names.library[equation]:
        powers = names.powers(v)
        if powers is None:
            raise ConstraintError(
                f"a constraint cannot be read: {names.label(v)} is no product of powers of variables."
            )
        found.append((v, powers))
    return found


def _add(sums: Sums, polynomial: Mapping[Powers, Fraction], v: int, factor: float) -> None:
    for powers, value in polynomial.items():
        sums.setdefault(powers, {}).setdefault(v, []).append(Fraction(factor) * value)


def _times(a: Powers, b: Powers) -> Powers:
    found = dict(a)
    for name, n in b:
        found[name] = found.get(name, 0) + n
    return tuple(sorted(found.items()))


def _derivative(powers: Powers, variable: str) -> dict[Powers, Fraction]:
    found = dict(powers)
    n = found.pop(variable, 0)
    if n == 0:
        return {}
    left = found | ({variable: n - 1} if n > 1 else {})
    return {tuple(sorted(left.items())): Fraction(n)}


def _composed(powers: Powers, image: Mapping[str, Mapping[Powers, Fraction]]) -> dict[Powers, Fraction]:
    """Return a product of powers after every state was replaced by its image."""
    result: dict[Powers, Fraction] = {(): Fraction(1)}
    for name, n in powers:
        own = image.get(name, {((name, 1),): Fraction(1)})
        for _ in range(n):
            step: dict[Powers, Fraction] = {}
            for left, a in result.items():
                for right, b in own.items():
                    key = _times(left, right)
                    step[key] = step.get(key, Fraction(0)) + a * b
            result = step
    return result
