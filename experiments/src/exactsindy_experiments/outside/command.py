"""The parts of the benchmark, what can be wrong with a request, and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from exactsindy_experiments.outside import field_methods, lorenz_methods, pysindy_methods
from exactsindy_experiments.outside.ceiling import run_ceiling
from exactsindy_experiments.outside.field_data import SYSTEMS
from exactsindy_experiments.outside.field_run import field_cases, run_fields
from exactsindy_experiments.outside.lorenz_data import CELLS, cases
from exactsindy_experiments.outside.lorenz_page import plot
from exactsindy_experiments.outside.lorenz_run import lorenz_table, run_costs, run_lorenz
from exactsindy_experiments.outside.page import page
from exactsindy_experiments.outside.regression import run_regression
from exactsindy_experiments.peers import PEERS_PYTHON

PARTS = ("lorenz", "ceiling", "peers", "costs", "fields", "regression")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """What to measure; empty systems and methods are all of them."""

    parts: tuple[str, ...]
    cells: str
    draws: int
    systems: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    processes: int = 1
    peers_python: Path | None = None


def faults(wanted: Wanted) -> Iterator[str]:
    """Yield a sentence for each option that cannot be used."""
    known = {*lorenz_methods.METHODS, *field_methods.METHODS}
    for option, given, expected in (
        ("--part", wanted.parts, PARTS),
        ("--cells", (wanted.cells,), CELLS),
        ("--systems", wanted.systems, tuple(SYSTEMS)),
        ("--methods", wanted.methods, tuple(sorted(known))),
    ):
        for name in given:
            if name not in expected:
                yield f"{option} {name!r}: expected one of {', '.join(expected)}."


def run(wanted: Wanted, folder: Path, say: Say) -> None:
    """Measure the parts in order; each goes on where its rows end."""
    for part in wanted.parts:
        if part == "lorenz":
            drawn = cases(wanted.draws, wanted.cells)
            run_lorenz(drawn, [lorenz_methods.OURS], folder, wanted.processes, say)
        elif part == "peers":  # on the draws that are there, so that every pair is complete
            measured = [row.case for row in lorenz_table(folder) if row.method == lorenz_methods.OURS]
            names = _chosen(wanted, pysindy_methods.METHODS)
            run_lorenz([case for case in measured if case.draw < wanted.draws], names, folder, wanted.processes, say)
        elif part == "costs":
            run_costs(_chosen(wanted, lorenz_methods.METHODS), folder, say)
        elif part == "fields":
            drawn_fields = field_cases(wanted.systems or tuple(SYSTEMS), wanted.draws)
            run_fields(drawn_fields, _chosen(wanted, field_methods.METHODS), folder, wanted.processes, say)
        elif part == "regression":
            run_regression(wanted.draws, folder, wanted.peers_python or PEERS_PYTHON, say)
        else:
            run_ceiling(folder, say)


def _chosen(wanted: Wanted, known: Mapping[str, object]) -> list[str]:
    return [name for name in known if not wanted.methods or name in wanted.methods]


def report(folder: Path, where: str) -> str:
    """Draw the heat maps and return the page."""
    plot(list(lorenz_table(folder)), folder / "outside_lorenz.png")
    return page(folder, where)
