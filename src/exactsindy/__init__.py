"""Governing equations from data by sparse regression solved to proven optimality.

The public names are listed in ``__init__.pyi`` and loaded on first use, so that importing the package costs little more
than NumPy. `interop` needs optional packages, so a star import leaves its names out.
"""

from __future__ import annotations

from exactsindy._lazy import attach as _attach

__version__ = "0.2.0"

__getattr__, __dir__ = _attach(__name__)

_OPTIONAL = {"MIOSR", "ExactSparseRegressor", "ExactSparseRegressorCV", "from_pysindy", "plots"}
__all__ = [_name for _name in __dir__() if _name not in _OPTIONAL and _name != "__version__"]
