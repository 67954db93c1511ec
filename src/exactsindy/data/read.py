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
from exactsindy._files import MOST_BYTES, reason, regular_file, size
from exactsindy._optional import optional
from exactsindy.data.array_files import ARRAY_KINDS, array_table, named_arrays
from exactsindy.data.classic_netcdf import check_classic
from exactsindy.data.columns import Columns, Samples, parse_targets
from exactsindy.data.csv_file import read_csv
from exactsindy.data.field import Field
from exactsindy.data.frames import Table, dimensions, is_xarray
from exactsindy.data.long_fields import gridded
from exactsindy.data.notice import Notice
from exactsindy.data.record_files import RECORD_KINDS, read_records
from exactsindy.data.trajectory import Trajectories, Trajectory
from exactsindy.data.unpacking import PACKED, unpacked
from exactsindy.errors import DataError

Data = Trajectories | Field
# Endings of text files with columns, and of NetCDF files.
_TEXT, _NETCDF = (".csv", ".txt", ".tsv", ".dat"), (".nc", ".netcdf", ".cdf")
#: Endings of files that are read; those of `PACKED` may follow.
ENDINGS = (*_TEXT, *RECORD_KINDS, *ARRAY_KINDS, *_NETCDF)
# What `as_data` and `discover` take: data, a path, arrays, frames, xarray objects, or lists of these.
DataLike = Data | os.PathLike[str] | Samples | Trajectory | Sequence[Samples | Trajectory]


def as_data(source: DataLike, columns: Columns | None = None) -> Data:
    """Return data of any accepted kind as `Trajectories` or a `Field`.

    ``source`` is a path, what `Trajectories.from_arrays` takes, an xarray object, arrays with ``columns.dims`` (a
    field), or data already read, which are returned as they are; ``columns`` says which columns mean what.
    """
    columns = columns or Columns()
    if source is None:
        raise DataError("data is None: expected an array, a table, a file name, Trajectories or a Field.")
    if isinstance(source, Trajectories):
        return source.with_parameters(columns.parameters)
    if isinstance(source, Field):
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
    targets: str | Sequence[str] | None = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
    dims: Sequence[str] | None = None,
    periodic: Iterable[str] | Mapping[str, float] = (),
    decimal: str | None = None,
    parameters: Sequence[str] | Mapping[str, ArrayLike] | None = None,
    steps: bool = False,
) -> Data:
    r"""Read trajectories or a field from a file: text, spreadsheet, Parquet, Feather, JSON, NumPy, MATLAB, NetCDF.

    Parameters
    ----------
    path
        The file; its ending says what it is: .csv .txt .tsv .dat; .xlsx .xlsm .xls .ods; .parquet .pq .feather
        .arrow; .json .jsonl; .npz .npy .mat .h5; .nc. Any of these may be packed as .gz, .xz, .bz2, or alone in a
        .zip.
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
        For fields in an npz file, or in a table with one row per point and time, the names of the axes, e.g.
        ``("x", "t")``; and for any field its periodic axes.
    decimal
        The decimal mark of a text file; told from its first rows by default, with a notice if it is a comma.
    parameters
        Names of columns that are constant within each trajectory, or one value per trajectory by name.
    steps
        Whether these are samples of a map: without a time column they are then counted 0, 1, 2, ...

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lynx_hare.csv"
    >>> _ = path.write_text("year,lynx,hare\n1900,4.0,30\n1901,6.1,47.2\n1902,9.8,70.2\n")
    >>> load(path, time="year")
    Trajectories(1 of lynx, hare; samples: 3)
    """
    columns = Columns(
        time,
        states,
        controls,
        targets=targets,
        trajectory=trajectory,
        gaps=gaps,
        dims=dims,
        periodic=periodic,
        parameters=parameters,
        steps=steps,
    )
    return _read_file(path, columns, decimal)


def _read_file(path: object, columns: Columns, decimal: str | None = None) -> Data:
    file = regular_file(path, f"load({str(path)!r})")
    with unpacked(file) as inside:
        return _read_plain(inside, columns, decimal)


def _read_plain(file: Path, columns: Columns, decimal: str | None) -> Data:
    """Return what a file that is not compressed holds."""
    kind = file.suffix.lower()
    if kind in _NETCDF:
        return _from_xarray(_netcdf(file), columns)
    table: Table
    notices: tuple[Notice, ...] = ()
    if kind in _TEXT:
        table, notices = read_csv(file, decimal=decimal)
    elif kind in RECORD_KINDS:
        table, notices = read_records(file)
    elif kind in ARRAY_KINDS:
        arrays = named_arrays(file)
        if columns.dims is not None:
            return _array_field(arrays, tuple(columns.dims), columns)
        table = array_table(arrays)
    else:
        known = ", ".join(ENDINGS)
        packed = ", ".join(PACKED)
        what = f"unknown ending {kind!r}" if kind else "it has no ending"
        raise DataError(f"load({file.name!r}): {what}; expected one of {known}, or these packed as {packed}.")
    if not table:
        raise DataError(f"{file.name} holds no columns.")
    data: Data
    if columns.dims is not None and kind not in ARRAY_KINDS:
        dims = tuple(columns.dims)
        data = _array_field(gridded(table, dims), dims, columns)
    else:
        data = Trajectories.from_columns(table, columns)
    return replace(data, notices=(*notices, *data.notices)) if notices else data


def arrays_in(path: str | os.PathLike[str]) -> Mapping[str, NDArray[Any]] | None:
    """Return the columns or arrays in a file by name, before they have a meaning; None for NetCDF, which has its own.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    with unpacked(regular_file(path)) as file:
        kind = file.suffix.lower()
        if kind in _NETCDF:
            return None
        if kind in ARRAY_KINDS:
            return named_arrays(file)
        return read_records(file)[0] if kind in RECORD_KINDS else read_csv(file)[0]


def _from_xarray(source: Any, columns: Columns) -> Data:
    """Return trajectories from an xarray object over time alone, a field from one over space and time."""
    if len(dimensions(source)) == 1:
        return Trajectories.from_columns(source, columns)
    chosen = source if columns.states is None else source[list(columns.states)]
    return Field.from_columns(chosen, replace(columns, states=None, dims=None))


def _netcdf(file: Path) -> Any:
    check_classic(file)
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


def _array_field(arrays: Mapping[str, NDArray[Any]], dims: tuple[str, ...], columns: Columns) -> Field:
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
    if data.parameter_names:
        arrays["parameter_names"] = np.array(data.parameter_names)
        arrays["parameters"] = np.column_stack([*data.parameters.values()])
    for i, member in enumerate(data):
        arrays[f"times{i}"], arrays[f"states{i}"], arrays[f"controls{i}"] = member.times, member.states, member.controls
        if member.derivatives is not None:
            arrays[f"derivatives{i}"] = member.derivatives
    return arrays


def _read_trajectories(arrays: Mapping[str, Any]) -> Trajectories:
    names, inputs = tuple(map(str, arrays["names"])), tuple(map(str, arrays["control_names"]))
    constants = tuple(map(str, arrays.get("parameter_names", ())))
    members = [
        Trajectory(
            arrays[f"times{i}"],
            arrays[f"states{i}"],
            names,
            controls=arrays[f"controls{i}"] if inputs else None,
            control_names=inputs or None,
            derivatives=arrays.get(f"derivatives{i}"),
            label=str(label),
            parameters=dict(zip(constants, arrays["parameters"][i].tolist(), strict=True)) if constants else None,
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
