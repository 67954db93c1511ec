"""Windows for given data: sizes chosen or checked, centres drawn, weights computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._types import Array
from exactsindy.differentiation import uniform_step
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms.weak.layout import (
    Rng,
    generator,
    grid_centres,
    half_width,
    random_centres,
    uniform_draws,
)
from exactsindy.forms.weak.windows import AxisWindows, aligned, published, snapped, unequal

Index = NDArray[np.intp]
Width = float | Sequence[float] | Mapping[str, float] | None


@dataclass(frozen=True)
class Axis:
    """One dimension of the data as windows see it.

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
        """Say whether the steps are equal."""
        return uniform_step(self.x) is not None


@dataclass(frozen=True)
class Placement:
    """How windows are laid; the fields are those of `WeakForm`."""

    domains: int
    seed: int | Rng
    width: Width
    quadrature: str
    layout: str
    centres: ArrayLike | None
    points: int | None

    def place(self, axes: Sequence[Axis], p: int, rng: Rng, share: int) -> tuple[AxisWindows, ...]:
        """Return ``share`` windows over the axes, sorted along the last one (time)."""
        widths = self.widths(axes, p)
        if self.quadrature == "exact":
            windows = self._exact(axes, widths, p, rng, share)
        else:
            windows = self._peers(axes, widths, p, rng, share)
        order = np.argsort(windows[-1].starts, kind="stable")
        return tuple(axis.take(order) for axis in windows)

    def rng(self) -> Rng:
        """Return the generator of the seed."""
        return generator(self.seed, self.quadrature == "legacy")

    def widths(self, axes: Sequence[Axis], p: int) -> Array:
        """Return the half-width per axis, in the units of its coordinates."""
        given = self._given(axes)
        if given is not None:
            return given
        if self.quadrature != "exact":
            return np.array([(axis.x[-1] - axis.x[0]) / 20 for axis in axes])
        steps = [(axis.x[-1] - axis.x[0]) / (len(axis.x) - 1) for axis in axes]
        halves = [half_width(axis.lines, axis.x, p, field=len(axes) > 1) for axis in axes]
        return np.asarray(np.array(halves) * steps)

    def _given(self, axes: Sequence[Axis]) -> Array | None:
        if self.width is None:
            return None
        names = tuple(axis.name for axis in axes)
        if isinstance(self.width, Mapping):
            if set(self.width) != set(names):
                raise ProblemError(
                    f"WeakForm(width=...) names {', '.join(self.width)}; expected one half-width for each of "
                    f"{', '.join(names)}."
                )
            values = [float(self.width[name]) for name in names]
        else:
            values = [float(v) for v in np.atleast_1d(np.asarray(self.width, dtype=float))]
            values = values * len(names) if len(values) == 1 else values
        if len(values) != len(names) or not all(np.isfinite(v) and v > 0 for v in values):
            raise ProblemError(
                f"WeakForm(width={self.width!r}): expected one positive half-width, or one for each of "
                f"{', '.join(names)}."
            )
        return np.array(values)

    def _exact(self, axes: Sequence[Axis], widths: Array, p: int, rng: Rng, share: int) -> tuple[AxisWindows, ...]:
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
        centres = self._centres(len(axes))
        columns = []
        for i, (axis, (low, high)) in enumerate(zip(axes, ranges, strict=True)):
            index = np.abs(axis.x[None] - centres[:, i, None]).argmin(axis=1)
            outside = (index < low) | (index >= high)
            if outside.any():
                raise DataError(
                    f"WeakForm(centres=...): the window around {axis.name} = "
                    f"{centres[int(outside.argmax()), i]:g} leaves the data; move it or reduce the width."
                )
            columns.append(index)
        return np.stack(columns, axis=1)

    def _centres(self, count: int) -> Array:
        given = np.asarray(self.centres, dtype=float)
        centres = given[:, None] if given.ndim == 1 else given
        if centres.ndim != 2 or centres.shape[1] != count:
            raise ProblemError(f"WeakForm(centres=...) has shape {given.shape}; expected windows x {count} dimensions.")
        return centres

    def _peers(self, axes: Sequence[Axis], widths: Array, p: int, rng: Rng, share: int) -> tuple[AxisWindows, ...]:
        ends = [(float(axis.x[0]), float(axis.x[-1])) for axis in axes]
        for axis, width in zip(axes, widths, strict=True):
            if 2 * width >= axis.x[-1] - axis.x[0]:
                raise too_wide(axis, width)
        drawn = self.centres is None
        centres = uniform_draws(ends, widths, share, rng) if drawn else self._centres(len(axes))
        if self.quadrature == "legacy":
            count = self.points or (400 if len(axes) == 1 else 50)
            return tuple(
                published(axis.x, centres[:, i], width, p, axis.orders, count)
                for i, (axis, width) in enumerate(zip(axes, widths, strict=True))
            )
        windows = []
        for i, (axis, width) in enumerate(zip(axes, widths, strict=True)):
            inside = np.searchsorted(axis.x, centres[:, i] + width, side="left") - np.searchsorted(
                axis.x, centres[:, i] - width, side="right"
            )
            if (inside < 2).any():
                raise DataError(
                    f"WeakForm: a window of half-width {width:g} along {axis.name} holds fewer than 2 "
                    "samples; increase the width."
                )
            windows.append(snapped(axis.x, centres[:, i], width, p, axis.orders))
        return tuple(windows)


def admissible(axis: Axis, half: int, width: float) -> tuple[int, int]:
    """Return the range of samples that can be the centre of a window, or say that there is none."""
    n = len(axis.x)
    if axis.periodic:
        if 2 * half + 1 > n:
            raise too_wide(axis, width)
        return 0, n
    if axis.equal:
        low, high = half + axis.halo, n - half - axis.halo
    else:
        ends = axis.x[axis.halo] + width, axis.x[n - 1 - axis.halo] - width
        low = int(np.searchsorted(axis.x, ends[0]))
        high = int(np.searchsorted(axis.x, ends[1], side="right"))
    if high <= low:
        raise too_wide(axis, width)
    return low, high


def too_wide(axis: Axis, width: float) -> DataError:
    """Return the error for windows that do not fit."""
    return DataError(
        f"WeakForm: windows of half-width {width:g} along {axis.name} do not fit between {axis.x[0]:g} and "
        f"{axis.x[-1]:g} ({len(axis.x)} samples); reduce the width or use longer data."
    )
