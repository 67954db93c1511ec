"""The tables of each part of the first-contact benchmark."""

from __future__ import annotations

from collections.abc import Callable

from exactsindy_experiments.drawn_laws import LEAST_DEPARTURE
from exactsindy_experiments.first_contact_cases import COARSE_PERIODS, DEFAULT_TOLERANCE, PARTS, PERIODS, RATES
from exactsindy_experiments.first_contact_rows import ContactRow
from exactsindy_experiments.first_contact_shares import (
    INSIDE_HEAD,
    PERCENT,
    Rows,
    Test,
    Versions,
    at,
    draws_preferred,
    draws_right,
    gap_closed,
    having,
    inside,
    inside_cells,
    is_tight,
    outside,
    part,
    preferred,
    rate_ratio,
    reliability,
    right_and_sure,
    share_of,
    values,
)
from exactsindy_experiments.pages import number, table

# Kinds of warnings that say that the library may not hold the law.
_LAW_WARNINGS = frozenset({"residual", "library"})


def _clean(versions: Versions) -> str:
    text = (
        "## Clean data\n\n`--part clean`. No noise; catalogue and random systems, simulated by LSODA, RK45 or DOP853; "
        "one case of six has unequal steps and one has five short pieces. Periods: "
        f"{', '.join(f'{periods} at {rate} samples per period' for rate, periods in PERIODS.items())}. "
        f"Tolerance {DEFAULT_TOLERANCE:g} is the default of scipy's `solve_ivp`: its errors are the noise there, and "
        "only its own line counts them.\n\n"
    )
    groups: dict[str, Test] = {"all": is_tight}
    for name, words in (("tolerance", "tolerance {:g}"), ("per_period", "{:g} samples per period"), ("sampling", "{}")):
        groups |= {words.format(value): having(name, value) for value in values(versions, name)}
    groups["catalogue"] = lambda row: not row.case.system.startswith("random-")
    groups["random systems"] = lambda row: row.case.system.startswith("random-")
    default = f"tolerance {DEFAULT_TOLERANCE:g}"
    lines = [
        [name, label, *inside_cells([row for row in rows if test(row) and (is_tight(row) or name == default)])]
        for name, test in groups.items()
        for label, rows in versions.items()
    ]
    return text + table(["data", "version", *INSIDE_HEAD], lines)


def _coarse(versions: Versions) -> str:
    text = (
        f"## Coarse data\n\n`--part coarse`. {COARSE_PERIODS} periods of the fastest state at every rate, simulated at "
        "1e-12; noise relative to the spread of each state. Systems that decay are left out: they rest for most of "
        f"that time. The last column is the share of equations right over that of the same systems at {RATES[-1]} "
        "samples per period.\n\n"
    )
    groups: dict[str, Test] = {"all": lambda row: True}
    groups |= {f"{100 * noise:g} %": having("noise", noise) for noise in values(versions, "noise")}
    lines: list[list[object]] = []
    for name, test in groups.items():
        for rate in RATES:
            for label, rows in versions.items():
                members = [row for row in rows if test(row)]
                cells = inside_cells([row for row in members if row.case.per_period == rate])
                lines.append([name, rate, label, *cells, rate_ratio(members, rate) if rate != RATES[-1] else "1"])
    head = ["noise", "samples per period", "version", *INSIDE_HEAD, f"over the rate at {RATES[-1]}"]
    return text + table(head, lines)


def _heavy(versions: Versions) -> str:
    text = (
        "## Heavy noise: Lorenz\n\n`--part heavy`. Start (-8, 8, 27), 10 s, 1,001 samples, `Polynomials(2)`, noise "
        "`default_rng(8001 + seed).normal(0, level * X.std(), X.shape)`. Ceiling: share of draws in which the extended "
        "BIC of the trajectory fit prefers the true terms of every equation to what was chosen and to the four best "
        "rivals that the likelihood linearised at the true model proposes, all other equations being the true ones.\n\n"
    )
    lines = [
        [f"{100 * noise:g} %", label, *inside_cells(members), draws_right(members), draws_preferred(members)]
        for noise in values(versions, "noise")
        for label, rows in versions.items()
        if (members := at(rows, noise))
    ]
    return text + table(["noise", "version", *INSIDE_HEAD, "draws all right", "ceiling of draws"], lines)


def _outside(versions: Versions) -> str:
    text = (
        "## Laws outside the library\n\n`--part outside`. Laws drawn from 21 families (`drawn_families.py`), looked "
        "for in `Polynomials(3)`; noise relative to the spread of each state. Such a law's other equations may be "
        "inside: a pendulum's x' = v. Departure: the share of the right-hand side that the whole library leaves on "
        f"clean data. Laws of a departure below {100 * LEAST_DEPARTURE:g} % are drawn again, which leaves out small "
        "swings, most draws of arrhenius and of kuramoto, and nearly all closed orbits (an undamped pendulum) "
        "but those of the family one orbit: the share below is no figure for such data. Ceiling: of those with "
        f"{PERCENT} or more, the number where the model chosen is more likely than the law itself, whose trajectory is "
        "known exactly, nothing being penalised: there no test on the data can tell. Where second order was taken "
        "(x'' in place of x'), the confidence of that equation counts, unless it follows from the law: of a position "
        "alone, and of x and z of Lorenz' or Roessler's system, the library holds the equation for x''.\n\n"
    )
    groups: dict[str, Test] = {"all": lambda row: True}
    groups |= {f"noise {100 * noise:g} %": having("noise", noise) for noise in values(versions, "noise")}
    groups["departure below 1 %"] = lambda row: row.departure is not None and row.departure < 0.01
    groups["departure 1 % and more"] = lambda row: row.departure is not None and row.departure >= 0.01
    names = dict.fromkeys(row.case.system for rows in versions.values() for row in rows)
    groups |= {name.replace("_", " "): having("system", name) for name in names}
    lines = [
        [name, label, *_outside_cells([row for row in rows if test(row)])]
        for name, test in groups.items()
        for label, rows in versions.items()
    ]
    head = ["laws", "version", "outside equations", f"share with {PERCENT} or more", "number without residual warning"]
    head += ["without any about it", "more likely than the law"]
    return text + table([*head, f"inside: right with {PERCENT} or more"], lines)


def _outside_cells(rows: Rows) -> list[object]:
    def is_quiet(row: ContactRow) -> bool:
        return row.sure and not _LAW_WARNINGS & set(row.warnings.split(";"))

    out = outside(rows)
    quiet = [row for row in out if is_quiet(row)]
    silent = [row for row in quiet if not row.about]
    share = share_of(out, lambda row: row.sure)
    hidden = [row for row in out if row.lead is not None]
    likelier = f"{sum(not preferred(row) for row in hidden)} of {len(hidden)}"
    return [len(out), share, len(quiet), len(silent), likelier, share_of(inside(rows), right_and_sure)]


def _random(versions: Versions) -> str:
    text = (
        "## Random systems\n\n`--part random`. Data as in `exactsindy bench selection`; each system has one length "
        "(400, 1200 or 5000 samples) and three of the noises. Ceiling: share of equations whose true terms the "
        "likelihood prefers, as for Lorenz and by the trajectory fits of the same version: it bounds a choice by "
        "likelihood alone, and other evidence may do better. Closed: which share of the gap between the first version "
        "and its ceiling is closed, on the data sets measured by both.\n\n"
    )
    lines: list[list[object]] = []
    for noise in values(versions, "noise"):
        cells = {label: at(rows, noise) for label, rows in versions.items()}
        for label, cell in cells.items():
            best = share_of([row for row in cell if row.best_subset is not None], lambda row: bool(row.best_subset))
            ceiling = share_of([row for row in cell if row.lead is not None], preferred)
            closed = number(gap_closed(next(iter(cells.values())), cell))
            lines.append([f"{100 * noise:g} %", label, *inside_cells(cell), best, ceiling, closed])
    return text + table(["noise", "version", *INSIDE_HEAD, "best subset at the true k", "ceiling", "closed"], lines)


def calibration(versions: Versions) -> str:
    """Return the share of right equations by printed confidence, of all parts and of each."""
    lines = [
        [label, name, count, f"{confidence:.3f}", hit]
        for label, rows in versions.items()
        for name in ("all", *PARTS)
        for count, confidence, hit in reliability(rows if name == "all" else part(rows, name))
    ]
    text = "## Is the printed confidence right?\n\nEquations inside the library, by printed confidence.\n\n"
    return text + table(["version", "part", "equations", "mean confidence", "share right"], lines)


#: The text and tables of every part.
SECTIONS: dict[str, Callable[[Versions], str]] = {
    "clean": _clean,
    "coarse": _coarse,
    "heavy": _heavy,
    "outside": _outside,
    "random": _random,
}
