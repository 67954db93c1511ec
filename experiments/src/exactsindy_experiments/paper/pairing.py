"""Our solver against the published one trial by trial, on the same data under the same protocol."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from exactsindy_experiments.pages import mean, standard_error, table
from exactsindy_experiments.paper.findings import place_of
from exactsindy_experiments.paper.pairs import Pair, pairs_of, reason
from exactsindy_experiments.paper.records import Result
from exactsindy_experiments.paper.summary import COUNTERPART
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

"""
_CURVE = ("experiment", "system", "algorithm", "pairs", "same answer")
_RATES = ("TPR ours", "TPR theirs", "difference")


def paired(rows: Iterable[Result], folder: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the section of the report, a line per curve; and its lists: cells below, why trials are worse, baselines.

    Parameters
    ----------
    rows
        The rows of a store.
    folder
        The published ``results``, as for `read_trials`.
    """
    everything = pairs_of(rows, read_trials(folder))
    ours = [pair for pair in everything if pair.case.algorithm in COUNTERPART]
    peers = [pair for pair in everything if pair.case.algorithm not in COUNTERPART]
    lines, below = [], []
    for curve, members in _curves(ours).items():
        cells: dict[tuple[float, float], list[Pair]] = {}
        for pair in members:
            cells.setdefault((pair.case.duration, pair.case.noise), []).append(pair)
        low = [cell for cell in cells.values() if mean(pair.gain for pair in cell) < -1e-12]
        below += low
        nearer = [sum(pair.gain > 0 for pair in members), sum(pair.gain < 0 for pair in members)]
        lines.append([*_counts(curve, members), *nearer, *_rates(members), f"{len(low)} of {len(cells)}"])
    head = [*_CURVE, "ours nearer", "theirs nearer", *_RATES, "cells below"]
    reasons = _reasons([pair for pair in ours if pair.gain < 0])
    counts = "".join(f"- {text}: {len(members)}\n" for text, members in reasons.items())
    text = _HEAD + table(head, lines, "lllrrrrrrrr")
    text += f"\nTrials in which theirs is nearer to the truth, by reason:\n\n{counts}" if counts else ""
    return text, _below(below) + _worse(reasons) + _baselines(peers)


def _curves(pairs: Iterable[Pair]) -> dict[tuple[str, str, str], list[Pair]]:
    curves: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in pairs:
        curves.setdefault((pair.case.experiment, pair.case.system, pair.case.algorithm), []).append(pair)
    return curves


def _counts(curve: tuple[str, str, str], pairs: Sequence[Pair]) -> list[object]:
    return [*curve, len(pairs), sum(pair.same for pair in pairs)]


def _rates(pairs: Sequence[Pair]) -> list[str]:
    theirs = mean(pair.theirs.tpr for pair in pairs)
    ours = theirs + mean(pair.gain for pair in pairs)
    return [f"{ours:.4f}", f"{theirs:.4f}", _difference(pairs)]


def _difference(pairs: Sequence[Pair]) -> str:
    """Return the mean gain and its standard error."""
    gains = [pair.gain for pair in pairs]
    return f"{mean(gains):+.4f} ({standard_error(gains):.4f})"


def _baselines(pairs: Sequence[Pair]) -> str:
    """Return the table of the baselines, nothing if there are none."""
    lines = [[*_counts(curve, members), *_rates(members)] for curve, members in _curves(pairs).items()]
    return _PEERS + table([*_CURVE, *_RATES], lines, "lllrrrrr") if lines else ""


def _below(cells: Sequence[Sequence[Pair]]) -> str:
    lines = [f"- {_place(cell[0])}: {_difference(cell)}, {len(cell)} trials\n" for cell in cells]
    return (
        f"Cells whose mean TPR is below theirs:\n\n{''.join(lines)}\n"
        if lines
        else ("No cell's mean TPR is below theirs.\n\n")
    )


def _reasons(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Return the trials by the reason why theirs is nearer, most frequent first."""
    reasons: dict[str, list[Pair]] = {}
    for pair in pairs:
        reasons.setdefault(reason(pair), []).append(pair)
    return dict(sorted(reasons.items(), key=lambda item: -len(item[1])))


def _worse(reasons: dict[str, list[Pair]]) -> str:
    """Return every trial in which theirs is nearer to the truth, with the reason."""
    if not reasons:
        return ""
    text = f"All {sum(map(len, reasons.values()))} trials in which theirs is nearer to the truth, by reason:\n\n"
    for why, members in reasons.items():
        lines = (
            f"- {_place(p)}, trial {p.case.trial}: TPR {p.ours.tpr:.2f} against {p.theirs.tpr:.2f}\n" for p in members
        )
        text += f"**{why}** ({len(members)}):\n\n{''.join(lines)}\n"
    return text


def _place(pair: Pair) -> str:
    case = pair.case
    return f"{case.experiment}, {case.system}, {case.algorithm}, {place_of(case)}"
