"""How large the coefficients of a support that counts may be, where constraints bind them.

Rule 3 of `judging` for the coefficients of the best fit under the constraints: sqrt(weight) |x_v| |column| is at most
the limit times a size. The size is the norm of the target; of the targets of all equations together whose coefficients
linear conditions bind; or what a condition asks for, if that is larger: c'x == d (or <= d < 0) cannot hold if all
sqrt(weight) |x_v| |column| are small against |d| / max (|c_v| / (sqrt(weight) |column|)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from exactsindy.certificate.conditions import Conditions
from exactsindy.certificate.exact import CheckedEquation


def coefficient_limits(
    conditions: Conditions, equations: Sequence[CheckedEquation], rows: Sequence[int], limit: float
) -> dict[int, float]:
    """Return the largest size of each coefficient; columns of zeros have none."""
    width = conditions.names.width
    norms: dict[int, float] = {}  # with the root of the weight, without ridge
    for e, equation in zip(rows, equations, strict=True):
        root = math.sqrt(equation.weight)
        for j, column in zip(equation.columns, equation.factor.T, strict=True):
            norms[e * width + j] = math.hypot(*(root * column))
    asked = _asked(conditions)
    group = {e: e for e in rows}
    for numbers, _ in asked:
        together = {group[v // width] for v in numbers if v in norms and numbers[v]}
        group = {e: min(together) if g in together else g for e, g in group.items()}
    targets: dict[int, list[float]] = {}
    for e, equation in zip(rows, equations, strict=True):
        targets.setdefault(group[e], []).append(math.sqrt(equation.weight) * equation.target_norm)
    sizes = {g: math.hypot(*parts) for g, parts in targets.items()}
    for numbers, rhs in asked:
        own = [v for v in numbers if v in norms and numbers[v]]
        if own and rhs and all(norms[v] for v in own):
            g = group[own[0] // width]
            sizes[g] = max(sizes[g], rhs / max(abs(numbers[v]) / norms[v] for v in own))
    return {v: limit * sizes[group[v // width]] / norm if norm else math.inf for v, norm in norms.items()}


def _asked(conditions: Conditions) -> list[tuple[Mapping[int, float], float]]:
    """Return the numbers of each linear condition and what its right side asks for (0: all coefficients may be 0)."""
    found: list[tuple[Mapping[int, float], float]] = []
    for meaning in conditions.meanings:
        found += [(row.numbers, abs(row.rhs) if row.equal else max(-row.rhs, 0.0)) for row in meaning.rows]
        found += [({v: 1.0}, least) for v, (least, _) in meaning.sizes.items()]
    return found
