"""The published trial files, where a reader has a copy of them: one row per algorithm, trial and place."""

from __future__ import annotations

import ast
import csv
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from exactsindy.errors import DataError
from exactsindy_experiments.paper.records import Case
from exactsindy_experiments.paper.studies import find_study, nearest

#: Folders of wesg52/sindy_mio_paper's ``results``, with the experiment and system they hold.
FOLDERS = {
    **{f"final_draft_dif_{name}": ("differential", name) for name in ("lorenz", "hopf", "mhd")},
    **{f"final_draft_dif_small_lib_{name}": ("differential-small", name) for name in ("lorenz", "hopf", "mhd")},
    "weak_final_draft_vanderpol": ("weak", "van_der_pol"),
    "weak_final_draft_lotka": ("weak", "lotka_volterra"),
    "weak_final_draft_rossler": ("weak", "roessler"),
    "pde_final_ks": ("pde", "kuramoto_sivashinsky"),
    "pde_final_redif": ("pde", "reaction_diffusion"),
    "constraint_final_duffing": ("constraint", "duffing"),
}
_ALGORITHMS = {
    "MIOSR": "exact",
    "Con-MIOSR": "exact-constrained",
    "STLSQ": "stlsq",
    "SSR": "ssr",
    "SR3": "sr3",
    "Con-SR3": "sr3-constrained",
    "E-STLSQ": "e-stlsq",
}
# Durations and noise levels are printed to all digits.
_SAME = 1e-6


@dataclass(frozen=True)
class PublishedTrial:
    """One published result: counts of terms, their rate, the coefficients' error, and the grid point chosen.

    ``sizes`` and ``ridges`` are per equation, empty where the file does not tell.
    """

    tp: int
    fp: int
    fn: int
    coef_l2: float
    sizes: tuple[int, ...]
    ridges: tuple[float, ...]

    @property
    def tpr(self) -> float:
        """Right over right, wrong and missed terms."""
        return self.tp / (self.tp + self.fp + self.fn)


def read_trials(folder: str | os.PathLike[str]) -> dict[Case, PublishedTrial]:
    """Return the published trials of a copy of the published results, by our case of the published protocol.

    Parameters
    ----------
    folder
        The folder ``results`` of a checkout of wesg52/sindy_mio_paper.

    Raises
    ------
    DataError
        If it holds none of the expected folders.
    """
    root = Path(folder)
    present = {name: place for name, place in FOLDERS.items() if (root / name).is_dir()}
    if not present:
        raise DataError(
            f"published trials: {root.name!r} holds none of the folders {', '.join(FOLDERS)}; give the folder "
            "'results' of a checkout of wesg52/sindy_mio_paper."
        )
    found: dict[Case, PublishedTrial] = {}
    for name, (experiment, system) in present.items():
        for path in sorted((root / name).glob("trial_*.csv")):
            found.update(_trials(path, experiment, system))
    return found


def _trials(path: Path, experiment: str, system: str) -> Iterator[tuple[Case, PublishedTrial]]:
    study = find_study(experiment)
    setup = study.setup(system)
    trial = int(path.stem.removeprefix("trial_"))
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["Method"] not in _ALGORITHMS:
                continue
            duration, noise = float(row["Duration"]), float(row["Noise"])
            value, fixed = (duration, noise) if study.axis == "duration" else (noise, duration)
            here = nearest(value, setup.values)
            if not math.isclose(here, value, rel_tol=_SAME):
                raise DataError(f"published trials: {path.name} has a row at {value!r}; the nearest known is {here!r}.")
            other = nearest(fixed, study.fixed) if experiment != "pde" else study.fixed[0]
            place = (here, other) if study.axis == "duration" else (other, here)
            yield (
                Case(experiment, system, "published", _ALGORITHMS[row["Method"]], setup.degree, *place, trial),
                _trial(row),
            )


def _trial(row: Mapping[str, str]) -> PublishedTrial:
    tp, fp, fn = (round(float(row[f"support_{name}"])) for name in ("tp", "fp", "fn"))
    sizes = tuple(int(k) for k in _numbers(row.get("group_sparsity", "")))
    return PublishedTrial(tp, fp, fn, float(row["coef_l2"]), sizes, _numbers(row.get("alpha", "")))


def _numbers(text: str) -> tuple[float, ...]:
    """Return the numbers of a cell: nothing, one, or several in brackets."""
    if not text:
        return ()
    value = ast.literal_eval(text)
    return tuple(float(v) for v in value) if isinstance(value, tuple | list) else (float(value),)
