"""Paths that hold more than one file: patterns and folders of Parquet files, zarr stores."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from exactsindy._files import reason
from exactsindy._optional import optional
from exactsindy.chunked.parquet import scan_parquet
from exactsindy.chunked.pieces import Pieces
from exactsindy.chunked.sources import pieces_of
from exactsindy.data import Columns, Field
from exactsindy.errors import DataError


def opened(path: str | os.PathLike[str], columns: Columns) -> Pieces | None:
    """Return what a pattern, a folder or a zarr store holds as pieces, nothing of it read yet; None for a file."""
    text = os.fspath(path)
    if Path(text).suffix == ".zarr" and Path(text).is_dir():
        return _store(text, columns)
    if not (Path(text).is_dir() or glob.has_magic(text)):
        return None
    if columns.gaps != "refuse" or columns.parameters is not None:
        raise DataError(f"{text!r}: gaps and parameters are for data in memory; Parquet data sets are read in pieces.")
    time: Any = columns.time
    names: Any = columns.controls
    targets: Any = columns.targets
    return scan_parquet(
        text,
        time=time,
        states=columns.states,
        controls=names or (),
        trajectory=columns.trajectory,
        targets=targets,
    )


def _store(path: str, columns: Columns) -> Pieces:
    xarray = optional("xarray", "data", "Reading zarr")
    optional("zarr", "dask", "Reading zarr")
    try:
        dataset = xarray.open_zarr(path, chunks={})
    except Exception as error:  # each of xarray's readers has its own kinds
        raise DataError(f"{path!r}: this is no zarr store that can be read ({reason(error)}).") from error
    chosen = dataset if columns.states is None else dataset[list(columns.states)]
    if len(chosen.sizes) < 2:
        pieces = pieces_of(chosen)
    else:
        time: Any = columns.time
        targets: Any = columns.targets
        missing = "keep" if columns.gaps == "split" else "refuse"
        pieces = pieces_of(
            Field.from_arrays(chosen, time=time, periodic=columns.periodic, targets=targets, missing=missing)
        )
    if pieces is None:
        raise DataError(f"{path!r}: the store holds no arrays with chunks.")
    return pieces
