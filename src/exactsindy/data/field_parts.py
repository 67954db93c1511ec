"""From arrays with named axes, or xarray objects, to the checked parts of a field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.data.columns import Columns, Target, parse_targets
from exactsindy.data.frames import is_xarray, unpack_xarray
from exactsindy.data.input_checks import as_array, as_times, frozen, names_of, numbers
from exactsindy.data.lazy_arrays import as_lazy, is_lazy
from exactsindy.data.notice import Notice
from exactsindy.errors import DataError, name_tuple

Arrays = tuple[Array, ...]
Names = tuple[str, ...]
Periods = tuple[float | None, ...]
# The values of a `Field` in the order of its constructor.
Parts = tuple[Arrays, Names, Names, Arrays, Periods, tuple[Target, ...], int, tuple[Notice, ...]]

# What to do about missing cells.
_KEEP = (
    "fill them in, or keep them (gaps='split' for discover and load, missing='keep' for Field.from_arrays) and use a "
    "weak form (form='weak')."
)


def checked_grid(values: Any, columns: Columns) -> Parts:
    """Return values, names, dims (time last), coords, periods, targets, number of missing cells and notices."""
    dims, coords = columns.dims, columns.coords
    if is_xarray(values):
        values, dims, coords = unpack_xarray(values, dims, coords)
    arrays, labels = _arrays(values, columns.states)
    order = _dims(dims, arrays[0].ndim)
    when = _time_dim(order, columns.time)
    space = tuple(dim for dim in order if dim != when)
    axes = [order.index(dim) for dim in (*space, when)]
    notices: list[Notice] = []
    grid = _coords(order, {} if coords is None else coords, arrays[0].shape, when, notices)
    views = tuple(
        array.transpose(axes) if is_lazy(array) else frozen(np.transpose(array, axes).view()) for array in arrays
    )
    pairs = [(view, name) for view, name in zip(views, labels, strict=True) if not is_lazy(view)]
    lost = sum(_missing(view, name, columns.gaps) for view, name in pairs)
    points = tuple(frozen(grid[dim]) for dim in (*space, when))
    periods = _periods(space, points, columns.periodic)
    if any(map(is_lazy, views)):
        lost = -1 if columns.gaps == "split" else 0
    else:
        notices += _repeated_ends(views, labels, space, periods)
    equations = parse_targets(columns.targets, labels, field=True)
    return views, labels, (*space, when), points, periods, equations, lost, tuple(notices)


def _arrays(values: Any, names: Sequence[str] | None) -> tuple[list[Array], tuple[str, ...]]:
    if isinstance(values, Mapping):
        labels = names_of(tuple(values) if names is None else names, len(values), "u", "names")
        arrays = [_double(array, f"field {name!r}") for name, array in values.items()]
    elif isinstance(values, (list, tuple)) and values and np.ndim(values[0]) > 1:
        labels = names_of(names, len(values), "u", "names")
        arrays = [_double(array, f"field {name!r}") for name, array in zip(labels, values, strict=True)]
    else:
        labels = names_of(("u",) if names is None else names, 1, "u", "names")
        arrays = [_double(values, f"field {labels[0]!r}")]
    for name, array in zip(labels, arrays, strict=True):
        if array.shape != arrays[0].shape:
            other = f"field {labels[0]!r} has {arrays[0].shape}"
            raise DataError(f"field {name!r} has shape {array.shape}, {other}; expected the same.")
    return arrays, labels


def checked_values(values: Iterable[Any], names: Names, where: str, gaps: str) -> tuple[tuple[Array, ...], int]:
    """Return arrays as read-only doubles and the number of missing cells; ``where`` says which part they are."""
    arrays = tuple(frozen(_double(array, f"field {name!r}").view()) for array, name in zip(values, names, strict=True))
    try:
        return arrays, sum(_missing(array, name, gaps) for array, name in zip(arrays, names, strict=True))
    except DataError as error:
        raise DataError(f"{where}: {error}") from error


def _double(values: Any, what: str) -> Array:
    lazily = as_lazy(values, what)
    if lazily is not None:
        return lazily  # type: ignore[no-any-return]
    array = as_array(values, what)
    return array if array.dtype == np.float64 else numbers(array, what)


def _dims(dims: Sequence[str] | None, ndim: int) -> tuple[str, ...]:
    if dims is None:
        raise DataError(f"dims is missing: name the {ndim} axes of the array in their order, e.g. dims=('x', 't').")
    order = (dims,) if isinstance(dims, str) else name_tuple(dims, "dims", DataError)
    if len(order) != ndim or len(set(order)) < ndim:
        raise DataError(f"dims={order} for an array with {ndim} axes; expected one different name per axis.")
    if not 2 <= ndim <= 4:
        raise DataError(f"dims={order}: expected 1 to 3 space dimensions and time.")
    return order


def _time_dim(order: tuple[str, ...], time: Any) -> str:
    candidates = ("t", "time") if time is None else (time,)
    for name in candidates:
        if isinstance(name, str) and name in order:
            return name
    raise DataError(f"No dimension of {order} is {' or '.join(map(repr, candidates))}; say which is time: time='...'.")


def _coords(order: Names, coords: Mapping[str, Any], shape: Any, time: str, notices: list[Notice]) -> dict[str, Array]:
    if not isinstance(coords, Mapping):
        raise DataError(f"coords is of type {type(coords).__name__}: expected a mapping from axis to its coordinates.")
    absent = [dim for dim in order if coords.get(dim) is None]
    if absent:
        raise DataError(f"coords has no entry for {absent[0]!r}; pass its coordinates or its step.")
    grid: dict[str, Array] = {}
    for dim, size in zip(order, shape, strict=True):
        values, notes = as_times(coords[dim], dim) if dim == time else (coords[dim], ())
        points = numbers(values, f"coords[{dim!r}]")
        grid[dim] = float(points) * np.arange(size) if points.ndim == 0 else points
        notices += notes
    lengths = tuple(grid[dim].size for dim in order)
    if lengths != shape:
        fits = [p for p in permutations(order) if tuple(grid[dim].size for dim in p) == shape]
        hint = f" The array looks transposed: dims={fits[0]} fits." if fits else ""
        raise DataError(f"dims={order}: the array has shape {shape} but coords have {lengths} points.{hint}")
    for dim in order:
        _check_axis(dim, grid[dim])
    return grid


def _check_axis(dim: str, points: Array) -> None:
    if points.ndim != 1 or len(points) < 3:
        raise DataError(f"dimension {dim!r} has {points.size} points in shape {points.shape}; expected at least 3.")
    if not np.isfinite(points).all():
        raise DataError(f"coords[{dim!r}] holds missing or infinite values.")
    steps = np.diff(points)
    if (steps <= 0).any():
        i = int(np.argmax(steps <= 0))
        what = "repeats" if steps[i] == 0 else "decreases"
        raise DataError(
            f"coords[{dim!r}] {what} at position {i + 1} ({points[i]:g}, {points[i + 1]:g}); expected increasing "
            f"values: sort the array along {dim!r} (if the axis is only reversed: np.flip, or xarray's sortby)."
        )


def _missing(array: Array, name: str, gaps: str) -> int:
    """Return the number of missing cells of a field, which ``gaps="refuse"`` does not allow."""
    with np.errstate(all="ignore"):
        clean = bool(np.isfinite(array.sum()))  # one pass without a mask as large as the field
    if clean or np.isfinite(array).all():
        return 0
    if np.isinf(array).any():
        raise DataError(f"field {name!r} holds infinite values; expected numbers, or NaN where a cell is missing.")
    count, cure = int(np.isnan(array).sum()), _KEEP
    if gaps == "refuse":
        raise DataError(f"field {name!r} has {count} missing cells (NaN); {cure}")
    return count


def _periods(space: Names, points: Arrays, periodic: Iterable[str] | Mapping[str, float]) -> Periods:
    wanted = (periodic,) if isinstance(periodic, str) else name_tuple(periodic, "periodic", DataError)
    unknown = [dim for dim in wanted if dim not in space]
    if unknown:
        raise DataError(f"periodic: {unknown[0]!r} is not a space dimension; those are {', '.join(space)}.")
    periods: list[float | None] = []
    for dim, x in zip(space, points[:-1], strict=True):
        if dim not in wanted:
            periods.append(None)
            continue
        step = (x[-1] - x[0]) / (len(x) - 1)
        if np.abs(np.diff(x) - step).max() > 1e-3 * step:
            cure = "interpolate to equal steps first."
            raise DataError(f"periodic: the points of {dim!r} are not equally spaced; {cure}")
        natural = float(step * len(x))
        period = float(periodic[dim]) if isinstance(periodic, Mapping) else natural
        if abs(period - natural) > 1e-3 * step:
            raise DataError(
                f"periodic: {dim!r} has {len(x)} points at step {step:g}, so its period is {natural:g}, not {period:g}."
                " Do not repeat the first point at the end, or correct the coordinates."
            )
        periods.append(period)
    return tuple(periods)


def _repeated_ends(views: Arrays, names: Names, space: Names, periods: Periods) -> list[Notice]:
    notices = []
    for axis, (dim, period) in enumerate(zip(space, periods, strict=True)):
        for name, array in zip(names, views, strict=True) if period is not None else ():
            first, last = np.take(array, 0, axis), np.take(array, -1, axis)
            if np.array_equal(first, last) and np.ptp(array) > 0:
                ends = f"Field {name!r} has the same values at both ends of the periodic dimension {dim!r}"
                notices.append(Notice("repeated end", f"{ends}: if the last point is the first one again, remove it."))
    return notices
