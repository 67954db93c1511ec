"""Where the windows of a weak form lie and how large they are: widths chosen or checked, centres drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._types import Array
from exactsindy.differentiation import PRINTED, uniform_step, whittaker
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms.weak.windows import AxisWindows, aligned, unequal

Index = NDArray[np.intp]
Rng = np.random.Generator | np.random.RandomState
Width = float | Sequence[float] | Mapping[str, float] | None

# Lines along each axis of a field from which its scale is estimated.
_LINES = 32
# Standard deviation of a window in units of the scale below which noise hides the signal (see `half_width`); set by
# trial.
_NOISE_SCALES = 1.5
# Least standard deviation of a window in a field, in units of the signal's own scale; and the largest share of the axis
# that counts as that scale. Both set by trial on fields with little noise.
_SIGNAL_SCALES = 0.9
_SIGNAL_SHARE = 1 / 32
# Least half-width, in samples: fewer do not resolve the test function and its derivatives.
_LEAST = 8


@dataclass(frozen=True)
class Axis:
    """One dimension of the data, and what the placement of windows needs to know of it.

    ``lines`` are samples along it (samples x lines), from which a width can be chosen; ``halo`` is how far
    derivatives of the data reach beyond a window; ``orders`` are the derivatives of phi in use.
    """

    name: str
    x: Array
    periodic: bool
    lines: Array
    halo: int
    orders: tuple[int, ...]

    @property
    def equal(self) -> bool:
        """Return True if the steps are equal."""
        return uniform_step(self.x) is not None


@dataclass(frozen=True)
class Placement:
    """How windows are laid; the fields are those of `WeakForm`."""

    domains: int
    seed: int | Rng
    width: Width
    layout: str
    centres: ArrayLike | None

    def place(self, axes: Sequence[Axis], p: int, rng: Rng, share: int) -> tuple[AxisWindows, ...]:
        """Return ``share`` windows over the axes, sorted along the last one (time)."""
        windows = self._windows(axes, self.widths(axes, p), p, rng, share)
        order = np.argsort(windows[-1].starts, kind="stable")
        return tuple(axis.take(order) for axis in windows)

    def rng(self) -> Rng:
        """Return the generator of the seed."""
        if isinstance(self.seed, np.random.Generator | np.random.RandomState):
            return self.seed
        return np.random.default_rng(self.seed)

    def widths(self, axes: Sequence[Axis], p: int) -> Array:
        """Return the half-width per axis, in the units of its coordinates."""
        if self.width is not None:
            return checked_widths(self.width, tuple(axis.name for axis in axes))
        steps = [(axis.x[-1] - axis.x[0]) / (len(axis.x) - 1) for axis in axes]
        halves = [half_width(axis.lines, axis.x, p, field=len(axes) > 1) for axis in axes]
        return np.asarray(np.array(halves) * steps)

    def _windows(self, axes: Sequence[Axis], widths: Array, p: int, rng: Rng, share: int) -> tuple[AxisWindows, ...]:
        halves = [
            max(round(width * (len(axis.x) - 1) / (axis.x[-1] - axis.x[0])), 2)
            for axis, width in zip(axes, widths, strict=True)
        ]
        ranges = [admissible(axis, half, width) for axis, half, width in zip(axes, halves, widths, strict=True)]
        if self.centres is not None:
            index = self._nearest(axes, ranges)
        elif self.layout == "grid":
            index = grid_centres(ranges, share)
        else:
            index = random_centres(ranges, share, rng)
        return tuple(
            aligned(axis.x, index[:, i], half, p, axis.orders)
            if axis.equal
            else unequal(axis.x, axis.x[index[:, i]], width, p, axis.orders)
            for i, (axis, half, width) in enumerate(zip(axes, halves, widths, strict=True))
        )

    def _nearest(self, axes: Sequence[Axis], ranges: Sequence[tuple[int, int]]) -> Index:
        centres = np.asarray(self.centres, dtype=float)
        table = centres[:, None] if centres.ndim == 1 else centres
        if table.ndim != 2 or table.shape[1] != len(axes):
            raise ProblemError(
                f"WeakForm(centres=...) has shape {centres.shape}; expected windows x {len(axes)} dimensions."
            )
        columns = []
        for i, (axis, (low, high)) in enumerate(zip(axes, ranges, strict=True)):
            index = np.abs(axis.x[None] - table[:, i, None]).argmin(axis=1)
            outside = (index < low) | (index >= high)
            if outside.any():
                raise DataError(
                    f"WeakForm(centres=...): the window around {axis.name} = "
                    f"{table[int(outside.argmax()), i]:g} leaves the data; move it or reduce the width."
                )
            columns.append(index)
        return np.stack(columns, axis=1)


def admissible(axis: Axis, half: int, width: float) -> tuple[int, int]:
    """Return the range of samples that can be the centre of a window, or say that there is none."""
    n = len(axis.x)
    if axis.periodic:
        low, high = 0, n if 2 * half + 1 <= n else 0
    elif axis.equal:
        low, high = half + axis.halo, n - half - axis.halo
    else:
        ends = axis.x[axis.halo] + width, axis.x[n - 1 - axis.halo] - width
        low = int(np.searchsorted(axis.x, ends[0]))
        high = int(np.searchsorted(axis.x, ends[1], side="right"))
    if high <= low:
        raise too_wide(axis.name, axis.x, width)
    return low, high


def checked_widths(width: Width, names: Sequence[str]) -> Array:
    """Return the half-width along each of the named dimensions, from one number, one per dimension, or a mapping."""
    if isinstance(width, Mapping):
        if set(width) != set(names):
            raise ProblemError(
                f"WeakForm(width=...) names {', '.join(width)}; expected one half-width for each of {', '.join(names)}."
            )
        values = [float(width[name]) for name in names]
    else:
        values = [float(v) for v in np.atleast_1d(np.asarray(width, dtype=float))]
        values = values * len(names) if len(values) == 1 else values
    if len(values) != len(names) or not all(np.isfinite(v) and v > 0 for v in values):
        raise ProblemError(
            f"WeakForm(width={width!r}): expected one positive half-width, or one for each of {', '.join(names)}."
        )
    return np.array(values)


def too_wide(name: str, x: Array, width: float) -> DataError:
    """Return the error for windows that do not fit."""
    return DataError(
        f"WeakForm: windows of half-width {width:g} along {name} do not fit between {x[0]:g} and "
        f"{x[-1]:g} ({len(x)} samples); reduce the width or use longer data."
    )


def half_width(lines: Array, x: Array, p: int, *, field: bool) -> int:
    """Return a half-width in samples from lines (samples x lines) along an axis.

    The optimal smoother of the data keeps what varies more slowly than lam^(1/6) samples; the window has
    a standard deviation of 1.5 of those. In a field with little noise that is far below the length of its waves,
    and high derivatives of so narrow a window pass on more noise than signal: there it has at least 0.9 / k, k the
    root mean square wavenumber of the smoothed lines.
    """
    n = len(x)
    if n < 4 * _LEAST or not lines.shape[1]:
        return max(min(_LEAST, (n - 1) // 4), 2)
    smooth = whittaker(lines, x if uniform_step(x, PRINTED) is None else 1.0)
    deviation = _NOISE_SCALES * float(np.median(smooth.lam ** (1 / 6)))
    if field:
        slope = float(np.median(np.diff(smooth.values, axis=0).std(axis=0) / smooth.values.std(axis=0)))
        signal = min(1 / slope if slope > 0 else np.inf, _SIGNAL_SHARE * n)
        deviation = max(deviation, _SIGNAL_SCALES * signal)
    return int(np.clip(round(np.sqrt(2 * p + 3) * deviation), _LEAST, max((n - 1) // 4, _LEAST)))


def sample_lines(values: Sequence[Array], axis: int) -> Array:
    """Return evenly chosen lines of fields along an axis (samples x lines), without those with gaps."""
    where: Any = (slice(None), *line_places(values[0].shape, axis))
    return usable_lines(np.hstack([np.moveaxis(array, axis, 0)[where] for array in values]))


def line_places(shape: Sequence[int], axis: int) -> tuple[Index, ...]:
    """Return where evenly chosen lines along an axis lie: their indices along each of the other axes."""
    others = [n for i, n in enumerate(shape) if i != axis]
    chosen = np.unique(np.linspace(0, int(np.prod(others)) - 1, _LINES).round().astype(int))
    return np.unravel_index(chosen, others)


def usable_lines(table: Array) -> Array:
    """Return the lines (samples x lines) without gaps in which anything changes."""
    return np.asarray(table[:, np.isfinite(table).all(axis=0) & (np.ptp(table, axis=0) > 0)])


def random_centres(ranges: Sequence[tuple[int, int]], count: int, rng: Rng) -> Index:
    """Return up to ``count`` different index vectors from the box of half-open ranges (windows x axes)."""
    if isinstance(rng, np.random.RandomState):
        rng = np.random.default_rng(rng.randint(2**31))
    sizes, starts = [high - low for low, high in ranges], np.array([low for low, _ in ranges])
    total = int(np.prod(sizes))
    flat = rng.choice(total, size=min(count, total), replace=False)
    return np.asarray(np.stack(np.unravel_index(flat, sizes), axis=1) + starts, dtype=np.intp)


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
