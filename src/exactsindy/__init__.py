"""Governing equations from data by sparse regression solved to proven optimality."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. Loaded on first use, so that importing the package costs little more than NumPy.
_HOME = {
    "exactsindy.certificate": ["Certificate", "Verification", "verify"],
    "exactsindy.constraints": [
        "AtLeast",
        "AtMost",
        "Bounds",
        "Conserved",
        "Dissipative",
        "EnergyPreserving",
        "Equal",
        "Exactly",
        "Fixed",
        "Forbid",
        "GradientSystem",
        "Hamiltonian",
        "Hierarchy",
        "Implies",
        "Linear",
        "LinearMatrix",
        "MaxCorrelation",
        "NotBoth",
        "Outliers",
        "PositiveSemidefinite",
        "Quadratic",
        "Require",
        "SameSupport",
        "SemiContinuous",
        "Sign",
        "Significant",
        "Symmetry",
        "WholeGroup",
        "parse_constraint",
        "with_row_terms",
    ],
    "exactsindy.data": [
        "Field",
        "Target",
        "Trajectories",
        "Trajectory",
        "as_data",
        "field",
        "load",
        "pod",
        "trajectories",
    ],
    "exactsindy.differentiation": [
        "FiniteDifference",
        "PyNumDiff",
        "SmoothedFiniteDifference",
        "Spectral",
        "noise_level",
        "whittaker",
    ],
    "exactsindy.discovery": ["Discovery", "discover", "load_run", "save_run"],
    "exactsindy.errors": [
        "ConstraintError",
        "DataError",
        "ExactSindyError",
        "MissingDependency",
        "ProblemError",
        "SolverError",
    ],
    "exactsindy.forms": ["IncrementForm", "IntegralForm", "ModalForm", "StrongForm", "WeakForm"],
    "exactsindy.interop": ["MIOSR", "ExactSparseRegressor", "ExactSparseRegressorCV", "from_pysindy"],
    "exactsindy.library": ["Derivatives", "Fourier", "PerEquation", "Polynomials", "Term", "Terms", "Variables"],
    "exactsindy.model": ["CoefficientTable", "Ending", "Equation", "FieldSimulation", "Model", "Simulation"],
    "exactsindy.problem": ["Block", "Problem"],
    "exactsindy.problem.storage": ["load_problem", "save_problem"],
    "exactsindy.report": [
        "plot_comparison",
        "plot_field",
        "plot_fit",
        "plot_path",
        "plot_phase",
        "plot_supports",
    ],
    "exactsindy.selection": [
        "AICc",
        "BIC",
        "CrossValidation",
        "EBIC",
        "GrowthRatio",
        "PathEvidence",
        "Selection",
        "Stability",
        "select",
    ],
    "exactsindy.solver": [
        "Path",
        "Pool",
        "Progress",
        "Settings",
        "Solution",
        "Status",
        "Total",
        "refit",
        "solve",
        "solve_path",
        "solve_pool",
    ],
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
# A star import must not need the optional packages behind `interop`.
__all__ = sorted(name for name, module in _MODULE_OF.items() if module != "exactsindy.interop")

if TYPE_CHECKING:
    from exactsindy.certificate import Certificate as Certificate
    from exactsindy.certificate import Verification as Verification
    from exactsindy.certificate import verify as verify
    from exactsindy.discovery import Discovery as Discovery
    from exactsindy.forms import IncrementForm as IncrementForm
    from exactsindy.forms import ModalForm as ModalForm
    from exactsindy.forms import StrongForm as StrongForm
    from exactsindy.forms import WeakForm as WeakForm
    from exactsindy.interop import MIOSR as MIOSR
    from exactsindy.interop import ExactSparseRegressor as ExactSparseRegressor
    from exactsindy.interop import ExactSparseRegressorCV as ExactSparseRegressorCV
    from exactsindy.interop import from_pysindy as from_pysindy
    from exactsindy.model import Model as Model
    from exactsindy.problem import Block as Block
    from exactsindy.problem import Problem as Problem
    from exactsindy.selection import Selection as Selection
    from exactsindy.selection import select as select
    from exactsindy.solver import Path as Path
    from exactsindy.solver import Pool as Pool
    from exactsindy.solver import Progress as Progress
    from exactsindy.solver import Settings as Settings
    from exactsindy.solver import Solution as Solution
    from exactsindy.solver import Status as Status
    from exactsindy.solver import Total as Total
    from exactsindy.solver import refit as refit
    from exactsindy.solver import solve as solve
    from exactsindy.solver import solve_path as solve_path
    from exactsindy.solver import solve_pool as solve_pool


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'exactsindy' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*sorted(_MODULE_OF), "__version__"]
