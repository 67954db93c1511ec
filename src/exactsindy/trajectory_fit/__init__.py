"""How likely a model makes the samples: its best orbit, with noise in every state allowed for."""

from exactsindy.trajectory_fit.measured import (
    Measured,
    by_piece,
    features_of,
    row_count,
    target_names,
)
from exactsindy.trajectory_fit.measured_modes import MeasuredModes
from exactsindy.trajectory_fit.measured_trajectories import MeasuredTrajectories
from exactsindy.trajectory_fit.orbit import WARM, Orbit, OrbitModel
from exactsindy.trajectory_fit.step import Support
from exactsindy.trajectory_fit.tangent import tangent_problem

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
