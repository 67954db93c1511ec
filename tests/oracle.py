"""Random and adversarial regressions, and two oracles that share no code with the package.

``FAMILIES`` maps a name to a generator ``(rng) -> (theta, y)``: small (D = 6..10) problems, each with one
difficulty. `best_supports` evaluates every support of one size in doubles from the raw data; `exact_supports`
does the same over the rationals. Both follow the package's rule for supports:

- a zero column never belongs to a support;
- a support is *admissible* if each of its columns, in index order, on the ridge-augmented columns
  [theta_j; sqrt(ridge_j) e_j], is farther than 1e-13 of its norm from the span of the earlier ones, the product of
  these relative distances is more than 2^-80, and |xi_j| |theta_j| <= 2^27 |y| for its least-squares coefficients;
- a dependent support has the value of the smaller one without its dependent columns;
- ties go to the smaller support, then to the lexicographically first.

Use `best_supports` with a tolerance: the doubles of a triangular factor are not those of the data. For an
exact comparison give the factor itself as data: ``exact_supports(block.theta_factor, z, ...)``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

Data = tuple[np.ndarray, np.ndarray]
DEPENDENCE = 1e-13
LIMIT = 2**27  # of |xi_j| |theta_j| / |y|


def gaussian(rng: np.random.Generator) -> Data:
    """Independent columns, three true terms, noise."""
    theta = rng.standard_normal((40, 9))
    return theta, theta[:, [1, 4, 6]] @ rng.uniform(0.5, 2.0, 3) + 0.3 * rng.standard_normal(40)


def pure_noise(rng: np.random.Generator) -> Data:
    """Nothing to find: all supports of a size are close."""
    return rng.standard_normal((30, 9)), rng.standard_normal(30)


def collinear(rng: np.random.Generator) -> Data:
    """Columns close to a common direction (condition number about 1e6)."""
    theta = rng.standard_normal((30, 1)) + 1e-6 * rng.standard_normal((30, 8))
    return theta, theta[:, 2] - theta[:, 5] + 1e-7 * rng.standard_normal(30)


def duplicates(rng: np.random.Generator) -> Data:
    """Equal columns and exact multiples of others."""
    base = rng.standard_normal((25, 4))
    theta = base[:, [0, 1, 0, 2, 1, 3, 2, 2]] * np.array([1, 1, 1, 1, -2, 1, 0.5, 1])
    return theta, base @ rng.standard_normal(4) + 0.1 * rng.standard_normal(25)


def near_duplicates(rng: np.random.Generator) -> Data:
    """Pairs of columns 1e-12 apart: just independent by the rule."""
    base = rng.standard_normal((25, 4))
    theta = np.hstack([base, base + 1e-12 * rng.standard_normal((25, 4))])
    return theta, base @ rng.standard_normal(4) + 0.1 * rng.standard_normal(25)


def dependent_sums(rng: np.random.Generator) -> Data:
    """Some columns are sums of others: dependence of three and four columns, equal up to rounding."""
    base = rng.standard_normal((25, 5))
    sums = np.column_stack([base[:, 0] + base[:, 1], base[:, 1] - base[:, 2] + base[:, 3]])
    return np.hstack([base, sums]), base @ rng.standard_normal(5) + 0.1 * rng.standard_normal(25)


def few_rows(rng: np.random.Generator) -> Data:
    """Fewer rows than columns."""
    return rng.standard_normal((5, 9)), rng.standard_normal(5)


def one_row(rng: np.random.Generator) -> Data:
    """A single sample: every column fits it."""
    return rng.standard_normal((1, 6)), rng.standard_normal(1)


def zero_target(rng: np.random.Generator) -> Data:
    """Nothing to explain: the empty support is the answer."""
    return rng.standard_normal((20, 7)), np.zeros(20)


def exact_fit(rng: np.random.Generator) -> Data:
    """Target in the span of three columns up to rounding: residuals at the level of eps."""
    theta = rng.standard_normal((20, 8))
    return theta, theta[:, [0, 3, 5]] @ np.array([1.5, -2.0, 0.7])


def exact_integers(rng: np.random.Generator) -> Data:
    """Integers with a truly zero residual on two terms."""
    theta = rng.integers(-3, 4, (12, 7)).astype(float)
    return theta, 2 * theta[:, 1] - theta[:, 4]


def badly_scaled(rng: np.random.Generator) -> Data:
    """Columns of norm 1e-8 to 1e8."""
    theta, y = gaussian(rng)
    return theta * 10.0 ** rng.uniform(-8, 8, theta.shape[1]), y


def many_ties(rng: np.random.Generator) -> Data:
    """Entries -1, 0, 1: many supports with exactly the same value."""
    return rng.integers(-1, 2, (6, 8)).astype(float), rng.integers(-1, 2, 6).astype(float)


def orthogonal_ties(rng: np.random.Generator) -> Data:
    """Unit columns and equal loads: all supports of a size tie."""
    return np.eye(8)[:, rng.permutation(8)], np.ones(8)


def zero_columns(rng: np.random.Generator) -> Data:
    """Zero columns among others."""
    theta, y = gaussian(rng)
    theta[:, [0, 4, 8]] = 0.0
    return theta, y


def all_zero(rng: np.random.Generator) -> Data:
    """No column carries anything."""
    return np.zeros((10, 6)), rng.standard_normal(10)


def constant_columns(rng: np.random.Generator) -> Data:
    """A bias, another constant column, and columns with a large mean."""
    theta = 1e3 + rng.standard_normal((30, 8))
    theta[:, 0], theta[:, 5] = 1.0, 7.0
    return theta, 3.0 + theta[:, 3] - theta[:, 6] + 0.1 * rng.standard_normal(30)


def polynomial_library(rng: np.random.Generator) -> Data:
    """Monomials up to degree 3 of a damped oscillation: the correlated library of a trajectory."""
    t = np.linspace(0.0, 10.0, 200)
    x, v = np.exp(-0.1 * t) * np.cos(2 * t), np.exp(-0.1 * t) * np.sin(2 * t)
    theta = np.column_stack([x**i * v**j for i in range(4) for j in range(4 - i)])
    return theta, 2 * v - 0.1 * x**3 + 1e-3 * rng.standard_normal(200)


def vandermonde(rng: np.random.Generator) -> Data:
    """Powers of a variable on a short interval: condition number about 1e12."""
    x = np.linspace(1.0, 1.2, 60)
    return x[:, None] ** np.arange(8), np.exp(x) + 1e-6 * rng.standard_normal(60)


def tiny_target(rng: np.random.Generator) -> Data:
    """A target of size 1e-100."""
    theta, y = gaussian(rng)
    return theta, 1e-100 * y


def huge_target(rng: np.random.Generator) -> Data:
    """A target of size 1e100 and columns of size 1e-20."""
    theta, y = gaussian(rng)
    return 1e-20 * theta, 1e100 * y


#: All families; tests name the family and the seed.
FAMILIES: dict[str, Callable[[np.random.Generator], Data]] = {
    family.__name__: family
    for family in (
        gaussian,
        pure_noise,
        collinear,
        duplicates,
        near_duplicates,
        dependent_sums,
        few_rows,
        one_row,
        zero_target,
        exact_fit,
        exact_integers,
        badly_scaled,
        many_ties,
        orthogonal_ties,
        zero_columns,
        all_zero,
        constant_columns,
        polynomial_library,
        vandermonde,
        tiny_target,
        huge_target,
    )
}


@dataclass(frozen=True)
class Values:
    """Every support of one size: ``supports`` (N, size) in lexicographic order, ``values`` (N,).

    A value is the least objective on the support; of a dependent one, that without its dependent columns.
    """

    supports: np.ndarray
    values: np.ndarray
    admissible: np.ndarray


def best_supports(theta: np.ndarray, y: np.ndarray, size: int, ridge: float | np.ndarray = 0.0) -> Values:
    """Evaluate every support of exactly ``size`` terms from the raw data, in doubles.

    A residual *norm* is right to about eps (|y| + sum |xi_j| |theta_j|); squares of norms below that say
    nothing.
    """
    weights = np.broadcast_to(np.asarray(ridge, dtype=float), theta.shape[1])
    columns = np.vstack([theta, np.diag(np.sqrt(weights))])
    target = np.concatenate([y, np.zeros(theta.shape[1])])
    norms = np.linalg.norm(columns, axis=0)
    scaled = columns / np.where(norms > 0, norms, 1.0)
    load = float(np.abs(target).max()) or 1.0
    listed = list(itertools.combinations(range(theta.shape[1]), size))
    supports = np.array(listed, dtype=int).reshape(len(listed), size)
    stacked = np.empty((len(supports), len(target), size + 1))
    stacked[:, :, :size] = scaled[:, supports].transpose(1, 0, 2)
    stacked[:, :, size] = target / load
    # Projecting one column after the other keeps a dependent one from spoiling the rest: it is set to zero.
    empty = ~np.any(theta != 0, axis=0)
    admissible = ~empty[supports].any(axis=1)
    volume = np.ones(len(supports))
    for i in range(size):
        column = stacked[:, :, i]
        length = np.linalg.norm(column, axis=1)
        good = (length > DEPENDENCE) & (length * volume > 2.0**-80) & ~empty[supports[:, i]]
        volume = np.where(good, volume * length, volume)
        admissible &= good
        unit = np.where(good, 1.0 / np.where(good, length, 1.0), 0.0)[:, None] * column
        for _ in range(2):
            shares = np.einsum("bi,bij->bj", unit, stacked[:, :, i + 1 :])
            stacked[:, :, i + 1 :] -= unit[:, :, None] * shares[:, None, :]
    values = (np.linalg.norm(stacked[:, :, size], axis=1) * load) ** 2
    plain = np.linalg.norm(theta, axis=0) / np.where(norms > 0, norms, 1.0)
    for row in np.flatnonzero(admissible):
        coef = np.linalg.lstsq(scaled[:, supports[row]], target / load, rcond=0.0)[0]
        admissible[row] = np.all(np.abs(coef) * plain[supports[row]] <= LIMIT * np.linalg.norm(target / load))
    return Values(supports, values, admissible)


@dataclass(frozen=True)
class ExactBest:
    """The optimum over the rationals; ``rival`` is the next-best value of its size (None: no other)."""

    support: tuple[int, ...]
    value: Fraction
    rival: Fraction | None


def exact_supports(
    theta: np.ndarray, y: np.ndarray, size: int, ridge: float | Sequence[float] = 0.0, rest: Sequence[float] = ()
) -> dict[tuple[int, ...], Fraction]:
    """Return the exact value of every *admissible* support of at most ``size`` terms (D <= 10 or so).

    The doubles of the data are taken as they are; ``rest`` holds more entries of the target, on which no column acts
    (they count for its norm only, not for the values). Inadmissible supports are absent.
    """
    weights = np.broadcast_to(np.asarray(ridge, dtype=float), theta.shape[1])
    gram, moments, square = _normal_equations(theta, y, ridge)
    zero = [not np.any(theta[:, j]) for j in range(theta.shape[1])]
    values: dict[tuple[int, ...], Fraction] = {(): square}
    independent = {()}
    most = LIMIT**2 * (square + sum((Fraction(float(v)) ** 2 for v in rest), Fraction(0)))
    for count in range(1, size + 1):
        for support in itertools.combinations(range(theta.shape[1]), count):
            if support[:-1] in independent and not zero[support[-1]]:
                pivots, value, coef = _eliminate(gram, moments, square, support)
                volume = math.prod(p / gram[j][j] for p, j in zip(pivots, support, strict=True))
                if pivots[-1] * 10**26 > gram[support[-1]][support[-1]] and volume * 2**160 > 1:
                    independent.add(support)
                    sizes = [gram[j][j] - Fraction(float(weights[j])) for j in support]
                    if all(x * x * size <= most for x, size in zip(coef, sizes, strict=True)):
                        values[support] = value
    return values


def exact_reduced(theta: np.ndarray, support: Sequence[int], ridge: float | Sequence[float] = 0.0) -> tuple[int, ...]:
    """Return the support without its zero columns and those that depend on earlier ones."""
    gram, moments, square = _normal_equations(theta, np.zeros(len(theta)), ridge)
    kept: tuple[int, ...] = ()
    for j in support:
        if np.any(theta[:, j]):
            pivots, _, _ = _eliminate(gram, moments, square, (*kept, j))
            volume = math.prod(p / gram[i][i] for p, i in zip(pivots, (*kept, j), strict=True))
            if pivots[-1] * 10**26 > gram[j][j] and volume * 2**160 > 1:
                kept = (*kept, j)
    return kept


def exact_best(theta: np.ndarray, y: np.ndarray, size: int, ridge: float | Sequence[float] = 0.0) -> ExactBest:
    """Return the best support of at most ``size`` terms by the tie rule, and its rival's value."""
    values = exact_supports(theta, y, size, ridge)
    support = min(values, key=lambda s: (values[s], len(s), s))
    rivals = [value for s, value in values.items() if len(s) == len(support) and s != support]
    return ExactBest(support, values[support], min(rivals, default=None))


def _normal_equations(
    theta: np.ndarray, y: np.ndarray, ridge: float | Sequence[float]
) -> tuple[list[list[Fraction]], list[Fraction], Fraction]:
    columns = [[Fraction(float(v)) for v in column] for column in theta.T]
    target = [Fraction(float(v)) for v in y]
    weights = [Fraction(float(v)) for v in np.broadcast_to(np.asarray(ridge, dtype=float), len(columns))]
    gram = [[_dot(a, b) for b in columns] for a in columns]
    for j, weight in enumerate(weights):
        gram[j][j] += weight
    return gram, [_dot(a, target) for a in columns], _dot(target, target)


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def _eliminate(
    gram: list[list[Fraction]], moments: list[Fraction], square: Fraction, support: tuple[int, ...]
) -> tuple[list[Fraction], Fraction, list[Fraction]]:
    """Gaussian elimination on the normal equations: squared distances of the columns, value, coefficients."""
    rows = [[gram[i][j] for j in support] + [moments[i]] for i in support]
    value, pivots = square, []
    for p, top in enumerate(rows):
        pivots.append(top[p])
        if not top[p]:
            break
        value -= top[-1] ** 2 / top[p]
        for row in rows[p + 1 :]:
            ratio = row[p] / top[p]
            for j in range(p, len(row)):
                row[j] -= ratio * top[j]
    coef = [Fraction(0)] * len(support)
    for i in reversed(range(len(pivots) if all(pivots) else 0)):
        known = sum((rows[i][j] * coef[j] for j in range(i + 1, len(support))), Fraction(0))
        coef[i] = (rows[i][-1] - known) / rows[i][i]
    return pivots, value, coef
