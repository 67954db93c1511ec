"""What forms take beside data in memory: fields of Dask arrays, pieces of a source, streams of data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate, chain
from typing import Any

from exactsindy.chunked.fields import field_pieces
from exactsindy.chunked.pieces import Piece, Pieces, Reach, Unread, members_of
from exactsindy.chunked.tables import Layout, Table, joined_borders, table_pieces
from exactsindy.data import Data, Field, Trajectories, Trajectory, dimensions, is_xarray, loaded
from exactsindy.errors import DataError

# Rows of a table of Dask arrays that are read together, where its chunks are smaller.
_ROWS = 1 << 20

# Data in memory, a field of Dask arrays, the pieces of a source, or data that come one after another.
Source = Data | Pieces | Iterable[Data | Trajectory]


def pieces_of(source: object) -> Pieces | None:
    """Return what is read piece by piece as pieces; None for data in memory."""
    if isinstance(source, Pieces):
        return source
    if isinstance(source, Field):
        return field_pieces(source) if source.lazy else None
    if is_xarray(source):
        return _labelled(source)
    if isinstance(source, Trajectories) or not isinstance(source, list | tuple | Iterator):
        return None
    kinds = (Field, Trajectories, Trajectory)
    if isinstance(source, list | tuple) and not (source and all(isinstance(item, kinds) for item in source)):
        return None
    return _stream(source)


def _labelled(source: Any) -> Pieces | None:
    """Return a chunked xarray object as pieces: over time alone trajectories, else a field; None if it is in memory."""
    if not source.chunks:
        return None
    dims = dimensions(source)
    if len(dims) > 1:
        return pieces_of(Field.from_arrays(source))
    arrays = dict(source.data_vars) if hasattr(source, "data_vars") else {str(source.name or "x"): source}
    columns = {str(name): array.data for name, array in arrays.items()}
    (time,) = dims
    step: str | float = time
    if time in source.coords:
        columns[time] = source[time].values
    else:
        step = 1.0
    rows, width = int(source.sizes[time]), 8 * len(columns)
    edges = sorted(
        {0, *accumulate(next(iter(source.chunks.values())) if isinstance(source.chunks, Mapping) else source.chunks[0])}
    )
    layout = Layout(step, tuple(name for name in columns if name != time))
    return table_pieces(
        Table(layout, partial(_stretch, columns), rows, tuple(joined_borders(edges, _ROWS)), (0,), width)
    )


def _stretch(columns: Mapping[str, Any], low: int, high: int) -> dict[str, Any]:
    return {name: loaded(values[low:high]) for name, values in columns.items()}


def _stream(source: Iterable[Any]) -> Pieces:
    """Return data that come one after another, each a piece of its own, with nothing before or after it."""
    again = isinstance(source, list | tuple)
    rest = iter(source)
    first = next(rest, None)
    if first is None:
        raise DataError("the stream of data is empty: expected trajectories or fields, one after another.")
    head = _checked(first)
    items = source if again else chain([first], rest)
    count = len(source) if isinstance(source, list | tuple) else None
    samples = sum(_checked(item).n_samples for item in source) if isinstance(source, list | tuple) else None
    return Pieces(head, partial(_unread, items, head), samples, count, again=again, here=True)


def _unread(items: Iterable[Any], head: Data, reach: Reach) -> Iterator[Unread]:
    for item in items:
        data = _checked(item)
        if (data.state_names, data.control_names, data.targets) != (head.state_names, head.control_names, head.targets):
            raise DataError(
                f"the stream holds {data!r} after {head!r}; expected the same states, controls and targets."
            )
        for part in [data] if isinstance(data, Trajectories) or not data.lazy else []:
            size = 8 * part.n_samples * len(part.state_names)
            yield Unread(partial(_whole, part), size=size)
        if isinstance(data, Field) and data.lazy:
            yield from field_pieces(data).unread(reach)


def _whole(data: Data) -> Piece:
    lengths = [len(data.times)] if isinstance(data, Field) else [len(member) for member in data]
    return Piece(data, tuple((0, n) for n in lengths))


def _checked(item: Any) -> Data:
    data = members_of(item)
    if not isinstance(data, Data):
        raise DataError(
            f"the stream holds a {type(item).__name__}; expected trajectories or fields, one after another."
        )
    return data
