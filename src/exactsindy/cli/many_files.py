"""Data of many files, read in pieces, and the Dask cluster that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def in_pieces(path: Path, columns: Mapping[str, Any]) -> Any:
    """Return a pattern, a folder of Parquet files or a zarr store as pieces; None for one file."""
    if str(path) == "-":
        return None
    from exactsindy.chunked import opened
    from exactsindy.data import Columns

    return opened(path, Columns(**columns))


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
