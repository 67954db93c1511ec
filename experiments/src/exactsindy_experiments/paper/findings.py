"""What a report says first: goals, where the published solver did better, times, and what was run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from exactsindy_experiments.pages import geometric_mean, number, table
from exactsindy_experiments.paper.goals import GOALS
from exactsindy_experiments.paper.records import TITLES, Case, Result
from exactsindy_experiments.paper.summary import COUNTERPART, Cell, find_published

_MEASURES = {"ceiling": "exact at true k", "exact": "exact", "tpr": "TPR"}
# Published means are printed to four digits.
_PRINTED = 5e-4


def goals(rows: Sequence[Result], cells: Sequence[Cell]) -> str:
    """Return the table of goals and what was reached, and what bounds those that were missed."""
    lines, reasons = [], []
    for goal in GOALS:
        duration, noise = goal.place
        place = f"{duration:.3g} s" if goal.experiment == "differential" else f"{noise:.3g}"
        if goal.experiment == "constraint":
            place = f"{duration:.3g} s, {noise:.0%}"
        line = [goal.experiment, goal.system, goal.protocol, place, _MEASURES.get(goal.measure, goal.measure)]
        line += [f"{goal.goal:g}", f"{goal.published:g}"]
        cell = goal.cell(cells)
        if cell is None:
            lines.append([*line, "-", "-", "0", "not run"])
            continue
        value, met = goal.reached(cell)
        if not met:
            reasons.append(f"- {goal.experiment}, {goal.system}, {goal.protocol}, {place}: {_bound(rows, cell)}\n")
        lines.append([*line, f"{value:.2f}", number(cell.ceiling), str(cell.trials), "met" if met else "**missed**"])
    head = ["experiment", "system", "protocol", "place", "measure"]
    head += ["goal", "published", "reached", "at true k", "trials", ""]
    text = "## Goals\n\n" + table(head, lines, "lllllrrrrrl")
    return text + ("\nWhat bounds the goals that were missed:\n\n" + "".join(reasons) if reasons else "")


def _bound(rows: Sequence[Result], cell: Cell) -> str:
    """Return how many of the trials that are not exact a better choice of sizes alone would cure."""
    good = [outcome for case, outcome in rows if case.curve == cell.case.curve and not outcome.error]
    wrong = [outcome for outcome in good if not outcome.exact]
    curable = sum(bool(outcome.exact_at_true_k) for outcome in wrong)
    return (
        f"{len(wrong)} of {len(good)} trials are not exact. In {curable} of them the best subset of the true sizes is "
        "the truth: the criterion chose other sizes or, as it may under the published protocol, another ridge. In "
        f"{len(wrong) - curable} the best subset of the true sizes is not the truth: no rule that picks sizes on these "
        "rows could find it."
    )


def coverage(cells: Sequence[Cell]) -> str:
    """Return the table of what was run: cells of each curve, and trials of a cell."""
    curves: dict[tuple[str, str, str, str], list[int]] = {}
    for cell in cells:
        case = cell.case
        system = f"{case.system}, degree {case.degree}" if case.experiment == "runtime" else case.system
        curves.setdefault((case.experiment, system, case.protocol, TITLES[case.algorithm]), []).append(cell.trials)
    lines = [(*curve, len(trials), _span(trials)) for curve, trials in curves.items()]
    head = ["experiment", "system", "protocol", "algorithm", "cells", "trials of a cell"]
    return "## What was run\n\n" + table(head, lines, "llllrr")


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"


def behind(cells: Sequence[Cell]) -> tuple[str, str]:
    """Return how many of our cells under the published protocol lie below the published MIOSR, and their list."""
    lines, count = [], 0
    for cell in cells:
        case, old = cell.case, find_published(cell.case)
        if case.protocol != "published" or case.algorithm not in COUNTERPART or old is None or math.isnan(old.tpr):
            continue
        count += 1
        if cell.tpr < old.tpr - _PRINTED:
            lines.append(
                f"- {case.experiment}, {case.system}, {case.duration:.3g} s, noise {case.noise:.3g}, "
                f"{cell.trials} trials: TPR {cell.tpr:.3f} against {old.tpr:.3f}{_apart(cell, old)}\n"
            )
    head = (
        "## Below the published solver under its own protocol\n\n"
        f"{len(lines)} of {count} cells, compared by their means; with the published trial files at hand, `report "
        "--published FOLDER` compares trial by trial and says why.\n"
    )
    return head, "".join(lines)


def _apart(cell: Cell, old: Cell) -> str:
    error = math.hypot(0.0 if math.isnan(cell.tpr_se) else cell.tpr_se, old.tpr_se)
    return f" ({(old.tpr - cell.tpr) / error:.1f} standard errors)" if error > 0 else ""


def speeds(cells: Sequence[Cell]) -> str:
    """Return how many times as long as our solver each algorithm takes: geometric means over cells both have."""
    times: dict[tuple[str, int, float], dict[str, float]] = {}
    for cell in cells:
        if cell.trials and cell.case.experiment == "runtime":
            place = (cell.case.system, cell.case.degree, cell.case.duration)
            times.setdefault(place, {})[cell.case.algorithm] = cell.geometric_seconds
    lines = []
    for algorithm in TITLES:
        ratios = [t[algorithm] / t["exact"] for t in times.values() if {algorithm, "exact"} <= t.keys()]
        if algorithm != "exact" and ratios:
            lines.append(
                f"- {TITLES[algorithm]}: {geometric_mean(ratios):.3g} times as long (geometric mean of {len(ratios)} "
                f"cells, {min(ratios):.3g} to {max(ratios):.3g})\n"
            )
    return "One fit against one of our solver at one thread, in the same run:\n\n" + "".join(lines)


def verdict(cell: Cell, old: Cell | None) -> str:
    """Return how a cell compares with the published one by the exact-support rate.

    Rates of n trials have the standard error sqrt(p (1 - p) / n), with one half added to each count so that rates of
    0 and 1 have one too; within twice the joint error they are equal.
    """
    if old is None or math.isnan(old.exact) or not cell.trials:
        return "-"
    error = math.hypot(_rate_error(cell.exact, cell.trials), _rate_error(old.exact, old.trials))
    difference = cell.exact - old.exact
    if abs(difference) <= 2 * error:
        return "equal"
    return "better" if difference > 0 else "**worse**"


def _rate_error(rate: float, n: int) -> float:
    p = (rate * n + 0.5) / (n + 1)
    return math.sqrt(p * (1 - p) / n)


def place_of(case: Case) -> str:
    """Return where a case lies on the axes of its experiment."""
    if case.experiment == "constraint":
        return f"{case.duration:.3g} s, noise {case.noise:.2g}"
    return f"{case.duration:.3g} s" if case.experiment.startswith("differential") else f"noise {case.noise:.3g}"
