"""Data from a pipe: ``exactsindy discover -``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from exactsindy._atomic import scratch_folder
from exactsindy._files import MOST_BYTES, size
from exactsindy.cli.output import fail

# The first bytes of files that are no text, and their endings; zip files are told apart by what they hold.
_SIGNATURES = (
    (b"\x1f\x8b", ".csv.gz"),
    (b"\xfd7zXZ\x00", ".csv.xz"),
    (b"BZh", ".csv.bz2"),
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".feather"),
    (b"\x93NUMPY", ".npy"),
    (b"CDF", ".nc"),
    (b"\x89HDF", ".nc"),
    (b"MATLAB", ".mat"),
)
# Bytes copied at once.
_CHUNK = 1 << 20


@contextmanager
def readable(data: Path) -> Iterator[Path]:
    """Yield the file to read: the one named, or for ``-`` a temporary one with what standard input holds."""
    if str(data) != "-":
        yield data
        return
    if sys.stdin.isatty():
        fail("-: nothing is piped into standard input; name a file, or pipe one: cat data.csv | exactsindy discover -")
    with scratch_folder() as folder:
        raw, count = folder / "raw", 0
        with raw.open("wb") as out:
            while chunk := sys.stdin.buffer.read(_CHUNK):
                count += len(chunk)
                if count > MOST_BYTES:
                    fail(f"-: standard input holds more than {size(MOST_BYTES)}, the most that is read.")
                out.write(chunk)
        if not count:
            fail("-: standard input is empty; pipe a table into it.")
        named = folder / f"stdin{_ending(raw)}"
        shutil.move(raw, named)
        yield named


def _ending(file: Path) -> str:
    """Return the ending that fits the first bytes of a file: that of a table of text by default."""
    with file.open("rb") as stream:
        head = stream.read(64)
    if head.startswith(b"PK\x03\x04"):
        import zipfile

        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
        if any(name.startswith("xl/") for name in names):
            return ".xlsx"
        if "content.xml" in names:
            return ".ods"
        return ".npz" if names and all(name.endswith(".npy") for name in names) else ".zip"
    found = next((ending for mark, ending in _SIGNATURES if head.startswith(mark)), None)
    if found is not None:
        return found
    return ".json" if head.lstrip()[:1] in (b"[", b"{") else ".csv"
