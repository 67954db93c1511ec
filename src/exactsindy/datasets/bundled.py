"""What is bundled: each data set with its source, its licence and the law that is known."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactsindy.data import Trajectories


@dataclass(frozen=True)
class Bundled:
    """A bundled data set: its file, what it holds, where it comes from, its licence, and the law that is known.

    ``trajectory`` names the column that tells trajectories apart. ``rates`` names the column with the rate of the
    state, where rates were measured instead of a time series.
    """

    name: str
    about: str
    source: str
    licence: str
    law: str
    time: str | None
    trajectory: str | None = None
    rates: str | None = None

    @property
    def file(self) -> str:
        """Return the name of the file."""
        return f"{self.name}.csv"

    def __str__(self) -> str:
        return f"{self.name}: {self.about}\n    source: {self.source}\n    licence: {self.licence}\n    law: {self.law}"

    def measured_rates(self, path: Path) -> Trajectories:
        """Return the rows of a table of measured rates, one trajectory for each value of the column ``trajectory``."""
        from exactsindy.data import Trajectories, Trajectory

        assert self.rates is not None
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        (state,) = [column for column in rows[0] if column not in (self.trajectory, self.rates)]
        groups: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            groups.setdefault(row[self.trajectory] if self.trajectory else "", []).append(row)
        return Trajectories(
            Trajectory(
                None,
                [[float(row[state])] for row in group],
                (state,),
                derivatives=[[float(row[self.rates])] for row in group],
                label=label,
            )
            for label, group in groups.items()
        )


BUNDLED = {
    item.name: item
    for item in (
        Bundled(
            "lorenz",
            "5 s of the Lorenz system, 2500 samples every 2 ms, 0.2 % Gaussian noise",
            "made by python -m exactsindy.systems.bundled",
            "no rights reserved",
            "x' = 10 (y - x), y' = x (28 - z) - y, z' = x y - 8/3 z",
            "t",
        ),
        Bundled(
            "lynx_hare",
            "pelts of snowshoe hare and Canada lynx, thousands per year, 1900 to 1920: 21 measured samples",
            "Hudson's Bay Company, reprinted since E. P. Odum, Fundamentals of Ecology (1953)",
            "facts, free to use",
            "none known; Lotka and Volterra's is what textbooks fit",
            "year",
        ),
        Bundled(
            "paramecium",
            "individuals of Paramecium aurelia and P. caudatum in 0.5 ml, each alone and both together, 25 days each",
            "G. F. Gause, The Struggle for Existence (1934), appendix, table 3: means of three vessels",
            "facts, free to use",
            "logistic growth with competition, which Gause fitted; a model, not a law of nature",
            "day",
            "vessel",
        ),
        Bundled(
            "puromycin",
            "rate of an enzymatic reaction (counts/min^2) at 23 concentrations (ppm), cells treated with puromycin or "
            "not",
            "M. A. Treloar, M.Sc. thesis, University of Toronto (1974); D. M. Bates and D. G. Watts, Nonlinear "
            "Regression Analysis and Its Applications (1988), table A1.3",
            "facts, free to use",
            "Michaelis and Menten: rate = V c/(K + c); published least squares, treated: V = 212.7, K = 0.0641",
            None,
            "cells",
            "rate",
        ),
        Bundled(
            "us_census",
            "resident population of the United States in millions, every ten years, 1790 to 1950: 17 counts",
            "decennial census, U.S. Census Bureau",
            "public domain",
            "none known; Pearl and Reed fitted logistic growth in 1920",
            "year",
        ),
    )
}
