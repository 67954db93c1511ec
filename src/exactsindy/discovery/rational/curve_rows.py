"""The rational laws of one equation near a trajectory fit: the likelihood of trajectories as the rows of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.discovery.rational.joint_candidates import JointCandidates
from exactsindy.discovery.rational.output_fit import LawFit, keeps_sign
from exactsindy.discovery.rational.profiling import grid
from exactsindy.discovery.rational.rows import Rows, evaluated
from exactsindy.library import Features
from exactsindy.trajectory_fit import CurveLikelihood, TrajectoryFit, by_piece

# Functions on the curve nearer to each other than this share of their size are one, and the most that are kept.
_DEPENDENT, _MOST = 1e-8, 240


@dataclass(frozen=True, eq=False)
class CurveRows(Rows):
    """Candidates on the curve of a trajectory fit; a row is a combination of samples with noise of its own.

    ``label`` is the rate of the fit, which has no noise: D times it is linear in D. Laws are compared by the misfit
    that their trajectories would have, linearised, with the coefficients of other equations free.
    """

    likelihood: CurveLikelihood | None = None

    @property
    def is_noisy(self) -> bool:
        """Return False: the rate of a fit has no noise."""
        return False

    @property
    def curve(self) -> CurveLikelihood:
        """Return the likelihood of functions on the curve."""
        assert self.likelihood is not None
        return self.likelihood

    @property
    def target(self) -> Array:
        """Return the rows of the rate that fits best."""
        return self.curve.target

    @property
    def count(self) -> int:
        """Return the number of rows that the misfit is a sum of."""
        return self.curve.rows

    def rates(self, columns: Array) -> Array:
        """Return the rows of rates given at the samples."""
        return self.curve.on_rows(columns) if columns.ndim == 2 else self.curve.on_rows(columns[:, None])[:, 0]

    def labelled(self, columns: Array) -> Array:
        """Return the rows of the rate of the fit times columns."""
        return self.rates(columns * self.label[:, None])


def curve_rows(joint: JointCandidates, laws: Sequence[LawFit], fit: TrajectoryFit, i: int) -> CurveRows | None:
    """Return the rows of one equation near a trajectory fit of laws; None where candidates overflow on its curve."""
    measured, supports = joint.measured(laws), joint.supports(laws)
    own = joint.candidates[i]
    terms = tuple(dict.fromkeys((*own.plain, *own.over, *own.under)))
    features = Features(joint.variables, terms)
    noise = measured.smoothed.noise
    pieces = zip(measured.smoothed.pieces, by_piece(measured, fit.states * noise), strict=True)
    values = np.vstack([features.inputs_of(piece, states) for piece, states in pieces])
    plain, over, under = evaluated(features, own, values)
    law = laws[i]
    rate = plain[:, law.shape.plain] @ law.plain
    if law.shape.over:
        bottom = under[:, law.shape.under] @ np.concatenate([[1.0], law.under])
        rate = rate + over[:, law.shape.over] @ law.over / bottom
    basis = _basis(plain, over, under, rate)
    if basis is None:
        return None
    likelihood = CurveLikelihood.of(measured, supports, fit, i, rate, basis)
    return None if likelihood is None else CurveRows(plain, over, under, rate, likelihood=likelihood)


def _basis(plain: Array, over: Array, under: Array, rate: Array) -> Array | None:
    """Return orthonormal functions on the curve whose sums are all laws: those of denominators on a grid, and between.

    Random sums of all of them span what matters: the functions are smooth.
    """
    parts = [plain, over, under * rate[:, None], rate[:, None]]
    for columns, coef in grid(under):
        bottom = under[:, columns[0]] + under[:, columns[1:]] @ coef
        if keeps_sign(bottom):
            parts.append(over / bottom[:, None])
    random = np.random.default_rng(0)
    total = np.zeros((len(rate), min(_MOST, len(rate))))
    for part in parts:
        size = np.sqrt((part**2).sum(axis=0))
        if not np.isfinite(size).all():
            return None
        part = part[:, size > 0] / size[size > 0]
        total += part @ random.normal(size=(part.shape[1], total.shape[1]))
    u, s, _ = np.linalg.svd(total, full_matrices=False)
    return np.asarray(u[:, s > _DEPENDENT * s[0]])
