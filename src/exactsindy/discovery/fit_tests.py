"""Tests of equations on the likelihood of whole trajectories: what functions outside the library would add to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._limits import passed
from exactsindy.discovery.row_tests import stretches
from exactsindy.discovery.wide_library import WideLibrary, with_additions
from exactsindy.forms import Smoothed
from exactsindy.selection import Additions, LackOfFit, additions
from exactsindy.trajectory_fit import (
    MeasuredTrajectories,
    Support,
    TrajectoryFit,
    TrajectoryModel,
    row_count,
    tangent_problem,
)

# Misfit per row of the trajectory fit beyond which its equations are tested by rows alone: the misfit of one equation
# would show in the others.
_POOR = 1.3
# Equations of less confidence are not identified anyway: their trajectories are not fitted for a test.
_LIKELY = 0.5
# Twice the log-likelihood ratio from which one more term of another equation is left free in a test: it is that
# equation that lacks something.
_LACKING = 10.0


def with_fit_tests(
    found: Mapping[str, LackOfFit], wide: WideLibrary, smoothed: Smoothed, deadline: float
) -> dict[str, LackOfFit]:
    """Return tests with what functions gain by trajectory fits in place of rows; none after the deadline.

    Rows on smoothed states have errors of their own, which functions fit: on noisy data of laws inside the library they
    show advantages up to 300, trajectory fits up to 12.
    """
    result = dict(found)
    likely = [choice.equation for choice in wide.selection.choices if choice.confidence >= _LIKELY]
    wanted = {name for name in likely if name in found and found[name].noisy}
    measured = MeasuredTrajectories(stretches(smoothed, wide.samples), wide.groups)
    test = FitTest.of(wide, measured, deadline) if wanted else None
    if test is None or passed(deadline) or test.is_poor:
        return result
    names = [choice.equation for choice in wide.selection.choices]
    first = [Additions() if passed(deadline) else test.additions(i) for i in range(len(names))]
    for i, name in enumerate(names):
        others = [j for j, added in enumerate(first) if j != i and max(added.inside, added.outside) > _LACKING]
        if name in wanted and not passed(deadline):
            added = test.with_terms({j: first[j].best for j in others}).additions(i) if others else first[i]
            if added.column >= 0:
                lack = replace(result[name], advantage=0.0, function="", swapped=-math.inf, imitation=-math.inf)
                result[name] = with_additions(lack, added, wide.places[name].names)
    return result


@dataclass(frozen=True, eq=False)
class FitTest:
    """The trajectory fit of the model chosen, in the wide library."""

    wide: WideLibrary
    measured: MeasuredTrajectories
    supports: tuple[Support, ...]
    fit: TrajectoryFit

    @classmethod
    def of(cls, wide: WideLibrary, measured: MeasuredTrajectories, deadline: float) -> FitTest:
        """Fit the trajectories of the model chosen; the equations of ``measured`` have the wide library."""
        solution, places = wide.selection.solution, [wide.places[c.equation] for c in wide.selection.choices]
        known = {name: j for j, name in enumerate(solution.problem.names)}
        coef = [
            np.array([solution.coef[i, known[place.names[j]]] for j in place.support]) for i, place in enumerate(places)
        ]
        supports = tuple(place.support for place in places)
        fit = TrajectoryModel(measured, supports).fit(coef, deadline=deadline)
        return cls(wide, measured, supports, fit)

    @property
    def is_poor(self) -> bool:
        """Return True if the trajectories do not fit the data."""
        return not self.fit.misfit < _POOR * row_count(self.measured)

    def with_terms(self, added: Mapping[int, int]) -> FitTest:
        """Return the test with one more term in some equations, whose coefficient is free."""
        supports, coef = list(self.supports), list(self.fit.coef)
        for i, column in added.items():
            supports[i] = (*supports[i], column)
            coef[i] = np.append(coef[i], 0.0)
        return replace(self, supports=tuple(supports), fit=replace(self.fit, coef=tuple(coef)))

    def additions(self, i: int) -> Additions:
        """Return what terms add to the likelihood linearised at the trajectory fit; nothing if it is not known."""
        problem = tangent_problem(self.measured, self.supports, self.fit, i)
        if problem is None:
            return Additions()
        block, j = problem.locate(0)
        target, rest = block.target(j)
        rows, noise = row_count(self.measured), self.measured.smoothed.noise
        floor = rows * float(np.mean((self.measured.smoothed.floor / noise) ** 2))
        place = self.wide.places[self.wide.selection.choices[i].equation]
        known = (self.supports[i], place.outside, rows, floor, place.complexity, place.degrees)
        return additions(block.theta_factor, target, float(rest @ rest), *known)
