"""The table of what the default finds beyond white noise, fine sampling and polynomials."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from exactsindy_experiments.selection_conditions import LENGTH
from exactsindy_experiments.selection_rows import CEILING, OURS, SelectionRow

# Printed confidence from which an answer is called sure.
SURE = 0.9
_COLUMNS = (
    "condition",
    "noise",
    "equations",
    "exact",
    "at the true k",
    "mean confidence printed",
    f"right of those above {100 * SURE:.0f} %",
)


def conditions_report(rows: Sequence[SelectionRow]) -> list[str]:
    """Return the lines of the section: one per condition and noise level."""
    lines = [
        "`python benchmarks/selection.py --part conditions`. Each condition changes one thing about the reference: "
        f"white noise, {LENGTH} samples, 100 per fastest period, monomials, one trajectory (10 samples per period: 480 "
        "samples). Systems of the reporting half and three classic ones; for functions "
        "six others. Exact: share of equations whose terms are exactly the true ones. The mean confidence is over the "
        "equations that print one (an equation found empty prints none).",
        "",
        "| " + " | ".join(_COLUMNS) + " |",
        "|" + " --- |" * len(_COLUMNS),
    ]
    for condition in dict.fromkeys(row.system.split(": ")[0] for row in rows):
        mine = [row for row in rows if row.system.split(": ")[0] == condition]
        for noise in sorted({row.noise for row in mine}):
            lines.append(_line(condition, noise, [row for row in mine if row.noise == noise]))
    return lines


def _line(condition: str, noise: float, rows: Sequence[SelectionRow]) -> str:
    ours = [row for row in rows if row.method == OURS]
    printed = [row.confidence for row in ours if not math.isnan(row.confidence)]
    sure = [row.exact for row in ours if row.confidence > SURE]
    cells = (
        condition,
        f"{100 * noise:g} %",
        str(len(ours)),
        f"{np.mean([row.exact for row in ours]):.2f}",
        f"{np.mean([row.exact for row in rows if row.method == CEILING]):.2f}",
        f"{np.mean(printed):.2f}" if printed else "-",
        f"{sum(sure)} of {len(sure)}" if sure else "-",
    )
    return "| " + " | ".join(cells) + " |"
