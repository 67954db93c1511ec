"""Compressed files and archives of one table: unpacked into a temporary file, never beyond what a table may hold."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from exactsindy._atomic import scratch_folder
from exactsindy._files import check_size, reason, shown
from exactsindy.errors import DataError

# Endings of compressed files, and what opens them.
_STREAMS: dict[str, Callable[[Path], Any]] = {".gz": gzip.GzipFile, ".xz": lzma.LZMAFile, ".bz2": bz2.BZ2File}
PACKED = (*_STREAMS, ".zip")
# Bytes that are unpacked at once; the size so far is compared with the limits after each.
_CHUNK = 1 << 20
# Largest name of a file within, in letters; beyond it systems refuse to make one.
_LONGEST_NAME = 200
# Folders that systems put beside what the user packed.
_CLUTTER = ("__MACOSX/", ".DS_Store", "Thumbs.db")
# What the unpackers raise over damaged files.
_DAMAGE = (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, RuntimeError, ValueError)


@contextmanager
def unpacked(file: Path) -> Iterator[Path]:
    """Yield a file as it is, or what a compressed one holds, as a temporary file with the name that it has inside."""
    kind = file.suffix.lower()
    if kind not in PACKED:
        yield file
        return
    with scratch_folder() as folder:
        try:
            if kind == ".zip":
                with zipfile.ZipFile(file) as archive:
                    member = _only_member(file, archive)
                    check_size(file, member.file_size)
                    with archive.open(member) as source:
                        inside = _copied(file, source, folder, Path(member.filename).name)
            else:
                with _STREAMS[kind](file) as source:
                    inside = _copied(file, source, folder, file.stem)
        except DataError:
            raise
        except _DAMAGE as error:
            raise DataError(f"{file.name}: the file is damaged and cannot be unpacked ({reason(error)}).") from error
        yield inside


def _only_member(file: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """Return the one file in an archive."""
    members = [
        info for info in archive.infolist() if not info.is_dir() and not any(mark in info.filename for mark in _CLUTTER)
    ]
    if len(members) != 1:
        listed = ", ".join(shown(info.filename, 60) for info in members[:5]) + (", ..." if len(members) > 5 else "")
        what = f"{len(members)} files ({listed})" if members else "no file"
        raise DataError(f"{file.name}: the archive holds {what}; expected one table. Unpack it and name the table.")
    return members[0]


def _copied(file: Path, source: IO[Any], folder: Path, name: str) -> Path:
    """Write what a stream holds into a file; end as soon as it is more than a table may hold."""
    plain = "".join(letter for letter in name if letter.isprintable() and letter not in '/\\:*?"<>|')
    target = folder / (plain[-_LONGEST_NAME:].lstrip(".") or "table")
    count = 0
    with target.open("wb") as out:
        while chunk := source.read(_CHUNK):
            count += len(chunk)
            check_size(file, count)
            out.write(chunk)
    return target
