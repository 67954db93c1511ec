"""The rows that rational laws are compared on: measured derivatives, or windows over trajectories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectory
from exactsindy.discovery.rational.shapes import Candidates
from exactsindy.forms import Smoothed
from exactsindy.library import Features, Variables

# Residuals below this share of the target are errors of simulations and of rounding: laws that leave less fit alike.
_FLOOR = 1e-8
# Samples of a window: about a third of a short trajectory, at most 41, at least 9; it vanishes with its first five
# derivatives at both ends: (1 - u^2)^6. Windows begin every eighth of their width.
_WIDEST, _NARROWEST, _POWER, _OVERLAP = 41, 9, 6, 8
# Samples of a stretch, within which the windows are whitened together; and of all stretches of one regression, beyond
# which more would only take time: windows choose where to begin, not the law.
_STRETCH, _MOST_SAMPLES = 400, 4000


@dataclass(frozen=True, eq=False)
class Stretch:
    """Weights of windows (windows x samples) over neighbouring samples.

    ``rates`` times the rate at the samples is the row of a rate; ``states`` times the states is the same row with the
    derivative moved onto the window, so that noisy samples are never differentiated.
    """

    samples: slice
    times: Array
    rates: Array
    states: Array

    def change(self, columns: Array) -> Array:
        """Return the derivative in time of smooth columns."""
        from scipy.interpolate import CubicSpline  # loaded when needed: it costs more than numpy

        return np.asarray(CubicSpline(self.times, columns).derivative()(self.times))


@dataclass(frozen=True, eq=False)
class Rows:
    """The regression of one equation, before it is known what is divided by what.

    Candidates are evaluated at samples (samples x terms). With measured derivatives there are no ``stretches`` and a
    row is a sample; otherwise rows are integrals over windows, whitened for equal noise of all samples of the state.
    ``label`` is the measured derivative, or the measured state whose derivative the windows take.
    """

    plain: Array
    over: Array
    under: Array
    label: Array
    stretches: tuple[Stretch, ...] = ()

    @property
    def is_noisy(self) -> bool:
        """Return True if the label has noise, which enters all its products."""
        return True

    @cached_property
    def target(self) -> Array:
        """Return the rows of the derivative itself."""
        return self.labelled(np.ones((len(self.label), 1)))[:, 0]

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return sum(len(part.rates) for part in self.stretches) if self.stretches else len(self.label)

    @cached_property
    def floor(self) -> float:
        """Return the residual sum of squares below which laws fit alike."""
        return float(self.target @ self.target) * _FLOOR**2 or float(np.finfo(float).tiny)

    def rates(self, columns: Array) -> Array:
        """Return the rows of rates given at the samples (samples x columns, or samples)."""
        if not self.stretches:
            return columns
        return np.concatenate([part.rates @ columns[part.samples] for part in self.stretches])

    def labelled(self, columns: Array) -> Array:
        """Return the rows of the derivative times columns (samples x columns)."""
        if not self.stretches:
            return columns * self.label[:, None]
        rows = []
        for part in self.stretches:
            near, label = columns[part.samples], self.label[part.samples, None]
            rows.append(part.states @ (near * label) - part.rates @ (part.change(near) * label))
        return np.concatenate(rows)

    def noise(self, columns: Array) -> Array:
        """Return the covariance of the noise in `labelled` columns, summed over rows, for noise of variance 1.

        The noise of sample t enters row r of column j by states[r, t] c_j(t) - rates[r, t] c_j'(t).
        """
        if not self.stretches:
            return np.asarray(columns.T @ columns)
        total = np.zeros((columns.shape[1], columns.shape[1]))
        for part in self.stretches:
            near = columns[part.samples]
            slow = part.change(near)
            square, mixed, rest = (
                np.einsum("rt,rt->t", a, b)[:, None]
                for a, b in ((part.states, part.states), (part.states, part.rates), (part.rates, part.rates))
            )
            cross = near.T @ (mixed * slow)
            total += near.T @ (square * near) + slow.T @ (rest * slow) - cross - cross.T
        return total


def evaluated(every: Features, candidates: Candidates, values: Array) -> tuple[Array, Array, Array]:
    """Return the candidates of p, M and D at samples of the inputs of a library of all of them."""
    place = {term: j for j, term in enumerate(every.terms)}
    table = every.evaluate(values)
    lists = (candidates.plain, candidates.over, candidates.under)
    first, second, third = (table[:, [place[term] for term in terms]] for terms in lists)
    return first, second, third


def window_rows(candidates: Candidates, variables: Variables, smoothed: Smoothed, state: str) -> Rows:
    """Return the rows of windows over smoothed trajectories, for the equation of a state."""
    j = smoothed.pieces[0].names.index(state)
    features = Features(variables, tuple(dict.fromkeys((*candidates.plain, *candidates.over, *candidates.under))))
    stretches: list[Stretch] = []
    inputs, labels, at = [], [], 0
    for piece, values, first, last in _stretches(smoothed):
        part = slice(at, at + last - first)
        times = piece.times[first:last]
        stretch = _windows(times, len(piece), part)
        if stretch is None:
            continue
        stretches.append(stretch)
        inputs.append(features.inputs_of(piece, values)[first:last])
        labels.append(piece.states[first:last, j])
        at = part.stop
    plain, over, under = evaluated(features, candidates, np.vstack(inputs))
    return Rows(plain, over, under, np.concatenate(labels), tuple(stretches))


def _stretches(smoothed: Smoothed) -> list[tuple[Trajectory, Array, int, int]]:
    """Return piece, smoothed states, first and last sample of stretches, evenly chosen if there are many."""
    found: list[tuple[Trajectory, Array, int, int]] = []
    for piece, values in zip(smoothed.pieces, smoothed.values, strict=True):
        count = max(round(len(piece) / _STRETCH), 1)
        ends = np.linspace(0, len(piece), count + 1).astype(int).tolist()
        found += [(piece, values, a, b) for a, b in pairwise(ends)]
    total = sum(b - a for *_, a, b in found)
    step = max(total / _MOST_SAMPLES, 1.0)
    return [found[int(i)] for i in np.arange(0, len(found), step)]


def _windows(times: Array, length: int, samples: slice) -> Stretch | None:
    """Return the whitened windows over samples of a piece of this length; None if there are too few samples."""
    n = len(times)
    width = min(_WIDEST, max(_NARROWEST, length // 3), n) | 1
    width = width if width <= n else width - 2
    if width < 5:
        return None
    starts = np.arange(0, n - width + 1, max(width // _OVERLAP, 1))
    rates, states = np.zeros((len(starts), n)), np.zeros((len(starts), n))
    for row, start in enumerate(starts.tolist()):
        t = times[start : start + width]
        half = (t[-1] - t[0]) / 2
        u = (t - t[0]) / half - 1.0
        steps = np.gradient(t)
        rates[row, start : start + width] = steps * (1 - u**2) ** _POWER
        states[row, start : start + width] = steps * 2 * _POWER * u * (1 - u**2) ** (_POWER - 1) / half
    from scipy.linalg import cholesky, solve_triangular  # loaded when needed: it takes as much memory as numpy

    factor = cholesky(states @ states.T, lower=True)
    white = [solve_triangular(factor, weights, lower=True) for weights in (rates, states)]
    return Stretch(samples, times, white[0], white[1])
