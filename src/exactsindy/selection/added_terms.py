"""What terms beside those chosen would add to a regression: the library's own, and functions outside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from exactsindy._types import Array
from exactsindy.selection.trajectory_evidence import SIMPLICITY

# A column of which less than this share is new beside the terms chosen is taken for dependent on them.
_DEPENDENT = 1e-8
# Residual sums of squares below this share of the target's are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Additions:
    """What terms that were not chosen would add to a regression, as twice log-likelihood ratios.

    ``inside`` and ``outside``: the most that one term of the library, and one function outside it, gain beside the
    terms chosen; ``term`` and ``column`` are their columns. ``saved``: how much better than the terms chosen one
    function in place of two of them is by the BIC; ``replacement`` is that function and ``replaced`` the terms. -inf if
    there are no two. ``swapped``: how much better one function in place of one of them is, less what it is more
    complicated; ``other`` and ``out`` are that function and that term.

    ``imitation``: how well functions fit in place of one term that is not linear, or of two terms, on the average over
    all functions: twice the logarithm of the mean of exp(criterion / 2), for the best place of each function. The
    criterion pays for every term and for every factor in it, as that of trajectory fits does. It says by how much the
    data are as plausible under a law outside the library as under the terms chosen; -inf if that is not asked for.
    ``imitator`` is the function that fits best in that sense, in place of ``imitated``.
    """

    inside: float = 0.0
    outside: float = 0.0
    term: int = -1
    column: int = -1
    saved: float = -math.inf
    replacement: int = -1
    replaced: tuple[int, ...] = ()
    swapped: float = -math.inf
    other: int = -1
    out: int = -1
    imitation: float = -math.inf
    imitator: int = -1
    imitated: tuple[int, ...] = ()

    @property
    def advantage(self) -> float:
        """How much more a function outside the library gains than any term of the library."""
        return self.outside - self.inside

    @property
    def best(self) -> int:
        """The column that gains most."""
        return self.column if self.advantage > 0 else self.term


def additions(
    columns: Array,
    target: Array,
    rest: float,
    support: Sequence[int],
    outside: Sequence[int],
    rows: int,
    floor: float,
    complexity: Sequence[int] = (),
    degrees: Sequence[int] = (),
) -> Additions:
    """Return what single columns add to a least-squares fit.

    Parameters
    ----------
    columns, target, rest
        Rows of the regression, or their triangular factor with the sum of squares that it leaves of the target.
    support, outside
        The columns chosen, and those of functions outside the library; all others are terms of the library.
    rows, floor
        Number of rows, and the residual sum of squares that says nothing about terms.
    complexity
        How much is written in each column's term (`Term.complexity`); left out, all are equally complicated.
    degrees
        The degree of each column's term, -1 if it is no monomial: monomials may be an imitation of functions. Left out,
        `Additions.imitation` is not computed.
    """
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    chosen = list(support)
    basis = np.linalg.qr(scaled[:, chosen])[0]
    residual = target - basis @ (basis.T @ target)
    square = float(residual @ residual) + rest
    least = max(floor, _ROUNDING * (float(target @ target) + rest), np.finfo(float).tiny)
    new = scaled - basis @ (basis.T @ scaled)
    size = (new**2).sum(axis=0)
    gains = np.where(size > _DEPENDENT, (residual @ new) ** 2 / np.maximum(size, _DEPENDENT), 0.0)

    def ratio(left: float) -> float:
        return rows * math.log(max(square, least) / max(left, least))

    others = [j for j in range(scaled.shape[1]) if j not in {*chosen, *outside}]
    term = max(others, key=lambda j: gains[j], default=-1)
    inside = ratio(square - float(gains[term])) if others else 0.0
    if not len(outside):
        return Additions(inside, term=term)
    best = max(outside, key=lambda j: gains[j])
    found = Additions(inside, ratio(square - float(gains[best])), term, best)
    imitations: list[tuple[float, int, tuple[int, ...]]] = []
    for j in outside:
        if size[j] > _DEPENDENT:
            imitations.append((-math.inf, j, ()))
            for left_out, left in _without(scaled[:, [*chosen, j]], target, square - float(gains[j])):
                names = tuple(chosen[a] for a in left_out)
                value = ratio(left) + (len(names) - 1) * math.log(rows)
                if degrees and _may_imitate([degrees[a] for a in names]):
                    simpler = SIMPLICITY * (sum(complexity[a] for a in names) - complexity[j])
                    imitations[-1] = max(imitations[-1], (value + simpler, j, names))
                if len(names) == 1:
                    value -= SIMPLICITY * (complexity[j] - complexity[names[0]]) if complexity else 0.0
                    if value > found.swapped:
                        found = replace(found, swapped=value, other=j, out=names[0])
                elif len(names) == 2 and value > found.saved:
                    found = replace(found, saved=value, replacement=j, replaced=names)
    if degrees and imitations:
        mean = np.logaddexp.reduce([value / 2 for value, _, _ in imitations]) - math.log(len(outside))
        _, imitator, imitated = max(imitations)
        found = replace(found, imitation=2 * float(mean), imitator=imitator, imitated=imitated)
    return found


def _may_imitate(degrees: Sequence[int]) -> bool:
    """Return True for two monomials, or for one that is not linear: a straight line imitates any function near 0."""
    return min(degrees) >= 0 and (len(degrees) > 1 or degrees[0] > 1)


def _without(columns: Array, target: Array, square: float) -> list[tuple[tuple[int, ...], float]]:
    """Return the residual sum of squares without one or two columns but the last, from ``square``, that with all."""
    basis, factor = np.linalg.qr(columns)
    inverse = np.linalg.inv(factor)
    covariance, coef = inverse @ inverse.T, inverse @ (basis.T @ target)
    found: list[tuple[tuple[int, ...], float]] = [
        ((a,), square + float(coef[a] ** 2 / max(covariance[a, a], np.finfo(float).tiny)))
        for a in range(columns.shape[1] - 1)
    ]
    for a, b in combinations(range(columns.shape[1] - 1), 2):
        p, q, r = covariance[a, a], covariance[a, b], covariance[b, b]
        volume = p * r - q * q
        if volume <= np.finfo(float).eps * p * r:  # copies of each other: what both explain is not known
            continue
        rise = (r * coef[a] ** 2 - 2 * q * coef[a] * coef[b] + p * coef[b] ** 2) / volume
        found.append(((a, b), square + float(rise)))
    return found
