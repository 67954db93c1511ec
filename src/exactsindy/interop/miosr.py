"""PySINDy's MIOSR, solved by our search: the same arguments, no Gurobi, and a proof."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._optional import optional
from exactsindy._types import Array
from exactsindy.certificate import Certificate
from exactsindy.errors import ConstraintError
from exactsindy.interop import miosr_arguments as arguments
from exactsindy.problem import Problem
from exactsindy.solver import Progress, Settings, Solution, Status, refit, solve

_base = optional("pysindy.optimizers.base", "pysindy", "MIOSR, an optimizer for PySINDy,")
_exceptions = optional("sklearn.exceptions", "pysindy", "MIOSR, an optimizer for PySINDy,")


class MIOSR(_base.BaseOptimizer):  # type: ignore[misc,name-defined]
    """Sparse regression to proven optimality, as an optimizer for PySINDy.

    Minimises ``|y - X w|^2 + alpha |w|^2`` over all w with few nonzero coefficients, as ``pysindy.MIOSR`` does, without
    Gurobi and its limit of 100 terms.

    Parameters
    ----------
    target_sparsity
        Most nonzero coefficients of all targets together. ``None`` is 5, or no such limit if ``group_sparsity`` is
        given.
    group_sparsity
        Most nonzero coefficients of each target: one int per target, or one for all. With ``target_sparsity`` as well,
        both limits hold.
    alpha
        Ridge: weight of the squared coefficients (of the normalised columns, if ``normalize_columns``).
    regression_timeout
        Seconds for all targets together if they share a budget, else for each target; ``None`` is no limit. When they
        are over, the best coefficients so far are kept, a ConvergenceWarning is given and `certificate_` holds a true
        bound. With a shared budget they may then have fewer terms than allowed.
    constraint_lhs, constraint_rhs
        Equalities ``constraint_lhs @ w = constraint_rhs``, (constraints, targets * features) and (constraints,), on the
        coefficients in the units of the data, also with ``normalize_columns``.
    constraint_order
        ``"target"``: all features of the first target, then of the second, ...; ``"feature"``: all targets of the first
        feature, ...
    normalize_columns
        Whether ``alpha`` acts on the coefficients of columns scaled to norm 1. The search itself does not need it.
    copy_X
        Whether `Theta_` is a copy. The data passed to `fit` are never changed.
    initial_guess
        Coefficients (targets, features) whose largest terms the search starts from. It cannot change the answer.
    verbose
        Whether progress and the result are printed.
    unbias
        Whether the coefficients are fitted again without ridge on the support found. Not with constraints.

    Attributes
    ----------
    coef_
        (targets, features), exact zeros off the support.
    ind_
        The support, a mask of the same shape.
    certificate_
        What was proved: one `Certificate` per target, or one for all if they share a budget.
    solution_
        The whole `Solution` (before unbiasing); ``solution_.problem`` is the compressed regression.
    history_
        Coefficients: the guess if there was one, the solution, and the unbiased coefficients if asked for. The last is
        `coef_`.
    Theta_
        The rows of x that were fitted (those with NaN are left out), times the roots of their weights.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> x = np.random.default_rng(0).normal(size=(100, 6))
    >>> y = np.column_stack([2 * x[:, 0], x[:, 1] - x[:, 4]])
    >>> optimizer = es.MIOSR(group_sparsity=(1, 2), alpha=0.0).fit(x, y)
    >>> optimizer.coef_.round(6) + 0.0
    array([[ 2.,  0.,  0.,  0.,  0.,  0.],
           [ 0.,  1.,  0.,  0., -1.,  0.]])
    >>> [certificate.status for certificate in optimizer.certificate_]
    ['OPTIMAL', 'OPTIMAL']
    """

    coef_: Array
    ind_: NDArray[np.bool_]
    certificate_: tuple[Certificate, ...]
    solution_: Solution
    history_: list[Array]
    Theta_: Array

    def __init__(
        self,
        target_sparsity: int | None = None,
        group_sparsity: Sequence[int] | int | None = None,
        alpha: float = 0.01,
        regression_timeout: float | None = 10,
        constraint_lhs: ArrayLike | None = None,
        constraint_rhs: ArrayLike | None = None,
        constraint_order: str = "target",
        normalize_columns: bool = False,
        copy_X: bool = True,
        initial_guess: ArrayLike | None = None,
        verbose: bool = False,
        unbias: bool = False,
    ) -> None:
        super().__init__(normalize_columns=normalize_columns, copy_X=copy_X, unbias=unbias)
        self.target_sparsity = target_sparsity
        self.group_sparsity = group_sparsity
        self.alpha = alpha
        self.regression_timeout = regression_timeout
        self.constraint_lhs = constraint_lhs
        self.constraint_rhs = constraint_rhs
        self.constraint_order = constraint_order
        self.initial_guess = initial_guess
        self.verbose = verbose
        arguments.check(self)

    def set_params(self, **params: object) -> MIOSR:
        """Set parameters and return self; PySINDy's optimizers return nothing, which breaks scikit-learn's searches."""
        super().set_params(**params)
        return self

    def fit(self, x_: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> MIOSR:
        """Find the best coefficients for library columns ``x_`` (n, features) and ``y`` (n,) or (n, targets).

        Samples with NaN are left out. ``sample_weight``, a number or (n,), multiplies the squared residuals.
        """
        arguments.check(self)
        names = getattr(x_, "columns", None)
        theta, targets, weights = arguments.rows(x_, y, sample_weight)
        self.n_features_in_ = theta.shape[1]
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._reduce(theta, targets, weights)
        if weights is not None:
            self.Theta_ = np.sqrt(weights)[:, None] * theta
        else:
            self.Theta_ = np.array(theta) if self.copy_X else theta
        self.intercept_ = 0.0  # the constant is a matter of the library
        return self

    def _reduce(self, x: Array, y: Array, weights: Array | None = None) -> None:
        problem = Problem.from_arrays(x, y, weights=weights)
        n_targets = len(problem.target_names)
        k = arguments.budget(self.target_sparsity, self.group_sparsity, n_targets)
        limit = self.regression_timeout
        if limit is not None and isinstance(k, tuple):
            limit *= n_targets  # one limit for each target there, one for the whole call here
        solution = solve(
            problem,
            k,
            ridge=self.alpha * problem.column_norms**2 if self.normalize_columns else self.alpha,
            constraints=arguments.constraints(self.constraint_lhs, self.constraint_rhs, self.constraint_order),
            start=arguments.start(self.initial_guess, problem, k),
            settings=Settings(
                seconds=None if limit is None or np.isinf(limit) else float(limit),
                progress=_show if self.verbose else None,
            ),
        )
        if Status.INFEASIBLE in solution.status:
            raise ConstraintError(
                f"constraint_lhs, constraint_rhs: no coefficients satisfy them with target_sparsity="
                f"{self.target_sparsity!r}, group_sparsity={self.group_sparsity!r}: allow more terms, or drop a row."
            )
        self.solution_ = solution
        self.certificate_ = solution.certificates
        guess = [] if self.initial_guess is None else [np.atleast_2d(np.array(self.initial_guess, dtype=float))]
        self.history_ = [*guess, self.solution_.coef.copy()]
        if self.unbias:
            self.history_.append(refit(problem, self.solution_).coef.copy())
        self.coef_ = self.history_[-1].copy()
        self.ind_ = self.coef_ != 0
        if self.verbose:
            print(self.solution_)
        if not self.solution_.optimal:
            self._warn()

    def _warn(self) -> None:
        worst = int(np.argmax(self.solution_.gap))
        warnings.warn(
            f"MIOSR: not proved optimal. {self.solution_.status[worst].value} Proved gap: "
            f"{100 * float(self.solution_.gap[worst]):.3g} %; limit: regression_timeout={self.regression_timeout!r}.",
            _exceptions.ConvergenceWarning,
            stacklevel=4,
        )


def _show(progress: Progress) -> None:
    best = ", ".join(f"{target} {value:.6g}" for target, value in progress.incumbent.items())
    bound = ", ".join(f"{value:.6g}" for value in progress.lower_bound.values())
    print(f"{progress.seconds:7.1f} s  {progress.nodes} nodes  best {best}  bound {bound}", flush=True)
