"""The functions phi_0..phi_3 of exponential integrators, for many small matrices at once."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrices = NDArray[Any]  # real or complex, (count, n, n)

# Taylor to this order is exact to rounding for matrices of norm at most 1/2.
_TAYLOR = 14


def phi_functions(z: Matrices) -> tuple[Matrices, Matrices, Matrices, Matrices]:
    """Return phi_0(z) = exp(z) and phi_k(z) = (phi_{k-1}(z) - 1/(k-1)!) / z, k = 1, 2, 3.

    Each matrix is halved until its norm is at most 1/2, the series is summed, and the result doubled again by
    phi_k(2z) = 2^-k (phi_0(z) phi_k(z) + sum_{j=1..k} phi_j(z) / (k-j)!). No division, so nothing cancels and
    singular matrices need no care.

    Examples
    --------
    >>> e, p1, _, _ = phi_functions(np.array([[[0.0]], [[1.0]]]))
    >>> p1.ravel().round(6).tolist()
    [1.0, 1.718282]
    """
    with np.errstate(all="ignore"):  # a strongly growing mode may overflow: the step is then refused
        norms = np.abs(z).sum(axis=2).max(axis=1)
        halvings = np.maximum(np.frexp(norms)[1] + 1, 0)
        small = z * np.ldexp(1.0, -halvings)[:, None, None]
        one = np.eye(z.shape[1])
        last = np.broadcast_to(one / factorial(_TAYLOR + 3), z.shape)
        for m in range(_TAYLOR - 1, -1, -1):
            last = small @ last + one / factorial(m + 3)
        phi = [last]
        for k in (2, 1, 0):
            phi.insert(0, small @ phi[0] + one / factorial(k))
        for done in range(int(halvings.max(initial=0))):
            on = np.flatnonzero(halvings > done)
            p0, p1, p2, p3 = (p[on] for p in phi)
            phi[0][on] = p0 @ p0
            phi[1][on] = (p0 @ p1 + p1) / 2
            phi[2][on] = (p0 @ p2 + p1 + p2) / 4
            phi[3][on] = (p0 @ p3 + p1 / 2 + p2 + p3) / 8
    return phi[0], phi[1], phi[2], phi[3]
