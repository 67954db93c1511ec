"""How much larger than without constraints the coefficients of a support may be under them (rule 3 of docs/proof.md).

Linear rows bind the coefficients of their equations together, also where presence excludes all terms of a row: the
limit then goes by the norm of all their targets, or by the size that a constraint asks for, if that is larger. The
search without constraints knows the target of its own equation only, so it needs a limit that is larger by this factor.
"""

from __future__ import annotations

import math

import numpy as np

from exactsindy.solver.backends.component import Component

_ROOM = 1.0 + 1e-9  # for rounding


def stretch(component: Component) -> float:
    """Return the largest ratio of the limit of an equation under constraints to its own; inf if its target is zero."""
    rules, place = component.rules, {v: e for e, eq in enumerate(component.equations) for v in eq.variables.tolist()}
    roots = np.sqrt(component.weights)
    norms = {
        v: float(root * np.linalg.norm(column))
        for root, equation in zip(roots, component.equations, strict=True)
        for v, column in zip(equation.variables.tolist(), equation.factor.T, strict=True)
    }
    asked = [(row.variables, row.coefs, abs(row.rhs)) for row in rules.equalities]
    asked += [(row.variables, row.coefs, max(-row.rhs, 0.0)) for row in rules.inequalities]
    asked = [part for part in asked if part[0][0] in place]
    for v in place:
        sizes = (rules.lower[v], -rules.upper[v], rules.least[v])
        asked.append(((v,), (1.0,), max(0.0, *(float(size) for size in sizes if math.isfinite(size)), 0.0)))
    group = list(range(len(component.equations)))
    for variables, _, _ in asked:
        together = {group[place[v]] for v in variables}
        group = [min(together) if g in together else g for g in group]
    own = [
        float(root) * math.hypot(*equation.z, *equation.rest)
        for root, equation in zip(roots, component.equations, strict=True)
    ]
    whole = [math.hypot(*(norm for norm, h in zip(own, group, strict=True) if h == g)) for g in group]
    for variables, coefs, size in asked:
        if size and all(norms[v] for v in variables):
            least = size / max(abs(c) / norms[v] for v, c in zip(variables, coefs, strict=True))
            first = group[place[variables[0]]]
            whole = [max(norm, least) if g == first else norm for norm, g in zip(whole, group, strict=True)]
    ratios = [all_ / norm if norm else (math.inf if all_ else 1.0) for all_, norm in zip(whole, own, strict=True)]
    return max(1.0, *(ratio * _ROOM for ratio in ratios if ratio > 1.0), 1.0)
