"""Proof files: what the search wrote while it ran, closed with a footer and moved into place (checker/FORMAT.md)."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exactsindy._atomic import check_target, remove_leftovers, temporary_file
from exactsindy._files import reason
from exactsindy.errors import DataError
from exactsindy.problem import Problem
from exactsindy.solver.equations import Equation
from exactsindy.solver.multipliers import LinearRow
from exactsindy.solver.outcome import Answer, Outcome

_MAGIC = b"exactsindy-proof 1\n"  # what the search writes first
_VERSION = 6  # of the footer


@dataclass(frozen=True)
class ProofSection:
    """One finished search of an equation: what was searched, to which cut, and what it found.

    ``number`` is that of its records, ``index`` that of the equation in the problem. ``cut`` must be at or below every
    cut the search discarded supports with, in the caller's units. Terms are the equation's own. ``rows`` are
    ``(((term, coefficient), ...), limit)``: the sum over the terms that are present is at most the limit.
    """

    number: int
    index: int
    equation: Equation
    k: int
    coefficient_limit: float
    cut: float
    outcome: Outcome
    exactly: bool = False
    required: Sequence[int] = ()
    forbidden: Sequence[int] = ()
    rows: Sequence[tuple[Sequence[tuple[int, int]], int]] = ()
    delta: Sequence[float] | None = None
    exponents: Sequence[int] | None = None
    at_most: int | None = None  # the size that was asked for, if an exact fit of fewer terms ended the search
    pool_limit: float | None = None  # the answers are all supports of k terms up to this objective
    listing: bool = False  # all supports at or below the cut count, admissible or not; nothing is claimed of its own
    independent: bool = False  # a list leaves out supports whose terms depend on each other

    def document(self) -> dict[str, Any]:
        """Return the section as it stands in the footer."""
        best: Answer | None = self.outcome.answers[0] if self.outcome.answers else None
        runner_up = self.outcome.runner_up
        pool = None
        if self.pool_limit is not None:
            pool = {
                "limit": float(self.pool_limit).hex(),
                "supports": [list(map(int, answer.support)) for answer in self.outcome.answers],
                "objectives": [float(answer.objective).hex() for answer in self.outcome.answers],
            }
        return {
            "section": self.number,
            "target": self.equation.target,
            "equation": self.index,
            "k": self.k,
            "exactly": self.exactly,
            "coefficient_limit": float(self.coefficient_limit).hex(),
            "cut": float(self.cut).hex(),
            "required": list(map(int, self.required)),
            "forbidden": list(map(int, self.forbidden)),
            "rows": [{"coefficients": [list(pair) for pair in row], "limit": limit} for row, limit in self.rows],
            "ridge": [float(weight).hex() for weight in self.equation.ridge],
            "delta": None if self.delta is None else [float(x).hex() for x in self.delta],
            "exponents": None if self.exponents is None else list(map(int, self.exponents)),
            "independent": self.independent,
            "claim": None
            if self.listing
            else {
                "support": None if best is None else list(map(int, best.support)),
                "objective": None if best is None else float(best.objective).hex(),
                "lower_bound": float(self.outcome.bound).hex(),
                "runner_up": None if math.isnan(runner_up) else float(runner_up).hex(),
                "at_most": self.k if self.at_most is None else self.at_most,
                "pool": pool,
            },
        }


@dataclass(frozen=True)
class SharedBudget:
    """What sections prove about a budget that all equations share; lists have an entry for each equation.

    ``supports`` count each equation's own terms. Objectives are weighted sums.
    """

    k: int
    caps: Sequence[int]
    weights: Sequence[float]
    sections: Sequence[Sequence[ProofSection]]
    supports: Sequence[Sequence[int]]
    objective: float
    lower_bound: float
    runner_up: float

    def document(self) -> dict[str, Any]:
        """Return the budget as it stands in the footer."""
        return {
            "k": self.k,
            "caps": list(map(int, self.caps)),
            "weights": [float(weight).hex() for weight in self.weights],
            "sections": [[section.number for section in own] for own in self.sections],
            "claim": {
                "supports": [list(map(int, support)) for support in self.supports],
                "objective": float(self.objective).hex(),
                "lower_bound": float(self.lower_bound).hex(),
                "runner_up": None if math.isnan(self.runner_up) else float(self.runner_up).hex(),
            },
        }


@dataclass(frozen=True)
class ClaimedMember:
    """A joint support with the rows that hold with equality at its best point, and its objective."""

    supports: Sequence[Sequence[int]]
    active: Sequence[int]
    objective: float

    def document(self) -> dict[str, Any]:
        """Return the member as it stands in the footer."""
        supports = [list(map(int, support)) for support in self.supports]
        return {"supports": supports, "active": list(self.active), "objective": float(self.objective).hex()}


@dataclass(frozen=True)
class ClaimedRivals:
    """All joint supports of as many terms as the best, up to a limit; ``parts``: smaller ones that are as good."""

    limit: float
    members: Sequence[ClaimedMember]
    parts: Mapping[tuple[tuple[int, ...], ...], ClaimedMember]

    def document(self) -> dict[str, Any]:
        """Return the rivals as they stand in the footer."""
        return {
            "limit": float(self.limit).hex(),
            "members": [member.document() for member in self.members],
            "parts": [
                {"supports": [list(map(int, support)) for support in supports], "part": part.document()}
                for supports, part in self.parts.items()
            ],
        }


@dataclass(frozen=True)
class ConditionsClaim:
    """What sections and multipliers prove about equations under constraints; lists have an entry for each of them.

    Terms are (place of the equation, column). ``presence`` are (((term, coefficient), ...), limit). ``supports`` None:
    nothing satisfies the constraints on presence.
    """

    equations: Sequence[int]
    k: int
    caps: Sequence[int]
    weights: Sequence[float]
    presence: Sequence[tuple[Sequence[tuple[tuple[int, int], int]], int]]
    rows: Sequence[LinearRow]
    sections: Sequence[Sequence[int]]
    supports: Sequence[Sequence[int]] | None
    active: Sequence[int]
    objective: float
    lower_bound: float
    members: Mapping[tuple[tuple[int, ...], ...], Mapping[int, float]]
    exactly: bool = False  # every equation has as many terms as its cap
    rivals: ClaimedRivals | None = None

    def document(self) -> dict[str, Any]:
        """Return the claim as it stands in the footer."""
        return {
            "exactly": self.exactly,
            "rivals": None if self.rivals is None else self.rivals.document(),
            "equations": list(self.equations),
            "k": self.k,
            "caps": list(self.caps),
            "weights": [float(weight).hex() for weight in self.weights],
            "sections": [list(own) for own in self.sections],
            "presence": [
                {"coefficients": [[e, j, c] for (e, j), c in row], "limit": limit} for row, limit in self.presence
            ],
            "rows": [
                {
                    "coefficients": [
                        [e, j, float(c).hex()] for (e, j), c in zip(row.terms, row.coefficients, strict=True)
                    ],
                    "limit": float(row.limit).hex(),
                    "equal": row.equal,
                }
                for row in self.rows
            ],
            "claim": {
                "supports": None if self.supports is None else [list(map(int, s)) for s in self.supports],
                "active": list(self.active),
                "objective": None if self.supports is None else float(self.objective).hex(),
                "lower_bound": float(self.lower_bound).hex(),
            },
            "members": [
                {
                    "supports": [list(map(int, support)) for support in supports],
                    "multipliers": [[row, number.hex()] for row, number in held.items()],
                }
                for supports, held in self.members.items()
            ],
        }


def cut_above(objective: float, target_norm: float) -> float:
    """Return a cut that surely includes a support whose objective was rounded: to a double, and for ties.

    Examples
    --------
    >>> cut_above(1.0, target_norm=2.0) > 1.0
    True
    """
    noise = 2.0**-76 * target_norm * math.sqrt(objective) + 2.0**-120 * target_norm**2
    return math.nextafter(math.nextafter(objective + noise, math.inf), math.inf)


def check_path(path: object) -> Path:
    """Return the path of a proof file; refuse what cannot be one before any work is done."""
    if not isinstance(path, (str, os.PathLike)):
        raise DataError(f"proof={path!r}: expected the name of a file.")
    check_target(Path(path), f"proof={str(path)!r}")
    if not Path(path).absolute().parent.is_dir():
        raise DataError(f"proof={str(path)!r}: the folder cannot be written to: there is no such folder.")
    return Path(path)


@contextmanager
def proof_records(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the search a temporary file beside `path`; it is removed unless `finish_proof` moved it into place.

    It is locked meanwhile, so that the next writer can tell what a killed one left behind, and remove it.
    """
    target = check_path(path)
    try:
        remove_leftovers(target)
        handle, name = temporary_file(target)
    except (OSError, ValueError) as error:
        raise DataError(f"proof={str(path)!r}: the folder cannot be written to: {reason(error)}.") from error
    try:
        if sys.platform == "win32":  # (moves closed files only)
            os.close(handle)
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)
        if sys.platform != "win32":
            os.close(handle)


def finish_proof(
    records: Path,
    path: str | os.PathLike[str],
    problem: Problem,
    sections: Sequence[ProofSection],
    budgets: Sequence[SharedBudget] = (),
    conditions: Sequence[ConditionsClaim] = (),
) -> None:
    """Close the records with the footer and their SHA-256, and move the file to `path`."""
    from exactsindy import __version__

    document: dict[str, Any] = {
        "version": _VERSION,
        "writer": f"exactsindy {__version__}",
        "problem": problem.fingerprint,
        "sections": [section.document() for section in sections],
        "budgets": [budget.document() for budget in budgets],
        "conditions": [claim.document() for claim in conditions],
    }
    footer = json.dumps(document, allow_nan=False).encode()
    try:
        with open(records, "r+b") as file:
            if not records.stat().st_size:  # nothing was searched for
                file.write(_MAGIC)
                file.seek(0)
            digest = hashlib.sha256()
            while piece := file.read(2**20):
                digest.update(piece)
            end = b"\0" + footer + len(footer).to_bytes(8, "little")
            digest.update(end)
            file.write(end + digest.digest())
            file.flush()
            os.fsync(file.fileno())
        # The folder is not synchronised: after a power failure the old file may stand there, whole; half of the time of
        # a short call would go into more.
        os.replace(records, path)
    except OSError as error:
        raise DataError(f"proof={str(path)!r}: the file cannot be written: {reason(error)}.") from error
