"""Whitened increments of equations that share a library, block after block of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import ProblemError
from exactsindy.forms.base import EquationGroup, Trial, trajectory_inputs
from exactsindy.forms.increment.smoothing import Smoothed
from exactsindy.forms.increment.tridiagonal import Increments, Whitening, increment_covariance
from exactsindy.forms.quadrature import integrate_intervals, interval_weights
from exactsindy.library import Features, Term, Variable
from exactsindy.problem import Collector, Problem

# (theta, target) of each equation: their rows differ by the whitening only, so they come together.
Chunks = tuple[tuple[Array, Array], ...]

# Rows whitened together: few enough that the tables of all equations stay in the second-level cache.
BLOCK_ROWS = 1024
# Shares of the noise that are tried for what reaches a library on smoothed states: quarters are as fine as the
# likelihood of the residuals tells apart.
_SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True, eq=False)
class HermiteFeatures:
    """The columns of a library with powers of noisy states replaced by Hermite polynomials.

    E[s^p He_p((x + e) / s)] = x^p for white noise e of standard deviation s: x^2 - s^2, x^3 - 3 s^2 x, ...
    Terms that hold a noisy state inside a function are left as they are.
    """

    features: Features
    noise: Array

    @cached_property
    def _split(self) -> tuple[Features, tuple[tuple[tuple[int, int], ...], ...]]:
        """Return what multiplies the powers of states in each term, and those powers (state, power)."""
        states = self.features.variables.states
        cofactors, powers = [], []
        for term in self.features.terms:
            plain = {a: n for a, n in term.factors if isinstance(a, Variable)}
            own = {a: n for a, n in plain.items() if not a.axes and a.name in states and n > 1}
            cofactor = Term.of({a: n for a, n in term.factors if a not in own})
            nested = {v.name for atom, _ in term.factors if atom not in plain for v in atom.variables()}
            if nested & set(states):
                own, cofactor = {}, term
            cofactors.append(cofactor)
            powers.append(tuple((states.index(atom.name), n) for atom, n in own.items()))
        return Features(self.features.variables, tuple(cofactors)), tuple(powers)

    def evaluate(self, values: Array) -> Array:
        """Return the columns (samples x terms) at samples of the library's inputs."""
        cofactors, powers = self._split
        order = [self.features.inputs.index(v) for v in cofactors.inputs]
        columns = cofactors.evaluate(values[:, order])
        tables: dict[int, list[Array]] = {}
        for state, n in {pair for pairs in powers for pair in pairs}:
            table = tables.setdefault(state, [np.ones(len(values)), values[:, state]])
            while len(table) <= n:
                k = len(table) - 1
                table.append(values[:, state] * table[k] - k * self.noise[state] ** 2 * table[k - 1])
        for column, pairs in enumerate(powers):
            for state, n in pairs:
                columns[:, column] *= tables[state][n]
        return columns


@dataclass(frozen=True, eq=False)
class IncrementRows:
    """The whitened rows of the equations of a group, piece after piece."""

    group: EquationGroup
    smoothed: Smoothed
    model: Trial | None
    raw: bool
    hermite: bool

    @property
    def n_rows(self) -> int:
        """Return the number of rows: one per interval."""
        return sum(len(piece) - 1 for piece in self.smoothed.pieces)

    def chunks(self) -> Iterator[Chunks]:
        """Yield whitened (theta, target) of every equation."""
        return chain.from_iterable(map(self._piece, range(len(self.smoothed.pieces))))

    @cached_property
    def _columns(self) -> Features | HermiteFeatures:
        features = self.group.features
        return HermiteFeatures(features, self.smoothed.measured_noise) if self.hermite else features

    def _piece(self, i: int) -> Iterator[Chunks]:
        piece = self.smoothed.pieces[i]
        states = piece.states if self.raw else self.smoothed.values[i]
        own, n, weights = self._own(i), len(piece), interval_weights(piece.times)
        whitenings = [self._whitening(i, j, share) for j, share in enumerate(self._shares)]
        previous = np.zeros((len(own), len(self.group.features.terms) + 1))
        for start in range(0, n - 1, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, n - 1)
            low, high = max(start - 1, 0), min(stop + 2, n)
            inputs = trajectory_inputs(self.group.features, piece, states[low:high], low, high)
            columns = np.ascontiguousarray(self._columns.evaluate(inputs).T)
            increments = Increments(columns, start - low, weights[start:stop])
            change = np.diff(piece.states[start : stop + 1], axis=0)
            rows = [
                whitening.apply(increments, change[:, state], start, before)
                for whitening, state, before in zip(whitenings, own, previous, strict=True)
            ]
            yield tuple((table[:-1].T, table[-1:].T) for table in rows)

    def _whitening(self, i: int, j: int, share: float) -> Whitening:
        """Return the factor of the errors of equation j on piece i if this share of the noise reaches the library."""
        steps, slopes = np.diff(self.smoothed.pieces[i].times), share * self._slopes[i][:, j]
        return Whitening.of(*increment_covariance(steps, slopes, self.smoothed.noise, self._own(i)[j]))

    def _own(self, i: int) -> list[int]:
        return [self.smoothed.pieces[i].names.index(target.state) for target in self.group.targets]

    @cached_property
    def _slopes(self) -> list[Array]:
        """Return the model's Jacobian on every piece (samples x equations x states)."""
        pieces = self.smoothed.pieces
        if self.model is None:
            return [np.zeros((len(piece), len(self.group.targets), len(piece.names))) for piece in pieces]
        return [
            self.model.jacobian(self.group, self._inputs(i), [Variable(name) for name in piece.names])
            for i, piece in enumerate(pieces)
        ]

    def _inputs(self, i: int) -> Array:
        """Return the inputs of the library on the smoothed states of a piece."""
        piece = self.smoothed.pieces[i]
        return trajectory_inputs(self.group.features, piece, self.smoothed.values[i], 0, len(piece))

    @cached_property
    def _shares(self) -> list[float]:
        """Return, per equation, the share of the noise that reaches the library.

        Raw states carry all of it. Guided ones may follow the model so closely that little is left; slopes that
        passed on noise which is not there would be worse than none. The share is that of the greatest likelihood of
        the model's own residuals.
        """
        if self.raw or self.model is None:
            return [1.0] * len(self.group.targets)
        residuals = [self._residuals(i, self.model) for i in range(len(self.smoothed.pieces))]
        scores = [[self._misfit(j, c, residuals) for c in _SHARES] for j in range(len(self.group.targets))]
        return [_SHARES[int(best)] for best in np.argmin(scores, axis=1)]

    def _misfit(self, j: int, share: float, residuals: Sequence[Array]) -> float:
        """Return -2 log likelihood of residuals of equation j, their scale free, up to a constant."""
        square, volume = 0.0, 0.0
        for i, residual in enumerate(residuals):
            try:
                whitening = self._whitening(i, j, share)
            except ProblemError:
                return np.inf  # without slopes the covariance is positive definite
            square += float((whitening.whiten(residual[:, j]) ** 2).sum())
            volume += float(np.log(whitening.diagonal).sum())
        return float(self.n_rows * np.log(square / self.n_rows + np.finfo(float).tiny) + 2 * volume)

    def _residuals(self, i: int, model: Trial) -> Array:
        """Return the residuals of the model in the increments of a piece (rows x equations)."""
        piece, rates = self.smoothed.pieces[i], model.predict(self.group, self._inputs(i))
        change = np.diff(piece.states[:, self._own(i)], axis=0)
        return np.asarray(change - integrate_intervals(interval_weights(piece.times), rates))


def compressed(group: EquationGroup, chunks: Iterable[Chunks]) -> list[Problem]:
    """Return the problem of every equation of a group, all compressed at the same time."""
    collectors = [Collector(group.features.terms, (name,)) for name in group.target_names]
    for together in chunks:
        for collector, chunk in zip(collectors, together, strict=True):
            collector.add(chunk)
    return [Problem((collector.block(),)) for collector in collectors]


def split(chunks: Iterable[Chunks], borders: list[int]) -> Iterator[list[Chunks]]:
    """Yield the chunks between borders (row numbers), cutting them where a border falls inside."""
    stream = iter(chunks)
    held = next(stream)
    at = 0
    for low, high in pairwise(borders):
        part: list[Chunks] = []
        wanted = high - low
        while wanted:
            if at == len(held[0][0]):
                held, at = next(stream), 0
            count = min(wanted, len(held[0][0]) - at)
            part.append(tuple((theta[at : at + count], y[at : at + count]) for theta, y in held))
            at, wanted = at + count, wanted - count
        yield part
