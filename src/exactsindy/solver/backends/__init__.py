"""Solvers of one equation behind one contract: native (default), and others for cross-checks.

A backend is a module with ``solve_equation(equation, size, settings) -> Outcome`` and, where it takes constraints or a
shared budget, ``solve_component(component, budgets, settings) -> Outcome``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from exactsindy.errors import SolverError

if TYPE_CHECKING:
    from exactsindy.solver.backends.component import Budget, Component
    from exactsindy.solver.equations import Equation
    from exactsindy.solver.outcome import Outcome
    from exactsindy.solver.settings import Settings

# Loaded when asked for: name -> (module, keyword arguments of its solve_equation).
_BACKENDS: dict[str, tuple[str, dict[str, str]]] = {
    "enumerate": ("enumeration", {}),
    "scip": ("scip", {}),
    "gurobi": ("gurobi", {}),
    "gurobi-bigm": ("gurobi", {"formulation": "bigm"}),
}
_CONSTRAINED = ("enumerate", "scip", "gurobi")  # those that take constraints or a shared budget


def load(name: str) -> Callable[[Equation, int, Settings], Outcome]:
    """Return the ``solve_equation`` of a backend other than native."""
    if not isinstance(name, str) or name not in _BACKENDS:
        raise SolverError(f"backend={name!r}: expected one of native, {', '.join(_BACKENDS)}.")
    module, options = _BACKENDS[name]
    return partial(importlib.import_module(f"{__name__}.{module}").solve_equation, **options)


def load_constrained(name: str) -> Callable[[Component, Sequence[Budget], Settings], Outcome]:
    """Return the ``solve_component`` of a backend other than native."""
    load(name)
    if name not in _CONSTRAINED:
        known = ", ".join(_CONSTRAINED)
        raise SolverError(f"backend={name!r} takes no constraints and no Total: use native, {known}.")
    return partial(importlib.import_module(f"{__name__}.{_BACKENDS[name][0]}").solve_component)
