"""Our solver against the published one trial by trial, on the same data under the same protocol."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence

import numpy as np

from exactsindy_experiments.paper.pairs import Pair, pairs_of, reason
from exactsindy_experiments.paper.published import COUNTERPART
from exactsindy_experiments.paper.records import Case, Outcome
from exactsindy_experiments.paper.trial_files import read_trials

_HEAD = """## Trial by trial against the published files

The published trial files (wesg52/sindy_mio_paper at 8e28558; not part of this package) hold the counts of right and
wrong terms, the error of the coefficients and the grid point chosen, so that every trial of ours can be set beside the
same trial of theirs: same data, same rows, same criterion, another solver. *Same answer*: equal counts and
coefficient errors within 1e-5. Differences of mean TPR are paired, with one standard error.

"""
_PEERS = """### The baselines

The same for PySINDy's algorithms: the same rows and grids, another version of the same program and other arithmetic.
On weak rows E-STLSQ draws other random samples than theirs; on fields terms that its members choose equally often
were ordered by a sort that is not stable.

| experiment | system | algorithm | pairs | same answer | TPR ours | TPR theirs | difference |
|---|---|---|---:|---:|---:|---:|---:|
"""
_COLUMNS = (
    *("experiment", "system", "algorithm", "pairs", "same answer", "ours nearer", "theirs nearer"),
    *("TPR ours", "TPR theirs", "difference", "cells below"),
)


def paired(rows: Iterable[tuple[Case, Outcome]], folder: str | os.PathLike[str]) -> str:
    """Return the section of the report: a line per curve, the cells below, and why trials are worse.

    Parameters
    ----------
    rows
        Cases and outcomes of a store.
    folder
        The published ``results``, as for `read_trials`.
    """
    everything = pairs_of(rows, read_trials(folder))
    found = [pair for pair in everything if pair.case.algorithm in COUNTERPART]
    peers = [pair for pair in everything if pair.case.algorithm not in COUNTERPART]
    lines, below = [f"{_HEAD}| {' | '.join(_COLUMNS)} |", "|---|---|---" + "|---:" * 8 + "|"], []
    for (experiment, system, algorithm), members in _curves(found).items():
        cells: dict[tuple[float, float], list[Pair]] = {}
        for pair in members:
            cells.setdefault((pair.case.duration, pair.case.noise), []).append(pair)
        low = [cell for cell in cells.values() if _mean(cell) < -1e-12]
        below += low
        gains = np.array([pair.gain for pair in members])
        theirs = float(np.mean([pair.theirs.tpr for pair in members]))
        lines.append(
            f"| {experiment} | {system} | {algorithm} | {len(members)} | {sum(p.same for p in members)} | "
            f"{int((gains > 0).sum())} | {int((gains < 0).sum())} | {theirs + gains.mean():.4f} | {theirs:.4f} | "
            f"{_difference(members)} | {len(low)} of {len(cells)} |"
        )
    lines += ["", *_below(below), *_worse([pair for pair in found if pair.gain < 0])]
    return "\n".join(lines) + "\n" + _beside(peers)


def _curves(pairs: Iterable[Pair]) -> dict[tuple[str, str, str], list[Pair]]:
    curves: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in pairs:
        curves.setdefault((pair.case.experiment, pair.case.system, pair.case.algorithm), []).append(pair)
    return curves


def _beside(pairs: Sequence[Pair]) -> str:
    """Return the table of the baselines, nothing if there are none."""
    lines = []
    for (experiment, system, algorithm), members in _curves(pairs).items():
        ours, theirs = (np.mean(tpr) for tpr in zip(*((p.ours.tpr, p.theirs.tpr) for p in members), strict=True))
        lines.append(
            f"| {experiment} | {system} | {algorithm} | {len(members)} | {sum(p.same for p in members)} | {ours:.4f} | "
            f"{theirs:.4f} | {_difference(members)} |\n"
        )
    return f"\n{_PEERS}{''.join(lines)}" if lines else ""


def _difference(pairs: Sequence[Pair]) -> str:
    """Return the mean gain and its standard error."""
    gains = np.array([pair.gain for pair in pairs])
    error = gains.std(ddof=1) / math.sqrt(len(gains)) if len(gains) > 1 else math.nan
    return f"{gains.mean():+.4f} ({error:.4f})"


def _mean(cell: Sequence[Pair]) -> float:
    return float(np.mean([pair.gain for pair in cell]))


def _below(cells: Sequence[Sequence[Pair]]) -> list[str]:
    lines = ["Cells whose mean TPR is below theirs:", ""]
    for cell in cells:
        lines.append(f"- {_place(cell[0].case)}: {_difference(cell)}, {len(cell)} trials")
    return [*lines, ""] if cells else ["No cell's mean TPR is below theirs.", ""]


def _worse(pairs: Sequence[Pair]) -> list[str]:
    """Return every trial in which theirs is nearer to the truth, with the reason."""
    if not pairs:
        return []
    reasons: dict[str, list[str]] = {}
    for pair in pairs:
        line = f"{_place(pair.case)}, trial {pair.case.trial}: TPR {pair.ours.tpr:.2f} against {pair.theirs.tpr:.2f}"
        reasons.setdefault(reason(pair), []).append(line)
    lines = [f"All {len(pairs)} trials in which theirs is nearer to the truth, by reason:", ""]
    for text, members in sorted(reasons.items(), key=lambda item: -len(item[1])):
        lines += [f"**{text}** ({len(members)}):", "", *(f"- {member}" for member in members), ""]
    return lines


def _place(case: Case) -> str:
    where = f"{case.duration:.3g} s" if case.experiment.startswith("differential") else f"noise {case.noise:.3g}"
    if case.experiment == "constraint":
        where = f"{case.duration:.3g} s, noise {case.noise:.2g}"
    return f"{case.experiment}, {case.system}, {case.algorithm}, {where}"
