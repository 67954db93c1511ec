"""Data from files: CSV, npz, Parquet, NetCDF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy._optional import optional
from exactsindy.data.build_field import field
from exactsindy.data.csv_file import read_csv
from exactsindy.data.door import from_xarray, trajectories
from exactsindy.data.field_data import Field
from exactsindy.data.frames import read_frame
from exactsindy.data.notice import Notice
from exactsindy.data.trajectory import Trajectories
from exactsindy.errors import DataError


def load(
    path: str | Path,
    *,
    time: Any = None,
    states: Sequence[str] | None = None,
    controls: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
    dims: Sequence[str] | None = None,
    periodic: Iterable[str] | Mapping[str, float] = (),
    decimal: str = ".",
) -> Trajectories | Field:
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
        For fields in an npz file the names of the axes, e.g. ``("x", "t")``, and for any field its periodic
        axes.
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
    file = Path(path)
    if not file.is_file():
        raise DataError(f"load({str(path)!r}): there is no such file.")
    kind = file.suffix.lower()
    missing = "keep" if gaps == "split" else "refuse"
    if kind in (".nc", ".netcdf", ".cdf"):
        xarray = optional("xarray", "data", "Reading NetCDF")
        with xarray.open_dataset(file) as dataset:
            return from_xarray(
                dataset.load(),
                time=time,
                states=states,
                controls=controls,
                targets=targets,
                gaps=gaps,
                periodic=periodic,
            )
    table: Any
    notices: list[Notice] = []
    if kind in (".csv", ".txt", ".tsv", ".dat"):
        table = read_csv(file, decimal=decimal, notices=notices)
    elif kind in (".parquet", ".pq"):
        table = read_frame(optional("pyarrow.parquet", "data", "Reading Parquet").read_table(file))
    elif kind == ".npz":
        table = _npz_arrays(file)
        if dims is not None:
            return _npz_field(table, tuple(dims), time, states, periodic, targets, missing)
        table = _npz_table(table)
    else:
        raise DataError(
            f"load({file.name!r}): unknown ending {kind!r}; expected .csv, .txt, .tsv, .dat, .parquet, .nc or .npz."
        )
    data = trajectories(
        table, time=time, states=states, controls=controls, targets=targets, trajectory=trajectory, gaps=gaps
    )
    return replace(data, notices=(*notices, *data.notices)) if notices else data


def _npz_arrays(file: Path) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as archive:
        try:
            return {name: archive[name] for name in archive.files}
        except ValueError:
            raise DataError(
                f"{file.name} holds Python objects, which are not read for safety; save plain arrays of numbers."
            ) from None


def _npz_table(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return columns: one-dimensional arrays as they are, the columns of two-dimensional ones numbered."""
    table: dict[str, Any] = {}
    for name, array in arrays.items():
        if array.ndim == 1:
            table[name] = array
        elif array.ndim == 2:
            table.update({f"{name}{i}": column for i, column in enumerate(array.T)})
        elif array.ndim > 2:
            raise DataError(
                f"The array {name!r} has shape {array.shape}; name its axes to read it as a field: "
                "dims=('x', 'y', 't')."
            )
    return table


def _npz_field(
    arrays: dict[str, Any],
    dims: tuple[str, ...],
    time: Any,
    names: Sequence[str] | None,
    periodic: Iterable[str] | Mapping[str, float],
    targets: Sequence[str] | None,
    missing: str,
) -> Field:
    chosen = names or tuple(name for name, array in arrays.items() if array.ndim == len(dims))
    absent = [name for name in (*chosen, *dims) if name not in arrays]
    if absent or not chosen:
        what = f"no array {absent[0]!r}" if absent else f"no array with {len(dims)} axes"
        raise DataError(f"dims={dims}: the file has {what}; its arrays are {', '.join(arrays)}.")
    return field(
        {name: arrays[name] for name in chosen},
        dims=dims,
        coords={dim: arrays[dim] for dim in dims},
        time=time,
        periodic=periodic,
        targets=targets,
        missing=missing,
    )
