"""How likely a model makes the samples: its best orbit, with noise in every state allowed for."""

from exactsindy.likelihood.measured import (
    Measured,
    by_piece,
    features_of,
    row_count,
    target_names,
)
from exactsindy.likelihood.measured_modes import MeasuredModes
from exactsindy.likelihood.measured_trajectories import MeasuredTrajectories
from exactsindy.likelihood.orbit import WARM, Orbit, OrbitModel
from exactsindy.likelihood.step import Support
from exactsindy.likelihood.tangent import tangent_problem

__all__ = [
    "WARM",
    "Measured",
    "MeasuredModes",
    "MeasuredTrajectories",
    "Orbit",
    "OrbitModel",
    "Support",
    "by_piece",
    "features_of",
    "row_count",
    "tangent_problem",
    "target_names",
]
