"""The table of all equations: what the verdicts rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from exactsindy.plots import DiscoveryLike
from exactsindy.report.verdict import Verdict, choice_of, is_proved, percentage, verdicts


@dataclass(frozen=True)
class Line:
    """One row of the table of all equations, as text.

    ``held_out`` is R^2 of data that the coefficients were not fitted to, ``residual`` is in units of the noise,
    ``margin`` says how much worse the next best combination of as many terms is; "-" stands for what is not known.
    """

    equation: str
    label: str
    confidence: str
    terms: str
    held_out: str
    residual: str
    margin: str
    proved: str


HEADS = Line(
    "equation", "verdict", "confidence", "terms", "held-out R²", "residual/noise", "next best", "best of its size"
)


def table(result: DiscoveryLike) -> tuple[Line, ...]:
    """Return the table of all equations: what the verdicts rest on."""
    return tuple(_line(result, i, verdict) for i, verdict in enumerate(verdicts(result)))


def _line(result: DiscoveryLike, i: int, verdict: Verdict) -> Line:
    row, choice, solution = result.model.rows[i], choice_of(result, i), result.solution
    sure = math.nan if choice is None or choice.withheld else choice.confidence
    score, residual = result.held_out.get(row.name), result.residuals.get(row.name)
    return Line(
        row.name,
        verdict.label,
        "-" if math.isnan(sure) else percentage(sure),
        str(len(row.terms)),
        "-" if score is None else _score(score),
        "-" if residual is None else f"{residual:.3g}",
        "-" if solution.joint or not row.terms else _margin(float(solution.margin[i])),
        "proved" if is_proved(result, i) else "not proved",
    )


def _score(value: float) -> str:
    """Return R^2 as text: never rounded up to 1, and no digits of a fit that is worse than a constant."""
    if value < 0:
        return "below 0"
    return f"{min(value, 0.9999):.4f}" if value < 0.99995 else "> 0.9999"


def _margin(margin: float) -> str:
    if math.isnan(margin):
        return "-"
    if math.isinf(margin):
        return "none"
    return f"{100 * margin:.2g} % worse" if margin < 1 else f"{1 + margin:.3g} x worse"
