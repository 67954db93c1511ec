"""Families of small hostile regressions, each with one difficulty, for `bench torture`.

A family is a function ``(rng, width) -> Draw``: ``width`` candidate terms and one target. Data go through the
package's own compression; a triangle is stored as it is, so that its numbers reach the solver unchanged.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from exactsindy_experiments.torture_draws import Draw, Rng, data, power, target, triangle


def gauss(rng: Rng, width: int) -> Draw:
    """Columns with a random correlation."""
    mixing = np.eye(width) + rng.uniform(0, 1) * rng.standard_normal((width, width))
    theta = rng.standard_normal((width + int(rng.integers(1, 20)), width)) @ mixing
    return data(theta, target(rng, theta))


def collinear(rng: Rng, width: int) -> Draw:
    """Columns close to one direction, 1e-1 to 1e-7 apart."""
    theta = rng.standard_normal((2 * width, 1)) + power(rng, -7, -1) * rng.standard_normal((2 * width, width))
    return data(theta, target(rng, theta))


def integer_data(rng: Rng, width: int) -> Draw:
    """Entries -1, 0, 1."""
    rows = int(rng.integers(3, 2 * width))
    return data(rng.integers(-1, 2, (rows, width)).astype(float), rng.integers(-2, 3, rows).astype(float))


def integer_triangle(rng: Rng, width: int) -> Draw:
    """Draw a factor of small integers: many exact ties."""
    factor = np.triu(rng.integers(-2, 3, (width + 1, width + 1))).astype(float)
    np.fill_diagonal(factor, rng.integers(0, 3, width + 1))
    return Draw(factor, triangle=True)


def duplicates(rng: Rng, width: int) -> Draw:
    """Equal columns and exact multiples of others."""
    theta = rng.standard_normal((2 * width, width))
    chosen, copies = rng.random(width) < 0.4, rng.integers(0, width, width)
    theta[:, chosen] = theta[:, copies[chosen]] * rng.choice([1.0, -1.0, 2.0, 0.3], size=int(chosen.sum()))
    return data(theta, target(rng, theta))


def duplicate_triangle(rng: Rng, width: int) -> Draw:
    """Equal columns of a stored factor: exact ties between supports."""
    factor = triangle(rng, width)
    for j in range(1, width):
        if rng.random() < 0.4:
            factor[:, j] = factor[:, rng.integers(j)] * rng.choice([1.0, -1.0, 2.0, 0.25])
    return Draw(factor, triangle=True)


def dependent(rng: Rng, width: int) -> Draw:
    """Make some columns sums of others, up to rounding."""
    theta = rng.standard_normal((2 * width, width))
    for j in range(3, width):
        if rng.random() < 0.4:
            theta[:, j] = theta[:, rng.choice(j, size=int(rng.integers(2, 4)), replace=False)].sum(axis=1)
    return data(theta, target(rng, theta))


def dependent_triangle(rng: Rng, width: int) -> Draw:
    """Columns of a stored factor that are combinations of earlier ones, plus 1e-8 to 1e-15 of their norm."""
    factor = triangle(rng, width)
    for j in range(2, width):
        if rng.random() < 0.5:
            factor[:, j] = factor[:, :j] @ np.where(rng.random(j) < 0.5, rng.standard_normal(j), 0.0)
            factor[: j + 1, j] += power(rng, -15, -8) * rng.standard_normal(j + 1)
    return Draw(factor, triangle=True)


def scales(rng: Rng, width: int) -> Draw:
    """Columns of norm 1e-140 to 1e140."""
    theta = rng.standard_normal((2 * width, width))
    y = target(rng, theta)
    return data(theta * power(rng, -140, 140, width), y)


def ridge_mixed(rng: Rng, width: int) -> Draw:
    """Ridge weights 0 and 1e-300 to 1e300, different for each term."""
    theta = rng.standard_normal((2 * width, width))
    span = rng.choice([3.0, 30.0, 300.0])
    ridge = np.where(rng.random(width) < 0.3, 0.0, power(rng, -span, span, width))
    return data(theta, target(rng, theta), ridge)


def ridge_tiny(rng: Rng, width: int) -> Draw:
    """Ridge weights 1e-40 to 1e-10, on dependent columns of a stored factor: they alone decide."""
    drawn = duplicate_triangle(rng, width)
    if rng.random() < 0.5:
        drawn.matrix[:, -1] = drawn.matrix[:, :3] @ rng.integers(-2, 3, 3)
    weights = np.full(width, power(rng, -40, -10)) if rng.random() < 0.5 else power(rng, -40, -10, width)
    return Draw(drawn.matrix, triangle=True, ridge=weights)


def exact_fit(rng: Rng, width: int) -> Draw:
    """Put the target into the span of three columns, up to rounding."""
    theta = rng.standard_normal((2 * width, width))
    return data(theta, theta[:, rng.choice(width, 3, replace=False)] @ rng.integers(1, 4, 3))


def exact_triangle(rng: Rng, width: int) -> Draw:
    """Integers with a truly zero residual on two or three terms."""
    factor = np.triu(rng.integers(-3, 4, (width + 1, width + 1))).astype(float)
    count = int(rng.integers(2, 4))
    factor[:, width] = factor[:, rng.choice(width, count, replace=False)] @ rng.integers(1, 4, count)
    return Draw(factor, triangle=True)


def wide(rng: Rng, width: int) -> Draw:
    """Fewer rows than columns."""
    rows = int(rng.integers(2, width))
    return data(rng.standard_normal((rows, width)), rng.standard_normal(rows))


def zero_columns(rng: Rng, width: int) -> Draw:
    """Zero columns among others."""
    theta = rng.standard_normal((2 * width, width))
    y = target(rng, theta)
    theta[:, rng.random(width) < 0.4] = 0.0
    return data(theta, y)


def tiny_part(rng: Rng, width: int) -> Draw:
    """Make the part of the target that the terms can reach 1e-10 to 1e-140 of the rest."""
    factor = triangle(rng, width)
    factor[:width, width] *= power(rng, -140, -10)
    factor[width, width] = 1.0
    return Draw(factor, triangle=True)


def near_ties(rng: Rng, width: int) -> Draw:
    """Copy columns with one entry changed by one unit in the last place."""
    factor = triangle(rng, width)
    for j in range(1, width):
        if rng.random() < 0.5:
            factor[:, j] = factor[:, rng.integers(j)]
            i = int(rng.integers(j))
            factor[i, j] = np.nextafter(factor[i, j], rng.choice([-np.inf, np.inf]))
    return Draw(factor, triangle=True)


def vandermonde(rng: Rng, width: int) -> Draw:
    """Powers of x + 1000, or of x on a short interval."""
    x = rng.uniform(-1, 1, 3 * width) + rng.choice([0.0, 3.0, 1000.0])
    theta = np.asarray(x[:, None] ** np.arange(min(width, 8)), dtype=np.float64)
    extra = rng.standard_normal((len(x), width - theta.shape[1]))
    theta = np.hstack([theta, extra])
    return data(theta, target(rng, theta))


def hilbert(rng: Rng, width: int) -> Draw:
    """Take a Hilbert matrix with its columns in random order."""
    i = np.arange(2 * width)
    theta = np.asarray(1.0 / (i[:, None] + rng.permutation(width) + 1.0), dtype=np.float64)
    return data(theta, target(rng, theta) if rng.random() < 0.7 else rng.standard_normal(2 * width))


def trigonometric(rng: Rng, width: int) -> Draw:
    """Products of sines and cosines with identities between them."""
    t = rng.uniform(0, 7, 3 * width)
    s, c = np.sin(t), np.cos(t)
    columns = [np.ones_like(t), s, c, s * s, c * c, s * c, np.sin(2 * t), np.cos(2 * t), s**3, np.sin(3 * t), c**3]
    columns += [np.cos(3 * t), s * s * c, s * c * c]
    theta = np.column_stack(columns)[:, rng.permutation(len(columns))[:width]]
    return data(theta, target(rng, theta))


def hadamard(rng: Rng, width: int) -> Draw:
    """Orthogonal columns of +1 and -1: all values are sums of few numbers."""
    matrix = np.ones((1, 1))
    while len(matrix) < 16:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    loads = rng.integers(1, 3, 16) if rng.random() < 0.5 else rng.choice([1.0, 1.0 + 2.0**-52], 16)
    return data(matrix[:, rng.permutation(16)[:width]], matrix @ loads)


def orthogonal_triangle(rng: Rng, width: int) -> Draw:
    """Take a diagonal factor with equal loads, to the last bit or one unit off: ties decide."""
    factor = np.diag(np.append(rng.choice([1.0, 2.0, 0.5], width), 0.0))
    factor[:width, width] = rng.choice([1.0, -1.0, np.nextafter(1.0, 2.0), 2.0], width)
    return Draw(factor, triangle=True)


def small_targets(rng: Rng, width: int) -> Draw:
    """Targets of size 1e-144 to 1e-100 with residuals down to 1e-16 of them; one in five too small."""
    theta = rng.standard_normal((2 * width, width))
    y = theta[:, rng.choice(width, 3, replace=False)].sum(axis=1) + power(rng, -16, 0) * rng.standard_normal(len(theta))
    size = power(rng, -144, -100) if rng.random() < 0.8 else power(rng, -310, -144)
    return data(theta * power(rng, -5, 5), y * size)


def large_targets(rng: Rng, width: int) -> Draw:
    """Targets of size 1e100 to 1e144, columns of size 1e-145 to 1e50; one in five too large or too far apart."""
    theta = rng.standard_normal((2 * width, width))
    y = target(rng, theta)
    size = power(rng, 100, 144) if rng.random() < 0.8 else power(rng, 144, 307)
    return data(theta * power(rng, -145, 50), y / np.linalg.norm(y) * size)


def spread(rng: Rng, width: int) -> Draw:
    """Entries of a stored factor of size 1e-12 to 1e12, at random."""
    return Draw(triangle(rng, width) * 10.0 ** rng.uniform(-12, 12, (width + 1, width + 1)), triangle=True)


def kahan(rng: Rng, width: int) -> Draw:
    """Kahan's triangle: near dependence that no single pivot shows."""
    s = rng.uniform(0.2, 0.9)
    theta = np.diag(s ** np.arange(width)) @ (np.eye(width) - np.sqrt(1 - s * s) * np.triu(np.ones((width, width)), 1))
    factor = np.zeros((width + 1, width + 1))
    factor[:width, :width] = theta
    factor[:, width] = np.append(target(rng, theta), rng.standard_normal())
    return Draw(factor, triangle=True)


def chain(rng: Rng, width: int) -> Draw:
    """Each column leans on the tiny remainder (1e-8 to 1e-15) of the one before."""
    factor = np.triu(
        rng.uniform(0.2, 1.0, (width + 1, width + 1)) * rng.choice([1.0, 1.0, -1.0], (width + 1, width + 1))
    )
    small = rng.random(width) < rng.choice([0.3, 0.6, 0.9])
    small[0] = False
    size = power(rng, -15, -8) if rng.random() < 0.5 else power(rng, -15, -8, width)
    diagonal = np.diag(factor)[:width] * np.where(small, size, 1.0)
    np.fill_diagonal(factor, np.append(diagonal, factor[width, width]))
    if rng.random() < 0.3:
        factor[width, width] = 0.0
    return Draw(factor, triangle=True)


def tiny_ties(rng: Rng, width: int) -> Draw:
    """Exact ties between supports that span the same space, with a residual of 2^-10 to 2^-60 of the target."""
    reach = int(rng.choice([3, 1000, 2**20]))
    factor = np.triu(rng.integers(-reach, reach + 1, (width + 1, width + 1))).astype(float)
    for j in range(2, width - 1):
        if rng.random() < 0.5:
            a, b = rng.choice(j, 2, replace=False)
            factor[:, j] = rng.choice([1, -1, 3, 7]) * factor[:, a] + rng.choice([0, 1, -3]) * factor[:, b]
    count = min(int(rng.integers(1, 4)), width - 1)
    factor[:, width] = factor[:, rng.choice(width - 1, count, replace=False)] @ rng.integers(1, 4, count)
    factor[width - 1 :, width] = [np.abs(factor[:, width]).max() * 2.0 ** -int(rng.integers(10, 61)), 0.0]
    return Draw(np.triu(factor), triangle=True)


def thresholds(rng: Rng, width: int) -> Draw:
    """Columns about 1e-13 apart, volumes about 2^-80, coefficients about 2^27 |y|."""
    factor = triangle(rng, width)
    kind = rng.integers(3)
    for j in range(1, width):
        if rng.random() < 0.5:
            i = int(rng.integers(j))
            apart = (1e-13, 10.0 ** rng.uniform(-12.5, -11), 2.0**-27)[kind] * rng.choice(
                [0.3, 0.9, 0.999, 1.001, 1.1, 3]
            )
            factor[:, j] = factor[:, i]
            factor[j, j] = apart * np.linalg.norm(factor[:, i])
    return Draw(factor, triangle=True)


#: All families, in a fixed order: the place of a name is part of the seed of its instances.
FAMILIES: dict[str, Callable[[Rng, int], Draw]] = {
    family.__name__: family
    for family in (
        gauss,
        collinear,
        integer_data,
        integer_triangle,
        duplicates,
        duplicate_triangle,
        dependent,
        dependent_triangle,
        scales,
        ridge_mixed,
        ridge_tiny,
        exact_fit,
        exact_triangle,
        wide,
        zero_columns,
        tiny_part,
        near_ties,
        vandermonde,
        hilbert,
        trigonometric,
        hadamard,
        orthogonal_triangle,
        small_targets,
        large_targets,
        spread,
        kahan,
        chain,
        tiny_ties,
        thresholds,
    )
}
