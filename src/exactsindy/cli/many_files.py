"""Data of many files, read in pieces, and the Dask cluster that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from exactsindy.cli import output


def in_pieces(path: Path, columns: Mapping[str, Any]) -> Any:
    """Return a pattern, a folder of Parquet files or a zarr store as pieces; None for one file."""
    if str(path) == "-":
        return None
    from exactsindy.chunked import opened
    from exactsindy.data import Columns

    if path.is_dir() and path.suffix != ".zarr":
        _say_what_is_read(path)
    return opened(path, Columns(**columns))


def _say_what_is_read(folder: Path) -> None:
    """Say that of a folder the Parquet files are read; end with a sentence if it has none."""
    inside = [item for item in sorted(folder.iterdir()) if not item.name.startswith((".", "_"))]
    files = [item for item in inside if item.is_file()]
    parquet = [file for file in files if file.suffix.lower() in (".parquet", ".pq")]
    others = len(files) - len(parquet)
    if parquet and others:
        read, left = (
            f"{count} {word}{' is' if count == 1 else 's are'}"
            for count, word in ((len(parquet), "Parquet file"), (others, "other file"))
        )
        output.note(f"{str(folder)!r} is a folder: {read} read as one data set, {left} not.")
    if files and len(files) == len(inside) and not parquet:
        output.fail(f"{str(folder)!r}: this is a folder without Parquet files; name a file, e.g. {str(files[0])!r}.")


@contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Let the workers of a Dask scheduler do the work inside; with None, this process."""
    if address is None:
        yield
        return
    from exactsindy._optional import optional
    from exactsindy.errors import DataError

    distributed = optional("distributed", "dask", "A Dask scheduler")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise DataError(f"--scheduler {address}: no scheduler answers there ({type(error).__name__}).") from error
    with client:
        yield
