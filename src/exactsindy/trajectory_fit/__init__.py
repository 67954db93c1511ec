"""How likely a model makes the samples: its best trajectory, with noise in every state."""

from exactsindy.trajectory_fit.fit import WARM, TrajectoryFit, TrajectoryModel
from exactsindy.trajectory_fit.measured import (
    Measured,
    by_piece,
    features_of,
    row_count,
    target_names,
)
from exactsindy.trajectory_fit.measured_modes import MeasuredModes
from exactsindy.trajectory_fit.measured_trajectories import MeasuredTrajectories
from exactsindy.trajectory_fit.protocols import Support
from exactsindy.trajectory_fit.tangent import tangent_problem

__all__ = [
    "WARM",
    "Measured",
    "MeasuredModes",
    "MeasuredTrajectories",
    "Support",
    "TrajectoryFit",
    "TrajectoryModel",
    "by_piece",
    "features_of",
    "row_count",
    "tangent_problem",
    "target_names",
]
