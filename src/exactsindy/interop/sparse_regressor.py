"""Best-subset regression for scikit-learn, with a number of features that is known or chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._optional import optional
from exactsindy._types import Array
from exactsindy.certificate import Certificate
from exactsindy.errors import SolverError
from exactsindy.interop.centring import Rows, feature_names, held_out
from exactsindy.problem import Problem
from exactsindy.solver import Path, Settings, Solution, Total, solve, solve_path

_PURPOSE = "ExactSparseRegressor, a scikit-learn estimator,"
_base = optional("sklearn.base", "sklearn", _PURPOSE)
_validation = optional("sklearn.utils.validation", "sklearn", _PURPOSE)
_model_selection = optional("sklearn.model_selection", "sklearn", _PURPOSE)
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


class ExactSparseRegressor(SparseLinearModel):
    """Least squares with at most k nonzero coefficients, solved to proven optimality.

    Minimises ``|y - X w - b|^2 + ridge |w|^2`` over all w with at most k nonzero coefficients.

    Parameters
    ----------
    k
        Most features in the model of each target: an int, one per target, or a `Total` shared by all targets.
    ridge
        Weight of the squared coefficients: a number >= 0 or one per feature.
    fit_intercept
        Whether a constant b is fitted. It is neither counted nor penalised.
    seconds
        Time limit of a fit. When it is over, the best coefficients so far are kept with a ConvergenceWarning, and
        `certificate_` holds a true bound.

    Attributes
    ----------
    coef_
        (features,), or (targets, features) for a y of two dimensions; exact zeros off the support.
    intercept_
        A number, or one per target.
    support_
        Which coefficients are not zero, a mask of the shape of `coef_`.
    certificate_
        What was proved, one `Certificate` per target (one in all for a `Total`).
    solution_
        The whole `Solution`; its problem is that of the centred data if there is an intercept.
    path_
        The proved optimum for every number of features from 0 to k, solved when first asked for.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> y = 3 * X[:, 4] - 2 * X[:, 17] + 1
    >>> model = es.ExactSparseRegressor(k=2).fit(X, y)
    >>> np.flatnonzero(model.support_), round(model.intercept_, 6)
    (array([ 4, 17]), 1.0)
    >>> model.certificate_[0].status, len(model.path_)
    ('OPTIMAL', 3)
    """

    def __init__(
        self,
        k: int | Sequence[int] | Total = 5,
        *,
        ridge: ArrayLike = 0.0,
        fit_intercept: bool = True,
        seconds: float | None = None,
    ) -> None:
        self.k = k
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.seconds = seconds

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ExactSparseRegressor:
        """Find the best features for ``X`` (n, features) and ``y`` (n,) or (n, targets).

        ``sample_weight`` (n,) multiplies the squared residuals.
        """
        rows = self._rows(X, y, sample_weight)
        problem = rows.problem()
        self.__dict__.pop("path_", None)
        self._store(rows, problem, solve(rows.searched(problem), self.k, ridge=self.ridge, settings=self._settings()))
        return self

    @cached_property
    def path_(self) -> Path:
        """The proved optimum for every number of features from 0 to k."""
        check_is_fitted(self)
        size = self.solution_.k
        k_max = size if isinstance(size, Total) else int(np.max(size))
        return solve_path(self.solution_.problem, k_max, ridge=self.ridge, settings=self._settings())


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
