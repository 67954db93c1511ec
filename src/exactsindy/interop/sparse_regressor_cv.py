"""Best-subset regression for scikit-learn that chooses the number of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._optional import optional
from exactsindy.errors import SolverError
from exactsindy.interop.cross_validation import held_out
from exactsindy.interop.linear_model import SparseLinearModel
from exactsindy.solver import Path, solve_path

_model_selection = optional("sklearn.model_selection", "sklearn", "ExactSparseRegressorCV, a scikit-learn estimator,")


class ExactSparseRegressorCV(SparseLinearModel):
    """Least squares with few nonzero coefficients, their number chosen by cross-validation.

    For every number of features the proved best model of each training set is judged on its test set. Chosen is the
    least number whose error is within one standard error of the least error, for each target.

    Parameters
    ----------
    k_max
        Most features considered. Fewer are if three more features in a row lower no error.
    ridge, fit_intercept, seconds
        As in `ExactSparseRegressor`; the time limit is for each search.
    cv
        Number of folds of neighbouring samples (so that a time series is not interpolated), a scikit-learn splitter or
        an iterable of (train, test) indices.

    Attributes
    ----------
    k_
        The number of features chosen, an int or one per target.
    cv_error_, cv_standard_error_
        Mean squared error on held-out samples for 0, 1, ... features, (sizes,) or (sizes, targets), and its standard
        error over the folds.
    path_
        The proved optimum for every number of features tried, fitted to all samples.
    coef_, intercept_, support_, certificate_, solution_, n_features_in_, feature_names_in_
        As in `ExactSparseRegressor`, of the chosen model.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 30))
    >>> model = es.ExactSparseRegressorCV().fit(X, 3 * X[:, 4] - 2 * X[:, 17] + rng.normal(size=200))
    >>> model.k_, np.flatnonzero(model.support_)
    (2, array([ 4, 17]))
    """

    k_: Any
    cv_error_: NDArray[np.float64]
    cv_standard_error_: NDArray[np.float64]
    path_: Path

    def __init__(
        self,
        k_max: int = 10,
        *,
        ridge: ArrayLike = 0.0,
        cv: object = 5,
        fit_intercept: bool = True,
        seconds: float | None = None,
    ) -> None:
        self.k_max: Any = k_max
        self.ridge = ridge
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.seconds = seconds

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ExactSparseRegressorCV:
        """Choose the number of features and find the best ones; see `ExactSparseRegressor.fit`."""
        if isinstance(self.k_max, bool) or not isinstance(self.k_max, int | np.integer) or int(self.k_max) < 0:
            raise SolverError(f"k_max={self.k_max!r}: expected a number of features (an integer >= 0).")
        rows = self._rows(X, y, sample_weight)
        largest = min(int(self.k_max), rows.x.shape[1])
        splits = list(_model_selection.check_cv(self.cv).split(rows.x, rows.y))
        errors = held_out(rows, splits, largest, self.ridge, self._settings())
        chosen = errors.choice()
        problem = rows.problem()
        tried = len(errors.mean) - 1
        self.path_ = solve_path(rows.searched(problem), tried, ridge=self.ridge, settings=self._settings())
        self.k_ = int(chosen[0]) if self._single else chosen
        self.cv_error_ = errors.mean[:, 0] if self._single else errors.mean
        self.cv_standard_error_ = errors.standard_error[:, 0] if self._single else errors.standard_error
        self._store(rows, problem, self.path_.at([int(k) for k in chosen]))
        return self
