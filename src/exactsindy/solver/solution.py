"""The answer of a solve: coefficients, and what is proved about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.certificate import Certificate
from exactsindy.problem import COEFFICIENT_LIMIT, Block, Problem, column_norms
from exactsindy.solver import arguments, display
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.settings import PROVED, Settings, Status, Total

# Rounding level of a residual norm: this many units in the last place of |y| + sum |xi_j| |theta_j|.
ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of all equations with what was proved about them.

    Arrays have one entry per target; one in all for a shared budget (`Total`) or where constraints bind equations
    together. ``objective`` and ``lower_bound`` are residual sum of squares plus ridge term, the constant included: no
    support of the asked size has an objective below ``lower_bound``. ``margin`` is (next-best support of the same size)
    / objective - 1: 0 is a tie, inf says that there is no other support, nan that it was not proved.

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
    coefficient_limit
        Only supports whose coefficients are within this limit count (see `Settings`).
    """

    problem: Problem
    coef: Array
    support: tuple[tuple[int, ...], ...]
    objective: Array
    lower_bound: Array
    margin: Array
    status: tuple[Status, ...]
    nodes: NDArray[np.int64]
    seconds: Array
    ridge: Array
    k: tuple[int, ...] | Total
    constraints: tuple[Any, ...] = ()
    conflict: tuple[str, ...] = ()
    coefficient_limit: float = COEFFICIENT_LIMIT

    @classmethod
    def of(
        cls,
        problem: Problem,
        outcomes: Sequence[Outcome],
        *,
        ridge: Array,
        k: tuple[int, ...] | Total,
        settings: Settings,
        constraints: tuple[Any, ...] = (),
        conflict: tuple[str, ...] = (),
    ) -> Solution:
        """Put outcomes together: one per equation, or one of all equations (supports ``equation * D + term``)."""
        width = len(problem.terms)
        coef = np.zeros((len(problem.target_names), width))
        support: list[list[int]] = [[] for _ in problem.target_names]
        for outcome in outcomes:
            for answer in outcome.answers[:1]:
                for v, value in zip(answer.support, answer.coef, strict=True):
                    support[v // width].append(v % width)
                    coef[v // width, v % width] = value
        objectives, bounds = [o.objective for o in outcomes], [o.bound for o in outcomes]
        objective, bound = np.array(objectives), np.array(bounds)
        # The floor only makes gaps smaller, and costs time: most answers do not need it.
        gap = list(map(_gap, objectives, bounds))
        allowed = max(settings.gap, PROVED)
        if not all(g <= allowed for g in gap):
            if not isinstance(k, Total) and _small_gaps(problem, outcomes, allowed):
                gap = [0.0] * len(gap)  # (what is below the rounding level does not matter here)
            else:
                gap = relative_gap(objective, bound, floors(problem, coef, k, len(outcomes))).tolist()
        return cls(
            problem=problem,
            coef=coef,
            support=tuple(tuple(sorted(chosen)) for chosen in support),
            objective=objective,
            lower_bound=bound,
            margin=np.array([o.margin for o in outcomes]),
            status=tuple(status_of(o, g, settings) for o, g in zip(outcomes, gap, strict=True)),
            nodes=np.array([o.nodes for o in outcomes], dtype=np.int64),
            seconds=np.array([o.seconds for o in outcomes]),
            ridge=ridge,
            k=k,
            constraints=constraints,
            conflict=conflict,
            coefficient_limit=settings.coefficient_limit,
        )

    @classmethod
    def rows(cls, problem: Problem, picks: Sequence[tuple[Solution, int]]) -> Solution:
        """Return the solution whose i-th equation is that of the i-th (solution, equation), over the problem's terms.

        The solutions must have one entry per equation (no shared budget). Terms are found by name, so the solutions
        may be of other problems with the same equations.
        """
        position = {name: j for j, name in enumerate(problem.names)}
        columns = [np.array([position[name] for name in s.problem.names], dtype=np.intp) for s, _ in picks]

        def spread(name: str) -> Array:
            table = np.zeros((len(picks), len(problem.terms)))
            for line, (s, row), places in zip(table, picks, columns, strict=True):
                line[places] = getattr(s, name)[row]
            return table

        def pick(name: str) -> Any:
            return np.array([getattr(s, name)[row] for s, row in picks])

        supports = [places[list(s.support[row])] for (s, row), places in zip(picks, columns, strict=True)]
        return cls(
            problem=problem,
            coef=spread("coef"),
            support=tuple(tuple(sorted(chosen.tolist())) for chosen in supports),
            objective=pick("objective"),
            lower_bound=pick("lower_bound"),
            margin=pick("margin"),
            status=tuple(s.status[row] for s, row in picks),
            nodes=pick("nodes"),
            seconds=pick("seconds"),
            ridge=spread("ridge"),
            k=tuple(int(s.k[row]) for s, row in picks if not isinstance(s.k, Total)),
            coefficient_limit=picks[0][0].coefficient_limit,
            constraints=picks[0][0].constraints,  # by name, so they mean the same in the other problem
        )

    @property
    def joint(self) -> bool:
        """True if there is one answer for all equations: a shared budget, or constraints that bind them together."""
        return isinstance(self.k, Total) or len(self.status) < len(self.problem.target_names)

    @property
    def optimal(self) -> bool:
        """True if every equation is proved optimal."""
        return all(status is Status.OPTIMAL for status in self.status)

    @cached_property
    def floor(self) -> Array:
        """Objectives below this cannot be told from an exact fit of the data."""
        return floors(self.problem, self.coef, self.k, len(self.status))

    @property
    def gap(self) -> Array:
        """Relative distance between the objective and the proved bound."""
        return relative_gap(self.objective, self.lower_bound, self.floor)

    @property
    def exact_fit(self) -> NDArray[np.bool_]:
        """True where the objective is at the rounding level."""
        return np.asarray(self.objective <= self.floor)

    @property
    def caps(self) -> tuple[int, ...]:
        """Most terms of each equation beside a shared budget; empty without caps."""
        return arguments.caps(self.problem, self.k) if isinstance(self.k, Total) and self.k.caps is not None else ()

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

        names, targets = self.problem.names, self.problem.target_names
        joint = self.joint
        rows = range(len(targets)) if joint else range(i, i + 1)
        label = (lambda row, j: f"{targets[row]}: {names[j]}") if joint else (lambda row, j: names[j])
        terms = [(row, j) for row in rows for j in self.support[row]]
        return Certificate(
            target=", ".join(targets[row] for row in rows),
            fingerprint=self.problem.fingerprint,
            size=self.k.k if isinstance(self.k, Total) else sum(self.k[row] for row in rows),
            weights=tuple(arguments.weights(self.problem, self.k)[list(rows)].tolist()),
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
            caps=self.caps,
            constraints=tuple(map(str, self.constraints)),
            coefficient_limit=self.coefficient_limit,
        )

    def _facts(self, i: int) -> str:
        """Return one line on what is proved about an entry of `status`, and what it cost."""
        status, gap, margin = self.status[i], self.gap[i], float(self.margin[i])
        if status is Status.INFEASIBLE:
            return str(status.value)
        close = f"proved within {100 * gap:.2g} %" if gap > 1e-8 else "proved optimal"
        words = {Status.OPTIMAL: close, Status.REFITTED: "refitted, nothing proved"}
        parts = [words.get(status, status.name.lower().replace("_", " ") + ", not proved")]
        parts.append(f"objective {self.objective[i]:.8g}")
        if math.isfinite(self.lower_bound[i]):
            parts += [f"bound {self.lower_bound[i]:.8g}", f"gap {gap:.1e}"]
        parts.append(f"next best {display.percent(margin)}" + (" worse" if 0 < margin < math.inf else ""))
        parts += [f"{int(self.nodes[i])} nodes", display.seconds(float(self.seconds[i]))]
        return " | ".join([*parts, "exact fit"] if self.exact_fit[i] else parts)

    def __str__(self) -> str:
        lines = []
        for row, (target, terms) in enumerate(self.terms.items()):
            lines.append(display.equation(target, terms.items()))
            if not self.joint and not isinstance(self.k, Total):
                lines.append(f"    k <= {self.k[row]} | {self._facts(row)}")
        if self.joint:
            size = self.k.k if isinstance(self.k, Total) else ", ".join(map(str, self.k))
            each = f", each <= {', '.join(map(str, self.caps))}" if self.caps else ""
            lines.append(f"    all together k <= {size}{each} | {self._facts(0)}")
        if self.conflict:
            lines.append("    these cannot hold together: " + "; ".join(self.conflict))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from exactsindy.library import mathml_equation  # only notebooks need it

        lines = []
        for row, target in enumerate(self.problem.target_names):
            terms = [(float(self.coef[row, j]), self.problem.terms[j]) for j in self.support[row]]
            lines.append(mathml_equation(target, terms))
            if not self.joint:
                lines.append(display.note(self._facts(row)))
        if self.joint:
            lines.append(display.note(f"all together: {self._facts(0)}"))
        return f"<div>{''.join(lines)}</div>"

    def __repr__(self) -> str:
        shown = ", ".join(f"{t}: {len(s)} terms" for t, s in zip(self.problem.target_names, self.support, strict=True))
        widest = float(np.max(self.gap, initial=0.0))
        proof = "proved optimal" if widest <= 1e-8 else f"proved within {widest:.1e}"
        return f"<Solution {shown}; {proof if self.optimal else 'not proved'}>"


def status_of(outcome: Outcome, gap: float, settings: Settings) -> Status:
    """Return the status of an answer with this relative gap: the one rule for all searches and backends."""
    if outcome.infeasible:
        return Status.INFEASIBLE
    if outcome.stop is Status.REFITTED:
        return Status.REFITTED
    if gap <= max(settings.gap, PROVED):
        return Status.OPTIMAL
    return outcome.stop or Status.TOLERANCE  # done with a larger gap: the search stopped at its own tolerance


def floors(problem: Problem, coef: Array, k: tuple[int, ...] | Total, entries: int) -> Array:
    """Return the squared rounding level of residual norms, (16 eps (|y| + sum |xi_j| |theta_j|))^2, per entry."""
    sizes: list[float] = []
    with np.errstate(over="ignore", under="ignore"):
        for block in problem.blocks:
            columns = problem.columns(block)
            for j in range(len(block.target_names)):
                own, (z, rest) = coef[len(sizes)][columns], block.target(j)
                chosen = np.flatnonzero(own)  # norms of all columns would take long in a large library
                sizes.append(math.sqrt(z @ z + rest @ rest) + float(_norms(block, chosen) @ np.abs(own[chosen])))
        level = arguments.weights(problem, k) * (ROUNDING * np.array(sizes)) ** 2
    return np.asarray(level) if entries == len(level) and not isinstance(k, Total) else np.array([level.sum()])


def _small_gaps(problem: Problem, outcomes: Sequence[Outcome], allowed: float) -> bool:
    """Whether all gaps are certainly small enough, from a floor that is too low: that of the targets alone."""
    if len(outcomes) != len(problem.target_names):
        return False
    lows = [(1 - 1e-9) * ROUNDING**2 * square for block in problem.blocks for square in block.target_squares]
    pairs = zip(outcomes, lows, strict=True)
    return all(o.objective - o.bound <= allowed * max(o.objective, low) for o, low in pairs)


def _norms(block: Block, columns: NDArray[np.intp]) -> Array:
    """Return the norms of some columns, to the bit those of `Block.column_norms`."""
    if len(block.terms) <= 1000:
        return np.asarray(block.column_norms[columns])  # computed once
    # (NumPy adds up a lone column in another order: two more keep it company.)
    part = np.ascontiguousarray(block.theta_factor[:, np.append(columns, [0, 0])])
    return column_norms(part)[: len(columns)]


def _gap(objective: float, bound: float) -> float:
    """Return the relative gap without the rounding floor; nan where the floor is needed to tell."""
    if objective == bound < math.inf:
        return 0.0
    return (objective - bound) / objective if 0 < objective < math.inf else math.nan


def relative_gap(objective: Array, lower_bound: Array, floor: Array) -> Array:
    """Return (objective - lower_bound) / max(objective, floor); 0 where both are 0."""
    scale = np.maximum(objective, floor)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.maximum(objective - lower_bound, 0.0) / np.where(scale > 0, scale, 1.0)
    return np.asarray(gap)
