"""Recognise columns that are bound to each other: copies, and quantities that stay constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.discovery.recognise.view import View
from exactsindy.library import Term

# A sum is constant if it varies by less than this share of each of its parts: of clean data without more ado, ...
_EXACT = 1e-4
# ... otherwise after noise is averaged out, if it is white and of the size that noise has.
_STEADY, _LARGEST_NOISE = 0.05, 1.25
# Standard deviations by which correlation and block means of white noise may depart from their expectation.
_SURE = 4.0
# A part that is smaller than this share of the largest one does not belong to a relation.
_LEAST_PART = 0.1
# Terms of a relation, relations that are named, and states beyond which squares and products are not looked at.
_LARGEST, _NAMED, _MOST_STATES = 3, 3, 6
# Columns that vary less or are larger are left out: fourth powers of their noise would not be doubles.
_SIZES = 1e-60, 1e60
# Keeps the noise of a sum from being zero: of two columns whose noise is the same.
_JITTER = 1e-10
# Combinations of a size that are compared at most; beyond, none of that size.
_MOST_SUBSETS = 50_000
# Candidate combinations whose samples are looked at.
_LOOKED_AT = 12


@dataclass(frozen=True)
class Relation:
    """A sum of terms that is constant in the data: ``sum of coefficients * terms = value +- error``.

    ``exact`` means to rounding, noise included: one column was computed from the others.
    """

    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    value: float
    error: float
    exact: bool

    @property
    def states(self) -> frozenset[str]:
        """Return the columns that are bound."""
        return frozenset(variable.name for term in self.terms for variable in term.variables())


@dataclass(frozen=True, eq=False)
class _Columns:
    """Monomials of the columns with their values and smoothed values (n x terms).

    ``slopes`` (n or 1 x terms x columns) and ``second`` (terms,) say how noise of the columns enters: to first order,
    and the variance of the square of the noise.
    """

    terms: tuple[Term, ...]
    raw: Array
    calm: Array
    slopes: Array
    second: Array


def relations(view: View) -> tuple[Relation, ...]:
    """Return sums of two or three terms that are constant in all trajectories: linear ones first, then quadratic ones.

    A relation that contains one found before, or whose columns are bound by linear ones, is left out.
    """
    if len(view.raw) < 4 * _LARGEST:
        return ()
    small, large = _SIZES
    size = np.abs(view.raw).max(axis=0)
    moving = [j for j, width in enumerate(view.spread) if width > max(2 * view.noise[j], small) and size[j] < large]
    columns = _monomials(view, [(j,) for j in moving])
    linear = list(_search(view, columns))
    linear += _feedback(view, columns, frozenset().union(*(relation.states for relation in linear)))
    if len(moving) > _MOST_STATES:
        return tuple(linear[:_NAMED])
    bound = frozenset().union(*(relation.states for relation in linear))
    free = [j for j in moving if view.names[j] not in bound]
    powers = [*((j,) for j in free), *combinations_with_replacement(free, 2)]
    quadratic = _search(view, _monomials(view, powers)) if len(free) > 1 else ()
    return (*linear, *quadratic)[:_NAMED]


def _monomials(view: View, powers: Sequence[tuple[int, ...]]) -> _Columns:
    """Return products of one or two columns, with slopes for the noise that they inherit."""
    raw, calm, noise = view.raw, view.calm, view.noise
    values, smooth, terms = [], [], []
    rows = len(raw) if any(len(factors) > 1 for factors in powers) else 1  # slopes of the columns are constant
    slopes = np.zeros((rows, len(powers), raw.shape[1]))
    second = np.zeros(len(powers))
    for q, factors in enumerate(powers):
        term = Term.variable(view.names[factors[0]])
        if len(factors) == 1:
            values.append(raw[:, factors[0]])
            smooth.append(calm[:, factors[0]])
            slopes[:, q, factors[0]] = 1.0
        else:
            i, j = factors
            term = term * Term.variable(view.names[j])
            values.append(raw[:, i] * raw[:, j])
            smooth.append(calm[:, i] * calm[:, j])
            slopes[:, q, i] += calm[:, j]
            slopes[:, q, j] += calm[:, i]
            second[q] = (noise[i] * noise[j]) ** 2 * (2 if i == j else 1)
        terms.append(term)
    stack = np.column_stack if values else (lambda _: np.zeros((len(raw), 0)))
    return _Columns(tuple(terms), stack(values), stack(smooth), slopes, second)


def _search(view: View, columns: _Columns) -> Iterator[Relation]:
    """Yield the constant sums of two terms, then of three, none of which contains another."""
    covariance, noise = _covariances(view, columns)
    found: list[frozenset[int]] = []
    for size in range(2, _LARGEST + 1):
        if comb(len(columns.terms), size) > _MOST_SUBSETS:
            return
        subsets = np.array(list(combinations(range(len(columns.terms)), size)), dtype=np.intp).reshape(-1, size)
        for subset, weights in _candidates(covariance, noise, subsets):
            chosen = frozenset(subset.tolist())
            if any(other <= chosen for other in found):
                continue
            relation = _constant(view, columns, subset, weights)
            if relation is None:
                continue
            found.append(chosen)
            if len(relation.states) > 1 and not _shared(relation.terms):
                yield relation


def _covariances(view: View, columns: _Columns) -> tuple[Array, Array]:
    """Return the covariance of the smoothed columns, and that of their noise."""
    scaled = columns.slopes * view.noise
    noise = np.einsum("nqj,npj->qp", scaled, scaled) / max(len(scaled), 1) + np.diag(columns.second)
    centred = columns.calm - columns.calm.mean(axis=0)
    return centred.T @ centred / max(len(centred), 1), noise


def _feedback(view: View, columns: _Columns, bound: frozenset[str]) -> Iterator[Relation]:
    """Yield sums of a control and of any number of states: columns with small parts are left out one by one."""
    covariance, noise = _covariances(view, columns)
    names = [term.name for term in columns.terms]
    for control in (name for name in view.names[len(view.states) :] if name in names and name not in bound):
        own = names.index(control)
        subset = [q for q, name in enumerate(names) if name in view.states and name not in bound] + [own]
        while len(subset) > _LARGEST:
            ((chosen, weights),) = _candidates(covariance, noise, np.array([subset]), balanced=False)
            parts = np.abs(weights) * np.sqrt(np.diagonal(covariance))[chosen]
            smallest = int(parts.argmin())
            if parts[smallest] >= _LEAST_PART * parts.max():
                relation = _constant(view, columns, chosen[::-1], weights[::-1])
                if relation is not None:
                    yield relation
                break
            if subset[smallest] == own:
                break
            del subset[smallest]


def _shared(terms: Sequence[Term]) -> bool:
    """Return True if all terms hold the same variable: such a sum is a product and not conserved as one."""
    return bool(set.intersection(*({variable.name for variable in term.variables()} for term in terms)))


def _candidates(
    covariance: Array, noise: Array, subsets: NDArray[np.intp], *, balanced: bool = True
) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """Yield the subsets whose steadiest sum is steadiest beside its parts, with the weights of that sum."""
    if not len(subsets):
        return
    rows, cols = subsets[:, :, None], subsets[:, None, :]
    width = np.sqrt(np.diagonal(noise))
    scale = width[rows] * width[cols]
    inner = noise[rows, cols] / scale + _JITTER * np.eye(subsets.shape[1])
    root = np.linalg.inv(np.linalg.cholesky(inner))
    values, vectors = np.linalg.eigh(root @ (covariance[rows, cols] / scale) @ root.transpose(0, 2, 1))
    weights = np.einsum("sji,sj->si", root, vectors[:, :, 0]) / width[subsets]
    parts = np.abs(weights) * np.sqrt(np.diagonal(covariance))[subsets]
    order = np.sqrt(np.maximum(values[:, 0], 0)) / np.maximum(parts.min(axis=1), 1e-300)
    suited = (parts.min(axis=1) >= _LEAST_PART * parts.max(axis=1)) | (not balanced)
    for i in [i for i in np.argsort(order) if suited[i]][:_LOOKED_AT]:
        yield subsets[i], weights[i]


def _constant(view: View, columns: _Columns, subset: NDArray[np.intp], weights: Array) -> Relation | None:
    """Return the relation if the sum is constant within the noise, and noise could not hide that it moves."""
    total = columns.raw[:, subset] @ weights
    least = (np.abs(weights) * columns.calm[:, subset].std(axis=0)).min()
    width = float(total.std())
    if not least > 0 or not np.isfinite(least):  # a column that never changes
        return None
    exact = width <= _EXACT * least
    if not exact:
        slopes = np.einsum("q,nqj->nj", weights, columns.slopes[:, subset])
        local = np.sqrt(((slopes * view.noise) ** 2).sum(axis=1) + (weights**2 * columns.second[subset]).sum())
        centre = np.average(total, weights=np.broadcast_to(local**-2, total.shape))
        if not _is_white_noise((total - centre) / local, view.block):
            return None
        # What the mean of a block hides.
        if np.sqrt(np.mean(local**2) / view.block) > _STEADY * least:
            return None
    first = weights[0]
    coefficients = tuple(_tidy(float(w / first), width / (abs(first) * least)) for w in weights)
    return Relation(
        tuple(columns.terms[q] for q in subset),
        coefficients,
        float(total.mean() / first),
        abs(width / first),
        exact,
    )


def _is_white_noise(standard: Array, block: int) -> bool:
    """Return True if numbers that should be white and of variance 1 are, by variance, neighbours and block means."""
    n = len(standard)
    variance = float(np.mean(standard**2))
    if variance > _LARGEST_NOISE**2:
        return False
    neighbours = float(np.mean(standard[1:] * standard[:-1])) / variance
    if abs(neighbours) > _SURE / np.sqrt(n):
        return False
    count = n // block
    means = standard[: count * block].reshape(count, block).mean(axis=1)
    return bool(block * np.mean(means**2) / variance < 1.0 + _SURE * np.sqrt(2.0 / count))


def _tidy(value: float, error: float) -> float:
    """Return the nearest half if it is nearer than the error (1 % at least), otherwise the value."""
    near = round(2 * value) / 2
    return near if near and abs(value - near) <= max(0.01, min(error, 0.05)) * abs(near) else value
