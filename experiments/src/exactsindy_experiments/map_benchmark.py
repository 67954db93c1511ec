"""How often `discover(form="map")` finds exactly the terms of known and of drawn maps."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

import exactsindy as es
from exactsindy_experiments.drawn_maps import draw_map
from exactsindy_experiments.map_cases import CASES
from exactsindy_experiments.results import Table

# Samples of known maps, and the time limit of a call: other work on the machine shall not end it.
SAMPLES, _SECONDS = 1000, 600.0
# Probabilities between which stated confidence is compared with how often it was right.
_BANDS = (0.0, 0.5, 0.8, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class MapRow:
    """One equation of one run: whether its terms are exactly the true ones, and how sure the answer was."""

    case: str
    noise: float
    draw: int
    equation: str
    right: bool
    confidence: float | None
    verdict: str
    seconds: float

    @property
    def key(self) -> object:
        """What identifies the row."""
        return (self.case, self.noise, self.draw, self.equation)


def run_known(out: Path, noises: Sequence[float], draws: int, cases: Sequence[str], say: Callable[[str], None]) -> None:
    """Append the rows of known maps that are not in the table yet."""
    table = Table(out / "maps.csv", MapRow)
    for name in cases:
        case = CASES[name]
        for noise in noises:
            for draw in range(draws):
                if table.find((name, noise, draw, "x[k+1]")) is not None:
                    continue
                states, inputs = case.samples(SAMPLES, draw)
                rng = np.random.default_rng([11, draw, zlib.crc32(name.encode())])
                noisy = states + noise * states.std(axis=0) * rng.normal(size=states.shape)
                columns = dict(zip(case.names, noisy.T, strict=True)) | ({"u": inputs} if case.control else {})
                controls = ("u",) if case.control else None
                began = time.process_time()
                found = es.discover(
                    columns, form="map", controls=controls, degree=case.degree, threads=1, seconds=_SECONDS
                )
                table.append(*_rows(name, noise, draw, found, case.law, time.process_time() - began))
            say(f"{name}, noise {noise:g}: {_share(table, name, noise)}")


def run_drawn(out: Path, half: str, count: int, say: Callable[[str], None]) -> None:
    """Append the rows of drawn maps that are not in the table yet."""
    table = Table(out / f"drawn_maps_{half}.csv", MapRow)
    for number in range(count):
        drawn = draw_map(half, number)
        case = f"{len(drawn.names)} states, {len(drawn.states)} samples"
        if table.find((case, drawn.noise, number, "x[k+1]")) is None:
            began = time.process_time()
            found = es.discover(drawn.states, form="map", states=drawn.names, degree=drawn.degree, threads=1)
            table.append(*_rows(case, drawn.noise, number, found, drawn.law, time.process_time() - began))
    say(f"{count} drawn maps of the {half} half")


def _rows(case: str, noise: float, draw: int, found: es.Discovery, law: object, seconds: float) -> Iterable[MapRow]:
    assert isinstance(law, dict)
    for name, terms in law.items():
        right = frozenset(found.solution.terms[name]) == terms
        confidence, verdict = found.confidence[name], found.verdict[name]
        yield MapRow(case, noise, draw, name, right, confidence, verdict, round(seconds, 2))


def _share(table: Table[MapRow], case: str, noise: float) -> str:
    """Return how many draws have every equation right."""
    runs: dict[int, bool] = {}
    for row in table:
        if (row.case, row.noise) == (case, noise):
            runs[row.draw] = runs.get(row.draw, True) and row.right
    return f"{sum(runs.values())} of {len(runs)}"


def known_report(out: Path) -> str:
    """Return a table: known maps against noise, runs with every equation right."""
    table = Table(out / "maps.csv", MapRow)
    noises = sorted({row.noise for row in table})
    lines = [
        f"| map | {' | '.join(f'{100 * noise:g} % noise' for noise in noises)} |",
        "|---" * (len(noises) + 1) + "|",
    ]
    for name in CASES:
        if any(row.case == name for row in table):
            lines.append(f"| {name} | {' | '.join(_share(table, name, noise) for noise in noises)} |")
    return "\n".join([*lines, "", *_calibration(list(table))])


def drawn_report(out: Path, half: str) -> str:
    """Return how many equations of drawn maps are right, by noise, and what stated confidence is worth."""
    rows = list(Table(out / f"drawn_maps_{half}.csv", MapRow))
    lines = ["| noise | equations right |", "|---|---|"]
    for noise in sorted({row.noise for row in rows}):
        own = [row for row in rows if row.noise == noise]
        lines.append(f"| {100 * noise:g} % | {sum(row.right for row in own)} of {len(own)} |")
    return "\n".join([*lines, "", *_calibration(rows)])


def _calibration(rows: Sequence[MapRow]) -> list[str]:
    """Return stated confidence against the share that was right, and what was said of the others."""
    lines = ["| confidence stated | equations | mean stated | right |", "|---|---|---|---|"]
    stated = [(row.confidence, row.right) for row in rows if row.confidence is not None]
    for low, high in pairwise(_BANDS):
        own = [(c, right) for c, right in stated if low <= c < high or (high == 1.0 and c == 1.0)]
        if own:
            mean, right = math.fsum(c for c, _ in own) / len(own), sum(right for _, right in own) / len(own)
            lines.append(f"| {low:g} to {high:g} | {len(own)} | {mean:.3f} | {right:.3f} |")
    none = [row for row in rows if row.confidence is None]
    lines.append(f"| none | {len(none)} | - | {sum(r.right for r in none)} of {len(none)} |")
    return lines
