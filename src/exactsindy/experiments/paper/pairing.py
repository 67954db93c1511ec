"""Our solver against the published one trial by trial, on the same data under the same protocol."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy.experiments.paper import exact, scoring
from exactsindy.experiments.paper.published import COUNTERPART
from exactsindy.experiments.paper.records import Case, Outcome
from exactsindy.experiments.paper.trial_files import PublishedTrial, read_trials
from exactsindy.solver import Settings, refit, solve
from exactsindy.systems import find_system

# Coefficients of the same support agree to this (the published ones come from other arithmetic).
_SAME = 1e-5
_POINT = "Their support is not the optimum of their own grid point, but happens to be nearer to the truth"
_OTHER_POINT = "The criterion picks another grid point from the optima than from their answers"
# Rates closer than this are equal: stores read from CSV have 7 digits.
_EQUAL = 1e-6
_HEAD = """## Trial by trial against the published files

The published trial files (wesg52/sindy_mio_paper at 8e28558; not part of this package) hold the counts of right and
wrong terms, the error of the coefficients and the grid point chosen, so that every trial of ours can be set beside the
same trial of theirs: same data, same rows, same criterion, another solver. *Same answer*: equal counts and
coefficient errors within 1e-5. Differences of mean TPR are paired, with one standard error.

"""
_COLUMNS = (
    *("experiment", "system", "algorithm", "pairs", "same answer", "ours nearer", "theirs nearer"),
    *("TPR ours", "TPR theirs", "difference", "cells below"),
)


@dataclass(frozen=True)
class Pair:
    """One trial: ours and theirs."""

    case: Case
    ours: Outcome
    theirs: PublishedTrial

    @property
    def gain(self) -> float:
        """How much our rate exceeds theirs."""
        gain = float(self.ours.tpr or 0.0) - self.theirs.tpr
        return gain if abs(gain) > _EQUAL else 0.0

    @property
    def same(self) -> bool:
        """Whether both found the same model, as far as the files tell."""
        counts = (self.ours.tp, self.ours.fp, self.ours.fn) == (self.theirs.tp, self.theirs.fp, self.theirs.fn)
        return counts and math.isclose(self.ours.coef_l2 or 0.0, self.theirs.coef_l2, rel_tol=_SAME, abs_tol=1e-9)


def pairs_of(rows: Iterable[tuple[Case, Outcome]], trials: Mapping[Case, PublishedTrial]) -> list[Pair]:
    """Return the trials of our solver under the published protocol that have a counterpart."""
    return [
        Pair(case, outcome, trials[case])
        for case, outcome in rows
        if case.algorithm in COUNTERPART and not outcome.error and case in trials
    ]


def paired(rows: Iterable[tuple[Case, Outcome]], folder: str | os.PathLike[str]) -> str:
    """Return the section of the report: a line per curve, the cells below, and why trials are worse.

    Parameters
    ----------
    rows
        Cases and outcomes of a store.
    folder
        The published ``results``, as for `read_trials`.
    """
    found = pairs_of(rows, read_trials(folder))
    curves: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in found:
        curves.setdefault((pair.case.experiment, pair.case.system, pair.case.algorithm), []).append(pair)
    lines, below = [f"{_HEAD}| {' | '.join(_COLUMNS)} |", "|---|---|---" + "|---:" * 8 + "|"], []
    for (experiment, system, algorithm), members in curves.items():
        cells: dict[tuple[float, float], list[Pair]] = {}
        for pair in members:
            cells.setdefault((pair.case.duration, pair.case.noise), []).append(pair)
        low = [cell for cell in cells.values() if _mean(cell) < -1e-12]
        below += low
        gains = np.array([pair.gain for pair in members])
        error = gains.std(ddof=1) / math.sqrt(len(gains)) if len(gains) > 1 else math.nan
        theirs = float(np.mean([pair.theirs.tpr for pair in members]))
        lines.append(
            f"| {experiment} | {system} | {algorithm} | {len(members)} | {sum(p.same for p in members)} | "
            f"{int((gains > 0).sum())} | {int((gains < 0).sum())} | {theirs + gains.mean():.4f} | {theirs:.4f} | "
            f"{gains.mean():+.4f} ({error:.4f}) | {len(low)} of {len(cells)} |"
        )
    lines += ["", *_below(below), *_worse([pair for pair in found if pair.gain < 0])]
    return "\n".join(lines) + "\n"


def _mean(cell: Sequence[Pair]) -> float:
    return float(np.mean([pair.gain for pair in cell]))


def _below(cells: Sequence[Sequence[Pair]]) -> list[str]:
    lines = ["Cells whose mean TPR is below theirs:", ""]
    for cell in cells:
        gains = np.array([pair.gain for pair in cell])
        error = gains.std(ddof=1) / math.sqrt(len(gains)) if len(gains) > 1 else math.nan
        lines.append(f"- {_place(cell[0].case)}: {gains.mean():+.4f} ({error:.4f}), {len(cell)} trials")
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


def reason(pair: Pair) -> str:
    """Say why the published answer is nearer to the truth, by solving its own grid point exactly.

    Fields: sizes are given, there is nothing to choose. Duffing: the grid points chosen are compared.
    """
    if pair.case.experiment == "constraint":
        return _POINT if _same_point(pair) else _OTHER_POINT
    if pair.case.experiment == "pde":
        return "Both were asked for the same sizes; the optimum is further from the truth than their answer"
    theirs = _at(pair)
    if theirs is None:
        return "The published grid point could not be solved again"
    if not math.isclose(theirs, pair.theirs.coef_l2, rel_tol=_SAME, abs_tol=1e-9):
        return _POINT
    return (
        "Their support is the optimum of its grid point; the criterion prefers an optimum their solver missed elsewhere"
    )


def _same_point(pair: Pair) -> bool:
    """Say whether both chose the same budget and ridge."""
    mine = json.loads(pair.ours.choice or "{}")
    return (mine.get("k"),) == pair.theirs.sizes and (mine.get("alpha"),) == pair.theirs.ridges


def _at(pair: Pair) -> float | None:
    """Return the error of the coefficients of the optimum at the grid point that the published trial chose."""
    from exactsindy.experiments.paper.evaluate import published_regression

    regression = published_regression(pair.case)
    sizes, ridges = pair.theirs.sizes, pair.theirs.ridges
    count = len(regression.train.target_names)
    if len(sizes) != count or len(ridges) != count:
        return None
    system = find_system(pair.case.system)
    truth = system.coefficients([str(name) for name in regression.train.names])
    coef = np.zeros_like(truth)
    for i, (k, alpha) in enumerate(zip(sizes, ridges, strict=True)):
        target = {name: k if j == i else 0 for j, name in enumerate(regression.train.target_names)}
        settings = Settings(seconds=exact.SECONDS, threads=1)
        solution = solve(regression.train, target, ridge=regression.ridge(alpha), settings=settings)
        support = [solution.support[j] if j == i else () for j in range(count)]
        coef[i] = refit(regression.train, support).coef[i]
    return float(scoring.compare(truth, coef)["coef_l2"])


def _place(case: Case) -> str:
    where = f"{case.duration:.3g} s" if case.experiment.startswith("differential") else f"noise {case.noise:.3g}"
    if case.experiment == "constraint":
        where = f"{case.duration:.3g} s, noise {case.noise:.2g}"
    return f"{case.experiment}, {case.system}, {case.algorithm}, {where}"
