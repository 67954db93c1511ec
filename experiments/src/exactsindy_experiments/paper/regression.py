"""The rows of a trial, made once and shared by all algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.problem import Problem
from exactsindy.problem.compress import Matrix

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Regression:
    """Training and validation rows of all equations over one library.

    Parameters
    ----------
    train
        The compressed training rows.
    validation
        The compressed validation rows; None where the truth chooses (fields).
    normalise
        Whether ridges and thresholds act on coefficients of unit columns, as in the weak experiments.
    rows
        The training rows themselves, for resampling.
    state
        Of the trial's random generator, where noise and windows left it.
    """

    train: Problem
    validation: Problem | None = None
    normalise: bool = False
    rows: tuple[Array, Array] | None = None
    state: Any = None

    def generator(self) -> np.random.RandomState:
        """Return the trial's generator as it is before the first algorithm that draws."""
        rng = np.random.RandomState(0)
        if self.state is not None:
            rng.set_state(self.state)
        return rng

    @cached_property
    def compressed(self) -> tuple[Matrix, Matrix]:
        """Rows with the same fits as all rows, as many as there are columns: the triangular factor, cut."""
        (block,) = self.train.blocks
        width = len(block.terms)
        return np.ascontiguousarray(block.factor[:, :width]), np.ascontiguousarray(block.factor[:, width:])

    @cached_property
    def for_peers(self) -> tuple[Matrix, Matrix]:
        """The rows that peers fit: compressed, or all of them where rounding decides.

        Peers solve normal equations. Where these have no digits left, the factor and the rows, equal in theory, lead
        them to other terms; then they get what the published code gave them.
        """
        theta, targets = self.compressed
        scale = np.linalg.norm(theta, axis=0) if self.normalise else 1.0
        if self.rows is None or np.linalg.cond(theta / scale) < np.finfo(float).eps ** -0.5:
            return theta, targets
        return self.rows

    def ridge(self, alpha: float) -> float | Matrix:
        """Return the weights in the units of the library that a ridge on normalised columns means."""
        return alpha * self.train.column_norms**2 if self.normalise else alpha

    def validation_rss(self, coef: Array) -> tuple[Matrix, int]:
        """Return the residual sum of squares of each equation on the validation rows, and their number."""
        assert self.validation is not None
        return self.validation.rss(coef), self.validation.n_samples
