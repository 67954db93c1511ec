"""How often trajectories were sampled, and what that makes of a confidence that rests on rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from exactsindy.form import Smoothed
from exactsindy.selection import ORBIT, PathEvidence, Selection

# Below so many samples per period rows are right less often than their evidence says: the odds fall in proportion.
# `benchmarks/selection.py --tune sampling` prints the power that tuning systems ask for (1 is used).
FINE = 35.0


@dataclass(frozen=True)
class Sampling:
    """Samples of all trajectories, and periods of the state that has most (0 if nothing moves)."""

    samples: int
    periods: float

    @property
    def per_period(self) -> float:
        """Return the samples in a period; infinite if there is none."""
        return self.samples / self.periods if self.periods else math.inf


def sampling(smoothed: Smoothed) -> Sampling:
    """Count the periods of smoothed states by how often they cross their mean.

    Examples
    --------
    >>> from exactsindy.data import trajectories
    >>> from exactsindy.form import smooth
    >>> t = np.arange(0, 10, 0.05)
    >>> bool(18 < sampling(smooth(trajectories(np.sin(2 * np.pi * t), time=t))).per_period < 22)
    True
    """
    crossings, samples = np.zeros(len(smoothed.noise)), 0
    for values in smoothed.values:
        centred = values - values.mean(axis=0)
        crossings += np.count_nonzero(np.diff(np.sign(centred), axis=0), axis=0)
        samples += len(values)
    # What moves by far less than its noise crosses its mean by chance. Half is little, because what is too coarse to be
    # smoothed is taken for noise.
    moves = np.max([values.std(axis=0) for values in smoothed.values], axis=0) > 0.5 * smoothed.noise
    return Sampling(samples, float((crossings * moves).max()) / 2)


def tempered(selection: Selection, found: Sampling, *, power: float = 1.0) -> Selection:
    """Return the selection with the odds of equations chosen by rows lowered for coarse samples.

    Orbits see for themselves where quadrature is too coarse.
    """
    factor = min(found.per_period / FINE, 1.0) ** power
    if factor == 1.0 or not isinstance(selection.rule, PathEvidence):
        return selection
    choices = tuple(
        choice
        if choice.preparation == ORBIT or math.isnan(choice.confidence)
        else replace(choice, confidence=factor * choice.confidence / (1 - (1 - factor) * choice.confidence))
        for choice in selection.choices
    )
    return replace(selection, choices=choices)
