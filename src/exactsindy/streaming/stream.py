"""Equations of data that keep coming, proved again after every chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.chunked import EachApart, Pieces, Plan
from exactsindy.constraints import Constraint
from exactsindy.data import Data, Trajectories, Trajectory
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import Form
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import growth_ratio
from exactsindy.solver import Settings, Solution, solve, solve_path
from exactsindy.streaming.joining import Tail, pieces_with
from exactsindy.streaming.memory import Decaying, Everything, Memory, Window

# Largest number of terms tried where none is asked for.
_MOST_TERMS = 8
# Chunks before which no change is noticed, and chunks back that a new one is compared with.
_LEAST_CHUNKS, _COMPARED = 4, 30
# A law has changed where the mean square of the residuals of new rows, under the model before them, is larger than that
# of every chunk compared by this factor. Noise whose standard deviation doubles is not taken for a change of the law.
# Not tuned on data.
_CHANGED = 4.0


@dataclass(frozen=True)
class Change:
    """A change of law: the equation, the number of rows before it, and by what factor residuals grew."""

    equation: str
    rows: int
    factor: float

    def __str__(self) -> str:
        return f"{self.equation} changed after {self.rows} rows: residuals of the new rows are {self.factor:.3g} times"


class Stream:
    """Equations of data that keep coming: `update` absorbs a chunk and proves the optimum again.

    Parameters
    ----------
    form, library
        How rows are made, and the candidate terms.
    k
        Number of terms: an int, or a mapping from target to int. By default chosen by the growth ratio from proved
        paths of the rows so far: at first, whenever the rows have doubled, and after a change of law.
    window
        Rows that are remembered, at least; older chunks are forgotten. All of them by default.
    half_life
        Rows after which an older row counts half, in place of a window.
    ridge, constraints, settings
        As in `solve`.
    restart
        Whether all rows before a change of law are forgotten when it is noticed.

    Notes
    -----
    A chunk of trajectories that begins one step after the last one ended goes on from it: its rows are those of the
    whole record (the last few rows wait for the next chunk). The problem is exactly the sum of the rows remembered, and
    every solution is proved for it, with the earlier optimum as the start. `changes` lists where residuals of
    new rows under the model before them were at least four times those of any of the last 30 chunks. `pickle` keeps a
    stream with all it remembers: what is loaded goes on to the same bits.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> stream = es.Stream(es.StrongForm(), es.Polynomials(2), k=1)
    >>> for start in range(0, 10):
    ...     t = np.arange(start, start + 1, 0.01)
    ...     solution = stream.update(es.Trajectories.from_arrays(np.exp(-t), time=t, states=("x",)))
    >>> round(stream.solution.terms["x'"]["x"], 3), stream.solution.status[0].name
    (-1.0, 'OPTIMAL')
    """

    def __init__(
        self,
        form: Form,
        library: Library,
        k: int | Mapping[str, int] | None = None,
        *,
        window: int | None = None,
        half_life: float | None = None,
        ridge: ArrayLike = 0.0,
        constraints: Sequence[Constraint] = (),
        settings: Settings = Settings(),  # noqa: B008 - frozen
        restart: bool = False,
    ) -> None:
        if window is not None and half_life is not None:
            raise ProblemError(f"Stream(window={window!r}, half_life={half_life!r}): two ways to forget; give one.")
        for name, value in (("window", window), ("half_life", half_life)):
            if value is not None and not (isinstance(value, int | float) and value >= 1):
                raise ProblemError(f"Stream({name}={value!r}): expected a number of rows >= 1.")
        self.form, self.library, self.changes = form, library, list[Change]()
        self._asked, self._ridge, self._constraints, self._settings = k, ridge, tuple(constraints), settings
        self._window, self._half_life, self._restart = window, half_life, restart
        self._memory = self._new_memory()
        self._plan: Plan | None = None
        self._tail: Tail | None = None
        self._state: Any = None
        self._problem: Problem | None = None
        self._solution: Solution | None = None
        self._sizes: int | Mapping[str, int] | None = k
        self._sized_at, self.rows = 0, 0
        self._squares: list[Array] = []

    @property
    def problem(self) -> Problem:
        """Return the regression of the rows that are remembered."""
        if self._problem is None:
            raise DataError("Stream: there are no rows yet; call update(chunk) first.")
        return self._problem

    @property
    def solution(self) -> Solution:
        """Return the solution for `problem`, proved after the last chunk."""
        if self._solution is None:
            raise DataError("Stream: there are no rows yet; call update(chunk) first.")
        return self._solution

    def update(self, chunk: Data | Trajectory) -> Solution | None:
        """Absorb a chunk and prove the optimum again; None while there are too few rows for one."""
        fresh = self._rows_of(Trajectories([chunk]) if isinstance(chunk, Trajectory) else chunk)
        if fresh is None:
            return self._solution
        self.rows += fresh.n_samples
        changed = self._noticed(fresh)
        if changed and self._restart:
            self._memory = self._new_memory()
        self._problem = self._memory.add(fresh)
        if self._sizes is None or (self._asked is None and (changed or self._problem.n_samples > 2 * self._sized_at)):
            self._choose_sizes()
        start = None if self._solution is None else self._fitting_start()
        self._solution = solve(
            self._problem,
            cast("int | Mapping[str, int]", self._sizes),
            ridge=self._ridge,
            constraints=self._constraints,
            start=start,
            settings=self._settings,
        )
        return self._solution

    def _rows_of(self, data: Data) -> Problem | None:
        if self._plan is None:
            self._plan = self._planned(data)
        pieces, self._tail = pieces_with(self._tail, data, self._plan)
        total: Problem | None = None
        for piece in pieces:
            problem, self._state = self._plan.problem(piece, self._state if piece.goes_on else None)
            if problem is not None:
                total = problem if total is None else total + problem
        return total

    def _planned(self, data: Data) -> Plan:
        if isinstance(data, Trajectories) and hasattr(self.form, "plan"):
            pieces = Pieces(data, lambda reach: iter(()), None, None, again=False, here=True)
            return cast(Plan, self.form.plan(pieces, self.library))
        return EachApart(partial(_problem, self.form, self.library))

    def _choose_sizes(self) -> None:
        problem = self.problem
        path = solve_path(problem, min(_MOST_TERMS, len(problem.terms)), settings=self._settings)
        self._sizes = dict(zip(problem.target_names, growth_ratio(path), strict=True))
        self._sized_at = problem.n_samples

    def _fitting_start(self) -> Any:
        """Return the earlier supports where they have no more terms than are asked for."""
        sizes = self._sizes
        assert self._solution is not None
        names = self.problem.target_names
        limits = [sizes if isinstance(sizes, int) else cast(Mapping[str, int], sizes)[name] for name in names]
        if any(len(s) > limit for s, limit in zip(self._solution.support, limits, strict=True)):
            return None
        return self._solution.support

    def _noticed(self, fresh: Problem) -> bool:
        """Compare the residuals of new rows, under the model before them, with those of earlier chunks."""
        if self._solution is None:
            return False
        squares = fresh.rss(self._solution.coef) / max(fresh.n_samples, 1)
        earlier = np.array(self._squares[-_COMPARED:])
        self._squares.append(squares)
        del self._squares[: -2 * _COMPARED]
        if len(earlier) < _LEAST_CHUNKS:
            return False
        factors = squares / np.maximum(earlier.max(axis=0), np.finfo(float).tiny)
        grown = np.flatnonzero(factors > _CHANGED)
        before = self.rows - fresh.n_samples
        self.changes += [Change(fresh.target_names[j], before, float(factors[j])) for j in grown]
        if len(grown):
            self._squares.clear()
        return bool(len(grown))

    def _new_memory(self) -> Memory:
        if self._window is not None:
            return Window(int(self._window))
        return Everything() if self._half_life is None else Decaying(self._half_life)


def _problem(form: Form, library: Library, data: Data) -> Problem:
    return form.problem(data, library)
