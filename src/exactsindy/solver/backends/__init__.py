"""Solvers of one equation behind one contract: native (default), and others for cross-checks."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from exactsindy.errors import SolverError
from exactsindy.solver.backends.result import BackendResult

# Loaded when asked for: name -> (module, keyword arguments of its solve_equation).
_BACKENDS = {
    "enumerate": ("enumeration", {}),
    "scip": ("scip", {}),
    "gurobi": ("gurobi", {}),
    "gurobi-bigm": ("gurobi", {"formulation": "bigm"}),
}


def load(name: str) -> Callable[..., BackendResult]:
    """Return the ``solve_equation`` of a backend other than native."""
    if name not in _BACKENDS:
        raise SolverError(f"backend={name!r}: expected one of native, {', '.join(_BACKENDS)}.")
    module, options = _BACKENDS[name]
    solve = importlib.import_module(f"{__name__}.{module}").solve_equation
    return lambda *args, **kwargs: solve(*args, **kwargs, **options)
