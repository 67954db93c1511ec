"""Rules that pick the number of terms from proved paths."""

from exactsindy.selection.choices import Choice as Choice
from exactsindy.selection.choices import Selection as Selection
from exactsindy.selection.choices import TableRow as TableRow
from exactsindy.selection.criteria import BIC as BIC
from exactsindy.selection.criteria import EBIC as EBIC
from exactsindy.selection.criteria import AICc as AICc
from exactsindy.selection.criteria import effective_rows as effective_rows
from exactsindy.selection.criteria import effective_samples as effective_samples
from exactsindy.selection.folds import Folds as Folds
from exactsindy.selection.growth import GrowthRatio as GrowthRatio
from exactsindy.selection.growth import growth_ratio as growth_ratio
from exactsindy.selection.path_evidence import PathEvidence as PathEvidence
from exactsindy.selection.paths import shared_path as shared_path
from exactsindy.selection.resampling import CrossValidation as CrossValidation
from exactsindy.selection.resampling import HeldOutErrors as HeldOutErrors
from exactsindy.selection.resampling import Stability as Stability
from exactsindy.selection.resampling import inclusion as inclusion
from exactsindy.selection.selecting import RULES as RULES
from exactsindy.selection.selecting import Rule as Rule
from exactsindy.selection.selecting import find_rule as find_rule
from exactsindy.selection.selecting import select as select
from exactsindy.selection.trajectory_evidence import TRAJECTORY_FIT as TRAJECTORY_FIT
from exactsindy.selection.trajectory_evidence import Rival as Rival
from exactsindy.selection.trajectory_evidence import TrajectoryEvidence as TrajectoryEvidence
