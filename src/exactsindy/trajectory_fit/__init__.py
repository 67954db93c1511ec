"""Fit states and coefficients of a model together: how likely the model makes the noisy samples."""

from exactsindy.trajectory_fit.curve import CurveLikelihood as CurveLikelihood
from exactsindy.trajectory_fit.fit import SCHEDULE as SCHEDULE
from exactsindy.trajectory_fit.fit import WARM as WARM
from exactsindy.trajectory_fit.fit import TrajectoryFit as TrajectoryFit
from exactsindy.trajectory_fit.fit import TrajectoryModel as TrajectoryModel
from exactsindy.trajectory_fit.fit import last_tolerance as last_tolerance
from exactsindy.trajectory_fit.measured_map import MeasuredMap as MeasuredMap
from exactsindy.trajectory_fit.measured_modes import MeasuredModes as MeasuredModes
from exactsindy.trajectory_fit.measured_trajectories import MeasuredTrajectories as MeasuredTrajectories
from exactsindy.trajectory_fit.protocols import Measured as Measured
from exactsindy.trajectory_fit.protocols import Support as Support
from exactsindy.trajectory_fit.protocols import by_piece as by_piece
from exactsindy.trajectory_fit.protocols import features_of as features_of
from exactsindy.trajectory_fit.protocols import residuals as residuals
from exactsindy.trajectory_fit.protocols import row_count as row_count
from exactsindy.trajectory_fit.protocols import target_names as target_names
from exactsindy.trajectory_fit.quotients import Quotient as Quotient
from exactsindy.trajectory_fit.quotients import Quotients as Quotients
from exactsindy.trajectory_fit.tangent import tangent_problem as tangent_problem
