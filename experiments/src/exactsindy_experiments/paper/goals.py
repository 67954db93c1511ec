"""The figures set as goals before the experiments were run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactsindy_experiments.paper.studies import find_study, nearest
from exactsindy_experiments.paper.summary import Cell


@dataclass(frozen=True)
class Goal:
    """A goal for one cell: ``measure`` at least ``goal`` (at most, for errors)."""

    experiment: str
    system: str
    protocol: str
    value: float
    goal: float
    published: float
    measure: str = "exact"
    algorithm: str = "exact"
    fixed: float | None = None

    @property
    def place(self) -> tuple[float, float]:
        """Duration and noise of the cell."""
        study = find_study(self.experiment)
        value = nearest(self.value, study.setup(self.system).values)
        fixed = study.fixed[0] if self.fixed is None else self.fixed
        return (value, fixed) if study.axis == "duration" else (fixed, value)

    def cell(self, cells: Sequence[Cell]) -> Cell | None:
        """Return the cell the goal is about, if it was run."""
        wanted = (self.experiment, self.system, self.protocol, self.algorithm, *self.place)
        for cell in cells:
            c = cell.case
            if (c.experiment, c.system, c.protocol, c.algorithm, c.duration, c.noise) == wanted and cell.trials:
                return cell
        return None

    def reached(self, cell: Cell) -> tuple[float, bool]:
        """Return the figure and whether it meets the goal."""
        value = float(getattr(cell, self.measure))
        return value, value <= self.goal if self.measure.startswith("log10") else value >= self.goal - 1e-12


def _row(experiment: str, system: str, protocol: str, *triples: tuple[float, float, float]) -> list[Goal]:
    return [Goal(experiment, system, protocol, value, goal, old) for value, goal, old in triples]


GOALS: tuple[Goal, ...] = (
    *_row("differential", "lorenz", "published", (0.69, 0.80, 0.32), (0.98, 0.85, 0.70)),
    *_row("differential", "hopf", "published", (4.54, 0.95, 0.88)),
    Goal("pde", "reaction_diffusion", "published", 0.2, 0.95, 0.92, measure="tpr"),
    *_row("weak", "van_der_pol", "ours", (0.12, 0.98, 0.64), (0.17, 0.95, 0.06), (0.35, 0.9, 0.0)),
    *_row("weak", "lotka_volterra", "ours", (0.12, 0.98, 0.54), (0.25, 0.95, 0.56), (0.35, 0.8, 0.70)),
    *_row("weak", "roessler", "ours", (0.042, 0.98, 0.04), (0.085, 0.95, 0.02), (0.25, 0.9, 0.0)),
    *_row("differential", "hopf", "ours", (2.74, 0.6, 0.04), (3.53, 0.95, 0.22)),
    *_row("differential", "lorenz", "ours", (0.49, 0.7, 0.18), (0.69, 0.95, 0.32)),
    *_row("differential", "mhd", "ours", (0.5, 0.95, 0.70)),
    Goal("constraint", "duffing", "ours", 10.0, 0.9, 0.76, algorithm="exact-constrained", fixed=0.1),
    Goal(
        "constraint",
        "duffing",
        "ours",
        50.0,
        -2.0,
        -0.96,
        measure="log10_coef",
        algorithm="exact-constrained",
        fixed=0.1,
    ),
    Goal("pde", "kuramoto_sivashinsky", "ours", 2.0, 0.98, 0.71, measure="ceiling"),
    Goal("pde", "kuramoto_sivashinsky", "ours", 3.0, 0.95, 0.35, measure="ceiling"),
    Goal("pde", "kuramoto_sivashinsky", "ours", 2.0, 0.98, 0.71),
    Goal("pde", "kuramoto_sivashinsky", "ours", 3.0, 0.95, 0.35),
    Goal("pde", "reaction_diffusion", "ours", 0.2, 0.98, 0.84, measure="ceiling"),
    Goal("pde", "reaction_diffusion", "ours", 0.3, 0.95, 0.43, measure="ceiling"),
)
