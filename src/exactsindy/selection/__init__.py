"""Which number of terms: rules that pick one model from proved paths."""

from exactsindy.selection.criteria import BIC as BIC
from exactsindy.selection.criteria import EBIC as EBIC
from exactsindy.selection.criteria import AICc as AICc
from exactsindy.selection.effective import effective_rows as effective_rows
from exactsindy.selection.effective import effective_samples as effective_samples
from exactsindy.selection.evidence import PathEvidence as PathEvidence
from exactsindy.selection.fair import fair_path as fair_path
from exactsindy.selection.growth import GrowthRatio as GrowthRatio
from exactsindy.selection.growth import growth_ratio as growth_ratio
from exactsindy.selection.orbit_evidence import ORBIT as ORBIT
from exactsindy.selection.orbit_evidence import OrbitEvidence as OrbitEvidence
from exactsindy.selection.orbit_evidence import Rival as Rival
from exactsindy.selection.record import Choice as Choice
from exactsindy.selection.record import Row as Row
from exactsindy.selection.record import Selection as Selection
from exactsindy.selection.resampling import CrossValidation as CrossValidation
from exactsindy.selection.resampling import Stability as Stability
from exactsindy.selection.resampling import inclusion as inclusion
from exactsindy.selection.selecting import Rule as Rule
from exactsindy.selection.selecting import select as select
