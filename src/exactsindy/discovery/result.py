"""What a discovery returns: a model with its proof, its rivals, and what to be careful about."""

from __future__ import annotations

import heapq
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy.certificate import Certificate
from exactsindy.data import Data, Notice
from exactsindy.errors import SolverError
from exactsindy.model import Model
from exactsindy.problem import Problem, find_target
from exactsindy.report import describe
from exactsindy.selection import Selection
from exactsindy.solver import Pool, Solution, Total, refit


@dataclass(frozen=True, eq=False, repr=False)
class Discovery:
    """Equations found in data, certified, with what is known about their alternatives.

    Attributes
    ----------
    model
        The equations: predict, simulate, export, save.
    selection
        How the sizes were chosen: path, table, confidence, inclusion probabilities.
    problem
        The regression that was solved.
    pool
        Per equation the best supports of the chosen size, best first; ``None`` if they were not computed.
    warnings
        What to be careful about.
    data
        What was measured, checked.
    solution
        The coefficients shown, which `at` may have changed from those selected.
    arguments
        What was asked for, as text.
    """

    model: Model
    selection: Selection
    problem: Problem
    pool: Pool | None
    warnings: tuple[Notice, ...]
    data: Data = field(repr=False)
    solution: Solution = field(repr=False)
    arguments: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What is proved about each equation, to store and to check with `verify`."""
        return self.solution.certificates

    def at(self, *, k: Any = None, rival: int | Mapping[str, int] | None = None) -> Discovery:
        """Return the discovery with other sizes, or with a rival of the same sizes.

        Parameters
        ----------
        k
            Number of terms: an int for all equations, or ``{"x'": 2}`` for some, the others staying as they are.
        rival
            ``{"x'": 2}``: the second best support of that equation, of the same size. An int ranks whole models:
            2 is the model that fits next best, where the equation with the closest rival takes it.

        Raises
        ------
        SolverError
            If both or neither are given, or there is no such size or rival.
        """
        if (k is None) == (rival is None):
            raise SolverError("at(...): give one of k= (other sizes) and rival= (another support of the same size).")
        solution = self._sized(k) if rival is None else self._rival(rival)
        model = Model.from_solution(solution, variables=self.data)
        return replace(self, model=model, solution=solution)

    def _sized(self, k: Any) -> Solution:
        path = self.selection.path
        shared = isinstance(path[0].k, Total)
        sizes = [k] if shared or isinstance(k, int) else list(k.values()) if isinstance(k, Mapping) else list(k)
        for size in sizes:
            if not isinstance(size, int | np.integer) or not 0 <= size < len(path):
                raise SolverError(f"at(k={k!r}): this path goes from 0 to {len(path) - 1} terms.")
        if shared:
            return path[int(sizes[0])]
        names = self.problem.target_names
        if isinstance(k, Mapping):
            chosen = {name: len(s) for name, s in zip(names, self.solution.support, strict=True)}
            chosen.update({names[find_target(target, names)]: int(size) for target, size in k.items()})
            return path.at(chosen)
        return path[int(k)] if isinstance(k, int | np.integer) else path.at(k)

    def _rival(self, rival: int | Mapping[str, int]) -> Solution:
        if self.pool is None:
            raise SolverError(
                "at(rival=...): no rivals were computed (a shared budget, constraints, or an interruption)."
            )
        names = self.problem.target_names
        if isinstance(rival, Mapping):
            ranks = {names[find_target(target, names)]: rank for target, rank in rival.items()}
            picks = [ranks.get(name, 1) - 1 for name in names]
        else:
            picks = self._ranked(rival)
        for name, pick in zip(names, picks, strict=True):
            if not 0 <= pick < max(len(self.pool[name]), 1):
                raise SolverError(
                    f"at(rival={rival!r}): {name} has {len(self.pool[name])} ranked supports; expected a number from 1 "
                    "to that."
                )
        supports = [
            self.pool[name][pick].support if self.pool[name] else () for name, pick in zip(names, picks, strict=True)
        ]
        return refit(self.problem, supports, ridge=self.solution.ridge)

    def _ranked(self, rank: int) -> list[int]:
        """Return which member of each equation makes the rank-th best model: best-first over their ranks."""
        assert self.pool is not None
        names = self.problem.target_names
        costs = [
            [0.5 * self.problem.n_samples_of(i) * np.log1p(m.excess) for m in self.pool[name]] or [0.0]
            for i, name in enumerate(names)
        ]
        first = (0,) * len(names)
        queue, seen = [(0.0, first)], {first}
        for _ in range(max(rank, 1) - 1):
            cost, state = heapq.heappop(queue)
            for i in range(len(names)):
                if state[i] + 1 < len(costs[i]):
                    later = (*state[:i], state[i] + 1, *state[i + 1 :])
                    if later not in seen:
                        seen.add(later)
                        heapq.heappush(queue, (cost + costs[i][later[i]] - costs[i][state[i]], later))
            if not queue:
                break
        if rank < 1 or not queue:
            raise SolverError(
                f"at(rival={rank!r}): there are fewer ranked models; expected a number from 1 to {len(seen)}."
            )
        return list(queue[0][1])

    def __str__(self) -> str:
        return describe(self)

    def report(self, path: str | os.PathLike[str], *, title: str = "Governing equations") -> Path:
        """Write one self-contained HTML page: equations, proof, path, rivals, fit, data checks; see `report`."""
        from exactsindy.report import report

        return report(self, path, title=title)

    def save(self, folder: str | os.PathLike[str], *, about: Mapping[str, Any] | None = None) -> Path:
        """Write everything into a folder that `load`, ``exactsindy verify`` and ``exactsindy report`` read."""
        from exactsindy.discovery.run_folder import save_run

        return save_run(self, folder, about=about)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Discovery:
        """Read what `save` wrote, and check that data and regression are those it was written with."""
        from exactsindy.discovery.run_folder import load_run

        return load_run(folder).discovery

    def _repr_html_(self) -> str:
        from exactsindy.report import discovery_html

        return discovery_html(self)

    def __repr__(self) -> str:
        return f"<Discovery {'; '.join(self.model.equations(4))}>"
