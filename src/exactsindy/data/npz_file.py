"""Measured data as npz files of plain arrays, to the bit."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._atomic import write_atomically
from exactsindy.data.columns import parse_targets
from exactsindy.data.field import Field
from exactsindy.data.read import Data
from exactsindy.data.trajectory import Trajectories, Trajectory
from exactsindy.errors import DataError


def save_data(data: Data, path: str | os.PathLike[str]) -> None:
    """Write trajectories or fields.

    Examples
    --------
    >>> import tempfile
    >>> data = Trajectories([Trajectory(0.5, [[0.0], [1.0], [2.0]], ("x",))])
    >>> save_data(data, os.path.join(tempfile.mkdtemp(), "data.npz"))
    """
    arrays = _field_arrays(data) if isinstance(data, Field) else _trajectory_arrays(data)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, targets=np.array([target.name for target in data.targets]), **arrays)
    write_atomically(path, buffer.getvalue())


def read_data(arrays: Mapping[str, NDArray[Any]]) -> Data:
    """Return the data from the arrays that `save_data` wrote.

    Raises
    ------
    DataError
        If an array is missing.
    """
    try:
        return _read_field(arrays) if "dims" in arrays else _read_trajectories(arrays)
    except (KeyError, IndexError) as error:
        raise DataError(f"the stored data are damaged: {error} is missing.") from error


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
