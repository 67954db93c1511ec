"""Sums of problems as binary trees over their order: equal parts give equal bits, whoever adds them."""

from __future__ import annotations

from collections.abc import Iterable

from exactsindy.errors import DataError
from exactsindy.problem import Problem


def tree_sum(problems: Iterable[Problem]) -> Problem:
    """Return the sum of problems, added in a binary tree over their order."""
    tree = Tree()
    for problem in problems:
        tree.add(problem)
    return required(tree.total())


class Tree:
    """The sum of a sequence as a binary tree over positions, of which only one branch per level is held."""

    def __init__(self) -> None:
        self._branches: list[tuple[int, Problem | None]] = []  # (positions below, their sum)

    def add(self, problem: Problem | None, count: int = 1) -> None:
        """Take in what stands next; ``count`` positions, a power of two, if it is a branch already."""
        self._branches.append((count, problem))
        while len(self._branches) > 1 and self._branches[-1][0] == self._branches[-2][0]:
            (size, right), (_, left) = self._branches.pop(), self._branches.pop()
            self._branches.append((2 * size, joined(left, right)))

    def total(self) -> Problem | None:
        """Return the sum of all."""
        total = None
        for _, problem in reversed(self._branches):
            total = joined(problem, total)
        return total


def joined(left: Problem | None, right: Problem | None) -> Problem | None:
    """Return the sum of two problems either of which may have no rows."""
    if left is None or right is None:
        return right if left is None else left
    return left + right


def required(problem: Problem | None) -> Problem:
    """Return a sum that has rows."""
    if problem is None:
        raise DataError("none of the pieces is long enough for a row of the regression: read larger pieces.")
    return problem
