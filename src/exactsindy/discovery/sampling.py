"""How often trajectories were sampled, and the confidence calibrated by it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._types import Array
from exactsindy.selection import TRAJECTORY_FIT, PathEvidence, Selection

# Samples per period below which regressions are right less often than their evidence says: the odds fall in proportion.
# `benchmarks/selection.py --tune sampling` prints the power that tuning systems ask for (1 is used).
FINE = 35.0
# A state that moves by less than this share of its noise crosses its mean by chance. Half is little, because what is
# too coarse to be smoothed is taken for noise.
_STILL = 0.5


@dataclass(frozen=True)
class Sampling:
    """Samples of all trajectories, and periods of the state that has most (0 if nothing moves)."""

    samples: int
    periods: float

    @property
    def per_period(self) -> float:
        """Return the samples in a period; infinite if there is none."""
        return self.samples / self.periods if self.periods else math.inf


def sampling(states: Sequence[Array], noise: Array) -> Sampling:
    """Count the periods of smoothed states by how often they cross their mean.

    Parameters
    ----------
    states
        Of every trajectory (samples x states).
    noise
        Of every state.

    Examples
    --------
    >>> from exactsindy.data import Trajectories
    >>> from exactsindy.forms import smooth
    >>> t = np.arange(0, 10, 0.05)
    >>> smoothed = smooth(Trajectories.from_arrays(np.sin(2 * np.pi * t), time=t))
    >>> bool(18 < sampling(smoothed.values, smoothed.noise).per_period < 22)
    True
    """
    crossings, samples = np.zeros(len(noise)), 0
    for values in states:
        centred = values - values.mean(axis=0)
        crossings += np.count_nonzero(np.diff(np.sign(centred), axis=0), axis=0)
        samples += len(values)
    moves = np.max([values.std(axis=0) for values in states], axis=0) > _STILL * noise
    return Sampling(samples, float((crossings * moves).max()) / 2)


def calibrated(selection: Selection, sampled: Sampling, *, power: float = 1.0) -> Selection:
    """Return the selection with the odds of equations chosen by regression evidence lowered for coarse samples.

    Trajectory fits notice by themselves where quadrature is too coarse.
    """
    factor = min(sampled.per_period / FINE, 1.0) ** power
    if factor == 1.0 or not isinstance(selection.rule, PathEvidence):
        return selection
    choices = tuple(
        choice
        if choice.variant == TRAJECTORY_FIT or math.isnan(choice.confidence)
        else replace(choice, confidence=factor * choice.confidence / (1 - (1 - factor) * choice.confidence))
        for choice in selection.choices
    )
    return replace(selection, choices=choices)
