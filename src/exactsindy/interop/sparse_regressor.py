"""Best-subset regression for scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from exactsindy.interop.linear_model import SparseLinearModel, check_is_fitted
from exactsindy.solver import Path, Total, solve, solve_path


class ExactSparseRegressor(SparseLinearModel):
    r"""Least squares with at most k nonzero coefficients, solved to proven optimality.

    Minimises :math:`\|y - X w - b\|^2 + \text{ridge} \|w\|^2` over all w with at most k nonzero coefficients.

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
