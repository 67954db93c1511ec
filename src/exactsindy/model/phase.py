"""A model as a first-order system: x'' = f becomes x' = v, v' = f."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactsindy.errors import ProblemError
from exactsindy.library import Term, Variable, Variables
from exactsindy.model.codegen import Parts
from exactsindy.model.equation import Equation, rate_name


@dataclass(frozen=True)
class Phase:
    """The time derivative of each state, then of x' (or u_t) for those with an equation of higher order."""

    names: tuple[str, ...]
    sums: tuple[Parts, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Return the coordinates as variables of terms."""
        return tuple(Variable(name) for name in self.names)


def phase_of(equations: Sequence[Equation], variables: Variables) -> Phase:
    """Return the first-order system of the equations; a state without one is refused, its course is not known."""
    sums: dict[str, Parts] = {}
    for equation in equations:
        target = equation.target
        for order in range(1, target.order):
            rate = Term.variable(rate_name(target, order))
            sums[rate_name(target, order - 1)] = ((1.0, rate),)
        sums[rate_name(target, target.order - 1)] = equation.parts
    missing = [name for name in variables.states if name not in sums]
    if missing:
        raise ProblemError(
            f"The states {', '.join(missing)} have no equation, so the model cannot be simulated: fit them too, "
            f"or make them inputs with Variables(..., controls=({missing[0]!r},))."
        )
    states = [equation.target.state for equation in equations]
    ordered = sorted(states, key=variables.states.index) if set(states) <= set(variables.states) else states
    names = (*ordered, *(name for name in sums if name not in states))
    return Phase(names, tuple(sums[name] for name in names))
