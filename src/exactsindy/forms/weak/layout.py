"""Where the windows of a weak form lie and how large they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.differentiation import PRINTED, uniform_step, whittaker

Index = NDArray[np.intp]
Rng = np.random.Generator | np.random.RandomState

# Of a field, this many lines along each axis show its scale.
_LINES = 32
# Standard deviations of windows: in units of the scale below which noise hides the signal; for fields at least in
# units of the signal's own scale, which counts up to this share of the axis. And the least half-width in samples.
_NOISE_SCALES = 1.5
_SIGNAL_SCALES = 0.9
_SIGNAL_SHARE = 1 / 32
_LEAST = 8


def generator(seed: int | Rng, legacy: bool) -> Rng:
    """Return the generator of a seed: NumPy's legacy one for the published draws."""
    if isinstance(seed, np.random.Generator | np.random.RandomState):
        return seed
    return np.random.RandomState(seed) if legacy else np.random.default_rng(seed)


def half_width(lines: Array, x: Array, p: int, *, field: bool) -> int:
    """Return a half-width in samples from lines (samples x lines) along an axis.

    The optimal smoother of the data keeps what varies more slowly than lam^(1/6) samples; the window has
    a standard deviation of 1.5 of those. In a field with little noise that is far below the length of its waves,
    and high derivatives of so narrow a window pass on more noise than signal: there it has at least 0.9 / k, k the
    root mean square wavenumber of the smoothed lines.
    """
    n = len(x)
    largest = max((n - 1) // 4, 2)
    if n < 4 * _LEAST or not lines.shape[1]:
        return max(min(_LEAST, (n - 1) // 4), 2)
    smooth = whittaker(lines, x if uniform_step(x, PRINTED) is None else 1.0)
    deviation = _NOISE_SCALES * float(np.median(smooth.lam ** (1 / 6)))
    if field:
        slope = float(np.median(np.diff(smooth.values, axis=0).std(axis=0) / smooth.values.std(axis=0)))
        signal = min(1 / slope if slope > 0 else np.inf, _SIGNAL_SHARE * n)
        deviation = max(deviation, _SIGNAL_SCALES * signal)
    return int(np.clip(round(np.sqrt(2 * p + 3) * deviation), _LEAST, max(largest, _LEAST)))


def sample_lines(values: Sequence[Array], axis: int) -> Array:
    """Return evenly chosen lines of fields along an axis (samples x lines), without those with gaps."""
    lines = []
    for array in values:
        moved = np.moveaxis(array, axis, 0)
        others = int(np.prod(moved.shape[1:]))
        chosen = np.unique(np.linspace(0, others - 1, _LINES).round().astype(int))
        where: tuple[object, ...] = (slice(None), *np.unravel_index(chosen, moved.shape[1:]))
        lines.append(np.asarray(moved[where]))  # type: ignore[index]
    table = np.hstack(lines)
    return np.asarray(table[:, np.isfinite(table).all(axis=0) & (np.ptp(table, axis=0) > 0)])


def random_centres(ranges: Sequence[tuple[int, int]], count: int, rng: Rng) -> Index:
    """Return up to ``count`` different index vectors from the box of half-open ranges (windows x axes)."""
    if isinstance(rng, np.random.RandomState):
        rng = np.random.default_rng(rng.randint(2**31))
    sizes = [high - low for low, high in ranges]
    total = int(np.prod(sizes))
    flat = rng.choice(total, size=min(count, total), replace=False)
    low = np.array([start for start, _ in ranges])
    return np.asarray(np.stack(np.unravel_index(flat, sizes), axis=1) + low, dtype=np.intp)


def grid_centres(ranges: Sequence[tuple[int, int]], count: int) -> Index:
    """Return about ``count`` index vectors on a regular lattice of the box."""
    sizes = np.array([high - low for low, high in ranges], dtype=float)
    # Equal distances in samples would starve short axes: share the count by the size of each axis.
    numbers = np.maximum(sizes * (count / sizes.prod()) ** (1 / len(sizes)), 1.0)
    steps = [
        np.unique(np.linspace(low, high - 1, max(round(number), 1)).round())
        for (low, high), number in zip(ranges, numbers, strict=True)
    ]
    mesh = np.meshgrid(*steps, indexing="ij")
    return np.stack([axis.ravel() for axis in mesh], axis=1).astype(np.intp)


def uniform_draws(ends: Sequence[tuple[float, float]], widths: Array, count: int, rng: Rng) -> Array:
    """Return centres drawn as PySINDy draws them: all windows for one axis, then for the next."""
    return np.stack(
        [rng.uniform(low + width, high - width, size=count) for (low, high), width in zip(ends, widths, strict=True)],
        axis=1,
    )
