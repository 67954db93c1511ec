"""What if? Terms forbidden or required, other sizes, rivals: the stored regression is solved again, and proved again.

Nothing is prepared anew: the rows are those of the search, so an answer takes milliseconds. What is proved is the same
sentence for the same regression, among the combinations of terms that are still allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from exactsindy.constraints import Constraint, Forbid, Require
from exactsindy.discovery import Discovery
from exactsindy.errors import SolverError
from exactsindy.model import Model
from exactsindy.solver import Settings, Solution, solve

#: Seconds that a changed question may take. After that the best answer so far is shown as not proved.
SECONDS = 5.0


@dataclass(frozen=True)
class Change:
    """What is asked of one equation beside the search: a size, forbidden and required terms, or a ranked rival."""

    size: int | None = None
    forbidden: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    rival: int | None = None


@dataclass(frozen=True)
class Changes:
    """The changes by equation; equations without one stay as they were selected."""

    by_equation: Mapping[str, Change] = field(default_factory=dict)

    def of(self, equation: str) -> Change:
        """Return the change of an equation, an empty one if there is none."""
        return self.by_equation.get(equation, Change())

    def forbid(self, equation: str, term: str) -> Changes:
        """Return the changes with a term forbidden."""
        old = self.of(equation)
        required = tuple(name for name in old.required if name != term)
        return self._with(equation, replace(old, forbidden=_and(old.forbidden, term), required=required, rival=None))

    def require(self, equation: str, term: str) -> Changes:
        """Return the changes with a term required."""
        old = self.of(equation)
        forbidden = tuple(name for name in old.forbidden if name != term)
        return self._with(equation, replace(old, required=_and(old.required, term), forbidden=forbidden, rival=None))

    def release(self, equation: str, term: str) -> Changes:
        """Return the changes with a term neither forbidden nor required."""
        old = self.of(equation)
        forbidden = tuple(name for name in old.forbidden if name != term)
        required = tuple(name for name in old.required if name != term)
        return self._with(equation, replace(old, forbidden=forbidden, required=required, rival=None))

    def resize(self, equation: str, size: int) -> Changes:
        """Return the changes with another number of terms."""
        return self._with(equation, replace(self.of(equation), size=size, rival=None))

    def take_rival(self, equation: str, rank: int) -> Changes:
        """Return the changes with a ranked support of the chosen size in place of everything else asked of it."""
        return self._with(equation, Change(rival=rank))

    def _with(self, equation: str, change: Change) -> Changes:
        others = {name: old for name, old in self.by_equation.items() if name != equation}
        return Changes(others if change == Change() else {**others, equation: change})


def _and(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*names, name]))


def apply(found: Discovery, changes: Changes, seconds: float = SECONDS) -> Discovery:
    """Return the discovery with the changes made and proved.

    Raises
    ------
    SolverError
        If no combination of terms satisfies what is asked.
    """
    asked = changes.by_equation
    if not asked:
        return found
    ranks = {name: change.rival for name, change in asked.items() if change.rival is not None}
    if ranks:
        found = found.at(rival=ranks)
    solved = {name: change for name, change in asked.items() if change.rival is None}
    if not solved:
        return found
    solution = _solved(found, solved, seconds)
    residuals = {name: size for name, size in found.residuals.items() if name not in solved}  # of other terms
    model = Model.from_solution(solution, variables=found.data)
    return replace(found, solution=solution, model=model, residuals=residuals)


def _solved(found: Discovery, asked: Mapping[str, Change], seconds: float) -> Solution:
    shown, problem = found.solution, found.problem
    names = problem.target_names
    bound_together = shown.joint
    sizes = {}
    for name, support in zip(names, shown.support, strict=True):
        change = asked.get(name)
        if change is None:
            sizes[name] = len(support) if bound_together else 0  # its answer is there already
        else:
            sizes[name] = max(len(support) if change.size is None else change.size, len(change.required))
    solution = solve(
        problem,
        sizes,
        ridge=shown.ridge,
        constraints=[*shown.constraints, *_constraints(asked)],
        settings=Settings(seconds=seconds),
    )
    if bound_together or solution.joint:
        _check(solution, names, range(len(solution.objective)))
        return solution
    _check(solution, names, [names.index(name) for name in asked])
    rows = Solution.rows(problem, [(solution if name in asked else shown, i) for i, name in enumerate(names)])
    return replace(rows, constraints=solution.constraints)  # what is claimed of any row is claimed within these


def _constraints(asked: Mapping[str, Change]) -> list[Constraint]:
    wanted: list[Constraint] = []
    for equation, change in asked.items():
        wanted += [Forbid(equation, term) for term in change.forbidden]
        wanted += [Require(equation, term) for term in change.required]
    return wanted


def _check(solution: Solution, names: tuple[str, ...], entries: range | list[int]) -> None:
    for i in entries:
        if not np.isfinite(solution.objective[i]):
            which = names[i] if len(solution.objective) == len(names) else "all equations together"
            why = "; ".join(solution.conflict)
            clash = f" ({why})" if why else ""
            raise SolverError(f"No combination of so many terms satisfies what is asked of {which}{clash}.")
