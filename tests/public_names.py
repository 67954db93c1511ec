"""The public names as a user writes them: those of the package, and those of the modules it offers."""

from __future__ import annotations

import exactsindy as es

MODULES = {
    "constraints": (
        "AtLeast AtMost Bounds Conserved Constraint Dissipative EnergyPreserving Equal Exactly Fixed Forbid "
        "GradientSystem Hamiltonian Hierarchy Implies Linear LinearMatrix MaxCorrelation NotBoth Outliers "
        "PositiveSemidefinite Quadratic Require SameSupport SemiContinuous Sign Significant Symmetry WholeGroup "
        "parse_constraint with_row_terms"
    ),
    "datasets": "dataset names",
    "differentiation": "FiniteDifference PyNumDiff SmoothedFiniteDifference Spectral",
    "errors": "ConstraintError DataError ExactSindyError MissingDependency ProblemError SolverError",
    "plots": "comparison field fit path phase supports",
    "selection": "AICc BIC Choice CrossValidation EBIC GrowthRatio PathEvidence Rule Stability",
    "systems": (
        "FIELD_SYSTEMS FieldSystem SYSTEMS System add_field_noise add_noise duffing find_field_system find_system hopf "
        "lorenz lotka_volterra mhd noise_scale roessler van_der_pol"
    ),
}


def public_names() -> list[str]:
    """Return every public name: ``es.discover``, ``es.constraints.Equal``, ..."""
    top = sorted(set(dir(es)) - {"__version__", *MODULES})
    return [f"es.{name}" for name in top] + [f"es.{room}.{name}" for room in MODULES for name in MODULES[room].split()]
