"""Proof files: reading them, with sizes checked before memory is taken (FORMAT.md)."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, BinaryIO

from exactsindy_check.conditions import Conditions, read_conditions
from exactsindy_check.errors import NotChecked, Unreadable
from exactsindy_check.fields import MOST_COLUMNS, bound, columns, finite, real, typed

MAGIC = b"exactsindy-proof 1\n"
_VERSIONS = (5, 6)  # of the footer; 6 knows lists of independent terms
_MOST_FOOTER = 64 * 2**20
_MOST_SECTIONS = 65536
_MOST_RECORD = 2**31
_TAIL = 40  # length of the footer and SHA-256


@dataclass(frozen=True)
class Pool:
    """The claim that these are all supports of exactly k terms with f <= limit."""

    limit: float
    supports: tuple[tuple[int, ...], ...]
    objectives: tuple[float, ...]


@dataclass(frozen=True)
class Claim:
    """What a section is said to prove; see FORMAT.md."""

    support: tuple[int, ...] | None
    objective: float | None
    lower_bound: float
    runner_up: float | None
    at_most: int
    pool: Pool | None


@dataclass(frozen=True)
class Section:
    """One search: what was searched, and what is claimed."""

    number: int
    target: str
    equation: int
    k: int
    exactly: bool
    coefficient_limit: float
    cut: float
    required: tuple[int, ...]
    forbidden: tuple[int, ...]
    rows: tuple[tuple[tuple[tuple[int, int], ...], int], ...]
    ridge: tuple[float, ...]
    delta: tuple[float, ...] | None
    exponents: tuple[int, ...] | None
    claim: Claim | None  # None: a list of all supports at or below the cut, admissible or not (Lemma 12)
    independent: bool  # a list leaves out supports whose terms depend on each other

    @property
    def listing(self) -> bool:
        """True if the section lists every support at or below the cut, admissible or not."""
        return self.claim is None

    @property
    def exact_cut(self) -> Fraction | None:
        """The cut as a fraction; None if it is infinite."""
        return None if math.isinf(self.cut) else Fraction(self.cut)


@dataclass(frozen=True)
class Budget:
    """The claim about a budget that all equations share; the lists have an entry for each equation of the problem."""

    k: int
    caps: tuple[int, ...]
    weights: tuple[float, ...]
    sections: tuple[tuple[int, ...], ...]  # numbers of the sections about each equation
    supports: tuple[tuple[int, ...], ...]
    objective: float
    lower_bound: float
    runner_up: float | None


@dataclass(frozen=True)
class Proof:
    """A proof file: its footer, and where the bytes of each chunk stand."""

    path: str
    problem: str
    sections: tuple[Section, ...]
    budgets: tuple[Budget, ...]
    conditions: tuple[Conditions, ...]
    places: Mapping[tuple[int, int], list[tuple[int, int]]]  # (section, chunk) -> (offset, length) of its records
    digest: str  # SHA-256 of the file

    def chunks(self, section: int) -> set[int]:
        """Return the numbers of the chunks of a section."""
        return {chunk for number, chunk in self.places if number == section}

    def chunk(self, section: int, chunk: int) -> bytes:
        """Return the bytes of one chunk."""
        with open(self.path, "rb") as file:
            return b"".join(_at(file, offset, length) for offset, length in self.places[section, chunk])


def _at(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def read_proof(path: str | os.PathLike[str]) -> Proof:
    """Read and check the outer form of a proof file: magic line, records, footer, SHA-256."""
    name = os.path.basename(os.fspath(path))
    try:
        with open(path, "rb") as file:
            return _read(file, os.fspath(path), name)
    except OSError as error:
        raise Unreadable(f"{name}: the file cannot be read ({error.strerror}).") from error


def _read(file: BinaryIO, path: str, name: str) -> Proof:
    start = file.read(len(MAGIC))
    if start != MAGIC:
        if start.startswith(b"exactsindy-proof ") and start.endswith(b"\n"):
            raise NotChecked(f"{name}: the file format {start[17:-1].decode('ascii', 'replace')!r} is not known; 1 is.")
        raise Unreadable(f"{name}: this is not a proof file.")
    size = file.seek(0, os.SEEK_END)
    if size < len(MAGIC) + 1 + _TAIL:
        raise Unreadable(f"{name}: the file is cut short.")
    tail = _at(file, size - _TAIL, _TAIL)
    length = int.from_bytes(tail[:8], "little")
    end = size - _TAIL - length  # where the footer begins
    if length > _MOST_FOOTER or end < len(MAGIC) + 1:
        raise Unreadable(f"{name}: the file is cut short or damaged (no footer).")
    if _digest(file, size - 32) != tail[8:]:
        raise Unreadable(f"{name}: the file is damaged (its SHA-256 differs).")
    footer = _at(file, end, length)
    try:
        document = json.loads(footer.decode("utf-8"))
        if document["version"] not in _VERSIONS:
            known = " and ".join(map(str, _VERSIONS))
            raise NotChecked(f"{name}: version {document['version']!r} is not known; {known} are.")
        sections = tuple(_section(entry) for entry in typed(document["sections"], list))
        budgets = tuple(_budget(entry) for entry in typed(document["budgets"], list))
        conditions = tuple(read_conditions(entry) for entry in typed(document["conditions"], list))
        problem = typed(document["problem"], str)
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError, AttributeError) as error:
        raise Unreadable(f"{name}: the footer is damaged ({type(error).__name__}: {error}).") from error
    numbers = [section.number for section in sections]
    if max(len(numbers), len(budgets), len(conditions)) > _MOST_SECTIONS or len(set(numbers)) != len(numbers):
        raise Unreadable(f"{name}: the sections of the footer are not distinct, or too many.")
    listed = set(numbers)
    places = {place: at for place, at in _places(file, end, name).items() if place[0] in listed}
    return Proof(path, problem, sections, budgets, conditions, places, tail[8:].hex())


def _digest(file: BinaryIO, size: int) -> bytes:
    file.seek(0)
    digest = hashlib.sha256()
    while size > 0:
        piece = file.read(min(size, 2**20))
        if not piece:
            break
        digest.update(piece)
        size -= len(piece)
    return digest.digest()


def _places(file: BinaryIO, end: int, name: str) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return where the records stand; they must fill the file up to `end` exactly."""
    places: dict[tuple[int, int], list[tuple[int, int]]] = {}
    position = len(MAGIC)
    while True:
        head = _at(file, position, min(32, end - position))
        section, at = varint(head, 0)
        if section == 0:
            if position + at != end:
                raise Unreadable(f"{name}: bytes between the records and the footer.")
            return places
        chunk, at = varint(head, at)
        length, at = varint(head, at)
        offset = position + at
        if length > _MOST_RECORD or offset + length >= end:
            raise Unreadable(f"{name}: a record at byte {position} is longer than the file.")
        places.setdefault((section - 1, chunk), []).append((offset, length))
        position = offset + length


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the varint at a position and the position after it."""
    value = 0
    for shift in range(0, 63, 7):
        if at >= len(data):
            raise Unreadable("a number is cut short.")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if byte == 0 and shift:
                raise Unreadable("a number has a needless zero byte.")
            return value, at
    raise Unreadable("a number is longer than nine bytes.")


def _section(entry: Any) -> Section:
    ridge = tuple(finite(x) for x in typed(entry["ridge"], list))
    delta, exponents = entry["delta"], entry["exponents"]
    section = Section(
        number=typed(entry["section"], int),
        target=typed(entry["target"], str),
        equation=typed(entry["equation"], int),
        k=typed(entry["k"], int),
        exactly=typed(entry["exactly"], bool),
        coefficient_limit=finite(entry["coefficient_limit"]),
        cut=real(entry["cut"]),
        required=columns(entry["required"]),
        forbidden=columns(entry["forbidden"]),
        rows=tuple(
            (tuple((typed(j, int), typed(c, int)) for j, c in row["coefficients"]), typed(row["limit"], int))
            for row in typed(entry["rows"], list)
        ),
        ridge=ridge,
        delta=None if delta is None else tuple(finite(x) for x in typed(delta, list)),
        exponents=None if exponents is None else tuple(typed(x, int) for x in typed(exponents, list)),
        claim=None if entry["claim"] is None else _claim(entry["claim"]),
        independent=typed(entry.get("independent", False), bool),
    )
    if section.independent and not section.listing:
        raise ValueError("`independent` in a section that is no list")
    if section.coefficient_limit <= 0 or any(x < 0 for x in ridge):
        raise ValueError("a coefficient limit <= 0 or a negative ridge")
    if not 0 <= section.number < 2**62 or not 0 <= section.k < MOST_COLUMNS:
        raise ValueError("a section number or k out of range")
    if exponents is not None and any(abs(x) > 4000 for x in exponents):
        raise ValueError("an exponent out of range")
    return section


def _budget(entry: Any) -> Budget:
    claim = entry["claim"]
    budget = Budget(
        k=typed(entry["k"], int),
        caps=tuple(typed(cap, int) for cap in typed(entry["caps"], list)),
        weights=tuple(finite(weight) for weight in typed(entry["weights"], list)),
        sections=tuple(tuple(typed(n, int) for n in typed(own, list)) for own in typed(entry["sections"], list)),
        supports=tuple(columns(support) for support in typed(claim["supports"], list)),
        objective=finite(claim["objective"]),
        lower_bound=bound(claim["lower_bound"]),
        runner_up=None if claim["runner_up"] is None else real(claim["runner_up"]),
    )
    if not 0 <= budget.k < MOST_COLUMNS or any(cap < 0 for cap in budget.caps):
        raise ValueError("a budget or a cap out of range")
    if any(weight <= 0 for weight in budget.weights):
        raise ValueError("a weight <= 0")
    return budget


def _claim(entry: Any) -> Claim:
    support, objective, runner_up, pool = (entry[key] for key in ("support", "objective", "runner_up", "pool"))
    if (support is None) != (objective is None):
        raise ValueError("support and objective: both or none")
    return Claim(
        support=None if support is None else columns(support),
        objective=None if objective is None else finite(objective),
        lower_bound=bound(entry["lower_bound"]),
        runner_up=None if runner_up is None else real(runner_up),
        at_most=typed(entry["at_most"], int),
        pool=None
        if pool is None
        else Pool(
            real(pool["limit"]),
            tuple(columns(member) for member in typed(pool["supports"], list)),
            tuple(finite(value) for value in typed(pool["objectives"], list)),
        ),
    )
