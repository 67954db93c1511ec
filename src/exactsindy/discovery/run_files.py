"""What a run folder holds that reading it passes over: entries, bytes and files for which nothing vouches."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from exactsindy._atomic import NEXT, current, scratch_folder
from exactsindy._files import printable
from exactsindy.discovery.result import Discovery
from exactsindy.discovery.run_copies import VERSIONS
from exactsindy.discovery.run_folder import ARRAYS, FILES, FORMAT, _results, file_sha256, renamed

#: Other files of a folder that are named.
_MOST_NAMES = 5


def unread_entries(folder: str | os.PathLike[str], discovery: Discovery) -> Iterator[str]:
    """Yield what nothing vouches for: entries that reading the files passed over, bytes of arrays that were changed."""
    with scratch_folder() as scratch:
        again = scratch / "model.json"
        discovery.model.save(again)
        model = json.loads(again.read_text(encoding="utf-8"))
    for name, read in (("results.json", _results(discovery)), ("model.json", model), ("run.json", None)):
        repeated: list[str] = []
        text = current(folder, name).read_text(encoding="utf-8")
        stored = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, repeated))  # noqa: B023 - used here
        yield from (f"{name}: the entry {key!r} stands twice." for key in repeated)
        if read is not None:
            if discovery.about.get("format") != FORMAT:
                stored = _of_today(stored)
            yield from (f"{name}, {text}" for text in _unread(stored, read, ""))
    known = discovery.about.get("files_sha256")
    for name in ARRAYS if known is not None else ():
        if not isinstance(known, Mapping) or file_sha256(current(folder, name)) != known.get(name):
            yield f"{name}: its bytes are not those that run.json has the SHA-256 of."


def _of_today(record: Any) -> Any:
    """Return an entry of an earlier format with the names of this one."""
    if isinstance(record, Mapping):
        return renamed({key: _of_today(value) for key, value in record.items()})
    return [_of_today(value) for value in record] if isinstance(record, list) else record


def unchecked_files(folder: str | os.PathLike[str], discovery: Discovery) -> list[str]:
    """Return in words which files and bytes of a folder were not looked at."""
    found = sorted(item.name for item in Path(folder).iterdir())
    waiting = [name for name in FILES if current(folder, name) != Path(folder) / name]
    others = [name for name in found if name not in FILES and not (waiting and name == NEXT)]
    shown = [*others[:_MOST_NAMES], *([f"{len(others) - _MOST_NAMES} more"] if len(others) > _MOST_NAMES else [])]
    words = [f"other files in the folder: {', '.join(map(printable, shown))}"] if others else []
    if waiting:
        words.append(f"files that an interrupted save has replaced already (in {NEXT}): {', '.join(waiting)}")
    return words if discovery.about.get("files_sha256") else [*words, "labels of trajectories"]


def _object(pairs: Sequence[tuple[str, Any]], repeated: list[str]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated += sorted({key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1})
    return found


def _unread(stored: Any, read: Any, place: str) -> Iterator[str]:
    """Yield where a file says something else than what was read of it."""
    if isinstance(stored, Mapping) and isinstance(read, Mapping):
        for key, value in stored.items():
            here = f"{place}.{key}" if place else key
            if key not in read:
                yield f"{here}: it means nothing in this file."
            elif key not in VERSIONS:
                yield from _unread(value, read[key], here)
    elif isinstance(stored, list) and isinstance(read, list | tuple) and len(stored) == len(read):
        for i, (value, other) in enumerate(zip(stored, read, strict=True)):
            yield from _unread(value, other, f"{place}[{i}]")
    elif stored != read or isinstance(stored, bool) != isinstance(read, bool):
        yield f"{place}: {stored!r}; it was read as {read!r}."
