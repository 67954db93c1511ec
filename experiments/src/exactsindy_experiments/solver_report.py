"""The solver benchmark as a Markdown page."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable

from exactsindy_experiments.pages import geometric_mean, seconds, table, times
from exactsindy_experiments.peers import PEERS
from exactsindy_experiments.solver_rows import AGREEMENT, OURS, REFUSALS, PathRow, Row, Task

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
    every = list(rows)
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
        "## Paths: all sizes in one search\n\n" + _paths(list(paths)),
    ]
    return "\n".join(part for part in parts if part)


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
                times(min((row.ratio for row in timed), default=math.nan)),
                f"{_mean(long_calls)} / {_mean(short_calls)}",
                times(min((row.call_ratio for row in timed), default=math.nan)),
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
    return table(head, lines) + "\n" + note


def _wrong(peers: list[Row]) -> str:
    wrong = [row for row in peers if row.status == "optimal" and row.truly_optimal is False]
    if not wrong:
        return "No peer claimed optimality for an answer that is not optimal.\n"
    wrong.sort(key=lambda row: -(math.inf if math.isnan(row.excess) else row.excess))
    lines = [
        [*_where(row.task), PEERS[row.solver].title, f"{100 * row.excess:.2g} %", f"{row.gap:.1e}", row.support]
        for row in wrong[:12]
    ]
    head = [*_WHERE, "peer", "above the optimum", "claimed gap", "its terms"]
    return f"{len(wrong)} in all, the worst:\n\n" + table(head, lines)


def _ours(ours: list[Row]) -> str:
    lines = []
    for key, members in _grouped(ours, lambda row: (row.task.library, row.n_terms, row.task.size)).items():
        spent = [row.seconds for row in members]
        calls = [row.wall_seconds - row.seconds for row in members]
        lines.append(
            [
                *key,
                str(len(members)),
                seconds(statistics.median(spent)),
                seconds(max(spent)),
                seconds(statistics.median(calls)),
                f"{sum(row.status == 'optimal' for row in members)} of {len(members)}",
                seconds(max(row.compress_seconds for row in members)),
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
    return table(head, lines)


def _least(peers: list[Row]) -> str:
    timed = [row for name in PEERS for row in _timed(peers, name)]
    timed.sort(key=lambda row: row.ratio)
    lines = [
        [*_where(row.task), PEERS[row.solver].title, seconds(row.seconds), times(row.ratio), times(row.call_ratio)]
        for row in timed[:10]
    ]
    return table([*_WHERE, "peer", "its time", "x ours", "x our call"], lines)


def _paths(paths: list[PathRow]) -> str:
    long = [row for row in paths if row.costliest_seconds > 0.01]
    if not long:
        return "No path has a size that takes more than 10 ms.\n"
    long.sort(key=lambda row: -row.ratio)
    share = sum(row.ratio <= 2 for row in long)
    lines = [
        [
            row.task.library,
            f"{row.task.duration:.3g} s",
            row.task.equation,
            f"0..{row.task.size}",
            f"{row.task.ridge:g}",
            seconds(row.path_seconds),
            f"{seconds(row.costliest_seconds)} (k = {row.costliest_size})",
            f"{row.ratio:.2f}",
        ]
        for row in long[:10]
    ]
    mean = geometric_mean([row.ratio for row in long])
    text = (
        f"Where the costliest size takes more than 10 ms ({len(long)} of {len(paths)} paths), the path costs "
        f"{mean:.2f} times that size (geometric mean), at most 2 times in {share} of {len(long)}. "
        "The costliest:\n\n"
    )
    return text + table(["library", "duration", "equation", "k", "ridge", "path", "costliest size", "ratio"], lines)


def _contradictions(peers: list[Row]) -> str:
    """Put first what must never happen: a peer's support that beats a proved optimum."""
    better = [row for row in peers if row.excess < -AGREEMENT and row.truly_optimal is not None]
    if not better:
        return ""
    lines = [[*_where(row.task), PEERS[row.solver].title, f"{row.excess:.2e}", row.support] for row in better]
    return "## ERROR: answers better than our proved optimum\n\n" + table([*_WHERE, "peer", "relative", "terms"], lines)


_WHERE = ["library", "duration", "equation", "k", "ridge"]


def _where(task: Task) -> list[str]:
    return [task.library, f"{task.duration:.3g} s", task.equation, str(task.size), f"{task.ridge:g}"]


def _grouped(rows: Iterable[Row], key: Callable[[Row], tuple[object, ...]]) -> dict[tuple[object, ...], list[Row]]:
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _mean(ratios: list[float]) -> str:
    return f"{times(geometric_mean(ratios))} ({len(ratios)})" if ratios else "-"
