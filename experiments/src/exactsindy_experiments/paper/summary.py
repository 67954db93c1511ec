"""Means over trials: one cell per algorithm and place on the axis, ours and the published ones."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from exactsindy_experiments.pages import mean, standard_error
from exactsindy_experiments.paper.records import Case, Result

#: Our algorithms that solve the problem of a published one, with its name.
COUNTERPART = {"exact": "MIOSR", "exact-constrained": "constrained MIOSR"}
_OURS = {"miosr": "exact", "miosr-constrained": "exact-constrained"}
# Published durations and noise levels are printed to 6 digits.
_SAME = 1e-4


@dataclass(frozen=True)
class Cell:
    """Trials of one algorithm at one place; means over those that did not fail, nan where there is no number.

    ``case`` is that of the first trial. ``log10_coef``, ``log10_rmse`` (of the published test error) and ``log10_rhs``
    (against the true right-hand side) are means of logarithms, ``_se`` one standard error; ``gap`` is the largest one;
    ``ceiling`` the share of trials whose best subset of the true sizes is true.
    """

    case: Case
    trials: int
    failed: int = 0
    tpr: float = math.nan
    tpr_se: float = math.nan
    exact: float = math.nan
    log10_coef: float = math.nan
    log10_coef_se: float = math.nan
    log10_rmse: float = math.nan
    log10_rmse_se: float = math.nan
    log10_rhs: float = math.nan
    violation: float = math.nan
    seconds: float = math.nan
    geometric_seconds: float = math.nan
    proved: float = math.nan
    gap: float = math.nan
    ceiling: float = math.nan


def cells(rows: Iterable[Result]) -> list[Cell]:
    """Return the cells of rows.

    Examples
    --------
    >>> from exactsindy_experiments.paper.records import Outcome
    >>> case = Case("weak", "roessler", "published", "exact", 3, 50.0, 0.01, 1)
    >>> cells([Result(case, Outcome(tpr=1.0, exact=True, coef_l2=0.01))])[0].log10_coef
    -2.0
    """
    groups: dict[tuple[object, ...], list[Result]] = {}
    for row in rows:
        groups.setdefault(row.case.curve, []).append(row)
    return [_cell(group) for group in groups.values()]


def _cell(group: Sequence[Result]) -> Cell:
    good = [outcome for _, outcome in group if not outcome.error]
    tpr = [o.tpr for o in good]
    coef, rmse = [_log(o.coef_l2) for o in good], [_log(o.test_rmse) for o in good]
    return Cell(
        case=group[0].case,
        trials=len(good),
        failed=len(group) - len(good),
        tpr=mean(tpr),
        tpr_se=standard_error(tpr),
        exact=mean(o.exact for o in good),
        log10_coef=mean(coef),
        log10_coef_se=standard_error(coef),
        log10_rmse=mean(rmse),
        log10_rmse_se=standard_error(rmse),
        log10_rhs=mean(_log(o.rhs_rmse) for o in good),
        violation=mean(o.violation for o in good),
        seconds=mean(o.seconds for o in good),
        geometric_seconds=10 ** mean(_log(o.seconds) for o in good),
        proved=mean(o.proved for o in good),
        gap=max((o.gap for o in good if o.gap is not None), default=math.nan),
        ceiling=mean(o.exact_at_true_k for o in good),
    )


def _log(value: float | None) -> float | None:
    return math.log10(value) if value else None


@cache
def published_cells() -> tuple[Cell, ...]:
    """Return all published cells, MIOSR's under the names of our solver (source: published.csv says where from).

    ``seconds`` is the mean of the whole grid search, in the runtime experiment the geometric mean of one fit.

    Examples
    --------
    >>> len(published_cells())
    1420
    """
    text = resources.files("exactsindy_experiments.paper").joinpath("published.csv").read_text("utf-8")
    return tuple(
        _published(row) for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    )


def _published(row: dict[str, str]) -> Cell:
    algorithm = _OURS.get(row["algorithm"], row["algorithm"])
    place = (int(row["degree"]), float(row["duration"]), float(row["noise"]))
    case = Case(row["experiment"], row["system"], "published", algorithm, *place, 0)
    measures = {name: float(row[name] or "nan") for name in list(row)[7:]}
    return Cell(case, int(row["trials"]), geometric_seconds=measures["seconds"], **measures)  # type: ignore[arg-type]


def find_published(case: Case) -> Cell | None:
    """Return the published cell of a case, MIOSR's for our solver, or None.

    Examples
    --------
    >>> find_published(Case("weak", "roessler", "ours", "exact", 3, 50.0, 0.01, 1)).exact
    1.0
    """
    for cell in _curves().get((case.experiment, case.system, case.algorithm, case.degree), ()):
        places = (cell.case.duration, case.duration), (cell.case.noise, case.noise)
        if all(math.isclose(*place, rel_tol=_SAME) for place in places):
            return cell
    return None


@cache
def _curves() -> dict[tuple[str, str, str, int], list[Cell]]:
    curves: dict[tuple[str, str, str, int], list[Cell]] = {}
    for cell in published_cells():
        case = cell.case
        curves.setdefault((case.experiment, case.system, case.algorithm, case.degree), []).append(cell)
    return curves
