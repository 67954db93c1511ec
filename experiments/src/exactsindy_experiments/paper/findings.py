"""What a report says first: goals, and where the published solver did better."""

from __future__ import annotations

import math
from collections.abc import Sequence

from exactsindy_experiments.paper.published import COUNTERPART, PublishedCell, find_published
from exactsindy_experiments.paper.records import TITLES, Case, Outcome
from exactsindy_experiments.paper.summary import Cell
from exactsindy_experiments.paper.targets import TARGETS


def goals(rows: Sequence[tuple[Case, Outcome]], summary: Sequence[Cell]) -> str:
    """Return the table of goals and what was reached, and what bounds those that were missed."""
    lines = [
        "## Goals",
        "",
        "| experiment | system | protocol | place | measure | goal | published | reached | at true k | trials | |",
        "|---|---|---|---|---|---:|---:|---:|---:|---:|---|",
    ]
    reasons: list[str] = []
    for target in TARGETS:
        duration, noise = target.place
        place = f"{duration:.3g} s" if target.experiment == "differential" else f"{noise:.3g}"
        if target.experiment == "constraint":
            place = f"{duration:.3g} s, {noise:.0%}"
        measure = {"ceiling": "exact at true k", "exact": "exact", "tpr": "TPR"}.get(target.measure, target.measure)
        start = f"| {target.experiment} | {target.system} | {target.protocol} | {place} | {measure} | {target.goal:g} "
        cell = target.cell(summary)
        if cell is None:
            lines.append(f"{start}| {target.published:g} | - | - | 0 | not run |")
            continue
        value, met = target.reached(cell)
        verdict = "met" if met else "**missed**"
        if not met:
            reasons.append(f"- {target.experiment}, {target.system}, {target.protocol}, {place}: {_bound(rows, cell)}")
        lines.append(
            f"{start}| {target.published:g} | {value:.2f} | {number(cell.ceiling)} | {cell.trials} | {verdict} |"
        )
    if reasons:
        lines += ["", "What bounds the goals that were missed:", "", *reasons]
    return "\n".join(lines) + "\n"


def _bound(rows: Sequence[tuple[Case, Outcome]], cell: Cell) -> str:
    """Say of the trials that are not exact how many a better choice of sizes alone would cure."""
    mine = [outcome for case, outcome in rows if case.key[:-1] == cell.case.key[:-1] and not outcome.error]
    wrong = [outcome for outcome in mine if not outcome.exact]
    curable = sum(bool(outcome.exact_at_true_k) for outcome in wrong)
    return (
        f"{len(wrong)} of {len(mine)} trials are not exact. In {curable} of them the best subset of the true sizes is "
        "the truth: the criterion chose other sizes or, as it may under the published protocol, another ridge. In "
        f"{len(wrong) - curable} the best subset of the true sizes is not the truth: no rule that picks sizes on these "
        "rows could find it."
    )


def coverage(summary: Sequence[Cell]) -> str:
    """Return the table of what was run: cells of each curve, and trials of a cell."""
    curves: dict[tuple[str, str, str, str], list[int]] = {}
    for cell in summary:
        case = cell.case
        system = f"{case.system}, degree {case.degree}" if case.experiment == "runtime" else case.system
        curves.setdefault((case.experiment, system, case.protocol, TITLES[case.algorithm]), []).append(cell.trials)
    lines = ["## What was run", "", "| experiment | system | protocol | algorithm | cells | trials of a cell |"]
    lines.append("|---|---|---|---|---:|---:|")
    for curve, trials in curves.items():
        low, high = min(trials), max(trials)
        lines.append(f"| {' | '.join(curve)} | {len(trials)} | {low if low == high else f'{low} to {high}'} |")
    return "\n".join(lines) + "\n"


def behind(summary: Sequence[Cell]) -> str:
    """List the cells of our solver under the published protocol whose mean rate is below the published MIOSR's."""
    lines = ["## Below the published solver under its own protocol", ""]
    count = 0
    for cell in summary:
        old = published_beside(cell)
        case = cell.case
        if case.protocol != "published" or case.algorithm not in COUNTERPART or old is None or math.isnan(old.tpr):
            continue
        count += 1
        if cell.tpr >= old.tpr - 5e-4:  # published means are printed to four digits
            continue
        lines.append(
            f"- {case.experiment}, {case.system}, {case.duration:.3g} s, noise {case.noise:.3g}, {cell.trials} trials: "
            f"TPR {cell.tpr:.3f} against {old.tpr:.3f}{_apart(cell, old)}"
        )
    intro = (
        f"{len(lines) - 2} of {count} cells, compared by their means; with the published trial files at hand, `report "
        "--published FOLDER` compares trial by trial and says why."
    )
    lines.insert(2, intro + "\n")
    return "\n".join(lines) + "\n"


def _apart(cell: Cell, old: PublishedCell) -> str:
    error = math.hypot(0.0 if math.isnan(cell.tpr_se) else cell.tpr_se, old.tpr_se)
    return f" ({(old.tpr - cell.tpr) / error:.1f} standard errors)" if error > 0 else ""


def speeds(summary: Sequence[Cell]) -> str:
    """Return how many times as long as our solver each algorithm takes: geometric means over cells both have."""
    times: dict[tuple[str, int, float], dict[str, float]] = {}
    for cell in summary:
        if cell.trials and cell.case.experiment == "runtime":
            place = (cell.case.system, cell.case.degree, cell.case.duration)
            times.setdefault(place, {})[cell.case.algorithm] = cell.geometric_seconds
    lines = ["One fit against one of our solver at one thread, in the same run:", ""]
    for algorithm in TITLES:
        ratios = [t[algorithm] / t["exact"] for t in times.values() if {algorithm, "exact"} <= t.keys()]
        if algorithm != "exact" and ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            lines.append(
                f"- {TITLES[algorithm]}: {mean:.3g} times as long (geometric mean of {len(ratios)} cells, "
                f"{min(ratios):.3g} to {max(ratios):.3g})"
            )
    return "\n".join(lines)


def published_beside(cell: Cell) -> PublishedCell | None:
    """Return the published cell to compare a cell with."""
    case = cell.case
    return find_published(case.experiment, case.system, case.algorithm, case.degree, case.duration, case.noise)


def number(value: float) -> str:
    """Return two digits, or a dash where there is no number."""
    return "-" if math.isnan(value) else f"{value:.2f}"
