"""How much one linear condition on the coefficients raises the value of a support at least.

On a support with the least-squares coefficients x and the normal matrix G, the value under c'x = d is larger by
(c'x - d)^2 / (c' G^-1 c), because the value at y is f + (y - x)' G (y - x). The same holds for an inequality that x
violates. Of several conditions each gives a bound. Everything is in doubles with room for their rounding: where G is
too ill-conditioned to say something, a condition counts as if it held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.solver.outcome import Answer
from exactsindy.solver.relaxation import Relaxation

Values = NDArray[np.float64]
_MOST = 64  # conditions looked at
_ROUNDING = 1e-15  # relative: of a sum of a few products
_ROOM = 0.5  # a larger relative error of c' G^-1 c says nothing


@dataclass(frozen=True, eq=False)
class Shares:
    """What supports contribute to each condition: to c'x, to its rounding error, and to c' G^-1 c; one line each."""

    moved: Values
    error: Values
    give: Values

    def __getitem__(self, chosen: NDArray[np.intp]) -> Shares:
        return Shares(self.moved[chosen], self.error[chosen], self.give[chosen])

    def __add__(self, other: Shares) -> Shares:
        return Shares(self.moved + other.moved, self.error + other.error, self.give + other.give)


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions c'x == d or c'x <= d on the coefficients of a relaxation."""

    coefs: Values  # variables in the order of the component x conditions
    rhs: Values
    equal: NDArray[np.bool_]

    @classmethod
    def of(cls, relaxation: Relaxation) -> Conditions:
        """Return the linear rows and the bounds that say something about terms that are not excluded."""
        component, rules = relaxation.component, relaxation.component.rules
        equalities = set(map(id, rules.equalities))
        found: list[tuple[Sequence[int], Sequence[float], float, bool]] = [
            (row.variables, row.coefs, row.rhs, id(row) in equalities) for row in relaxation.linear
        ]
        for v in relaxation.free[relaxation.bounded].tolist():
            upper, lower = min(rules.upper[v], rules.most[v]), max(rules.lower[v], -rules.most[v])
            found += [((v,), (1.0,), upper, False)] if np.isfinite(upper) else []
            found += [((v,), (-1.0,), -lower, False)] if np.isfinite(lower) else []
        coefs = np.zeros((len(component.variables), min(len(found), _MOST)))
        for column, (variables, values, _, _) in enumerate(found[:_MOST]):
            coefs[[component.position[v] for v in variables], column] = values
        kept = found[:_MOST]
        return cls(coefs, np.array([d for _, _, d, _ in kept]), np.array([same for *_, same in kept], dtype=np.bool_))

    def shares(self, relaxation: Relaxation, e: int, answers: Sequence[Answer]) -> Shares:
        """Return what supports of one equation (its own terms) contribute."""
        count = len(self.rhs)
        out = Shares(*(np.zeros((len(answers), count)) for _ in range(3)))
        if count == 0:
            return out
        equation, weight = relaxation.equations[e], relaxation.component.weights[e]
        gram = equation.factor.T @ equation.factor + np.diag(equation.ridge)
        norms = np.sqrt(np.diag(gram))
        first = relaxation.component.position[int(equation.variables[0])]
        own = self.coefs[first : first + len(norms)]
        sizes = np.array([len(a.support) for a in answers], dtype=np.intp)
        for size in set(sizes.tolist()) - {0}:
            lines = np.flatnonzero(sizes == size).tolist()
            support = np.array([answers[i].support for i in lines])
            scale = norms[support]
            matrix = gram[support[:, :, None], support[:, None, :]] / (scale[:, :, None] * scale[:, None, :])
            coefs = own[support]
            parts = coefs * np.array([answers[i].coef for i in lines])[:, :, None]
            out.moved[lines], out.error[lines] = parts.sum(axis=1), _ROUNDING * np.abs(parts).sum(axis=1)
            out.give[lines] = _give(matrix, coefs / scale[:, :, None], len(norms)) / weight
        return out

    def rises(self, shares: Shares) -> Values:
        """Return by how much the value of each support is raised at least."""
        if len(self.rhs) == 0:
            return np.zeros(len(shares.moved))
        beyond = shares.moved - self.rhs
        beyond = np.where(self.equal, np.abs(beyond), beyond)
        beyond = np.maximum(beyond - 2 * shares.error - _ROUNDING * np.abs(self.rhs), 0.0)
        known = (shares.give > 0) & np.isfinite(shares.give)
        rise = np.divide(beyond**2, shares.give, out=np.zeros(beyond.shape), where=known)
        return np.asarray(rise.max(axis=1))


def _give(matrix: Values, coefs: Values, rows: int) -> Values:
    """Return upper bounds of c' G^-1 c for unit columns; infinite where rounding leaves nothing of it."""
    size = matrix.shape[1]
    eigenvalues = np.linalg.eigvalsh(matrix)
    smallest = np.maximum(eigenvalues[:, 0], 1e-300)
    # An entry of G is off by rows * eps, the solution by that times the condition number (and the size).
    error = 8.0 * _ROUNDING * size * (rows + size) * eigenvalues[:, -1] / smallest
    good = (eigenvalues[:, 0] > 0) & (error < _ROOM)
    safe = np.where(good[:, None, None], matrix, np.eye(size))
    give = np.maximum(np.einsum("nsr,nsr->nr", coefs, np.linalg.solve(safe, coefs)), 0.0)
    # (A condition without any of the terms stays one without a say.)
    grown = give * (1.0 + 2.0 * error)[:, None]
    return np.where(good[:, None] | ~coefs.any(axis=1), grown, np.inf)
