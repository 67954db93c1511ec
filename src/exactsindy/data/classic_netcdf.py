"""The header of classic NetCDF files, whose readers believe every count in it: compared with the bytes that are there.

Format: https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from exactsindy.errors import DataError

# Lists of the header by the tag that begins them; 0 with no entries: the list is left out.
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
# Bytes of a number of each kind.
_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
# Most dimensions of a variable, and most entries of a list.
_MOST_DIMENSIONS, _MOST = 1024, 100_000


def check_classic(file: Path) -> None:
    """Refuse a classic NetCDF file whose header counts more than the file holds; leave other files alone.

    Raises
    ------
    DataError
        If the header does not fit the file.
    """
    with file.open("rb") as stream:
        start = stream.read(4)
        if start[:3] != b"CDF" or start[3:] not in (b"\x01", b"\x02", b"\x05"):
            return
        try:
            _Header(stream, file.stat().st_size, start[3]).check()
        except ValueError as error:
            raise DataError(f"{file.name}: this is not a NetCDF file that can be read ({error}).") from error


class _Header:
    def __init__(self, stream: BinaryIO, size: int, version: int) -> None:
        self._stream, self._size = stream, size
        self._count_bytes = 8 if version == 5 else 4
        self._offset_bytes = 4 if version == 1 else 8

    def check(self) -> None:
        self._number(self._count_bytes)  # records; readers take it from the size of the file where it is unknown
        lengths = []
        for _ in range(self._list(_DIMENSIONS)):
            self._skip(self._count())  # its name
            lengths.append(self._number(self._count_bytes))
        self._attributes()
        for _ in range(self._list(_VARIABLES)):
            self._skip(self._count())
            self._variable(lengths)

    def _variable(self, lengths: list[int]) -> None:
        dimensions = self._count()
        if dimensions > _MOST_DIMENSIONS:
            raise ValueError(f"a variable has {dimensions} dimensions")
        chosen = [self._number(self._count_bytes) for _ in range(dimensions)]
        if any(place >= len(lengths) for place in chosen):
            raise ValueError("a variable has a dimension that is not there")
        self._attributes()
        size = self._kind()
        for place in chosen:
            size *= lengths[place] or 1  # (0: as many as there are records)
        self._number(self._count_bytes)  # the size again, which readers compute
        if self._number(self._offset_bytes) + size > self._size:
            raise ValueError("a variable has more bytes than the file")

    def _attributes(self) -> None:
        for _ in range(self._list(_ATTRIBUTES)):
            self._skip(self._count())
            each = self._kind()
            self._skip(each * self._count())

    def _list(self, tag: int) -> int:
        found, count = self._number(4), self._count()
        if found not in (0, tag) or (found == 0 and count):
            raise ValueError("its header is damaged")
        if count > _MOST:
            raise ValueError(f"its header has a list of {count} entries")
        return count

    def _kind(self) -> int:
        kind = self._number(4)
        if kind not in _BYTES:
            raise ValueError(f"its header has numbers of an unknown kind, {kind}")
        return _BYTES[kind]

    def _count(self) -> int:
        """Return a count of things that take at least a byte each."""
        count = self._number(self._count_bytes)
        if count > self._size:
            raise ValueError(f"its header counts {count} bytes, and the file has {self._size}")
        return count

    def _skip(self, count: int) -> None:
        """Pass over bytes, filled up to a multiple of four."""
        place = self._stream.seek(count + -count % 4, 1)
        if place > self._size:
            raise ValueError("the file ends within its header")

    def _number(self, size: int) -> int:
        text = self._stream.read(size)
        if len(text) < size:
            raise ValueError("the file ends within its header")
        return int.from_bytes(text, "big")
