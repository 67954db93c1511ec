"""The published numbers, means over the published trials."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources

#: What the published results call our algorithms.
COUNTERPART = {"exact": "miosr", "exact-constrained": "miosr-constrained"}
# Values are printed to 6 digits.
_SAME = 1e-4


@dataclass(frozen=True)
class PublishedCell:
    """One cell of one published curve; nan where nothing was published.

    ``log10_coef`` and ``log10_rmse`` are means of logarithms, ``_se`` one standard error. ``seconds`` is the mean of
    the whole grid search, in the runtime experiment the geometric mean of one fit.
    """

    experiment: str
    system: str
    algorithm: str
    degree: int
    duration: float
    noise: float
    trials: int
    tpr: float
    tpr_se: float
    exact: float
    log10_coef: float
    log10_coef_se: float
    log10_rmse: float
    log10_rmse_se: float
    seconds: float


@lru_cache(maxsize=1)
def published_cells() -> tuple[PublishedCell, ...]:
    """Return all published cells (source: wesg52/sindy_mio_paper at 8e28558, trial files of its results).

    Examples
    --------
    >>> len(published_cells())
    1420
    """
    text = resources.files("exactsindy_experiments.paper").joinpath("published.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    kinds = {field.name: str(field.type) for field in fields(PublishedCell)}
    return tuple(
        PublishedCell(**{name: _parse(value, kinds[name]) for name, value in row.items()})  # type: ignore[arg-type]
        for row in csv.DictReader(lines)
    )


def find_published(
    experiment: str, system: str, algorithm: str, degree: int, duration: float, noise: float
) -> PublishedCell | None:
    """Return the published cell, MIOSR's for our solver, or None.

    Examples
    --------
    >>> find_published("weak", "roessler", "exact", 3, 50.0, 0.01).exact
    1.0
    """
    name = COUNTERPART.get(algorithm, algorithm)
    for cell in _curves().get((experiment, system, name, degree), ()):
        if _same(cell.duration, duration) and _same(cell.noise, noise):
            return cell
    return None


@lru_cache(maxsize=1)
def _curves() -> dict[tuple[str, str, str, int], list[PublishedCell]]:
    curves: dict[tuple[str, str, str, int], list[PublishedCell]] = {}
    for cell in published_cells():
        curves.setdefault((cell.experiment, cell.system, cell.algorithm, cell.degree), []).append(cell)
    return curves


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_SAME)


def _parse(text: str, kind: str) -> str | int | float:
    if kind == "str":
        return text
    return int(text) if kind == "int" else float(text or "nan")
