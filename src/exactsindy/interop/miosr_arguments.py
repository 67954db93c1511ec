"""The arguments of PySINDy's MIOSR in the words of our solver; knows nothing of PySINDy."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy._types import Array
from exactsindy.constraints import LinearMatrix
from exactsindy.errors import ConstraintError, ProblemError, SolverError
from exactsindy.solver import Total

if TYPE_CHECKING:
    from exactsindy.problem import Problem

# What PySINDy's MIOSR takes if nobody says anything.
DEFAULT_SPARSITY = 5


def check(given: Any) -> None:
    """Refuse arguments, attributes of ``given``, that have no meaning whatever the data."""
    target_sparsity, group_sparsity, alpha = given.target_sparsity, given.group_sparsity, given.alpha
    regression_timeout, constraint_order = given.regression_timeout, given.constraint_order
    if target_sparsity is not None and not _is_count(target_sparsity, 1):
        raise SolverError(f"target_sparsity={target_sparsity!r}: expected a positive integer, or None.")
    if group_sparsity is not None:
        several = isinstance(group_sparsity, Sequence | np.ndarray) and not isinstance(group_sparsity, str)
        if not all(_is_count(value, 0) for value in (group_sparsity if several else [group_sparsity])):
            raise SolverError(
                f"group_sparsity={group_sparsity!r}: expected one number of terms (an integer >= 0) per target, e.g. "
                "(2, 3, 2), one for all, or None."
            )
    if not _is_number(alpha) or not 0 <= alpha < float("inf"):
        raise SolverError(f"alpha={alpha!r}: expected a number >= 0, the weight of the squared coefficients.")
    if regression_timeout is not None and not (_is_number(regression_timeout) and regression_timeout > 0):
        raise SolverError(f"regression_timeout={regression_timeout!r}: expected seconds > 0, or None for no limit.")
    if constraint_order not in ("target", "feature"):
        raise ConstraintError(f"constraint_order={constraint_order!r}: expected 'target' or 'feature'.")
    if given.unbias and given.constraint_lhs is not None:
        cure = "which would then not hold: use unbias=False, with alpha=0 for no bias."
        raise ConstraintError(f"unbias=True fits the coefficients again without the constraints, {cure}")
    if (given.constraint_lhs is None) != (given.constraint_rhs is None):
        one, other = ("lhs", "rhs") if given.constraint_rhs is None else ("rhs", "lhs")
        raise ConstraintError(f"constraint_{one} is given without constraint_{other}: both are needed, lhs @ w = rhs.")


def rows(x: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Return the rows of x and y without NaN, their weights beside them.

    PySINDy marks samples that have no derivative by NaN; infinite numbers are left for `Problem` to refuse.
    """
    theta, targets = _real(x, "x"), _real(y, "y")
    targets = targets[:, None] if targets.ndim == 1 else targets
    if theta.ndim != 2 or targets.ndim != 2 or len(theta) != len(targets):
        expected = "expected (samples, features) and (samples,) or (samples, targets) with as many samples."
        raise ProblemError(f"x has shape {theta.shape}, y has shape {np.shape(y)}: {expected}")
    weights = None if sample_weight is None else _real(sample_weight, "sample_weight")
    if weights is not None:
        weights = np.broadcast_to(weights, (len(theta),)) if weights.ndim == 0 else weights
        if weights.shape != (len(theta),):
            expected = f"({len(theta)},), one weight per sample"
            raise ProblemError(f"sample_weight has shape {weights.shape}: expected {expected}.")
    good = ~(np.isnan(theta).any(axis=1) | np.isnan(targets).any(axis=1))
    if not good.any():
        raise ProblemError(f"x and y have no sample without NaN (of {len(theta)}): nothing to fit.")
    if good.all():
        return theta, targets, weights
    return theta[good], targets[good], None if weights is None else weights[good]


def budget(target_sparsity: int | None, group_sparsity: Any, n_targets: int) -> Total | tuple[int, ...]:
    """Return the number of terms: shared by all targets, each its own, or both at once."""
    if group_sparsity is None:
        total = DEFAULT_SPARSITY if target_sparsity is None else int(target_sparsity)
        return Total(total) if n_targets > 1 else (total,)
    several = np.ndim(group_sparsity) > 0
    group = tuple(int(v) for v in group_sparsity) if several else (int(group_sparsity),) * n_targets
    if len(group) != n_targets:
        cure = "give one number of terms for each."
        raise SolverError(f"group_sparsity={group_sparsity!r} has {len(group)} entries for {n_targets} targets: {cure}")
    if target_sparsity is None:
        return group
    return Total(int(target_sparsity), caps=group) if n_targets > 1 else (min(int(target_sparsity), group[0]),)


def start(initial_guess: Any, problem: Problem, k: Total | tuple[int, ...]) -> tuple[list[int], ...] | None:
    """Return the supports of a guess: of each target its largest terms (as they act on the data)."""
    if initial_guess is None:
        return None
    shape = (len(problem.target_names), len(problem.terms))
    guess = np.atleast_2d(_real(initial_guess, "initial_guess"))
    if guess.shape != shape:
        raise SolverError(
            f"initial_guess has shape {np.shape(initial_guess)}: expected {shape} (targets, features) for these data."
        )
    most = k if isinstance(k, tuple) else (k.k,) * shape[0]
    effect = np.abs(guess) * problem.column_norms
    return tuple(
        [int(i) for i in np.argsort(-row, kind="stable")[:size] if row[i] > 0]
        for row, size in zip(effect, most, strict=True)
    )


def constraints(lhs: Any, rhs: Any, order: Any) -> tuple[LinearMatrix, ...]:
    """Return ``lhs @ w = rhs`` as `solve` takes it; shapes and the order are checked there."""
    if lhs is None:
        return ()
    return (LinearMatrix(np.atleast_2d(np.asarray(lhs)), np.atleast_1d(np.asarray(rhs)), order=order),)


def _is_count(value: Any, least: int) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Integral) and int(value) >= least


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Real)


def _real(values: Any, name: str) -> Array:
    """Return plain doubles; PySINDy passes its own kind of arrays."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"dtype {array.dtype}")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name} cannot be read as an array of real numbers ({error}).") from None
