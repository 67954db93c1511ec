"""Fields whose values are Dask arrays, in pieces of whole chunks of time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from exactsindy.chunked.pieces import MOST_PIECE_BYTES, PIECE_BYTES, Piece, Pieces, Reach, Unread
from exactsindy.chunked.tables import joined_borders
from exactsindy.data import Field, is_lazy
from exactsindy.errors import DataError

# Times of the head: enough for every check of a field.
_HEAD = 3


def field_pieces(data: Field) -> Pieces:
    """Return a field whose values are Dask arrays as pieces: chunks of time, small ones together, none divided."""
    borders = _borders(data)
    return Pieces(
        head=data.load(0, min(_HEAD, len(data.times))),
        unread=partial(_unread, data, borders),
        n_samples=len(data.times),
        count=len(borders) - 1,
        field=data,
    )


def _borders(data: Field) -> list[int]:
    """Return where pieces begin and end: at borders of chunks that all fields have in common."""
    lazily: Any = next(filter(is_lazy, data.values))
    chunks = lazily.chunks
    per_time = 8 * len(data.names) * int(np.prod(data.shape[:-1]))
    edges = [{0, *accumulate(_chunks(values))} for values in data.values]
    common = sorted(set.intersection(*edges))
    largest = max(high - low for low, high in pairwise(common))
    if largest * per_time > MOST_PIECE_BYTES:
        fits = max(PIECE_BYTES // per_time, 1)
        sizes = " x ".join(f"{name} {max(part)}" for name, part in zip(data.dims, chunks, strict=True))
        if per_time > MOST_PIECE_BYTES:
            part = max(data.shape[0] * PIECE_BYTES // per_time, 1)
            raise DataError(
                f"one time of the fields holds {per_time / 1e9:.3g} GB in memory, and pieces are whole in space, "
                f"whatever the chunks: pass a part of it, such as dataset.isel({data.axes[0]}=slice(0, {part}))."
            )
        raise DataError(
            f"the chunks ({sizes}) hold {largest} times, which over all of space are {largest * per_time / 1e9:.3g} GB "
            f"in memory. Nothing is rechunked without being asked for: store the data in chunks of about {fits} times "
            f"that are whole in space, or pass dataset.chunk({{{data.time_name!r}: {fits}}})."
        )
    divided = [name for name, part in zip(data.axes, chunks, strict=False) if len(part) > 1]
    if divided and len(common) < 3:
        warnings.warn(
            f"All times are in one chunk, and space is divided ({', '.join(divided)}): the field is read as one piece. "
            f"Chunks along {data.time_name!r} that are whole in space would be read one by one.",
            stacklevel=2,
        )
    borders = joined_borders(common, max(PIECE_BYTES // per_time, 1))[:-1]
    n = len(data.times)
    if len(borders) > 1 and 2 * (n - borders[-1]) < borders[-1] - borders[-2]:
        borders.pop()  # a short rest joins the piece before it
    return [*borders, n]


def _chunks(values: Any) -> tuple[int, ...]:
    """Return the lengths of the chunks in time; an array in memory has one of every length."""
    chunks = getattr(values, "chunks", None)
    return tuple(chunks[-1]) if chunks is not None else (1,) * values.shape[-1]


def _unread(data: Field, borders: list[int], reach: Reach) -> Iterator[Unread]:
    n = len(data.times)
    for low, high in pairwise(borders):
        first, last = max(low - reach[0], 0), min(high + reach[1], n)
        parts = tuple(values[..., first:last] for values in data.values)
        size = sum(int(part.size) * part.dtype.itemsize for part in parts)
        about = data.described(first, last)
        yield Unread(partial(_built, about, first, (low - first, high - first)), parts, size)


def _built(about: Field, first: int, own: tuple[int, int], *values: Any) -> Piece:
    return Piece(about.filled(values, first), (own,), first)
