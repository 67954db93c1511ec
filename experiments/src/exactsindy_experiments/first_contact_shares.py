"""What the tables of the first-contact benchmark count: shares of equations by part, noise and setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from exactsindy_experiments.first_contact_cases import DEFAULT_TOLERANCE, RATES
from exactsindy_experiments.first_contact_rows import SURE, ContactRow
from exactsindy_experiments.grouped_shares import Share, share, share_ratio
from exactsindy_experiments.pages import mean

Rows = Sequence[ContactRow]
Test = Callable[[ContactRow], bool]
#: Rows by what they are called: "before" and "now".
Versions = Mapping[str, Rows]

PERCENT = f"{100 * SURE:.0f} %"
#: Edges of the bins of the printed confidence.
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0)
# Bins of fewer equations say nothing about calibration within five points.
_LEAST_IN_BIN = 100
INSIDE_HEAD = ("equations", "right", f"right with {PERCENT}", "spurious terms", f"wrong with {PERCENT}")


def inside_cells(rows: Rows) -> list[object]:
    """Return the cells under `INSIDE_HEAD`."""
    members = inside(rows)
    wrong = sum(row.sure and not row.right for row in members)
    spurious = sum(row.spurious or 0 for row in members)
    return [len(members), share_of(members, right), share_of(members, right_and_sure), spurious, wrong]


def share_of(rows: Rows, hit: Test) -> Share:
    """Return the share of equations that hit, its interval by systems."""
    return share(rows, hit, system_of)


def rate_ratio(rows: Rows, rate: int) -> Share:
    """Return the share of equations right at so many samples per period over that at the finest rate."""
    return share_ratio(inside(rows), right, system_of, having("per_period", rate), having("per_period", RATES[-1]))


def draws_right(rows: Rows) -> Share:
    """Return the share of draws all of whose equations are right."""
    return _share_of_draws(rows, right)


def draws_preferred(rows: Rows) -> Share:
    """Return the share of draws in which the likelihood prefers the true terms of every equation."""
    unknown = {row.case for row in rows if row.lead is None}
    return _share_of_draws([row for row in rows if row.case not in unknown], preferred)


def _share_of_draws(rows: Rows, test: Test) -> Share:
    draws: dict[int, bool] = {}
    for row in rows:
        draws[row.case.seed] = draws.get(row.case.seed, True) and test(row)
    return share(draws.items(), lambda item: item[1], lambda item: item[0])


def gap_closed(before: Rows, now: Rows) -> float:
    """Return which share of the gap between the share right before and the ceiling is closed, of what both measured.

    nan if nothing is common, or if there is no gap.
    """
    first = {row.key: row for row in before if row.lead is not None}
    common = [(first[row.key], row) for row in now if row.key in first]
    then, today = (mean(pair[i].right for pair in common) for i in (0, 1))
    gap = mean(preferred(row) for row, _ in common) - then
    return (today - then) / gap if before is not now and gap > 0 else math.nan


def reliability(rows: Rows) -> list[tuple[int, float, Share]]:
    """Return number, mean confidence and share right of the equations inside the library, by printed confidence."""
    bins: dict[int, list[ContactRow]] = {}
    for row in inside(rows):
        if row.confidence is not None:
            place = max(i for i, edge in enumerate(BINS[:-1]) if row.confidence >= edge)
            bins.setdefault(place, []).append(row)
    return [
        (len(bins[place]), mean(row.confidence for row in bins[place]), share_of(bins[place], right))
        for place in sorted(bins)
    ]


def distance(rows: Rows) -> float:
    """Return the largest distance of printed confidence and share right in points, over bins of enough equations."""
    bins = [(confidence, hit.value) for count, confidence, hit in reliability(rows) if count >= _LEAST_IN_BIN]
    return max((100 * abs(confidence - value) for confidence, value in bins), default=math.nan)


def system_of(row: ContactRow) -> Hashable:
    """Return what the equations of one system have in common."""
    return row.case.system, row.case.seed


def right(row: ContactRow) -> bool:
    """Return whether the terms are exactly the true ones."""
    return row.right


def right_and_sure(row: ContactRow) -> bool:
    """Return whether they are, and are printed as sure."""
    return row.right and row.sure


def preferred(row: ContactRow) -> bool:
    """Return whether the likelihood prefers the true terms."""
    return row.lead is not None and row.lead > 0


def having(name: str, value: object) -> Test:
    """Return the test for a value of a setting."""
    return lambda row: getattr(row.case, name) == value


def is_tight(row: ContactRow) -> bool:
    """Return whether the solver's tolerance was better than its default."""
    return row.case.tolerance < DEFAULT_TOLERANCE


def part(rows: Iterable[ContactRow], name: str) -> Rows:
    """Return the rows of one part."""
    return [row for row in rows if row.case.part == name]


def at(rows: Rows, noise: float) -> Rows:
    """Return the rows at one level of noise."""
    return [row for row in rows if row.case.noise == noise]


def inside(rows: Rows) -> Rows:
    """Return the rows of equations that the library holds."""
    return [row for row in rows if row.inside and row.equation]


def outside(rows: Rows) -> Rows:
    """Return the rows of equations that the library does not hold."""
    return [row for row in rows if not row.inside]


def values(versions: Versions, name: str) -> list[float]:
    """Return the values that a setting takes."""
    return sorted({getattr(row.case, name) for rows in versions.values() for row in rows})
