"""How much larger than without constraints the coefficients of a support may be under them (rule 3 of docs/proof.md).

Linear rows bind the coefficients of their equations together, also where presence excludes all terms of a row: the
limit then goes by the norm of all their targets, or by the size that a constraint asks for, if that is larger. The
search without constraints knows the target of its own equation only, so it needs a limit that is larger by this factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from exactsindy._types import Array
from exactsindy.solver.backends.component import Component

_ROOM = 1.0 + 1e-9  # for rounding
_Condition = tuple[tuple[int, ...], tuple[float, ...], float]  # variables, their numbers, and what is asked of the sum


def stretch(component: Component) -> float:
    """Return the largest ratio of the limit of an equation under constraints to its own; inf if its target is zero."""
    place = {v: e for e, equation in enumerate(component.equations) for v in equation.variables.tolist()}
    conditions = list(_conditions(component))
    group = list(range(len(component.equations)))
    for variables, _, _ in conditions:
        together = {group[place[v]] for v in variables}
        group = [min(together) if g in together else g for g in group]
    own = [
        math.sqrt(weight) * math.hypot(_norm(equation.z), _norm(equation.rest))
        for weight, equation in zip(component.weights, component.equations, strict=True)
    ]
    bound = [math.hypot(*(norm for norm, h in zip(own, group, strict=True) if h == g)) for g in group]
    for variables, numbers, asked in conditions:
        norms = [_column_norm(component, place[v], v) for v in variables] if asked else []
        if asked and all(norms):
            share = max(abs(c) / norm for c, norm in zip(numbers, norms, strict=True))
            least, first = asked / share if share else math.inf, group[place[variables[0]]]
            bound = [max(size, least) if g == first else size for size, g in zip(bound, group, strict=True)]
    ratios = [size / norm if norm else math.inf for size, norm in zip(bound, own, strict=True) if size > norm]
    return max(ratios, default=1.0) * (_ROOM if ratios else 1.0)


def _conditions(component: Component) -> Iterator[_Condition]:
    """Yield the linear conditions of a component with the size that each asks for (0: all coefficients may be 0)."""
    rules = component.rules
    for row in rules.equalities:
        if row.variables[0] in component.position:
            yield row.variables, row.coefs, abs(row.rhs)
    for row in rules.inequalities:
        if row.variables[0] in component.position:
            yield row.variables, row.coefs, max(-row.rhs, 0.0)
    for v in component.variables.tolist():
        asked = max(float(rules.lower[v]), float(-rules.upper[v]), float(rules.least[v]))
        if 0 < asked < math.inf:
            yield (v,), (1.0,), asked


def _column_norm(component: Component, e: int, variable: int) -> float:
    equation = component.equations[e]
    column = int(np.flatnonzero(equation.variables == variable)[0])
    return math.sqrt(component.weights[e]) * _norm(equation.factor[:, column])


def _norm(values: Array) -> float:
    """Return a norm whose squares do not overflow."""
    top = float(np.abs(values).max(initial=0.0))
    return top * float(np.linalg.norm(values / top)) if top else 0.0
