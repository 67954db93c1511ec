"""Measures how often the default finds exactly the true terms, against tuned STLSQ and SSR and the true-k ceiling."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from exactsindy.data import Trajectories
from exactsindy.discovery import Discovery, discover
from exactsindy.solver import Settings
from exactsindy_experiments.results import Table
from exactsindy_experiments.selection_baselines import tuned_supports
from exactsindy_experiments.selection_cases import Loaded, load
from exactsindy_experiments.selection_conditions import PARTS as CONDITION_PARTS
from exactsindy_experiments.selection_conditions import load_condition
from exactsindy_experiments.selection_rows import CEILING, OURS, STLSQ, SelectionCase, SelectionRow

# One thread: several data sets may be measured side by side.
SETTINGS = Settings(seconds=60.0, threads=1)


def selection_table(folder: Path) -> Table[SelectionRow]:
    """Open the table of the selection benchmark."""
    return Table(folder / "selection.csv", SelectionRow)


def run_selection(
    cases: Sequence[SelectionCase], folder: Path, *, baselines: bool = True, say: Callable[[str], None] = print
) -> None:
    """Measure the cases that ``folder`` does not hold yet; each is on disk as soon as it is measured."""
    table = selection_table(folder)
    present = {(row.case, row.method) for row in table}
    wanted = [STLSQ, OURS] if baselines else [OURS]
    todo = [case for case in cases if any((case, method) not in present for method in wanted)]
    say(f"{len(cases) - len(todo)} data sets present, {len(todo)} to measure.")
    for i, case in enumerate(todo):
        rows = measure_selection(case, baselines=baselines and (case, STLSQ) not in present)
        table.append(*rows)
        exact = [row.exact for row in rows if row.method == OURS]
        say(
            f"[{i + 1}/{len(todo)}] {case.system}, n {case.samples}, noise {100 * case.noise:g} %: "
            f"{sum(exact)} of {len(exact)} equations exact"
        )


def measure_selection(case: SelectionCase, *, baselines: bool = True) -> list[SelectionRow]:
    """Return the rows of all methods for one case."""
    loaded = load_condition(case) if case.part in CONDITION_PARTS else load(case)
    begin = time.perf_counter()
    found = discover(loaded.data, library=loaded.library, settings=SETTINGS)
    seconds = time.perf_counter() - begin
    rows = list(_ours(case, loaded, found, seconds))
    rows += _rows(case, loaded, CEILING, at_true_size(found, loaded.truth), seconds)
    if baselines and isinstance(loaded.data, Trajectories) and loaded.library is not None:
        begin = time.perf_counter()
        for method, supports in tuned_supports(loaded.data, loaded.library).items():
            rows += _rows(case, loaded, method, supports, time.perf_counter() - begin)
    return rows


def at_true_size(found: Discovery, truth: Mapping[str, frozenset[str]]) -> list[frozenset[str]]:
    """Return the best support of the true size of every equation, from the variant the default chose."""
    names, path = found.problem.names, found.selection.path
    return [
        frozenset(names[j] for j in path[min(len(terms), len(path) - 1)].support[i])
        for i, terms in enumerate(truth.values())
    ]


def _ours(case: SelectionCase, loaded: Loaded, found: Discovery, seconds: float) -> Iterable[SelectionRow]:
    supports = [frozenset(terms) for terms in found.solution.terms.values()]
    choices = found.selection.choices
    for row, choice in zip(_rows(case, loaded, OURS, supports, seconds), choices, strict=True):
        yield replace(row, confidence=choice.confidence, ratio=choice.score)


def _rows(
    case: SelectionCase, loaded: Loaded, method: str, supports: Sequence[frozenset[str]], seconds: float
) -> list[SelectionRow]:
    return [
        SelectionRow(
            case=case,
            method=method,
            equation=target,
            exact=support == true,
            overlap=len(support & true) / max(len(support | true), 1),
            size=len(support),
            true_size=len(true),
            confidence=float("nan"),
            ratio=float("nan"),
            seconds=seconds,
        )
        for (target, true), support in zip(loaded.truth.items(), supports, strict=True)
    ]
