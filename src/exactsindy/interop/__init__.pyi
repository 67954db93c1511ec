"""The public names of the room, loaded on first use."""

from exactsindy.interop.miosr import MIOSR as MIOSR
from exactsindy.interop.pysindy_parts import from_pysindy as from_pysindy
from exactsindy.interop.sparse_regressor import ExactSparseRegressor as ExactSparseRegressor
from exactsindy.interop.sparse_regressor import ExactSparseRegressorCV as ExactSparseRegressorCV
