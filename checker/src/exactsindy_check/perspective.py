"""The end `P` of a proof: the perspective bound at a given point v (Lemmas 7 and 8 of the README).

With delta >= 0 for which A'A + diag(ridge) - diag(delta) is positive semidefinite, any v on I u F and w = z - A v:

    f(T) - |rest|^2  >=  2 w'z - |w|^2 + sum (delta_j - ridge_j) v_j^2 - sum_{j in T} max over |x| <= X_j of
                         2 h_j x - delta_j x^2,      h = A'w - (ridge - delta) v.
"""

from __future__ import annotations

import numpy as np

from exactsindy_check.bounds import TINY, Ground, Indices, costs, spent
from exactsindy_check.instance import SMALL, UNIT, Vector


def semidefinite(base: Ground, delta: Vector) -> bool:
    """Return whether A'A + diag(ridge) - diag(delta) is proved positive semidefinite (scaled units).

    If a Cholesky factorisation in doubles runs to its end, the matrix it was given has no eigenvalue below
    -2 (n + 1) u trace; the shift makes up for that and for the rounding of the matrix itself.
    """
    numbers, n = base.numbers, base.rows
    if not (np.isfinite(delta).all() and (delta >= 0.0).all()):
        return False
    gram = numbers.a.T @ numbers.a
    diagonal = np.diag(gram) + numbers.ridge
    unit = (n + 8) * UNIT
    entries = 2.0 * unit * float((numbers.augmented**2).sum()) * 1.01  # norm of the error of A'A + diag(ridge)
    shift = entries + 4.0 * unit * float((diagonal + delta).sum()) + TINY
    gram[np.diag_indices(n)] = diagonal - delta - shift
    used = numbers.box > 0  # zero columns belong to no support
    if (delta[~used] != 0.0).any():
        return False
    try:
        return bool(np.isfinite(np.linalg.cholesky(gram[np.ix_(used, used)])).all())
    except np.linalg.LinAlgError:
        return False


def perspective_exceeds(base: Ground, delta: Vector, inside: Indices, free: Indices, slots: int, v: Vector) -> bool:
    """Return whether the bound at v (zero outside the node, scaled units) exceeds the cut."""
    numbers, n = base.numbers, base.rows
    if not np.isfinite(numbers.cut):
        return False
    if numbers.cut < 0.0:
        return True
    gamma = 4.0 * (n + 16) * UNIT
    with np.errstate(all="ignore"):
        w = numbers.z - numbers.a @ v
        length = float(np.sqrt((w * w).sum())) * (1.0 + gamma) + SMALL
        reach_of_v = float(numbers.norm @ np.abs(v)) * (1.0 + gamma)
        off = gamma * (numbers.z_norm + reach_of_v) + TINY  # w differs from z - A v by at most this
        value = 2.0 * float(numbers.z @ w) - float(w @ w)
        bend = (delta - numbers.ridge) * v * v
        sizes = gamma * float((np.abs(delta) + numbers.ridge) @ (v * v))
        lost = (2.0 * off + gamma * length) * (2.0 * numbers.z_norm + length + off) + sizes
        h = np.abs(numbers.a.T @ w - (numbers.ridge - delta) * v)
        h = h + gamma * (numbers.norm * length + (numbers.ridge + delta) * np.abs(v)) + off * numbers.norm + TINY
        cost = costs(h, delta, base.reach)
        mask = np.zeros(n, dtype=bool)
        mask[free] = True
        loss = float(spent(cost, inside, mask, slots)) + lost + TINY
        result = value + float(bend.sum()) - loss * (1.0 + gamma)
        return bool(result - gamma * (abs(value) + loss) > numbers.cut)
