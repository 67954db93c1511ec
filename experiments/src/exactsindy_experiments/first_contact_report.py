"""The first-contact benchmark as a page: the figures beside their goals, then the tables of every part."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import partial

from exactsindy_experiments.first_contact_cases import PARTS, RATES
from exactsindy_experiments.first_contact_run import SECONDS
from exactsindy_experiments.first_contact_sections import SECTIONS, calibration
from exactsindy_experiments.first_contact_shares import (
    PERCENT,
    Rows,
    Versions,
    at,
    distance,
    draws_preferred,
    draws_right,
    inside,
    is_tight,
    outside,
    part,
    preferred,
    rate_ratio,
    right,
    right_and_sure,
    share_of,
    system_of,
    values,
)
from exactsindy_experiments.pages import mean, minutes, number, table

_HEAVY_GOALS = {0.1: ">= 0.95", 0.2: ">= 0.7", 0.3: ">= 0.4"}


def contact_report(versions: Versions, machine: str) -> str:
    """Return the page."""
    text = (
        "# Right on first contact\n\n"
        "`exactsindy bench first-contact --out docs/benchmarks` measures what is missing in `first_contact_now.csv` "
        "and writes this page; `--label before` keeps the rows of another version of the package apart.\n"
        f"Machine: {machine}\n\n"
        f"`discover(data, library=..., seconds={SECONDS:g}, threads=1)` on what people try first (*before* and "
        "*earlier* seconds=20 on a machine with little else to do; the limit is one of elapsed time). A dash: not "
        "measured with that version. An equation is right "
        "if its terms are exactly the true ones. A confidence that is withheld counts as 0. Intervals (95 %) are of a "
        "bootstrap over systems, whose equations go together. Even seeds (tuning half) serve to choose rules, odd ones "
        "(reporting half) only to report.\n\n"
    )
    text += "\n\n".join(_measured(label, rows) for label, rows in versions.items())
    text += _in_common(versions) + "\n\n## Figures and goals\n\n" + figures(versions)
    for name, section in SECTIONS.items():
        members = {label: part(rows, name) for label, rows in versions.items()}
        if any(members.values()):
            text += "\n" + section({label: rows for label, rows in members.items() if rows})
    return text + "\n" + calibration(versions)


def figures(versions: Versions) -> str:
    """Return the figures of every case beside their goals."""
    lines: list[list[object]] = []

    def line(case: str, name: str, value: Callable[[Rows], object], goal: str) -> None:
        lines.append([case, *(value(part(rows, name)) for rows in versions.values()), goal])

    line("clean, tolerance 1e-12 to 1e-6: right", "clean", lambda rows: share_of(_tight(rows), right), ">= 0.98")
    sure = f"... right with {PERCENT} or more"
    line(sure, "clean", lambda rows: share_of(_tight(rows), right_and_sure), ">= 0.95")
    for rate in RATES[:-1]:
        case = f"coarse, {rate} samples per period: share right over that at {RATES[-1]}"
        line(case, "coarse", partial(rate_ratio, rate=rate), ">= 0.9")
    for noise in _noises(versions, "random"):
        case = f"random systems, noise {100 * noise:g} %: right (best subset at the true k, ceiling)"
        goal = "half of the gap to the ceiling closed" + ("; above the best subset" if noise >= 0.05 else "")
        line(case, "random", partial(_random, noise=noise), goal)
    for noise in _noises(versions, "heavy"):
        case = f"Lorenz, noise {100 * noise:g} %: all equations right (ceiling)"
        goal = f"{_HEAVY_GOALS.get(noise, '-')} or the ceiling"
        line(case, "heavy", partial(_heavy, noise=noise), goal)
    case = f"equations outside the library with {PERCENT} or more"
    line(case, "outside", lambda rows: share_of(outside(rows), lambda row: row.sure), "<= 0.02")
    case = f"equations inside the library, of the same systems, right with {PERCENT} or more"
    line(case, "outside", lambda rows: share_of(inside(rows), right_and_sure), "not less")
    far = [number(distance(rows), ".1f") for rows in versions.values()]
    lines.append(["calibration: largest distance of a bin of 100 equations or more, in points", *far, "<= 5"])
    return table(["case", *versions, "goal"], lines)


def _measured(label: str, rows: Rows) -> str:
    seconds = {row.case: row.seconds for row in rows}
    known = sorted(value for value in seconds.values() if not math.isnan(value))
    counts = ", ".join(
        f"{name} {len({row.case for row in members})} of {len(set(map(system_of, members)))} systems"
        for name in PARTS
        if (members := part(rows, name))
    )
    seeds = {row.case.seed for row in rows if row.case.part != "heavy"}
    halves = [name for name, rest in (("tuning", 0), ("reporting", 1)) if any(seed % 2 == rest for seed in seeds)]
    times = (
        f"CPU time of a call: median {statistics.median(known):.2f} s, 95th percentile "
        f"{known[int(0.95 * (len(known) - 1))]:.1f} s, largest {known[-1]:.1f} s, of all {minutes(sum(known))}."
        if known
        else ""
    )
    return (
        f"*{label}*: exactsindy {', '.join(sorted({row.version for row in rows}))}; {len(seconds)} data sets of the "
        f"{' and '.join(halves) or 'tuning'} half ({counts}). {times} "
        f"Failures: {len({row.case for row in rows if row.failure})}."
    )


def _in_common(versions: Versions) -> str:
    cases = [{row.case for row in rows} for rows in versions.values()]
    if len(cases) < 2:
        return ""
    return f"\n\nData sets in common: {len(set.intersection(*cases))} of {len(set.union(*cases))}."


def _noises(versions: Versions, name: str) -> list[float]:
    return values({label: part(rows, name) for label, rows in versions.items()}, "noise")


def _tight(rows: Rows) -> Rows:
    return [row for row in inside(rows) if is_tight(row)]


def _random(rows: Rows, noise: float) -> str:
    rows = at(rows, noise)
    best = mean(row.best_subset for row in rows)
    ceiling = mean(preferred(row) for row in rows if row.lead is not None)
    return f"{share_of(inside(rows), right)} ({number(best, '.3f')}, {number(ceiling, '.3f')})"


def _heavy(rows: Rows, noise: float) -> str:
    rows = at(rows, noise)
    return f"{draws_right(rows)} ({number(draws_preferred(rows).value, '.2f')})"
