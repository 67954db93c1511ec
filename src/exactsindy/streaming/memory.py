"""What a stream remembers of its rows: all of them, those of a window, or all with weights that decay."""

from __future__ import annotations

from typing import Protocol

from exactsindy.problem import Problem


class Memory(Protocol):
    """The sum of the problems that are remembered."""

    def add(self, problem: Problem) -> Problem:
        """Take in new rows and return the sum of what is remembered with them."""


class Everything:
    """All rows, with the same weight."""

    def __init__(self) -> None:
        self._total: Problem | None = None

    def add(self, problem: Problem) -> Problem:
        """Return the sum of all problems so far."""
        self._total = problem if self._total is None else self._total + problem
        return self._total


class Decaying:
    """All rows, with a weight that halves with every so many rows after them."""

    def __init__(self, half_life: float) -> None:
        self._half_life = half_life
        self._total: Problem | None = None

    def add(self, problem: Problem) -> Problem:
        """Return the weighted sum of all problems so far."""
        if self._total is None:
            self._total = problem
        else:
            self._total = 0.5 ** (problem.n_samples / self._half_life) * self._total + problem
        return self._total


class Window:
    """The last rows, at least so many of them: whole chunks are forgotten once those after them are enough.

    A queue of two stacks: the older half holds the sums of each chunk with all later ones of that half, so that
    forgetting the oldest takes no subtraction (which would lose digits) and a chunk costs about two additions.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._old: list[tuple[int, Problem]] = []  # (rows of a chunk, its sum with the later ones), the oldest last
        self._new: list[Problem] = []
        self._sum_of_new: Problem | None = None
        self._count = 0

    def add(self, problem: Problem) -> Problem:
        """Return the sum of the chunks in the window."""
        self._new.append(problem)
        self._sum_of_new = problem if self._sum_of_new is None else self._sum_of_new + problem
        self._count += problem.n_samples
        while True:
            if not self._old and len(self._new) > 1:
                self._turn_over()
            if not self._old or self._count - self._old[-1][0] < self._rows:
                break
            self._count -= self._old.pop()[0]
        if not self._old:
            return self._sum_of_new
        return self._old[-1][1] if self._sum_of_new is None else self._old[-1][1] + self._sum_of_new

    def _turn_over(self) -> None:
        """Make all chunks but the last one the older half."""
        *older, last = self._new
        total: Problem | None = None
        for chunk in reversed(older):
            total = chunk if total is None else chunk + total
            self._old.append((chunk.n_samples, total))
        self._new, self._sum_of_new = [last], last
