"""Measure methods on the draws of the Lorenz experiment; every row is on disk as soon as it is there."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from exactsindy_experiments.first_contact_rows import version
from exactsindy_experiments.outside.asking import told_by
from exactsindy_experiments.outside.lorenz_data import LorenzCase
from exactsindy_experiments.results import Table
from exactsindy_experiments.workers import Json, Worker, command, one_thread, run_bundles

_MODULE = "exactsindy_experiments.outside.lorenz_methods"
#: How long a worker may take for one call, on a busy machine.
PATIENCE = 1800.0
#: The draw on which cost is measured, in a process that does nothing else.
COST_CASE = LorenzCase(2.0, 5, 0)


@dataclass(frozen=True)
class LorenzRow:
    """What a method made of a draw.

    ``right``: the terms of all three equations are exactly the true ones; ``wrong_terms``: missing or too many;
    ``error``: norm of the error of the coefficients as a share of theirs; ``confidence``: product of those printed;
    ``cpu``: seconds of the call; ``memory``: peak of its process in MB; ``failure``: the error in place of an answer;
    ``day``: when it was measured.
    """

    case: LorenzCase
    method: str
    right: bool
    wrong_terms: int
    error: float
    confidence: float | None
    found: str
    failure: str
    cpu: float
    memory: float
    version: str
    day: str

    @property
    def key(self) -> tuple[LorenzCase, str]:
        """What identifies the row."""
        return self.case, self.method


def lorenz_table(folder: Path) -> Table[LorenzRow]:
    """Open the rows of a folder."""
    return Table(folder / "outside_lorenz.csv", LorenzRow)


def cost_table(folder: Path) -> Table[LorenzRow]:
    """Open the rows of which each was measured in a process of its own."""
    return Table(folder / "outside_cost.csv", LorenzRow)


def run_lorenz(
    cases: Iterable[LorenzCase], methods: Sequence[str], folder: Path, processes: int, say: Callable[[str], None]
) -> None:
    """Measure what the folder does not hold yet, in the order of the cases."""
    table = lorenz_table(folder)
    requests = [(case, method) for case in cases for method in methods if table.find((case, method)) is None]
    say(f"{len(requests)} runs to measure.")
    begin, done = time.monotonic(), 0

    def take(request: tuple[LorenzCase, str], row: LorenzRow) -> None:
        nonlocal done
        done += 1
        table.append(row)
        left = (time.monotonic() - begin) / done * (len(requests) - done) / 60
        told = row.failure or ("right" if row.right else f"wrong: {row.found}")
        say(f"[{done}/{len(requests)}] {request[0]}, {request[1]}: {told}; {row.cpu:.1f} s, {left:.0f} min left")

    run_bundles([[request] for request in requests], processes, _ask, take, command=command(_MODULE))


def run_costs(methods: Sequence[str], folder: Path, say: Callable[[str], None]) -> None:
    """Measure CPU time and peak memory of each method, each in a process of its own."""
    table = cost_table(folder)
    for method in methods:
        if table.find((COST_CASE, method)) is None:
            worker = Worker(command(_MODULE), one_thread())
            row = _ask(worker, (COST_CASE, method))
            worker.stop()
            table.append(row)
            say(f"{method}: {row.failure or f'{row.cpu:.2f} s, {row.memory:.0f} MB'}")


def _ask(worker: Worker, request: tuple[LorenzCase, str]) -> LorenzRow:
    case, method = request
    return _row(request, told_by(worker, {**dataclasses.asdict(case), "method": method}, PATIENCE))


def _row(request: tuple[LorenzCase, str], told: Json) -> LorenzRow:
    blank = {"right": False, "wrong_terms": -1, "error": math.nan, "confidence": None, "found": "", "failure": ""}
    values = {**blank, "cpu": math.nan, "memory": math.nan, **told}
    return LorenzRow(case=request[0], method=request[1], version=version(), day=date.today().isoformat(), **values)
