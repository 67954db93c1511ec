"""Whitened increments of equations that share a library, block after block of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.errors import ProblemError
from exactsindy.forms.base import EquationGroup, Trial, trajectory_inputs
from exactsindy.forms.increment.smoothing import Smoothed
from exactsindy.forms.increment.tridiagonal import Increments, Whitening, increment_covariance
from exactsindy.forms.quadrature import integrate_intervals, interval_weights, sections
from exactsindy.library import Features, Term, Variable
from exactsindy.problem import Collector, Problem

# (theta, target) of each equation: their rows differ by the whitening only, so they come together.
Chunks = tuple[tuple[Array, Array], ...]

# Rows whitened together: few enough that the tables of all equations stay in the second-level cache.
BLOCK_ROWS = 1024
# Rows whose errors' covariance is factored at once: memory of long data stays small.
SECTION_ROWS = 1 << 14
_SECTION_NUMBERS, _LEAST_SECTION = 1 << 22, 256
# Rows from which the share of the noise below is estimated, in stretches spread over longer data: likelihoods of two
# quarters then differ by far more than their error.
_SHARE_ROWS, _STRETCH_ROWS = 1 << 15, 1 << 12
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


@dataclass(eq=False)
class Carry:
    """What whitened rows go on from: the last row of every equation (equations x terms and target), and its pivot."""

    previous: Array
    pivots: Array | None = None

    @classmethod
    def fresh(cls, equations: int, terms: int) -> Carry:
        """Return what the first rows of a trajectory go on from: nothing."""
        return cls(np.zeros((equations, terms + 1)))

    @property
    def factors(self) -> list[Whitening]:
        """Return the factors of the last row."""
        return [] if self.pivots is None else [Whitening(np.array([d]), np.zeros(1)) for d in self.pivots]


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
        return chain.from_iterable(self._piece(i) for i in range(len(self.smoothed.pieces)))

    @cached_property
    def _section(self) -> int:
        """Return the rows worked on at once: fewer where there are many slopes, of every equation by every state."""
        slopes = len(self.group.targets) * len(self.smoothed.pieces[0].names)
        return min(max(_SECTION_NUMBERS // slopes, _LEAST_SECTION), SECTION_ROWS)

    @cached_property
    def _columns(self) -> Features | HermiteFeatures:
        features = self.group.features
        return HermiteFeatures(features, self.smoothed.measured_noise) if self.hermite else features

    def residuals(self, coef: Array) -> Iterator[Array]:
        """Yield whitened residuals (equations x rows) of coefficients (equations x terms), piece after piece."""
        for i in range(len(self.smoothed.pieces)):
            parts = [[(y - theta)[:, 0] for theta, y in chunk] for chunk in self._piece(i, coef)]
            yield np.array([np.concatenate(rows) for rows in zip(*parts, strict=True)])

    def stretch(self, i: int, low: int, high: int, carry: Carry) -> Iterator[Chunks]:
        """Yield the rows ``low`` to ``high`` of a piece; they go on from ``carry``, which then holds the last."""
        return self._rows(i, low, high, carry, None)

    def _piece(self, i: int, coef: Array | None = None) -> Iterator[Chunks]:
        """Yield the rows of a piece; with coefficients those of the right-hand sides in place of all terms."""
        columns = len(self.group.features.terms) if coef is None else 1
        fresh = Carry.fresh(len(self.group.targets), columns)
        return self._rows(i, 0, len(self.smoothed.pieces[i]) - 1, fresh, coef)

    def _rows(self, i: int, low: int, high: int, carry: Carry, coef: Array | None) -> Iterator[Chunks]:
        piece = self.smoothed.pieces[i]
        states = piece.states if self.raw else self.smoothed.values[i]
        own, n = self._own(i), len(piece)
        factors = carry.factors
        for first, last in ((low + a, low + b) for a, b in sections(high - low, self._section)):
            factors = self._whitenings(i, first, last, factors)
            at, end = max(first - 1, 0), min(last + 2, n)
            weights = interval_weights(piece.times[at:end])[first - at : last - at]
            for start in range(first, last, BLOCK_ROWS):
                stop = min(start + BLOCK_ROWS, last)
                left, right = max(start - 1, 0), min(stop + 2, n)
                inputs = trajectory_inputs(self.group.features, piece, states[left:right], left, right)
                columns = np.ascontiguousarray(self._columns.evaluate(inputs).T)
                change = np.diff(piece.states[start : stop + 1], axis=0)
                rows = []
                for j, (factor, state) in enumerate(zip(factors, own, strict=True)):
                    terms = columns if coef is None else coef[j : j + 1] @ columns
                    increments = Increments(terms, start - left, weights[start - first : stop - first])
                    rows.append(factor.apply(increments, change[:, state], start - first, carry.previous[j]))
                yield tuple((table[:-1].T, table[-1:].T) for table in rows)
        carry.pivots = np.array([factor.diagonal[-1] for factor in factors])

    def _whitenings(self, i: int, first: int, last: int, before: list[Whitening]) -> list[Whitening]:
        """Return the factors of the errors of all equations for a section of rows that goes on from the one before."""
        at = max(first - 1, 0)  # the row before is needed for its covariance with the first one
        slopes = self._slopes(i, at, last + 1)
        steps = np.diff(self.smoothed.pieces[i].times[at : last + 1])
        factors = []
        for j, (own, share) in enumerate(zip(self._own(i), self._shares, strict=True)):
            diagonal, off = increment_covariance(steps, share * slopes[:, j], self.smoothed.noise, own)
            factors.append(Whitening.of(diagonal[first - at :], off, before[j] if before else None))
        return factors

    def _own(self, i: int) -> list[int]:
        return [self.smoothed.pieces[i].names.index(target.state) for target in self.group.targets]

    def _slopes(self, i: int, low: int, high: int) -> Array:
        """Return the model's Jacobian at samples ``low`` to ``high`` of a piece (samples x equations x states)."""
        names = self.smoothed.pieces[i].names
        if self.model is None:
            return np.zeros((high - low, len(self.group.targets), len(names)))
        return self.model.jacobian(self.group, self._inputs(i, low, high), [Variable(name) for name in names])

    def _inputs(self, i: int, low: int, high: int) -> Array:
        """Return the inputs of the library on the smoothed states of a piece."""
        piece = self.smoothed.pieces[i]
        return trajectory_inputs(self.group.features, piece, self.smoothed.values[i][low:high], low, high)

    @cached_property
    def _shares(self) -> list[float]:
        """Return, per equation, the share of the noise that reaches the library.

        Raw states carry all of it. Guided ones may follow the model so closely that little is left; slopes that
        passed on noise which is not there would be worse than none. The share is that of the greatest likelihood of
        the model's own residuals; of long data in sections spread over them, enough to tell quarters apart.
        """
        count = len(self.group.targets)
        if self.raw or self.model is None:
            return [1.0] * count
        scores = np.zeros((count, len(_SHARES), 2))
        stretches = self._stretches()
        rows = sum(last - first for _, first, last in stretches)
        for i, first, last in stretches:
            residual, slopes = self._residuals(i, first, last, self.model), self._slopes(i, first, last + 1)
            steps = np.diff(self.smoothed.pieces[i].times[first : last + 1])
            for j, own in enumerate(self._own(i)):
                for c, share in enumerate(_SHARES):
                    scores[j, c] += self._misfit(steps, share * slopes[:, j], own, residual[:, j])
        square, volume = np.moveaxis(scores, 2, 0)
        # -2 log likelihood, the scale of the residuals free, up to a constant.
        total = rows * np.log(square / rows + np.finfo(float).tiny) + 2 * volume
        return [_SHARES[int(best)] for best in np.argmin(total, axis=1)]

    def _misfit(self, steps: Array, slopes: Array, own: int, residual: Array) -> tuple[float, float]:
        """Return the sum of squares of whitened residuals, and the logarithm of the volume of their covariance."""
        go_on()
        try:
            factor = Whitening.of(*increment_covariance(steps, slopes, self.smoothed.noise, own))
        except ProblemError:
            return np.inf, 0.0  # without slopes the covariance is positive definite
        return float((factor.whiten(residual) ** 2).sum()), float(np.log(factor.diagonal).sum())

    def _stretches(self) -> list[tuple[int, int, int]]:
        """Return rows (piece, first, last) that the likelihood of a share is computed from."""
        pieces = [len(piece) - 1 for piece in self.smoothed.pieces]
        most = min(_SHARE_ROWS, self._section * _SHARE_ROWS // _STRETCH_ROWS)
        if self.n_rows <= most:
            return [(i, 0, rows) for i, rows in enumerate(pieces)]
        short = [
            (i, *ends) for i, rows in enumerate(pieces) for ends in sections(rows, min(_STRETCH_ROWS, self._section))
        ]
        step = max(self.n_rows // most, 1)
        return short[step // 2 :: step]

    def _residuals(self, i: int, first: int, last: int, model: Trial) -> Array:
        """Return the residuals of the model in some increments of a piece (rows x equations)."""
        piece = self.smoothed.pieces[i]
        low, high = max(first - 1, 0), min(last + 2, len(piece))
        rates = model.predict(self.group, self._inputs(i, low, high))
        change = np.diff(piece.states[first : last + 1, self._own(i)], axis=0)
        integrals = integrate_intervals(interval_weights(piece.times[low:high]), rates)
        return np.asarray(change - integrals[first - low : last - low])


def compressed(group: EquationGroup, chunks: Iterable[Chunks]) -> list[Problem]:
    """Return the problem of every equation of a group, all compressed at the same time."""
    collectors = [Collector(group.features.terms, (name,)) for name in group.target_names]
    for together in chunks:
        for collector, chunk in zip(collectors, together, strict=True):
            collector.add(chunk)
    return [Problem((collector.block(),)) for collector in collectors]


def split(chunks: Iterable[Chunks], borders: list[int]) -> Iterator[Iterator[Chunks]]:
    """Yield the chunks between borders (row numbers), cutting them where a border falls inside.

    Each part must be used up before the next is asked for.
    """
    stream = iter(chunks)
    held, at = next(stream), 0

    def part(wanted: int) -> Iterator[Chunks]:
        nonlocal held, at
        while wanted:
            if at == len(held[0][0]):
                held, at = next(stream), 0
            count = min(wanted, len(held[0][0]) - at)
            yield tuple((theta[at : at + count], y[at : at + count]) for theta, y in held)
            at, wanted = at + count, wanted - count

    for low, high in pairwise(borders):
        yield part(high - low)
