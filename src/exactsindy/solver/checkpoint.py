"""Checkpoints of long searches: a file from which a later call goes on, to the same bits for any number of threads.

The native search says which subtrees it has finished and which supports it keeps. Both are written atomically every
few seconds. A proof is written to a file beside the checkpoint, ``NAME.records``, until the search is done.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import exactsindy._native as _native
from exactsindy._atomic import check_target, write_atomically
from exactsindy._files import MOST_TEXT, regular_file
from exactsindy.errors import DataError, SolverError
from exactsindy.problem import Problem
from exactsindy.solver.backends import native
from exactsindy.solver.equations import Equation
from exactsindy.solver.settings import Settings

#: A file name, or None: no checkpoint is kept.
CheckpointPath = str | os.PathLike[str] | None

EVERY = 10.0  # seconds between two checkpoints
_START = "exactsindy checkpoint 1 "  # then the SHA-256 of the rest, a line end, and JSON
_MAGIC = b"exactsindy-proof 1\n"  # what a search writes first to the records of a proof
_MOST_RECORD = 2**31  # bytes


@dataclass
class Checkpoint:
    """The state of the searches of one call: what an earlier call has left, and where to write it."""

    path: Path
    identity: Mapping[str, Any]  # what was asked for; a checkpoint of something else is refused
    columns: Sequence[int]  # terms of each equation
    searches: dict[int, list[int]] = field(default_factory=dict)  # by section, as the native search stores them
    warned: bool = False

    @classmethod
    def of(
        cls,
        file: str | os.PathLike[str],
        problem: Problem,
        equations: Sequence[Equation],
        sizes: Sequence[int],
        settings: Settings,
        *,
        proof: bool,
        **options: Any,
    ) -> Checkpoint:
        """Read the checkpoint of a call, or begin one; refuse files of other calls, versions and kinds."""
        from exactsindy import __version__

        if not isinstance(file, (str, os.PathLike)):
            raise SolverError(f"checkpoint={file!r}: expected the name of a file.")
        ridge = hashlib.sha256(b"".join(equation.ridge.tobytes() for equation in equations)).hexdigest()
        identity = {
            "version": __version__,
            "problem": problem.fingerprint,
            "k": list(map(int, sizes)),
            "ridge": ridge,
            "coefficient_limit": float(settings.coefficient_limit).hex(),
            "proof": proof,
            "kind": {name: value for name, value in sorted(options.items()) if name != "limits"},
        }
        one = cls(Path(file), identity, [len(equation.names) for equation in equations])
        check_target(one.path, one.name)
        if one.path.exists():
            one.searches = one._read()
        one.save(one.searches)  # (so that a folder that cannot be written to is found before the search)
        return one

    @property
    def name(self) -> str:
        """How sentences begin."""
        return f"checkpoint={str(self.path)!r}"

    @property
    def records(self) -> Path:
        """The file for the records of a proof."""
        return self.path.with_name(self.path.name + ".records")

    def save(self, searches: Mapping[int, Sequence[int]]) -> None:
        """Write what the searches are stored as; the checkpoint before survives if that fails."""
        document = {**self.identity, "searches": {str(section): list(one) for section, one in searches.items()}}
        text = json.dumps(document, allow_nan=False)
        whole = f"{_START}{hashlib.sha256(text.encode()).hexdigest()}\n{text}"
        if len(whole) > MOST_TEXT:
            return self._warn(f"it would have more than {MOST_TEXT} bytes")
        if self.identity["proof"]:
            with suppress(OSError), open(self.records, "rb") as file:
                os.fsync(file.fileno())
        write_atomically(self.path, whole)

    def update(self, searches: Mapping[int, Sequence[int]]) -> None:
        """Save while a search runs: a full disk does not end it."""
        try:
            self.save(searches)
        except DataError as error:
            self._warn(str(error))

    def _warn(self, reason: str) -> None:
        if not self.warned:
            warnings.warn(f"{self.name}: no checkpoint was written ({reason})", stacklevel=2)
        self.warned = True

    def _read(self) -> dict[int, list[int]]:
        text = regular_file(self.path, self.name, most=MOST_TEXT).read_bytes()
        head, _, body = text.partition(b"\n")
        if not head.startswith(_START.encode()):
            raise SolverError(f"{self.name}: this file is no checkpoint. Name another one, or delete it.")
        if head[len(_START) :].decode("ascii", "replace") != hashlib.sha256(body).hexdigest():
            raise SolverError(f"{self.name}: the file is damaged. Delete it to begin anew.")
        try:
            document = json.loads(body)
            searches = document.pop("searches")
            stored = {int(section): list(map(int, one)) for section, one in searches.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise SolverError(f"{self.name}: the file is damaged. Delete it to begin anew.") from error
        asked = json.loads(json.dumps(dict(self.identity)))
        other = [what for what in asked if document.get(what) != asked[what]]
        if other:
            raise SolverError(
                f"{self.name}: this is the checkpoint of another call (it differs in {', '.join(other)}). Name another "
                "file, or delete it to begin anew."
            )
        return stored

    @contextmanager
    def going_on(self) -> Iterator[dict[str, Any]]:
        """Return what the native search needs to know to go on (see `native.run`)."""
        try:
            if self.identity["proof"] and self.searches:
                self._trim_records()
            yield {"save": self.update, "save_every": EVERY, "resume": self.searches}
        except ValueError as error:
            if not str(error).startswith("checkpoint: "):  # (what a progress function of the caller raised)
                raise
            raise SolverError(f"{self.name}: the file is damaged ({error}). Delete it to begin anew.") from error

    def _trim_records(self) -> None:
        """Leave only what finished subtrees wrote in the records of a proof; what was half done is written again."""
        finished: dict[int, set[int] | None] = {}
        for section, numbers in self.searches.items():
            equation = section // native.SECTIONS
            if not 0 <= equation < len(self.columns):
                raise ValueError("checkpoint: a section that is not there")
            chunks = _native.finished_chunks(numbers, self.columns[equation])
            finished[section] = None if chunks is None else set(chunks)
        kept = [_MAGIC]
        try:
            with open(regular_file(self.records, self.name), "rb") as file:
                if file.read(len(_MAGIC)) != _MAGIC:
                    raise SolverError(f"{self.name}: {self.records.name} holds no records of a proof. Begin anew.")
                while (record := _record(file)) is not None:
                    section, chunk, content = record
                    own = finished.get(section, set())
                    if own is None or chunk in own:
                        kept.append(content)
        except DataError as error:
            raise SolverError(f"{self.name}: {self.records.name}, the proof so far, is missing. Begin anew.") from error
        write_atomically(self.records, b"".join(kept))


def _record(file: BinaryIO) -> tuple[int, int, bytes] | None:
    """Return the next record (section, chunk, all its bytes); None at the end, or where a writer was killed."""
    head, numbers = b"", list[int]()
    while len(numbers) < 3:
        value, shift = 0, 0
        while True:
            byte = file.read(1)
            if not byte or shift > 63:
                return None
            head += byte
            value |= (byte[0] & 127) << shift
            shift += 7
            if byte[0] < 128:
                break
        numbers.append(value)
    section, chunk, length = numbers
    if length > _MOST_RECORD or section == 0:
        return None
    content = file.read(length)
    return (section - 1, chunk, head + content) if len(content) == length else None


def refuse(checkpoint: CheckpointPath, what: str) -> None:
    """Refuse a checkpoint where none is kept."""
    if checkpoint is not None:
        raise SolverError(f"checkpoint={str(checkpoint)!r}: no checkpoints are kept {what}: leave `checkpoint` out.")
