"""Measure methods on the published fields; every row is on disk as soon as it is there."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from exactsindy_experiments.first_contact_rows import version
from exactsindy_experiments.outside.asking import told_by
from exactsindy_experiments.outside.field_data import SYSTEMS, FieldCase
from exactsindy_experiments.outside.field_methods import suits
from exactsindy_experiments.results import Table
from exactsindy_experiments.workers import Json, Worker, command, run_bundles

_MODULE = "exactsindy_experiments.outside.field_methods"
PATIENCE = 3600.0


@dataclass(frozen=True)
class FieldRow:
    """What a method made of a field.

    ``tpr``: true terms found as a share of all that are true or found, in all equations; ``error``: the largest
    relative error of a true coefficient; ``confidence``: product of those printed; ``cpu``: seconds of the call;
    ``day``: when.
    """

    case: FieldCase
    method: str
    right: bool
    tpr: float
    error: float
    confidence: float | None
    found: str
    failure: str
    cpu: float
    version: str
    day: str

    @property
    def key(self) -> tuple[FieldCase, str]:
        """What identifies the row."""
        return self.case, self.method


def field_table(folder: Path) -> Table[FieldRow]:
    """Open the rows of a folder."""
    return Table(folder / "outside_fields.csv", FieldRow)


def field_cases(systems: Sequence[str], draws: int) -> Iterator[FieldCase]:
    """Yield draw by draw; data without noise are drawn once."""
    for draw in range(draws):
        for system in systems:
            for noise in reversed(SYSTEMS[system].noises):
                if noise or not draw:
                    yield FieldCase(system, noise, draw)


def run_fields(
    cases: Iterable[FieldCase], methods: Sequence[str], folder: Path, processes: int, say: Callable[[str], None]
) -> None:
    """Measure what the folder does not hold yet."""
    table = field_table(folder)
    wanted = [(case, method) for case in cases for method in methods if suits(case.system, method)]
    requests = [request for request in wanted if table.find(request) is None]
    say(f"{len(requests)} runs on fields to measure.")

    def take(request: tuple[FieldCase, str], row: FieldRow) -> None:
        table.append(row)
        say(f"{request[0]}, {request[1]}: {row.failure or f'TPR {row.tpr:.2f}: {row.found}'}; {row.cpu:.1f} s")

    # One system after another in a process, so that it is simulated once.
    bundles = [[r for r in requests if r[0].system == system] for system in SYSTEMS]
    run_bundles([b for b in bundles if b], processes, _ask, take, command=command(_MODULE))


def _ask(worker: Worker, request: tuple[FieldCase, str]) -> FieldRow:
    case, method = request
    return _row(request, told_by(worker, {**dataclasses.asdict(case), "method": method}, PATIENCE))


def _row(request: tuple[FieldCase, str], told: Json) -> FieldRow:
    blank = {"right": False, "tpr": 0.0, "error": math.nan, "confidence": None, "found": "", "failure": ""}
    return FieldRow(
        case=request[0],
        method=request[1],
        version=version(),
        day=date.today().isoformat(),
        **{**blank, "cpu": math.nan, **told},
    )
