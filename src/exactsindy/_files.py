"""Files of unknown origin: every reader ends in what the file holds or in one sentence, and takes no memory unasked.

Nothing is unpickled or executed. What a file claims about its size is compared with the limits below, and with the
bytes that are there, before memory is taken.
"""

from __future__ import annotations

import json
import math
import os
import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.errors import DataError, ExactSindyError

#: Largest JSON file, in bytes: the results of a run with a million rivals are smaller.
MOST_TEXT = 2**28
#: Most bytes of the arrays of one file once they are unpacked (8 GiB), and of any other table.
MOST_BYTES = 2**33
#: A compressed file may unpack to this many times its size once that is more than `MUCH`; real data stay below 50.
MOST_TIMES = 200
MUCH = 2**28
#: How deep JSON lists and objects may stand inside each other; ours need six.
MOST_NESTED = 32
# Structured types, Python objects and raw bytes are left out.
_KINDS = "biufcSUmM"
_ENCRYPTED = 0x1  # bit of the flags of a zip member


def regular_file(path: object, speaker: str | None = None, *, most: int | None = None) -> Path:
    """Return the path of a file that can be read at once, or say why it is none.

    Pipes, devices and sockets are refused, since reading them may never end. ``speaker`` begins the sentence; the path
    itself does by default.

    Raises
    ------
    DataError
        If there is no such file, it is no regular file, or it holds more than ``most`` bytes (`MOST_BYTES`).

    Examples
    --------
    >>> regular_file("nowhere.csv")
    Traceback (most recent call last):
    ...
    exactsindy.errors.DataError: 'nowhere.csv': there is no such file.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise DataError(f"{speaker or 'path'}: got {type(path).__name__}; expected the path of a file.")
    file = Path(path)
    speaker = speaker or repr(str(file))
    try:
        about = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"{speaker}: there is no such file.") from None
    except (OSError, ValueError) as error:  # (a name with a zero byte is a ValueError)
        raise DataError(f"{speaker}: the file cannot be read: {reason(error)}.") from error
    if stat.S_ISDIR(about.st_mode):
        raise DataError(f"{speaker}: this is a folder; expected a file.")
    if not stat.S_ISREG(about.st_mode):
        raise DataError(f"{speaker}: this is a pipe, a device or a socket; copy what it holds into a file first.")
    most = MOST_BYTES if most is None else most
    if about.st_size > most:
        raise DataError(f"{speaker}: the file has {size(about.st_size)}; at most {size(most)} are read.")
    return file


def read_json(path: str | os.PathLike[str], speaker: str | None = None) -> Any:
    """Return what a JSON file holds; its numbers are finite, its integers have at most 64 bits.

    Raises
    ------
    DataError
        If it cannot be read, is no JSON, or is nested more than 32 deep.
    """
    file = regular_file(path, speaker, most=MOST_TEXT)
    speaker = speaker or repr(str(file))
    try:
        with file.open("rb") as stream:
            text = stream.read(MOST_TEXT).decode("utf-8")
    except OSError as error:
        raise DataError(f"{speaker}: the file cannot be read: {reason(error)}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{speaker}: the file cannot be read: it is not text.") from error
    try:
        value = json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
        _check_nesting(value)
    except RecursionError as error:
        raise DataError(f"{speaker}: the file is damaged: it is nested more than {MOST_NESTED} deep.") from error
    except ValueError as error:
        raise DataError(f"{speaker}: the file is damaged: it is not JSON ({shown(str(error))}).") from error
    return value


def read_arrays(path: str | os.PathLike[str], speaker: str | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file; Python objects are refused.

    Raises
    ------
    DataError
        If it is not a file of plain arrays, or unpacks to more than `MOST_BYTES`.
    """
    file = regular_file(path, speaker)
    try:
        with zipfile.ZipFile(file) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's about headers written by Python 2
            members = archive.infolist()
            _check_members(file, members)
            return {info.filename.removesuffix(".npy"): _array(file, archive, info) for info in members}
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(f"{file.name}: there is not enough memory for its arrays.") from error
    except Exception as error:  # zipfile, zlib and NumPy's headers have a dozen kinds
        raise DataError(f"{file.name}: this is not an npz file of plain arrays ({reason(error)}).") from error


def _check_members(file: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse what the directory of a zip file already shows: names, kinds of compression, sizes."""
    names = [info.filename for info in members]
    if len(set(names)) < len(names):
        raise ValueError("an array is there twice")
    for info in members:
        if not info.filename.endswith(".npy"):
            raise ValueError(f"it holds {shown(info.filename)!r}, which is no array")
        if info.flag_bits & _ENCRYPTED:
            raise ValueError("it is encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its compression method {info.compress_type} is not one that NumPy writes")
    check_size(file, sum(info.file_size for info in members))


def check_size(file: Path, unpacked: int) -> None:
    """Refuse a file whose content is too large for memory, or far larger than the file itself."""
    if unpacked > MOST_BYTES:
        raise DataError(
            f"{file.name}: it unpacks to {size(unpacked)}; at most {size(MOST_BYTES)} are read. Pass a part of it, or "
            "arrays in memory."
        )
    packed = file.stat().st_size
    if unpacked > MUCH and unpacked > MOST_TIMES * packed:
        raise DataError(
            f"{file.name}: {size(packed)} unpack to {size(unpacked)}, more than {MOST_TIMES} times as much, as in a "
            "file made to fill the memory. Pass arrays in memory if it is right."
        )


def read_array(path: str | os.PathLike[str], speaker: str | None = None) -> NDArray[Any]:
    """Return the array of an npy file; Python objects are refused.

    Raises
    ------
    DataError
        If it is not a file of one plain array, or says that it holds more than is there.
    """
    file = regular_file(path, speaker)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's about headers written by Python 2
            return _checked_array(file, file.name, file.stat().st_size, lambda: file.open("rb"))
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(f"{file.name}: there is not enough memory for its array.") from error
    except Exception as error:  # those of NumPy's headers
        raise DataError(f"{file.name}: this is not an npy file of a plain array ({reason(error)}).") from error


def _array(file: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return one array of an archive."""
    return _checked_array(file, info.filename, info.file_size, lambda: archive.open(info))


def _checked_array(file: Path, name: str, count: int, begin: Callable[[], IO[bytes]]) -> NDArray[Any]:
    """Return an array from a stream of ``count`` bytes, after its header was compared with the bytes that are there."""
    with begin() as stream:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
        there = count - stream.tell()
    if dtype.hasobject:
        what = "Python objects, which are not read for safety; save plain arrays of numbers"
        raise DataError(f"{file.name} holds {what}.")
    if dtype.kind not in _KINDS:
        raise ValueError(f"{shown(name)!r} holds records")
    declared = math.prod(shape) * max(dtype.itemsize, 1)
    if declared != there:
        raise ValueError(f"{shown(name)!r} says it has {size(declared)}, and {size(there)} are there")
    with begin() as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def reason(error: BaseException) -> str:
    """Return why something failed, in a few words and without a full stop: the system's, or those of the error."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error).rstrip(".")
    return text if isinstance(error, ExactSindyError) else shown(text) or type(error).__name__


def shown(text: str, most: int = 200) -> str:
    """Return text for a message: one line, the middle of a long one left out."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most // 2]} ... {line[-most // 2 :]}"


def printable(text: str) -> str:
    r"""Return a text with control characters spelled out: a name from a file must not start a line of its own.

    Examples
    --------
    >>> print(printable("x\nVerified"))
    x\nVerified
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def size(count: int) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> size(17), size(3 * 2**30)
    ('17 bytes', '3.22 GB')
    """
    value, units = float(min(abs(count), 10**30)), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{math.copysign(value, count):.3g} {units[0]}"


def _check_nesting(value: Any) -> None:
    level = [value]
    for _ in range(MOST_NESTED):
        level = [
            item
            for holder in level
            if isinstance(holder, (list, dict))
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, (list, dict))
        ]
        if not level:
            return
    raise RecursionError


def _whole(text: str) -> int:
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"the integer {shown(text, 40)} has more than 64 bits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {shown(text, 40)} is not finite")
    return value
