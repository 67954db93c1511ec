"""The Lorenz part of the page: shares with their intervals, published ones beside them, peers, misses, heat maps."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from exactsindy_experiments.outside import lorenz_data
from exactsindy_experiments.outside.ceiling import CeilingRow
from exactsindy_experiments.outside.lorenz_data import DURATIONS, NOISES
from exactsindy_experiments.outside.lorenz_methods import OURS
from exactsindy_experiments.outside.lorenz_run import COST_CASE, LorenzRow
from exactsindy_experiments.outside.published import LORENZ_SOURCE, LORENZ_TRIALS, best_lorenz, lorenz_counts
from exactsindy_experiments.outside.shares import fisher_below, mcnemar, wilson
from exactsindy_experiments.pages import new_figure, number, table, write_figure

Cell = tuple[float, int]
#: Shares to reach: from 3 seconds on up to 5 % noise, and at 2 seconds and 5 %.
GOAL, GOAL_SHORT = 0.95, 0.6
#: From which p-value a difference is called significant.
LEVEL = 0.05


def by_cell(rows: Iterable[LorenzRow], method: str = OURS) -> dict[Cell, list[LorenzRow]]:
    """Return the rows of a method by cell; a call that failed counts as wrong."""
    cells: dict[Cell, list[LorenzRow]] = {}
    for row in rows:
        if row.method == method:
            cells.setdefault(row.case.cell, []).append(row)
    return cells


def section(rows: Sequence[LorenzRow], costs: Sequence[LorenzRow], ceiling: Sequence[CeilingRow]) -> str:
    """Return the section of the page."""
    own = by_cell(rows)
    parts = [
        "## Ensemble-SINDy's Lorenz experiment",
        (lorenz_data.__doc__ or "").partition("\n\n")[2].strip(),
        f"Published: {LORENZ_SOURCE}. Their thresholds were set by hand to values that suit this system. Ours: "
        "`es.discover(data, t, library=es.Polynomials(5, bias=False))`, nothing else chosen.",
        "Right of the draws measured, with Wilson's 95 % interval; in brackets the best of the six published methods "
        "of this cell, out of 1000 draws:",
        _shares(own),
        "![Share of draws with all terms right: discover, and three published methods](outside_lorenz.png)",
        _goals(own),
        _below_published(own),
        _misses(own, {row.case: row.lead for row in ceiling}),
        "### PySINDy on the same draws",
        "PySINDy 2.1 with its defaults (library as above), with the published preparation and thresholds, tuned on the "
        "last third of the data (thresholds, ridges, path members and two preparations by AICc), and MIOSR (Gurobi) "
        "told the true numbers of terms. `b` and `c` count the draws in which only `discover`, only the peer is right; "
        "p is McNemar's exact two-sided value over all draws. CPU seconds and the peak memory of a process that does "
        f"nothing else: {COST_CASE}, imports included; medians are those of each method's last day.",
        _peers(rows, costs),
        _below_peers(rows),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part)


def _shares(own: Mapping[Cell, Sequence[LorenzRow]]) -> str:
    durations = [d for d in DURATIONS if any(cell[1] == d for cell in own)]
    lines = []
    for noise in NOISES:
        if any(cell[0] == noise for cell in own):
            lines.append([f"{noise:g} %", *(_share(own, (noise, d)) for d in durations)])
    return table(["noise", *(f"{d} s" for d in durations)], lines)


def _share(own: Mapping[Cell, Sequence[LorenzRow]], cell: Cell) -> str:
    members = own.get(cell, [])
    published = best_lorenz(cell)[1]
    if not members:
        return f"- ({published:.2f})"
    right = sum(row.right for row in members)
    low, high = wilson(right, len(members))
    return f"**{right} of {len(members)}**, {low:.2f} to {high:.2f} ({published:.2f})"


def _goals(own: Mapping[Cell, Sequence[LorenzRow]]) -> str:
    reach: list[Cell] = []
    short: list[Cell] = []
    certain: list[Cell] = []
    for cell, members in own.items():
        goal = GOAL if cell[1] >= 3 else GOAL_SHORT if cell == (5.0, 2) else None
        if goal is None:
            continue
        right = sum(row.right for row in members)
        low, high = wilson(right, len(members))
        (reach if high >= goal else short).append(cell)
        if low >= best_lorenz(cell)[1]:
            certain.append(cell)
    draws = sum(map(len, own.values()))
    long = [row.right for cell, members in own.items() if cell[1] >= 3 for row in members]
    low, high = wilson(sum(long), len(long))
    missed = f", not in {_list(short)}" if short else ""
    return (
        f"Goals: {GOAL} from 3 s on up to 5 % noise, {GOAL_SHORT} at 2 s and 5 %. The interval reaches the goal in "
        f"{len(reach)} of the {len(reach) + len(short)} cells measured{missed}, and lies wholly above the best "
        f"published method in {len(certain)}. {draws} draws in {len(own)} cells so far: a cell with one or two says "
        f"little by itself. All draws from 3 s on together: {sum(long)} of {len(long)} right, {low:.3f} to {high:.3f}."
    )


def _below_published(own: Mapping[Cell, Sequence[LorenzRow]]) -> str:
    below = []
    for cell, members in own.items():
        method, share = best_lorenz(cell)
        p = fisher_below(sum(row.right for row in members), len(members), share, LORENZ_TRIALS)
        if p < LEVEL:
            below.append(f"{cell[0]:g} % and {cell[1]} s ({method} {share:.2f}, p = {p:.3f})")
    if not below:
        return "In no cell is ours significantly below the best published method (one-sided Fisher test, 5 %)."
    return f"Significantly below the best published method (one-sided Fisher test, 5 %): {'; '.join(below)}."


def _misses(own: Mapping[Cell, Sequence[LorenzRow]], leads: Mapping[object, float | None]) -> str:
    misses = [row for members in own.values() for row in members if not row.right]
    if not misses:
        return "No draw was missed so far."
    known = [lead for row in misses if (lead := leads.get(row.case)) is not None]
    beaten = sum(lead < 0 for lead in known)
    sure = sum((row.confidence or 0) >= 0.9 for row in misses)
    lines = [
        [str(row.case), row.found or row.failure, number(row.confidence or float("nan")), _lead(leads.get(row.case))]
        for row in sorted(misses, key=lambda row: (-row.case.duration, row.case.noise))
    ]
    text = (
        f"Misses: {len(misses)}. The likelihood of whole trajectories (extended BIC) prefers what was chosen, or "
        f"another rival, to the true terms in {beaten} of the {len(known)} where it was compared: there the data "
        f"themselves mislead, and no choice by their likelihood could be right. "
        f"Misses printed with 90 % or more for the system as a whole: {sure}. `lead`: criterion of the best rival less "
        "that of the truth."
    )
    shown = lines[:20]
    more = f"\n{len(lines) - len(shown)} more are in `outside_lorenz.csv`.\n" if len(lines) > len(shown) else ""
    return f"{text}\n\n{table(['draw', 'answer', 'confidence', 'lead'], shown)}{more}"


def _lead(lead: float | None) -> str:
    return "-" if lead is None else f"{lead:+.2f}"


def pairs(rows: Sequence[LorenzRow], method: str, cell: Cell | None = None) -> list[tuple[bool, bool]]:
    """Return for every draw that both have: whether ours is right, whether the other is."""
    ours = {row.case: row.right for row in rows if row.method == OURS}
    others = {row.case: row.right for row in rows if row.method == method}
    return [
        (right, others[case]) for case, right in ours.items() if case in others and (cell is None or case.cell == cell)
    ]


def _methods(rows: Sequence[LorenzRow]) -> list[str]:
    return [method for method in dict.fromkeys(row.method for row in rows) if method != OURS]


def _peers(rows: Sequence[LorenzRow], costs: Sequence[LorenzRow]) -> str:
    cost = {row.method: row for row in costs}
    lines = []
    for method in [OURS, *_methods(rows)]:
        own = [row for row in rows if row.method == method]
        met = pairs(rows, method)
        first, second, p = mcnemar(met)
        same = f"{sum(o for o, _ in met)} of {len(met)}" if method != OURS else "-"
        spent = cost.get(method)
        lines.append(
            [
                method,
                f"{sum(row.right for row in own)} of {len(own)}",
                same,
                *((first, second, f"{p:.1g}") if method != OURS else ("-", "-", "-")),
                f"{statistics.median(row.cpu for row in own if row.day == max(r.day for r in own)):.2f}",
                f"{spent.cpu:.2f}" if spent else "-",
                f"{spent.memory:.0f}" if spent else "-",
            ]
        )
    head = ["method", "right", "ours on these", "b", "c", "p", "CPU s, median", "CPU s, alone", "memory, MB"]
    return table(head, lines, "lrrrrrrrr")


def _below_peers(rows: Sequence[LorenzRow]) -> str:
    below = []
    for method in _methods(rows):
        for cell in by_cell(rows):
            first, second, p = mcnemar(pairs(rows, method, cell))
            if second > first and p < LEVEL:
                below.append(f"{method} at {cell[0]:g} % and {cell[1]} s ({first} against {second})")
    if below:
        return f"Cells in which a peer is significantly better (McNemar, 5 %): {'; '.join(below)}."
    return "In no cell is a peer significantly better (McNemar, 5 %)."


def _list(cells: Iterable[Cell]) -> str:
    return "; ".join(f"{noise:g} % and {duration} s" for noise, duration in sorted(cells))


def plot(rows: Sequence[LorenzRow], path: Path) -> None:
    """Draw heat maps of ours and of three published methods; cells that were not measured stay grey."""
    own = by_cell(rows)
    ours = np.full((len(NOISES), len(DURATIONS)), np.nan)
    for (noise, duration), members in own.items():
        ours[NOISES.index(noise), DURATIONS.index(duration)] = np.mean([row.right for row in members])
    published = {
        name: np.array([[counts[noise, d] / LORENZ_TRIALS for d in DURATIONS] for noise in NOISES])
        for name, counts in lorenz_counts().items()
        if name in ("SINDy", "bagging", "bragging")
    }
    figure = new_figure(figsize=(11, 3.4), layout="constrained")
    panels = figure.subplots(1, 4, sharey=True)
    for axes, (name, values) in zip(panels, {"discover": ours, **published}.items(), strict=True):
        axes.set_facecolor("0.8")
        drawn = axes.imshow(values, origin="lower", vmin=0, vmax=1, cmap="viridis", aspect="auto")
        axes.set(title=name, xlabel="seconds of data", xticks=range(0, 10, 3), xticklabels=DURATIONS[::3])
    panels[0].set(ylabel="noise, % of root mean square", yticks=range(0, 11, 2), yticklabels=range(6))
    figure.colorbar(drawn, ax=panels, label="share of draws with all terms right")
    write_figure(figure, path, 110)
