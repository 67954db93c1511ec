"""Variables and equations of a model, made from coefficients by name or from a solved regression."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from exactsindy.data import Target
from exactsindy.errors import ProblemError
from exactsindy.library import Names, Term, Variables, parse_term, split_step
from exactsindy.model.equation import Equation, parse_target, rate_name
from exactsindy.model.standard_errors import standard_errors

if TYPE_CHECKING:
    from exactsindy.solver import Solution

# Tried for fields whose axes were not named: what u_x, u_xy, u_zz are understood to mean.
_USUAL_AXES = ("x", "y", "z")


def from_coefficients(
    coefficients: Mapping[str, Mapping[str, float]],
    variables: Names | None,
    controls: Sequence[str],
    parameters: Sequence[str] = (),
) -> tuple[Variables, tuple[Equation, ...]]:
    """Return variables and equations from ``{"x'": {"x": -10.0}}``."""
    if not isinstance(coefficients, Mapping) or not coefficients:
        example = "{\"x'\": {'x': -10.0, 'y': 10.0}}"
        raise ProblemError(f"from_coefficients: got {coefficients!r}; expected equations such as {example}.")
    targets = read_targets(tuple(coefficients))
    known = Variables.of(variables) if variables is not None else _guess_variables(targets, controls=tuple(controls))
    if variables is None and parameters:
        known = replace(known, parameters=tuple(parameters))
    equations = []
    for target, (name, row) in zip(targets, coefficients.items(), strict=True):
        if not isinstance(row, Mapping):
            raise ProblemError(
                f"from_coefficients: the equation {name!r} is {row!r}; expected terms with their "
                "coefficients, such as {'x': -10.0}."
            )
        terms = tuple(_read_term(term, known) for term in row)
        equations.append(
            Equation(target, terms, tuple(float(value) for value in row.values()), constants=known.parameters)
        )
    return _trimmed(known, equations) if variables is None else known, tuple(equations)


def from_solution(
    solution: Solution, variables: Names | None, with_errors: bool
) -> tuple[Variables, tuple[Equation, ...]]:
    """Return variables and equations of a solution."""
    problem = solution.problem
    targets = read_targets(problem.target_names)
    library = [term for term in problem.terms if isinstance(term, Term)]
    known = _guess_variables(targets, library) if variables is None else Variables.of(variables)
    coef = np.asarray(solution.coef, dtype=float)
    errors = standard_errors(solution) if with_errors else [None] * len(targets)
    equations = []
    for i, (target, chosen) in enumerate(zip(targets, solution.support, strict=True)):
        support = [int(j) for j in chosen]
        named = (problem.terms[j] for j in support)
        terms = tuple(term if isinstance(term, Term) else _read_term(term.name, known) for term in named)
        equations.append(
            Equation(target, terms, tuple(float(c) for c in coef[i, support]), errors[i], known.parameters)
        )
    return _trimmed(known, equations) if variables is None and not library else known, tuple(equations)


def read_targets(names: Sequence[str]) -> tuple[Target, ...]:
    """Return the equations with these names; a bare state name means its first derivative."""
    read = {name: parse_target(name) for name in names}
    field = any(target is not None and target.field for target in read.values())
    targets = tuple(target or Target(name, 1, field) for name, target in read.items())
    if len({target.field for target in targets}) > 1:
        raise ProblemError(
            f"The equations {', '.join(names)} mix trajectories (x') and fields (u_t): make one model of each."
        )
    if len({bool(target.step) for target in targets}) > 1:
        raise ProblemError(
            f"The equations {', '.join(names)} mix derivatives (x') and next samples (x[k+1]): make one model of each."
        )
    double = next((t.state for i, t in enumerate(targets) if t.state in {s.state for s in targets[:i]}), None)
    if double is not None:
        raise ProblemError(f"Two equations are for the state {double!r}: expected one equation per state.")
    return targets


def _read_term(name: str, variables: Variables) -> Term:
    """Return the term with this name, or say how to name what it uses."""
    try:
        return parse_term(name, variables)
    except ProblemError as error:
        raise ProblemError(
            f"{error} Inputs that have no equation are named by controls=(...), parameters=(...) or "
            "variables=Variables(...)."
        ) from error


def _guess_variables(
    targets: Sequence[Target], library: Sequence[Term] = (), controls: tuple[str, ...] = ()
) -> Variables:
    """Return the variables of terms whose data are not at hand.

    States are those with an equation, x' where there is an equation for x'', and every field that is
    differentiated; ``t`` is the time unless it is a state; whatever else the terms use is a control.
    """
    used = tuple(dict.fromkeys(v for term in library for v in term.variables()))
    rates = dict.fromkeys(rate_name(target, k) for target in targets for k in range(1, target.order))
    states = [target.state for target in targets]
    states += [v.name for v in used if v.name not in states and (v.axes or v.name in rates)] if library else [*rates]
    axes = tuple(dict.fromkeys(axis for v in used for axis in v.axes))
    if targets[0].field and not library:
        axes = tuple(axis for axis in _USUAL_AXES if axis not in (*states, *controls))
    plain = [name if (split := split_step(name)) is None else split[0] for name in (v.name for v in used)]
    others = dict.fromkeys(name for name in plain if name not in {*states, *axes, *controls, "t"})
    return Variables(tuple(dict.fromkeys(states)), (*controls, *others), axes=axes)


def _trimmed(variables: Variables, equations: Iterable[Equation]) -> Variables:
    """Leave out guessed axes and rates that no term uses."""
    rows = tuple(equations)
    used = {name for e in rows for v in e.variables() for name in (v.name, *v.axes)}
    axes = tuple(axis for axis in variables.axes if axis in used)
    own = {e.target.state for e in rows}
    return replace(variables, states=tuple(s for s in variables.states if s in own or s in used), axes=axes)
