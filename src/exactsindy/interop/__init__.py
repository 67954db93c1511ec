"""Our solver inside PySINDy and scikit-learn, and their parts inside our forms.

Both packages are optional: a name is loaded on first use, and a missing package names the extra that installs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_MODULE_OF = {
    "ExactSparseRegressor": "exactsindy.interop.sparse_regressor",
    "ExactSparseRegressorCV": "exactsindy.interop.sparse_regressor_cv",
    "MIOSR": "exactsindy.interop.miosr",
    "from_pysindy": "exactsindy.interop.pysindy_parts",
}

if TYPE_CHECKING:
    from exactsindy.interop.miosr import MIOSR as MIOSR
    from exactsindy.interop.pysindy_parts import from_pysindy as from_pysindy
    from exactsindy.interop.sparse_regressor import ExactSparseRegressor as ExactSparseRegressor
    from exactsindy.interop.sparse_regressor_cv import ExactSparseRegressorCV as ExactSparseRegressorCV


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'exactsindy.interop' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_MODULE_OF)
