"""Plain enumeration in fractions, and problems that are hard for rounding."""

from __future__ import annotations

import hashlib
import io
from fractions import Fraction
from itertools import combinations

import numpy as np

THRESHOLD = Fraction(1, 10**13)


def fraction_fit(a, z, rest, ridge, support):
    """Return (f, coefficients or None, squared relative distances), all fractions, by Gram-Schmidt without roots."""
    columns = []
    for j in support:
        extra = [Fraction(0)] * len(support)
        columns.append(([Fraction(x) for x in a[:, j].tolist()], extra, j))
    weights = [Fraction(1)] * len(z) + [Fraction(float(ridge[j])) for j in support]

    def dot(u, v):
        return sum((w * x * y for w, x, y in zip(weights, u, v, strict=True)), Fraction(0))

    basis, distances = [], []
    residual = [Fraction(x) for x in z.tolist()] + [Fraction(0)] * len(support)
    for i, (column, extra, _) in enumerate(columns):
        extra[i] = Fraction(1)  # weight ridge: |.|^2 = ridge
        v = column + extra
        norm = dot(v, v)
        for b, square in basis:
            h = dot(b, v) / square
            v = [x - h * y for x, y in zip(v, b, strict=True)]
        square = dot(v, v)
        distances.append(square / norm)
        if square:
            basis.append((v, square))
            h = dot(v, residual) / square
            residual = [x - h * y for x, y in zip(residual, v, strict=True)]
    f = dot(residual, residual) + sum((Fraction(x) ** 2 for x in rest.tolist()), Fraction(0))
    coef = None
    if len(basis) == len(support):
        # The ridge rows of the residual are -x, where the weight does not matter for the coordinates.
        coef = [-x for x in residual[len(z) :]]
    return f, coef, distances


def admissible(a, z, rest, ridge, support, limit):
    """Return (f, True / False / None at a threshold)."""
    f, coef, distances = fraction_fit(a, z, rest, ridge, support)
    if any(not a[:, j].any() for j in support) or coef is None:
        return f, False
    margins = []
    product = Fraction(1)
    for distance in distances:
        margins.append(distance / THRESHOLD**2)
        product *= distance
    margins.append(product * 2**160)
    y2 = sum((Fraction(x) ** 2 for x in [*z.tolist(), *rest.tolist()]), Fraction(0))
    for x, j in zip(coef, support, strict=True):
        size = x**2 * sum((Fraction(v) ** 2 for v in a[:, j].tolist()), Fraction(0))
        if size:
            margins.append(Fraction(limit) ** 2 * y2 / size)
    least = min(margins, default=Fraction(2))
    if Fraction(999998, 1000000) <= least <= Fraction(1000002, 1000000):
        return f, None
    return f, least > 1


def all_fits(a, z, rest, ridge, k, limit, required=(), forbidden=()):
    """Return {support: (f, verdict)} of all supports of at most k nonzero columns."""
    columns = [j for j in range(len(z)) if a[:, j].any() and j not in forbidden]
    result = {}
    for size in range(k + 1):
        for support in combinations(columns, size):
            if set(required) <= set(support):
                result[support] = admissible(a, z, rest, ridge, support, limit)
    return result


KINDS = ("plain", "near", "dependent", "wide", "scales", "exact", "ties", "ridge", "lowrank", "tiny", "copies")


def make(kind, rng, d):
    """Return (a, z, rest, ridge) of one kind."""
    n = d + 3
    theta = rng.standard_normal((n, d))
    ridge = np.zeros(d)
    y = theta[:, :2] @ np.array([1.0, -0.5]) + rng.standard_normal(n) * 10.0 ** rng.integers(-6, 1)
    if kind == "near":
        for j in range(1, d, 2):
            theta[:, j] = theta[:, j - 1] + 10.0 ** rng.integers(-15, -6) * rng.standard_normal(n)
    elif kind == "dependent":
        theta[:, d - 1] = theta[:, 0] - theta[:, 1]
        theta[:, 2] = theta[:, 0]
        theta[:, 3] = 0.0
    elif kind == "wide":
        theta, y = theta[: d - 2], y[: d - 2]
    elif kind == "scales":
        theta *= 10.0 ** rng.integers(-8, 9, d)
        y *= 10.0 ** rng.integers(-8, 9)
    elif kind == "exact":
        y = theta[:, :2] @ np.array([1.0, 2.0])
    elif kind == "ties":
        theta = rng.integers(-1, 2, (n, d)).astype(float)
        y = rng.integers(-1, 2, n).astype(float)
    elif kind == "ridge":
        ridge = 10.0 ** rng.integers(-12, 2, d) * (rng.random(d) < 0.7)
    elif kind == "lowrank":
        theta = theta[:, :3] @ rng.standard_normal((3, d))
    elif kind == "tiny":
        y = theta[:, :2] @ np.array([1.0, 2.0]) + 1e-9 * rng.standard_normal(n)
    elif kind == "copies":  # columns that only a tiny ridge tells apart
        theta[:, 2], theta[:, d - 1] = theta[:, 0], -theta[:, 0]
        y = 2.0 * theta[:, 0] + 10.0 ** rng.integers(-12, 0) * rng.standard_normal(n) * (rng.random() < 0.5)
        ridge = np.full(d, 10.0 ** rng.integers(-16, -2))
    if kind == "ties":  # small whole numbers stay exact without a factorisation
        r = np.triu(rng.integers(-2, 3, (d + 1, d + 1))).astype(float)
    else:
        r = np.linalg.qr(np.column_stack([theta, y]), mode="r")
        r = np.vstack([r, np.zeros((max(0, d + 1 - len(r)), d + 1))])[: d + 1]
        r[np.diag(r) < 0] *= -1.0
    r = np.triu(r) + 0.0
    return r[:d, :d].copy(), r[:d, d].copy(), r[d:, d].copy(), ridge


def problem_bytes(blocks, samples=1000):
    """Return the npz file of blocks [(a, [(z, rest)])], as Problem.save writes it."""
    arrays = {"format": np.array("exactsindy problem 1")}
    digest = hashlib.sha256(b"exactsindy problem 1")
    for i, (a, targets) in enumerate(blocks):
        d, m = len(a), len(targets)
        factor = np.zeros((d + m, d + m))
        factor[:d, :d] = a
        for j, (z, rest) in enumerate(targets):
            factor[:d, d + j] = z
            factor[d : d + len(rest), d + j] = rest
        terms = [f"term{j}" for j in range(d)]
        names = [f"x{i}{j}'" for j in range(m)]
        digest.update(f"|{samples},{d},{m}".encode())
        for name in (*terms, *names):
            digest.update(f"|{len(name.encode())}:".encode() + name.encode())
        digest.update(factor.astype("<f8").tobytes())
        arrays |= {f"factor{i}": factor, f"samples{i}": np.array(samples)}
        arrays |= {f"terms{i}": np.array(terms), f"targets{i}": np.array(names)}
    arrays["fingerprint"] = np.array(digest.hexdigest())
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue(), digest.hexdigest()
