"""The ends `S` and `A` of a proof: supports looked at one by one, pairs of last terms all at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from exactsindy_check import twofold
from exactsindy_check.bounds import TINY, Ground, Indices, costs, value_of
from exactsindy_check.errors import NotChecked
from exactsindy_check.exact import ExactFits, Verdict
from exactsindy_check.instance import SMALL, UNIT, Vector
from exactsindy_check.node_bounds import node_exceeds
from exactsindy_check.projection import Projection

Support = tuple[int, ...]

MOST_SURVIVORS = 1_000_000
_MOST_PARTS = 2_000_000
_AT_ONCE = 256


@dataclass
class Scanner:
    """Looks at supports of a section; those that have f <= cut and are admissible (`listing`: or not) survive.

    In a list, `independent` leaves out supports that are not surely independent by rule 2.
    """

    base: Ground
    exact: ExactFits
    cut: Fraction | None  # None: infinite
    exactly: bool
    listing: bool = False
    independent: bool = False
    survivors: set[Support] = field(default_factory=set)

    @cached_property
    def _projection(self) -> Projection:
        return Projection(self.base)

    def look(self, inside: Sequence[int], free: Indices, slots: int) -> None:
        """Look at all supports that contain `inside` and at most `slots` <= 2 (or all) of `free`."""
        if self.base.numbers.cut < 0.0:
            return
        size = min(slots, len(free))
        if self.exactly and len(free) < slots:
            return
        if size == 2 and len(free) > 2:
            self._pairs(tuple(inside), free)
        else:
            start = tuple(sorted(inside))
            self._descend(start, [tuple(sorted((*start, *free[list(c)].tolist()))) for c in _choose(len(free), size)])

    def _pairs(self, inside: Support, free: Indices) -> None:
        vectors = self._projection.off(inside, free)
        proved = pairs_exceed(self.base, np.array(inside, dtype=np.intp), free, vectors)
        np.fill_diagonal(proved, True)
        if proved.all():
            return
        inside = tuple(sorted(inside))
        rows, columns = np.nonzero(np.triu(~proved, 1))
        pairs = [
            tuple(sorted((*inside, a, b))) for a, b in zip(free[rows].tolist(), free[columns].tolist(), strict=True)
        ]
        np.fill_diagonal(proved, False)
        covered = {tuple(sorted((*inside, int(a)))) for a in free[proved.any(axis=1)]}
        if covered:
            covered.add(inside)
        self._descend(inside, pairs, covered)

    def _descend(self, inside: Support, supports: list[Support], covered: Iterable[Support] = ()) -> None:
        """Look at the supports; parts of those that do not exceed the cut are looked at too.

        A support above the cut covers its parts: they have no lower values.
        """
        done, level = set(covered), supports
        fixed = set(inside)
        while level:
            if len(level) > _MOST_PARTS:
                raise NotChecked(f"more than {_MOST_PARTS} supports of one node would have to be looked at.")
            proved = self._exceed(level)
            if self.exactly:
                return
            for support, above in zip(level, proved, strict=True):
                if above:
                    done.update(_parts(support, fixed))
            level = sorted(
                {p for s, above in zip(level, proved, strict=True) if not above for p in _parts(s, fixed)} - done
            )

    def _exceed(self, supports: list[Support]) -> list[bool]:
        """Return for each support whether f > cut is proved; record survivors."""
        result: list[bool] = []
        for start in range(0, len(supports), _AT_ONCE):
            part = supports[start : start + _AT_ONCE]
            try:
                result += supports_exceed(self.base, np.array(part, dtype=np.intp).reshape(len(part), -1)).tolist()
            except np.linalg.LinAlgError:  # as good as dependent columns: these supports are decided exactly
                result += [False] * len(part)
        for i, support in enumerate(supports):
            if not result[i]:
                result[i] = self._decide(support)
        return result

    def _decide(self, support: Support) -> bool:
        """Decide whether f > cut, in whole numbers or by better bounds; if not, an admissible support survives."""
        if self.exact.exceeds(support, self.cut):
            return True
        verdict = self.exact.fit(support).verdict
        if self.listing and verdict is not Verdict.YES:
            # Terms that nearly depend on each other may fit by coefficients beyond their limit only.
            if node_exceeds(self.base, np.array(support, dtype=np.intp), np.array([], dtype=np.intp), 0):
                return True
            if self.independent and self.exact.independence(support) is not Verdict.YES:
                return False  # (its parts may be independent)
        if self.listing or verdict is not Verdict.NO:
            self.survivors.add(support)
            if len(self.survivors) > MOST_SURVIVORS:
                raise NotChecked(f"more than {MOST_SURVIVORS} supports are at or below the cut.")
        return False


def _choose(count: int, size: int) -> list[tuple[int, ...]]:
    return list(combinations(range(count), size))


def _parts(support: Support, fixed: set[int]) -> list[Support]:
    """Return the support without one term, for each term that is not fixed."""
    return [support[:i] + support[i + 1 :] for i, j in enumerate(support) if j not in fixed]


def supports_exceed(base: Ground, supports: Indices) -> npt.NDArray[np.bool_]:
    """Return for each support (rows, all of one size) whether the bound of its own residual exceeds the cut."""
    numbers, n = base.numbers, base.rows
    count, size = supports.shape
    if not np.isfinite(numbers.cut):
        return np.zeros(count, dtype=bool)
    a = numbers.a.T[supports].transpose(0, 2, 1)  # (b, n, s)
    ridge = numbers.ridge[supports]
    z = np.broadcast_to(numbers.z, (count, n))
    if size and ridge.any():
        a = np.concatenate([a, np.sqrt(ridge)[:, :, None] * np.eye(size)], axis=1)
        z = np.concatenate([z, np.zeros((count, size))], axis=1)
    x = np.zeros((count, size))
    high, low = np.array(z[:, :n].T), np.zeros((n, count))
    g = np.zeros((size, count))
    if size and size <= a.shape[1]:
        q, r = np.linalg.qr(a)
        weak = np.abs(np.einsum("bii->bi", r)) < 1e-13  # a column in the span of the earlier ones: passed over
        q = np.where(weak[:, None, :], 0.0, q)
        r = np.where(weak[:, :, None], 0.0, r) + np.einsum("bi,ij->bij", weak * 1.0, np.eye(size))
        coef = np.einsum("bni,bn->bi", q, z)
        w = z - np.einsum("bni,bi->bn", q, coef)
        x = np.linalg.solve(r, coef[:, :, None])[:, :, 0]
        high = np.array(w[:, :n].T)
        columns = a[:, :n].transpose(1, 2, 0)  # (n, s, b)
        for step in range(3):
            g = twofold.dots(columns, high[:, None, :], low[:, None, :])
            if step == 2:
                break
            change = np.linalg.solve(r.transpose(0, 2, 1), (g.T - ridge * x)[:, :, None])[:, :, 0]
            change = np.where(weak, 0.0, change)
            high, low = twofold.two_sum(high, low - np.einsum("bni,bi->nb", q[:, :n], change))
            x = x + np.linalg.solve(r, change[:, :, None])[:, :, 0]
    elif size:
        g = twofold.dots(a[:, :n].transpose(1, 2, 0), high[:, None, :], low[:, None, :])
    error = twofold.dots_error(2 * n)
    norm = np.sqrt((high * high).sum(axis=0)) * (1.0 + 2.0 * (n + 8) * UNIT) + SMALL
    bound_g = np.abs(g) * (1.0 + 4.0 * UNIT) + error * numbers.norm[supports].T * norm + TINY
    cost = costs(bound_g, ridge.T, base.reach[supports].T).sum(axis=0) * (1.0 + 4.0 * (size + 4) * UNIT)
    loss = cost + 4.0 * error * norm * (2.0 * numbers.z_norm + norm) + TINY
    value, rest = value_of(numbers.z[:, None], high, low)
    over = value - numbers.cut
    return np.asarray(over + rest - loss > 8.0 * UNIT * (np.abs(over) + np.abs(rest) + loss))


def pairs_exceed(base: Ground, inside: Indices, free: Indices, vectors: tuple[Vector, Vector]) -> npt.NDArray[np.bool_]:
    """Return for each pair of `free` whether f of `inside` and the pair is proved to exceed the cut (Lemma 6).

    Entry (a, b), symmetric; the diagonal means nothing. `vectors` are the columns and the target projected off
    `inside`, one per row, and their ridge entries (`Projection.off`). The residuals w = target - alpha a - beta b need
    no property at all: whatever they are, the bound holds.
    """
    numbers, n = base.numbers, base.rows
    m, p = len(free), len(inside)
    if not np.isfinite(numbers.cut):
        return np.zeros((m, m), dtype=bool)
    e, s = vectors
    k = e @ e.T
    noise = np.diag(k)[:m] < 1e-22 * numbers.norm[free] ** 2
    if noise.any():  # a column that is left with rounding noise only is replaced by zero
        e[:m][noise] = 0.0
        k = e @ e.T
    weight, ridge = numbers.ridge[inside], numbers.ridge[free]
    big_m, big_n = e @ numbers.a.T[free].T, e @ numbers.a.T[inside].T
    if p and weight.any():
        k += (s * weight) @ s.T
        big_n += s * weight
    np.einsum("ii->i", k)[:m] += ridge
    np.einsum("ii->i", big_m[:m])[:] += ridge
    size = np.sqrt(np.maximum(np.diag(k), 0.0)) * (1.0 + 1e-6) + SMALL  # upper bounds of the norms
    e_z, size = size[m], size[:m]
    c, d, own = k[:m, m], np.diag(k)[:m], k[:m, :m]
    t, u, big_m = e @ numbers.z, big_m[m], big_m[:m]
    delta = 4.0 * (n + p + 32) * UNIT
    reach_in, reach = base.reach[inside], base.reach[free]
    slack = float(reach_in @ numbers.augmented[inside] + 2.0 * (reach * numbers.augmented[free]).max())
    lean = 2.0 * (np.abs(big_n) @ reach_in)  # what the terms in cost, per unit of a column and of the target
    with np.errstate(all="ignore"):
        per = (lean[:m] + 2.0 * delta * (slack + numbers.z_norm + e_z) * size) * 1.0001 + TINY
        constant = 2.0 * t[m] - k[m, m] - (lean[m] + 2.0 * delta * e_z * (slack + numbers.z_norm + e_z)) * 1.0001 - TINY
        beta = _coefficients(c, d, own)
        alpha = beta.T.copy()
        # `part` is what `b` of each pair costs with its own coefficient; in place, as most of the time goes here.
        part, term = beta * (d + 4.0 * delta * size**2), alpha * own
        part += term
        part += 2.0 * (t[:m] - c)
        part *= beta
        g = beta * np.diag(big_m)
        g += np.multiply(alpha, big_m, out=term)
        g -= u
        part += np.multiply(np.abs(g, out=g), 2.0001 * reach, out=g)
        part += np.multiply(np.abs(beta, out=term), per, out=term)
        total = part + part.T
        return np.asarray(np.subtract(constant, total, out=total) > numbers.cut)


def _coefficients(c: Vector, d: Vector, own: Vector) -> Vector:
    """Return beta: entry (a, b) is the coefficient of `b` where the target is fitted by the pair (a, b)."""
    inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0.0)
    beta = own * (c * inverse)[:, None]
    np.subtract(c, beta, out=beta)
    rest = own * inverse[:, None]
    rest *= own
    np.subtract(d * (1.0 + 64.0 * UNIT), rest, out=rest)
    return np.divide(beta, np.maximum(rest, TINY, out=rest), out=beta)
