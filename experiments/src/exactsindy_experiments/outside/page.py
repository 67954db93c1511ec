"""The page of other people's benchmarks: one table first, then each with its protocol."""

from __future__ import annotations

import csv
import json
import statistics
import textwrap
from collections.abc import Sequence
from pathlib import Path

from exactsindy_experiments.outside import field_page, lorenz_page
from exactsindy_experiments.outside.ceiling import ceiling_table
from exactsindy_experiments.outside.field_data import SYSTEMS
from exactsindy_experiments.outside.field_methods import DEFAULT, EXACT, WHITENED
from exactsindy_experiments.outside.field_run import FieldRow, field_table
from exactsindy_experiments.outside.lorenz_methods import OURS
from exactsindy_experiments.outside.lorenz_run import LorenzRow, cost_table, lorenz_table
from exactsindy_experiments.outside.published import SUCCESS, best_lorenz
from exactsindy_experiments.outside.regression import regression_section, regression_table
from exactsindy_experiments.pages import table
from exactsindy_experiments.rational_benchmark import PRESENT
from exactsindy_experiments.strogatz_benchmark import NOISES as STROGATZ_NOISES
from exactsindy_experiments.strogatz_benchmark import PUBLISHED as STROGATZ_PUBLISHED

_COMMAND = "exactsindy bench outside"
_WIDTH = 118
# SINDy-PI, read from its figures: noise on Michaelis-Menten data up to which the law is right, and from which wrong.
_SINDY_PI = "SINDy-PI right up to 2 % of noise, wrong from 6 %; implicit SINDy wrong from 1e-7"
_NOT_MEASURED = """## What is not here

- **PySR** 2.7 installs from PyPI, but its first import downloads Julia from another host, which this machine cannot
  reach. So it was not measured.
- Of WSINDy's eight equations the anisotropic porous medium, sine-Gordon and Navier-Stokes are missing.
- D-CODE, dynobench and LLM-SRBench: their data could not be had, or publish nothing to compare with.
- `select, whitened rows` for several fields or axes.
- PySINDy's weak form was not tried on the Lorenz draws, and its MIOSR only told the true sizes.
- Cells of the Lorenz table without a number were not measured; a call takes 1 to 4 CPU seconds.
"""


def page(folder: Path, where: str) -> str:
    """Return the page from the rows of a folder."""
    lorenz, fields = list(lorenz_table(folder)), list(field_table(folder))
    regression = list(regression_table(folder))
    parts = [
        "# Other people's benchmarks",
        "Protocols and numbers that others published, run again with this package and with other packages on the same "
        "draws. Data are made from the published equations; published numbers are typed in, with their source. All "
        "runs shared two cores with other work: CPU seconds are given, and time limits were so long that none ended a "
        "search.",
        _summary(folder, lorenz, fields),
        lorenz_page.section(lorenz, list(cost_table(folder)), list(ceiling_table(folder))) if lorenz else "",
        field_page.section(fields),
        regression_section(regression),
        _NOT_MEASURED.rstrip("\n"),
        f"Rows: `outside_lorenz.csv`, `outside_cost.csv`, `outside_ceiling.csv`, `outside_fields.csv`, "
        f"`outside_regression.csv`. The command `{_COMMAND}` goes on where they end.",
        f"Machine: {where}",
    ]
    return "\n".join(_fitting(line) for part in parts if part for line in [*part.split("\n"), ""])


def _fitting(line: str) -> str:
    """Break a long line of text so that it fits a screen; tables and pictures stay as they are."""
    if len(line) <= _WIDTH or line.startswith(("|", "!")):
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _summary(folder: Path, lorenz: Sequence[LorenzRow], fields: Sequence[FieldRow]) -> str:
    lines = [*_lorenz_lines(lorenz), *_field_lines(fields), *_strogatz(folder), *rational_lines(folder)]
    head = ["benchmark", "published, best", "ours", "command", "date of the rows"]
    return table(head, lines).rstrip("\n")


def _lorenz_lines(rows: Sequence[LorenzRow]) -> list[list[str]]:
    own = lorenz_page.by_cell(rows, OURS)
    groups = {
        "Ensemble-SINDy's Lorenz, 3 s and more, 3 to 5 % noise": [c for c in own if c[1] >= 3 and c[0] >= 3],
        "the same, 2 s, 5 % noise": [c for c in own if c == (5.0, 2)],
        "the same, 1 s": [c for c in own if c[1] == 1],
    }
    lines = []
    for title, cells in groups.items():
        if cells:
            right = sum(row.right for cell in cells for row in own[cell])
            count = sum(len(own[cell]) for cell in cells)
            best = statistics.fmean(best_lorenz(cell)[1] for cell in cells)
            told = f"{right} of {count} draws right"
            lines.append([title, f"{best:.2f} (mean of the best of 6, cell by cell)", told, *_made("lorenz", rows)])
    return lines


def _field_lines(rows: Sequence[FieldRow]) -> list[list[str]]:
    lines = []
    published_shares = {at: f"{weak:g}, ensemble {ensemble:g}" for at, (weak, ensemble) in SUCCESS.items()}
    for (system, noise), published in {**published_shares, ("rd", 22.0): "mean TPR falls below .95"}.items():
        told = []
        for method in (WHITENED, EXACT, DEFAULT):
            own = [r for r in rows if (r.case.system, r.case.noise, r.method) == (system, noise, method)]
            if own:
                told.append(f"{method}: {sum(r.right for r in own)} of {len(own)}")
        if told:
            title = f"WSINDy's {SYSTEMS[system].title}, {noise:g} % noise"
            lines.append([title, published, "; ".join(told), *_made("fields", rows)])
    return lines


def _strogatz(folder: Path) -> list[list[str]]:
    path = folder / "strogatz.jsonl"
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    lines = []
    for noise in STROGATZ_NOISES:
        own = [row["solved"] for row in rows if row["noise"] == noise]
        if own:
            title = f"[SRBench's Strogatz problems](strogatz.md), label noise {noise:g}"
            told = f"{100 * sum(own) / len(own):.1f} % of {len(own)} solved"
            published = f"{STROGATZ_PUBLISHED[noise]:g} % (best of 14)"
            lines.append([title, published, told, "`exactsindy bench strogatz`", "on its page"])
    return lines


def rational_lines(folder: Path) -> list[list[str]]:
    """Return the line on rational laws by the present rules, from trajectories: curves have other noise."""
    path = folder / "rational.csv"
    if not path.exists():
        return []
    every = csv.DictReader(path.read_text().splitlines())
    lines = [row for row in every if row["part"] == "trajectories" and int(row["seed"]) >= PRESENT]
    if not lines:
        return []
    right = sum(row["right"] == "True" for row in lines)
    laws = len({row["law"] for row in lines})
    told = f"{right} of {len(lines)} data sets of {laws} laws right at 0.2 to 2 % of noise ([page](rational.md))"
    return [
        ["SINDy-PI's kind of laws, from states alone", _SINDY_PI, told, "`exactsindy bench rational`", "on its page"]
    ]


def _made(part: str, rows: Sequence[LorenzRow] | Sequence[FieldRow]) -> tuple[str, str]:
    """Return the command, and the days on which rows were measured."""
    days = sorted({row.day for row in rows})
    return f"`{_COMMAND} --part {part}`", " to ".join(dict.fromkeys((days[0], days[-1])))
