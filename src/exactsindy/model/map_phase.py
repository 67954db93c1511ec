"""A map as a map of the present state alone: earlier samples that terms use are states of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactsindy.library import Expression, Term, Variable, Variables, split_step
from exactsindy.model.codegen import Parts
from exactsindy.model.equation import Equation
from exactsindy.model.phase import phase_of


@dataclass(frozen=True)
class MapPhase:
    """What follows from one sample: the states, then those of ``lags`` samples before; one sum for each.

    ``controls`` are the controls at the present sample, then at those before.
    """

    states: tuple[str, ...]
    lags: int
    sums: tuple[Parts, ...]
    controls: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Return the coordinates as variables of terms."""
        return tuple(Variable(_at(name, lag)) for lag in range(self.lags + 1) for name in self.states)


def lags_of(equations: Sequence[Equation]) -> int:
    """Return how many samples before the present one the equations use."""
    steps = (split_step(variable.name) for equation in equations for variable in equation.variables())
    return max((-step[1] for step in steps if step is not None), default=0)


def map_phase(equations: Sequence[Equation], variables: Variables) -> MapPhase:
    """Return the map of the equations; a state without one is refused, its course is not known."""
    phase, lags = phase_of(equations, variables), lags_of(equations)
    target = {equation.target.state: equation.target for equation in equations}
    sums = []
    for name, parts in zip(phase.names, phase.sums, strict=True):
        kept = [(1.0, Term.variable(name))] if target[name].step == "change" else []
        sums.append(Expression.of([*parts, *kept]).parts)
    for lag in range(1, lags + 1):
        sums += [((1.0, Term.variable(_at(name, lag - 1))),) for name in phase.names]
    controls = tuple(Variable(_at(name, lag)) for lag in range(lags + 1) for name in variables.controls)
    return MapPhase(phase.names, lags, tuple(sums), controls)


def _at(name: str, lag: int) -> str:
    return f"{name}[k-{lag}]" if lag else name
