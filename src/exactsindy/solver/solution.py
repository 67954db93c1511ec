"""The answer of a solve: coefficients, and what is proved about them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy.certificate import Certificate
from exactsindy.solver import display
from exactsindy.solver.settings import Status, Total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.problem import Problem

# Rounding level of a residual norm: this many units in the last place of |y| + sum |xi_j| |theta_j|.
ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of all equations with what was proved about them.

    Arrays have one entry per target; one in all for a shared budget (`Total`) or where constraints bind equations
    together. ``objective`` and ``lower_bound``
    are residual sum of squares plus ridge term, the constant included: no support of the asked size has an objective
    below ``lower_bound``. ``margin`` is (next-best support of the same size) / objective - 1: 0 is a tie, inf says that
    there is no other support, nan that it was not proved.

    Attributes
    ----------
    coef
        (m, D) over ``problem.terms``; exact zeros off the support.
    support
        Per target, the indices into ``problem.terms``.
    status
        Per target; ``OPTIMAL`` only if proved.
    gap
        (objective - lower_bound) / max(objective, rounding floor).
    exact_fit
        True where the objective is at the rounding level of the data.
    seconds
        Time spent in the search, per target.
    constraints, conflict
        The constraints given; and, of an infeasible problem, some of them that cannot hold together.
    """

    problem: Problem
    coef: NDArray[np.float64]
    support: tuple[tuple[int, ...], ...]
    objective: NDArray[np.float64]
    lower_bound: NDArray[np.float64]
    margin: NDArray[np.float64]
    status: tuple[Status, ...]
    nodes: NDArray[np.int64]
    seconds: NDArray[np.float64]
    ridge: NDArray[np.float64]
    k: tuple[int, ...] | Total
    constraints: tuple[Any, ...] = ()
    conflict: tuple[str, ...] = ()

    @property
    def joint(self) -> bool:
        """Whether there is one answer for all equations: a shared budget, or constraints that bind them together."""
        return isinstance(self.k, Total) or len(self.status) < len(self.problem.target_names)

    @property
    def optimal(self) -> bool:
        """Whether every equation is proved optimal."""
        return all(status is Status.OPTIMAL for status in self.status)

    @property
    def floor(self) -> NDArray[np.float64]:
        """Objectives below this cannot be told from an exact fit of the data."""
        level = floors(self.problem, self.coef, self.k)
        return level if len(level) == len(self.status) else np.array([level.sum()])

    @property
    def gap(self) -> NDArray[np.float64]:
        """Relative distance between the objective and the proved bound."""
        return relative_gap(self.objective, self.lower_bound, self.floor)

    @property
    def exact_fit(self) -> NDArray[np.bool_]:
        """Whether the objective is at the rounding level."""
        return np.asarray(self.objective <= self.floor)

    @property
    def terms(self) -> dict[str, dict[str, float]]:
        """Coefficients by equation and term name: ``{"x'": {"x": -10.0, "y": 10.0}}``."""
        names = self.problem.names
        return {
            target: {names[j]: float(self.coef[row, j]) for j in self.support[row]}
            for row, target in enumerate(self.problem.target_names)
        }

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The claims, one record per entry of `status`, to store and to check later."""
        return tuple(self._certificate(i) for i in range(len(self.status)))

    def _certificate(self, i: int) -> Certificate:
        from exactsindy import __version__
        from exactsindy.solver.arguments import caps, total

        names, targets = self.problem.names, self.problem.target_names
        joint = self.joint
        rows = range(len(targets)) if joint else range(i, i + 1)
        label = (lambda row, j: f"{targets[row]}: {names[j]}") if joint else (lambda row, j: names[j])
        terms = [(row, j) for row in rows for j in self.support[row]]
        return Certificate(
            target=", ".join(targets[row] for row in rows),
            fingerprint=self.problem.fingerprint,
            size=self.k.k if isinstance(self.k, Total) else sum(self.k[row] for row in rows),
            weights=tuple(total(self.problem, self.k)[1].tolist()) if isinstance(self.k, Total) else (1.0,) * len(rows),
            ridge=tuple(float(x) for row in rows for x in self.ridge[row]),
            support=tuple(label(row, j) for row, j in terms),
            coefficients=tuple(float(self.coef[row, j]) for row, j in terms),
            objective=float(self.objective[i]),
            lower_bound=float(self.lower_bound[i]),
            gap=float(self.gap[i]),
            margin=float(self.margin[i]),
            status=self.status[i].name,
            nodes=int(self.nodes[i]),
            seconds=float(self.seconds[i]),
            version=__version__,
            caps=caps(self.problem, self.k) if isinstance(self.k, Total) and self.k.caps is not None else (),
            constraints=tuple(map(str, self.constraints)),
        )

    def __str__(self) -> str:
        return display.solution(self)

    def _repr_html_(self) -> str:
        from exactsindy.solver import html  # only notebooks need it

        return html.solution(self)

    def __repr__(self) -> str:
        shown = ", ".join(f"{t}: {len(s)} terms" for t, s in zip(self.problem.target_names, self.support, strict=True))
        widest = float(np.max(self.gap, initial=0.0))
        proof = "proved optimal" if widest <= 1e-8 else f"proved within {widest:.1e}"
        proof = proof if self.optimal else "not proved"
        return f"<Solution {shown}; {proof}>"


def floors(problem: Problem, coef: NDArray[np.float64], k: object) -> NDArray[np.float64]:
    """Squared rounding level of each residual norm: (16 eps (|y| + sum |xi_j| |theta_j|))^2."""
    norms = np.broadcast_to(problem.column_norms, coef.shape)
    size = np.sqrt(problem.rss(np.zeros_like(coef))) + np.sum(np.abs(coef) * norms, axis=1)
    level = (ROUNDING * size) ** 2
    if isinstance(k, Total):
        from exactsindy.solver.arguments import total

        return np.array([np.sum(total(problem, k)[1] * level)])
    return np.asarray(level)


def relative_gap(
    objective: NDArray[np.float64], lower_bound: NDArray[np.float64], floor: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (objective - lower_bound) / max(objective, floor); 0 where both are 0."""
    scale = np.maximum(objective, floor)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.maximum(objective - lower_bound, 0.0) / np.where(scale > 0, scale, 1.0)
    return np.asarray(gap)


def margin_of(objective: float, runner_up: float) -> float:
    """Relative distance of the next-best support; nan stays nan (not proved)."""
    if math.isnan(runner_up) or runner_up == objective:
        return 0.0 if runner_up == objective else float("nan")
    return float(runner_up / objective - 1.0) if objective > 0 else float("inf")
