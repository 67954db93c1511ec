"""Arrays with names from npz, npy, MATLAB and HDF5 files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._files import check_size, read_array, read_arrays, reason
from exactsindy._optional import optional
from exactsindy.data.frames import Table
from exactsindy.errors import DataError

ARRAY_KINDS = (".npz", ".npy", ".mat", ".h5", ".hdf5")
# The first bytes of an HDF5 file, and of MATLAB's files of version 7.3 after 512 bytes of text.
_HDF5 = b"\x89HDF\r\n\x1a\n"


def named_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name; that of an npy file is called x."""
    kind = file.suffix.lower()
    if kind == ".npz":
        return read_arrays(file)
    if kind == ".npy":
        return {"x": read_array(file)}
    with file.open("rb") as stream:
        head = stream.read(520)
    if _HDF5 in (head[:8], head[512:]):
        return _hdf5(file, transposed=kind == ".mat")
    if kind == ".mat":
        return _mat(file)
    raise DataError(f"{file.name}: this is not an HDF5 file.")


def _mat(file: Path) -> dict[str, NDArray[Any]]:
    """Return the numeric arrays of a MATLAB file of version 4 to 7; what each claims is compared with the limits."""
    from scipy.io import loadmat, whosmat

    try:
        claimed = [(name, shape) for name, shape, kind in whosmat(file) if kind not in ("cell", "struct", "object")]
        check_size(file, sum(8 * math.prod(shape) for _, shape in claimed))
        found = loadmat(file, variable_names=[name for name, _ in claimed])
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(f"{file.name}: there is not enough memory for its arrays.") from error
    except Exception as error:  # SciPy's readers have a dozen kinds
        raise DataError(f"{file.name}: this is not a MATLAB file that can be read ({reason(error)}).") from error
    return _checked(file, {name: found[name] for name, _ in claimed if name in found})


def _hdf5(file: Path, *, transposed: bool) -> dict[str, NDArray[Any]]:
    """Return the numeric arrays at the top of an HDF5 file; MATLAB writes their axes in reverse."""
    h5py = optional("h5py", "data", "Reading MATLAB 7.3 and HDF5 files")
    try:
        with h5py.File(file, "r") as source:
            chosen = [
                name
                for name in source
                if isinstance(source.get(name, getlink=True), h5py.HardLink)  # links lead to other files
                and isinstance(source[name], h5py.Dataset)
                and source[name].dtype.kind in "biufc"
            ]
            check_size(file, sum(source[name].nbytes for name in chosen))
            arrays = {str(name): np.asarray(source[name][()]) for name in chosen}
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(f"{file.name}: there is not enough memory for its arrays.") from error
    except Exception as error:  # h5py's and those of the library behind it
        raise DataError(f"{file.name}: this is not an HDF5 file that can be read ({reason(error)}).") from error
    return _checked(file, {name: array.T if transposed else array for name, array in arrays.items()})


def _checked(file: Path, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays of numbers, rows and columns of a matrix with one of them as plain lists of numbers."""
    kept = {
        name: array.ravel() if array.ndim == 2 and 1 in array.shape else array
        for name, array in arrays.items()
        if isinstance(array, np.ndarray) and array.dtype.kind in "biufcmMSU" and array.size > 1
    }
    if not kept:
        raise DataError(f"{file.name} holds no arrays of numbers at its top level; save plain arrays.")
    return kept


def array_table(arrays: Mapping[str, NDArray[Any]]) -> Table:
    """Return columns: one-dimensional arrays as they are, the columns of two-dimensional ones numbered."""
    table: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        axes = _axes(name, arrays)
        if axes:
            cure = f"its axes may be {' and '.join(axes)}: to read a field pass dims={axes}."
            raise DataError(f"The array {name!r} has shape {array.shape}; {cure}")
        if array.ndim == 1:
            table[name] = array
        elif array.ndim == 2:
            table.update({f"{name}{i}": column for i, column in enumerate(array.T)})
        elif array.ndim > 2:
            cure = "name its axes to read it as a field: dims=('x', 'y', 't')."
            raise DataError(f"The array {name!r} has shape {array.shape}; {cure}")
    return table


def _axes(name: str, arrays: Mapping[str, NDArray[Any]]) -> tuple[str, ...]:
    """Return the vectors whose lengths are those of an array with several axes, in its order; empty if they are not."""
    shape = arrays[name].shape
    vectors = {other: len(array) for other, array in arrays.items() if array.ndim == 1}
    if len(shape) < 2 or len(set(shape)) < len(shape) or len(set(vectors.values())) < 2:
        return ()
    axes = [next((other for other, length in vectors.items() if length == side), None) for side in shape]
    return () if None in axes else tuple(axis for axis in axes if axis is not None)
