"""What both scikit-learn estimators share: reading the data, predicting, keeping the result."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._optional import optional
from exactsindy._types import Array
from exactsindy.certificate import Certificate
from exactsindy.interop.centring import Rows, feature_names
from exactsindy.problem import Problem
from exactsindy.solver import Settings, Solution

_PURPOSE = "ExactSparseRegressor, a scikit-learn estimator,"
_base = optional("sklearn.base", "sklearn", _PURPOSE)
_validation = optional("sklearn.utils.validation", "sklearn", _PURPOSE)
_exceptions = optional("sklearn.exceptions", "sklearn", _PURPOSE)
check_is_fitted = _validation.check_is_fitted


class SparseLinearModel(
    _base.MultiOutputMixin,  # type: ignore[misc,name-defined]
    _base.RegressorMixin,  # type: ignore[misc,name-defined]
    _base.BaseEstimator,  # type: ignore[misc,name-defined]
):
    """A linear model whose coefficients come from a `Solution`."""

    coef_: Array
    intercept_: Any
    support_: NDArray[np.bool_]
    solution_: Solution
    certificate_: tuple[Certificate, ...]
    ridge: Any
    fit_intercept: bool
    seconds: float | None

    def predict(self, X: ArrayLike) -> Array:
        """Return the predictions at samples ``X`` (n, features)."""
        check_is_fitted(self)
        x = _validation.validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(x @ self.coef_.T + self.intercept_)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        x, targets = _validation.validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=np.float64, force_writeable=False
        )
        targets = np.asarray(targets, dtype=np.float64)
        weights = _validation._check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        self._single = targets.ndim == 1
        names = feature_names(getattr(self, "feature_names_in_", None), x.shape[1])
        return Rows(x, targets[:, None] if self._single else targets, weights, names, bool(self.fit_intercept))

    def _settings(self) -> Settings:
        return Settings(seconds=self.seconds)

    def _store(self, rows: Rows, problem: Problem, solution: Solution) -> None:
        """Keep a solution of `problem` (with its constant) in the units and shapes of scikit-learn."""
        coef, intercept = solution.coef, rows.original(problem, solution.coef)
        self.solution_ = solution
        self.certificate_ = solution.certificates
        self.coef_ = coef[0].copy() if self._single else coef.copy()
        self.intercept_ = float(intercept[0]) if self._single else intercept
        self.support_ = self.coef_ != 0
        if not solution.optimal:
            worst = int(np.argmax(solution.gap))
            warnings.warn(
                f"{type(self).__name__}: not proved optimal. {solution.status[worst].value} Proved gap: "
                f"{100 * float(solution.gap[worst]):.3g} %; limit: seconds={self.seconds!r}.",
                _exceptions.ConvergenceWarning,
                stacklevel=3,
            )
