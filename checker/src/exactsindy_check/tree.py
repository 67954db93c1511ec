"""The tree of a section: its record read step by step, every support covered exactly once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from exactsindy_check.errors import Refuted, Unreadable
from exactsindy_check.proof_file import Proof, varint

BOUND, SCAN, ALL, DEPENDENT, GOTO, DROPS, POINT, RESERVED, BRANCH = range(9)


@dataclass(frozen=True)
class Leaf:
    """The end of a node (inside, free, slots); `free` is a bit mask of columns."""

    kind: int
    inside: tuple[int, ...]
    free: int
    slots: int
    chunk: int
    step: int  # number of the step within its chunk
    terms: tuple[int, ...] = ()  # of `D`
    misses: int = 0  # of `D`: a support misses at least this many of the terms
    point: bytes = b""  # of `P`

    def where(self) -> str:
        """Return where in the file the leaf stands."""
        return f"chunk {self.chunk}, step {self.step}"


class _Reader:
    """The bytes of one chunk and how far they are read."""

    def __init__(self, proof: Proof, section: int, chunk: int) -> None:
        self.data, self.at, self.step, self.chunk = proof.chunk(section, chunk), 0, 0, chunk

    def number(self) -> int:
        try:
            value, self.at = varint(self.data, self.at)
        except Unreadable as error:
            raise Refuted(f"chunk {self.chunk}, step {self.step}: {error}") from error
        return value

    def bytes(self, count: int) -> bytes:
        taken = self.data[self.at : self.at + count]
        self.at += count
        if len(taken) < count:
            raise Refuted(f"chunk {self.chunk}, step {self.step}: the vector is cut short.")
        return taken


def leaves(proof: Proof, section: int, inside: tuple[int, ...], free: int, slots: int) -> Iterator[Leaf]:
    """Yield the ends of a section's tree whose root is (inside, free, slots).

    Raises
    ------
    Refuted
        If a step is not possible where it stands, a chunk is missing, entered twice, never entered or has bytes left.
    """
    waiting = proof.chunks(section)
    stack: list[tuple[tuple[int, ...], int, int] | _Reader] = []

    def enter(chunk: int) -> _Reader:
        if chunk not in waiting:
            raise Refuted(f"chunk {chunk} is missing or entered twice.")
        waiting.discard(chunk)
        return _Reader(proof, section, chunk)

    reader = enter(0)
    while True:
        code = reader.number()
        reader.step += 1
        if code >= BRANCH:
            bit = 1 << (code - BRANCH) if code < BRANCH + free.bit_length() else 0
            if not free & bit or slots < 1:
                raise Refuted(f"chunk {reader.chunk}, step {reader.step}: term {code - BRANCH} is not free.")
            free ^= bit
            stack.append((inside, free, slots))
            inside, slots = (*inside, code - BRANCH), slots - 1
            continue
        if code == GOTO:
            stack.append(reader)
            reader = enter(reader.number())
            continue
        yield _leaf(reader, code, inside, free, slots)
        while stack and isinstance(stack[-1], _Reader):
            _at_end(reader)
            reader = stack.pop()  # type: ignore[assignment]
        if not stack:
            break
        inside, free, slots = stack.pop()  # type: ignore[misc]
    _at_end(reader)
    if waiting:
        raise Refuted(f"chunk {min(waiting)} is never entered.")


def _leaf(reader: _Reader, code: int, inside: tuple[int, ...], free: int, slots: int) -> Leaf:
    place = (code, inside, free, slots, reader.chunk, reader.step)
    if code == DROPS:
        misses = reader.number()
        if not 1 <= misses <= free.bit_count():
            raise Refuted(f"{Leaf(*place).where()}: {misses} terms to miss of {free.bit_count()}.")
        terms = tuple(reader.number() for _ in range(slots + misses) if reader.at < len(reader.data))
        if len(set(terms)) != slots + misses or any(not free >> j & 1 for j in terms if j < free.bit_length()):
            raise Refuted(f"{Leaf(*place).where()}: the terms {terms} are not {slots + misses} distinct free ones.")
        if max(terms) >= free.bit_length():
            raise Refuted(f"{Leaf(*place).where()}: the terms {terms} are not {slots + misses} distinct free ones.")
        return Leaf(*place, terms=terms, misses=misses)
    if code == POINT:
        return Leaf(*place, point=reader.bytes(4 * (len(inside) + free.bit_count())))
    if code == RESERVED:
        raise Refuted(f"{Leaf(*place).where()}: step 7 is not known.")
    if code == SCAN and slots > 2:
        raise Refuted(f"{Leaf(*place).where()}: a scan with {slots} terms to choose; at most 2 are scanned.")
    if code == ALL and free.bit_count() > slots:
        raise Refuted(f"{Leaf(*place).where()}: {free.bit_count()} free terms but only {slots} to choose.")
    return Leaf(*place)


def _at_end(reader: _Reader) -> None:
    if reader.at != len(reader.data):
        raise Refuted(f"chunk {reader.chunk}: {len(reader.data) - reader.at} bytes are left over.")


def columns_of(mask: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the columns of a bit mask, increasing."""
    data = np.frombuffer(mask.to_bytes(mask.bit_length() // 8 + 1, "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(data, bitorder="little"))
