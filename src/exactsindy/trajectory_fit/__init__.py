"""Fit states and coefficients of a model together: how likely the model makes the noisy samples."""

from exactsindy.trajectory_fit.fit import WARM, TrajectoryFit, TrajectoryModel
from exactsindy.trajectory_fit.measured_modes import MeasuredModes
from exactsindy.trajectory_fit.measured_trajectories import MeasuredTrajectories
from exactsindy.trajectory_fit.protocols import (
    Measured,
    Support,
    by_piece,
    features_of,
    row_count,
    target_names,
)
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
