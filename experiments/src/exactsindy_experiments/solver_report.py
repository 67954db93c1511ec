"""The solver benchmark as a Markdown page."""

from __future__ import annotations

import math
import os
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path

from exactsindy_experiments.path_benchmark import PathRow
from exactsindy_experiments.peers import PEERS
from exactsindy_experiments.solver_rows import AGREEMENT, OURS, REFUSALS, Row

_HEAD = """# Solver benchmark

The problems of the published runtime experiment, generated from their equations: dt 0.002 s, 0.2 % noise,
derivative smoothed over 9 samples, monomials up to degree 3 or 5, durations from 0.5 to 128 s; the true
number of terms and a larger one. Every solver gets the same compressed problem (triangular factor and
target); building it is not in the times. `seconds` is each solver's own time, model building included; of
runs below one second the least of several counts, and a run stopped by the time limit counts with that limit.
Solvers run one at a time, each with the threads it takes by default.

An answer is *truly optimal* if its support, refitted by a separate QR, reaches our proved optimum to 1e-9.
All rows are in [solver.csv](solver.csv) and [path.csv](path.csv).
"""


def report(rows: Iterable[Row], paths: Iterable[PathRow], machine: str) -> str:
    """Return the page.

    Parameters
    ----------
    rows, paths
        What was measured.
    machine
        One line that says where.
    """
    every, tours = list(rows), list(paths)
    ours = [row for row in every if row.solver == OURS]
    peers = [row for row in every if row.solver != OURS]
    parts = [
        _HEAD,
        f"Machine: {machine}\n",
        _contradictions(peers),
        "## Time of the peers as a multiple of ours\n\n" + _ratios(peers),
        "![Times of the peers against ours](solver.png)\n",
        "## Wrong answers\n\n" + _wrong(peers),
        "## Our times\n\n" + _ours(ours),
        "## Where we gain least\n\n" + _least(peers),
        "## Paths: all sizes in one search\n\n" + _paths(tours),
    ]
    return "\n".join(part for part in parts if part)


def machine() -> str:
    """Describe this machine and the solvers' versions."""
    versions = [f"Python {platform.python_version()}"]
    for package in ("exactsindy", "numpy", "gurobipy", "pyscipopt"):
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return f"{_processor()}, {os.cpu_count()} cores; {', '.join(versions)}."


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, nan if there is nothing."""
    return statistics.geometric_mean(values) if values else math.nan


def _timed(rows: Iterable[Row], solver: str) -> list[Row]:
    return [row for row in rows if row.solver == solver and row.status not in REFUSALS and row.ratio > 0]


def _ratios(peers: list[Row]) -> str:
    lines = []
    for name, peer in PEERS.items():
        timed = _timed(peers, name)
        long = [row.ratio for row in timed if row.seconds >= 1]
        short = [row.ratio for row in timed if row.seconds < 1]
        long_calls = [row.call_ratio for row in timed if row.seconds >= 1]
        short_calls = [row.call_ratio for row in timed if row.seconds < 1]
        refused = sum(row.solver == name and row.status in REFUSALS for row in peers)
        claimed = [row for row in timed if row.status == "optimal" and row.truly_optimal is not None]
        wrong = sum(not row.truly_optimal for row in claimed)
        lines.append(
            [
                peer.title,
                _mean(long),
                _mean(short),
                _number(min((row.ratio for row in timed), default=math.nan)),
                f"{_mean(long_calls)} / {_mean(short_calls)}",
                _number(min((row.call_ratio for row in timed), default=math.nan)),
                f"{sum(row.status == 'time limit' for row in timed)} of {len(timed)}",
                f"{wrong} of {len(claimed)}",
                str(refused),
            ]
        )
    head = ["peer", "where it needs >= 1 s", "where it needs < 1 s", "least"]
    head += ["the same by our call from Python", "least", "at the time limit", "'optimal' but wrong", "refused"]
    note = (
        "Geometric means (number of cases): its time / the time our search reports, and / that of the whole call "
        "from Python. Refused: licence, size, missing package or failure.\n"
    )
    return _table(head, lines) + "\n" + note


def _wrong(peers: list[Row]) -> str:
    wrong = [row for row in peers if row.status == "optimal" and row.truly_optimal is False]
    if not wrong:
        return "No peer claimed optimality for an answer that is not optimal.\n"
    wrong.sort(key=lambda row: -_or(row.excess, math.inf))
    lines = [
        [*_where(row), PEERS[row.solver].title, f"{100 * row.excess:.2g} %", f"{row.gap:.1e}", row.support]
        for row in wrong[:12]
    ]
    head = [*_WHERE, "peer", "above the optimum", "claimed gap", "its terms"]
    return f"{len(wrong)} in all, the worst:\n\n" + _table(head, lines)


def _ours(ours: list[Row]) -> str:
    lines = []
    for key, members in _grouped(ours, lambda row: (row.system, row.degree, row.n_terms, row.size)).items():
        times = [row.seconds for row in members]
        calls = [row.wall_seconds - row.seconds for row in members]
        lines.append(
            [
                f"{key[0]} degree {key[1]}",
                str(key[2]),
                str(key[3]),
                str(len(members)),
                _seconds(statistics.median(times)),
                _seconds(max(times)),
                _seconds(statistics.median(calls)),
                f"{sum(row.status == 'optimal' for row in members)} of {len(members)}",
                _seconds(max(row.compress_seconds for row in members)),
            ]
        )
    head = [
        "library",
        "D",
        "k",
        "cases",
        "median",
        "longest",
        "Python call adds",
        "proved",
        "compression, longest",
    ]
    return _table(head, lines)


def _least(peers: list[Row]) -> str:
    timed = [row for name in PEERS for row in _timed(peers, name)]
    timed.sort(key=lambda row: row.ratio)
    lines = [
        [*_where(row), PEERS[row.solver].title, _seconds(row.seconds), _number(row.ratio), _number(row.call_ratio)]
        for row in timed[:10]
    ]
    return _table([*_WHERE, "peer", "its time", "x ours", "x our call"], lines)


def _paths(paths: list[PathRow]) -> str:
    long = [row for row in paths if row.dearest_seconds > 0.01]
    if not long:
        return "No path has a size that takes more than 10 ms.\n"
    long.sort(key=lambda row: -row.ratio)
    share = sum(row.ratio <= 2 for row in long)
    lines = [
        [
            f"{row.system} degree {row.degree}",
            f"{row.duration:.3g} s",
            row.equation,
            f"0..{row.size}",
            f"{row.ridge:g}",
            _seconds(row.path_seconds),
            f"{_seconds(row.dearest_seconds)} (k = {row.dearest_size})",
            f"{row.ratio:.2f}",
        ]
        for row in long[:10]
    ]
    mean = geometric_mean([row.ratio for row in long])
    text = (
        f"Where the dearest size takes more than 10 ms ({len(long)} of {len(paths)} paths), the path costs "
        f"{mean:.2f} times that size (geometric mean), at most 2 times in {share} of {len(long)}. "
        "The dearest:\n\n"
    )
    return text + _table(["library", "duration", "equation", "k", "ridge", "path", "dearest size", "ratio"], lines)


def _contradictions(peers: list[Row]) -> str:
    """Put first what must never happen: a peer's support that beats a proved optimum."""
    better = [row for row in peers if row.excess < -AGREEMENT and row.truly_optimal is not None]
    if not better:
        return ""
    lines = [[*_where(row), PEERS[row.solver].title, f"{row.excess:.2e}", row.support] for row in better]
    return "## ERROR: answers better than our proved optimum\n\n" + _table(
        [*_WHERE, "peer", "relative", "terms"], lines
    )


_WHERE = ["library", "duration", "equation", "k", "ridge"]


def _where(row: Row) -> list[str]:
    library = f"{row.system} degree {row.degree}"
    return [library, f"{row.duration:.3g} s", row.equation, str(row.size), f"{row.ridge:g}"]


def _grouped(rows: Iterable[Row], key: Callable[[Row], tuple[object, ...]]) -> dict[tuple[object, ...], list[Row]]:
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _mean(ratios: list[float]) -> str:
    return f"{_number(geometric_mean(ratios))} ({len(ratios)})" if ratios else "-"


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _seconds(value: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value / 1e-6:.3g} us"


def _or(value: float, other: float) -> float:
    return other if math.isnan(value) else value


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = "|".join("---" for _ in head)
    body = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return f"| {' | '.join(head)} |\n|{rule}|\n{body}"
