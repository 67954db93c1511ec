"""Anything measured, in memory or in a file, to `Trajectories` or a `Field`."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._atomic import write_atomically
from exactsindy._files import MOST_BYTES, check_size, read_arrays, reason, regular_file, size
from exactsindy._optional import optional
from exactsindy.data.columns import Columns, Samples, parse_targets
from exactsindy.data.csv_file import read_csv
from exactsindy.data.field import Field
from exactsindy.data.frames import Table, dimensions, is_xarray, read_frame
from exactsindy.data.notice import Notice
from exactsindy.data.trajectory import Trajectories, Trajectory
from exactsindy.errors import DataError

Data = Trajectories | Field
# What `as_data` and `discover` take: data, a path, arrays, frames, xarray objects, or lists of these.
DataLike = Data | os.PathLike[str] | Samples | Trajectory | Sequence[Samples | Trajectory]


def as_data(source: DataLike, columns: Columns | None = None) -> Data:
    """Return data of any accepted kind as `Trajectories` or a `Field`.

    ``source`` is a path, what `Trajectories.from_arrays` takes, an xarray object, arrays with ``columns.dims`` (a
    field), or data already read, which are returned as they are; ``columns`` says which columns mean what.
    """
    columns = columns or Columns()
    if isinstance(source, (Trajectories, Field)):
        return source
    if isinstance(source, (str, os.PathLike)):
        return _read_file(source, columns)
    if columns.dims is not None:
        return Field.from_columns(source, columns)
    if is_xarray(source):
        return _from_xarray(source, columns)
    return Trajectories.from_columns(source, columns)


def load(
    path: str | os.PathLike[str],
    *,
    time: ArrayLike | None = None,
    states: Sequence[str] | None = None,
    controls: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
    dims: Sequence[str] | None = None,
    periodic: Iterable[str] | Mapping[str, float] = (),
    decimal: str = ".",
) -> Data:
    r"""Read trajectories or a field from a CSV, Parquet, NetCDF or npz file.

    Parameters
    ----------
    path
        The file; its ending says what it is (.csv .txt .tsv .dat, .parquet .pq, .nc .netcdf, .npz).
    time
        Name of the time column (dimension), or the step between samples; ``t`` or ``time`` by default.
    states, controls
        Names of columns; by default all columns other than the time are states.
    targets
        The equations wanted, e.g. ``("x''",)``; the first derivative of every state by default.
    trajectory
        Name of a column whose value tells trajectories apart.
    gaps
        ``"refuse"`` missing values, or ``"split"`` trajectories there (fields: keep the missing cells).
    dims, periodic
        For fields in an npz file the names of the axes, e.g. ``("x", "t")``, and for any field its periodic axes.
    decimal
        The decimal mark of a CSV file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lynx_hare.csv"
    >>> _ = path.write_text("year,lynx,hare\n1900,4.0,30\n1901,6.1,47.2\n1902,9.8,70.2\n")
    >>> load(path, time="year")
    Trajectories(1 of lynx, hare; samples: 3)
    """
    columns = Columns(
        time, states, controls, targets=targets, trajectory=trajectory, gaps=gaps, dims=dims, periodic=periodic
    )
    return _read_file(path, columns, decimal)


def _read_file(path: object, columns: Columns, decimal: str = ".") -> Data:
    file = regular_file(path, f"load({str(path)!r})")
    kind = file.suffix.lower()
    if kind in (".nc", ".netcdf", ".cdf"):
        return _from_xarray(_netcdf(file), columns)
    table: Table
    notices: tuple[Notice, ...] = ()
    if kind in (".csv", ".txt", ".tsv", ".dat"):
        table, notices = read_csv(file, decimal=decimal)
    elif kind in (".parquet", ".pq"):
        table = read_frame(_parquet(file))
    elif kind == ".npz":
        arrays = read_arrays(file)
        if columns.dims is not None:
            return _npz_field(arrays, tuple(columns.dims), columns)
        table = _npz_table(arrays)
        if not table:
            raise DataError(f"{file.name} holds no columns.")
    else:
        known = ".csv, .txt, .tsv, .dat, .parquet, .nc or .npz"
        raise DataError(f"load({file.name!r}): unknown ending {kind!r}; expected {known}.")
    data = Trajectories.from_columns(table, columns)
    return replace(data, notices=(*notices, *data.notices)) if notices else data


def _from_xarray(source: Any, columns: Columns) -> Data:
    """Return trajectories from an xarray object over time alone, a field from one over space and time."""
    if len(dimensions(source)) == 1:
        return Trajectories.from_columns(source, columns)
    chosen = source if columns.states is None else source[list(columns.states)]
    return Field.from_columns(chosen, replace(columns, states=None, dims=None))


def _netcdf(file: Path) -> Any:
    xarray = optional("xarray", "data", "Reading NetCDF")
    try:
        with xarray.open_dataset(file) as dataset:
            if dataset.nbytes > MOST_BYTES:
                raise DataError(f"{file.name}: it holds {size(dataset.nbytes)}; at most {size(MOST_BYTES)} are read.")
            return dataset.load()
    except DataError:
        raise
    except Exception as error:  # each of xarray's readers has its own kinds
        raise DataError(f"{file.name}: this is not a NetCDF file that can be read ({reason(error)}).") from error


def _parquet(file: Path) -> Any:
    parquet = optional("pyarrow.parquet", "data", "Reading Parquet")
    try:
        with parquet.ParquetFile(file) as source:
            about = source.metadata
            packed = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            check_size(file, max(8 * about.num_rows * about.num_columns, packed))
            return source.read()
    except DataError:
        raise
    except Exception as error:  # pyarrow's own kinds, and those of Python
        raise DataError(f"{file.name}: this is not a Parquet file that can be read ({reason(error)}).") from error


def _npz_table(arrays: Mapping[str, NDArray[Any]]) -> Table:
    """Return columns: one-dimensional arrays as they are, the columns of two-dimensional ones numbered."""
    table: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if array.ndim == 1:
            table[name] = array
        elif array.ndim == 2:
            table.update({f"{name}{i}": column for i, column in enumerate(array.T)})
        elif array.ndim > 2:
            cure = "name its axes to read it as a field: dims=('x', 'y', 't')."
            raise DataError(f"The array {name!r} has shape {array.shape}; {cure}")
    return table


def _npz_field(arrays: Mapping[str, NDArray[Any]], dims: tuple[str, ...], columns: Columns) -> Field:
    chosen = columns.states or tuple(name for name, array in arrays.items() if array.ndim == len(dims))
    absent = [name for name in (*chosen, *dims) if name not in arrays]
    if absent or not chosen:
        what = f"no array {absent[0]!r}" if absent else f"no array with {len(dims)} axes"
        raise DataError(f"dims={dims}: the file has {what}; its arrays are {', '.join(arrays)}.")
    coords = {dim: arrays[dim] for dim in dims}
    return Field.from_columns({name: arrays[name] for name in chosen}, replace(columns, states=None, coords=coords))


def save_data(data: Data, path: str | os.PathLike[str]) -> None:
    """Write trajectories or fields."""
    arrays = _field_arrays(data) if isinstance(data, Field) else _trajectory_arrays(data)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, targets=np.array([target.name for target in data.targets]), **arrays)
    write_atomically(path, buffer.getvalue())


def read_data(arrays: Mapping[str, NDArray[Any]]) -> Data:
    """Return the data from the arrays that `save_data` wrote."""
    try:
        return _read_field(arrays) if "dims" in arrays else _read_trajectories(arrays)
    except LookupError as error:
        raise DataError(f"the stored data are damaged: {reason(error)} is missing.") from error
    except DataError:
        raise
    except (ArithmeticError, TypeError, ValueError) as error:
        raise DataError(f"the stored data are damaged: {reason(error)}.") from error


def _trajectory_arrays(data: Trajectories) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "names": np.array(data.state_names),
        "control_names": np.array(data.control_names, dtype=str),
        "time_name": np.array(data.time_name),
        "labels": np.array([member.label for member in data], dtype=str),
    }
    for i, member in enumerate(data):
        arrays[f"times{i}"], arrays[f"states{i}"], arrays[f"controls{i}"] = member.times, member.states, member.controls
        if member.derivatives is not None:
            arrays[f"derivatives{i}"] = member.derivatives
    return arrays


def _read_trajectories(arrays: Mapping[str, Any]) -> Trajectories:
    names, inputs = tuple(map(str, arrays["names"])), tuple(map(str, arrays["control_names"]))
    members = [
        Trajectory(
            arrays[f"times{i}"],
            arrays[f"states{i}"],
            names,
            controls=arrays[f"controls{i}"] if inputs else None,
            control_names=inputs or None,
            derivatives=arrays.get(f"derivatives{i}"),
            label=str(label),
        )
        for i, label in enumerate(arrays["labels"])
    ]
    return Trajectories(members, tuple(map(str, arrays["targets"])), time_name=str(arrays["time_name"]))


def _field_arrays(data: Field) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "names": np.array(data.names),
        "dims": np.array(data.dims),
        "periods": np.array([np.nan if period is None else period for period in data.periods]),
        "missing": np.array(data.missing),
    }
    arrays.update({f"values{i}": values for i, values in enumerate(data.values)})
    arrays.update({f"coords{i}": coords for i, coords in enumerate(data.coords)})
    return arrays


def _read_field(arrays: Mapping[str, Any]) -> Field:
    names, dims = tuple(map(str, arrays["names"])), tuple(map(str, arrays["dims"]))
    return Field(
        tuple(arrays[f"values{i}"] for i in range(len(names))),
        names,
        dims,
        tuple(arrays[f"coords{i}"] for i in range(len(dims))),
        tuple(None if np.isnan(period) else float(period) for period in arrays["periods"]),
        parse_targets(tuple(map(str, arrays["targets"])), names, field=True),
        int(arrays["missing"]),
    )
