"""Means over trials: one cell per algorithm and place on the axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy_experiments.paper.records import Case, Outcome


@dataclass(frozen=True)
class Cell:
    """Trials of one algorithm at one place; means over those that did not fail, nan where there is no number.

    ``case`` is that of the first trial. ``log10_rmse`` is of the published test error, ``log10_rhs`` of the one
    against the true right-hand side; ``gap`` the largest one; ``ceiling`` the share of trials whose best subset of the
    true sizes is true.
    """

    case: Case
    trials: int
    failed: int
    tpr: float
    tpr_se: float
    exact: float
    log10_coef: float
    log10_coef_se: float
    log10_rmse: float
    log10_rmse_se: float
    log10_rhs: float
    violation: float
    seconds: float
    geometric_seconds: float
    proved: float
    gap: float
    ceiling: float


def cells(rows: Iterable[tuple[Case, Outcome]]) -> list[Cell]:
    """Return the cells of rows.

    Examples
    --------
    >>> case = Case("weak", "roessler", "published", "exact", 3, 50.0, 0.01, 1)
    >>> cells([(case, Outcome(tpr=1.0, exact=True, coef_l2=0.01))])[0].log10_coef
    -2.0
    """
    groups: dict[tuple[object, ...], list[tuple[Case, Outcome]]] = {}
    for case, outcome in rows:
        groups.setdefault(case.key[:-1], []).append((case, outcome))
    return [_cell(group) for group in groups.values()]


def _cell(group: Sequence[tuple[Case, Outcome]]) -> Cell:
    good = [outcome for _, outcome in group if not outcome.error]
    tpr, tpr_se = _mean([o.tpr for o in good])
    coef, coef_se = _mean([_log(o.coef_l2) for o in good])
    rmse, rmse_se = _mean([_log(o.test_rmse) for o in good])
    return Cell(
        case=group[0][0],
        trials=len(good),
        failed=len(group) - len(good),
        tpr=tpr,
        tpr_se=tpr_se,
        exact=_mean([o.exact for o in good])[0],
        log10_coef=coef,
        log10_coef_se=coef_se,
        log10_rmse=rmse,
        log10_rmse_se=rmse_se,
        log10_rhs=_mean([_log(o.rhs_rmse) for o in good])[0],
        violation=_mean([o.violation for o in good])[0],
        seconds=_mean([o.seconds for o in good])[0],
        geometric_seconds=10 ** _mean([_log(o.seconds) for o in good])[0],
        proved=_mean([o.proved for o in good])[0],
        gap=max((o.gap for o in good if o.gap is not None), default=math.nan),
        ceiling=_mean([o.exact_at_true_k for o in good])[0],
    )


def _log(value: float | None) -> float | None:
    return math.log10(value) if value else None


def _mean(values: Sequence[float | None]) -> tuple[float, float]:
    """Return mean and standard error of what is there."""
    known = np.array([value for value in values if value is not None], dtype=float)
    if not len(known):
        return math.nan, math.nan
    error = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan
    return float(known.mean()), error
