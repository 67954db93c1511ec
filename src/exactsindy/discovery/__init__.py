"""From data to certified equations: read, trim, prepare, select, refine, prove, explain."""

from exactsindy.discovery.common_terms import discover_per_trajectory as discover_per_trajectory
from exactsindy.discovery.discovering import discover as discover
from exactsindy.discovery.request import default_library as default_library
from exactsindy.discovery.result import Discovery as Discovery
from exactsindy.discovery.run_check import NEVER_CHECKED as NEVER_CHECKED
from exactsindy.discovery.run_check import RunVerification as RunVerification
from exactsindy.discovery.run_check import verify_run as verify_run
from exactsindy.discovery.trajectory_coefficients import PerTrajectory as PerTrajectory
