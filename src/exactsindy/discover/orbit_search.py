"""Looks among the best supports of all equations for the model whose orbit is the most likely."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exactsindy.likelihood import WARM, Measured, Orbit, OrbitModel, Support, tangent_problem
from exactsindy.problem import Problem
from exactsindy.selection import OrbitEvidence, Rival, effective_samples, fair_path
from exactsindy.solver import Path, Settings

Array = NDArray[np.float64]
Supports = tuple[Support, ...]

# Supports of an equation that rows make plausible are compared: so many, if their probability reaches this.
_MOST, _LEAST = 5, 0.003
# Of those the linearised likelihood proposes, all that are not clearly worse (in units of -2 log likelihood).
_WINDOW = 12.0
_ROUNDS = 5
# A model whose misfit is so many times the number of rows is wrong, and says nothing about quadrature.
_POOR = 2.0
_NODES = 2000
# Mean correlation of neighbouring residuals beyond which noise may be larger than estimated: smoothing follows what is
# correlated.
_COLOURED = 0.2


@dataclass(frozen=True, eq=False)
class Comparison:
    """The model chosen, its orbit, and for each open equation what it was compared with."""

    supports: Supports
    orbit: Orbit
    rivals: Mapping[int, tuple[Rival, ...]]
    evidence: OrbitEvidence


@dataclass(eq=False)
class OrbitSearch:
    """Looks for the model with the most likely orbit, one equation changed at a time.

    Parameters
    ----------
    measured
        The samples.
    shares
        Per equation the supports that its rows make plausible, with their probability.
    starts
        A first guess of the coefficients of a support, given its equation.
    open
        The equations that may change.
    k_max
        Largest number of terms.
    deadline
        When to stop, by `time.monotonic`.
    overfull
        A model of more terms than laws have, whose orbit tells the size of coloured noise.
    """

    measured: Measured
    shares: Sequence[Mapping[Support, float]]
    starts: Sequence[Problem]
    open: Sequence[int]
    k_max: int
    deadline: float
    overfull: Supports = ()
    _fits: dict[Supports, Orbit] = field(default_factory=dict)
    _coef: dict[tuple[int, Support], Array] = field(default_factory=dict)
    _coloured_level: float | None = None

    def run(self) -> Comparison | None:
        """Return the best model found.

        None if time was too short to compare anything, or if quadrature errs by more than the tolerance of the
        equations: so clean or so coarse are the data that its errors, not the noise, would be fitted.
        """
        best = tuple(max(shares, key=lambda s: shares[s]) for shares in self.shares)
        orbit = self._fit(best)
        if self._coarse(best, orbit) and orbit.misfit < _POOR * self.measured.n_rows:
            return None
        rivals: dict[int, tuple[Rival, ...]] = {}
        for _ in range(_ROUNDS):
            evidence = self._evidence(best, orbit)
            found = {i: self._rivals(evidence, best, orbit, i) for i in self.open}
            if self._late():
                break
            rivals = found
            after = self._move(evidence, best, rivals)
            if after == best:
                break
            best, orbit = after, self._fit(after)
        return Comparison(best, orbit, rivals, evidence) if rivals and not self._coarse(best, orbit) else None

    def _coarse(self, model: Supports, orbit: Orbit) -> bool:
        """Say whether quadrature errs by more than the equations may."""
        if not np.isfinite(orbit.misfit):
            return True
        return OrbitModel(self.measured, model).quadrature_error(orbit) > WARM[-1]

    def _evidence(self, model: Supports, orbit: Orbit) -> OrbitEvidence:
        """Return the rule, its rows counted by how independent the residuals are."""
        m = self.measured
        terms = tuple(len(m.features_of(i).terms) for i in range(len(m.own)))
        shares = [effective_samples(column) / len(column) for column in (m.samples - orbit.states).T]
        return OrbitEvidence(m.n_rows, terms, min(float(np.mean(shares)), 1.0), self._level(model, orbit))

    def _level(self, model: Supports, orbit: Orbit) -> float:
        """Return the misfit per row that noise leaves: 1, or what an over-full model leaves if residuals are coloured.

        A wrong model's residuals are correlated too, but an over-full one removes that. Each of its terms takes
        (1 + lag) / (1 - lag) rows' worth of such noise, that being its share at low frequencies.
        """
        rows, residual = self.measured.n_rows, self.measured.samples - orbit.states
        lags = (residual[1:] * residual[:-1]).sum(axis=0) / np.maximum((residual**2).sum(axis=0), np.finfo(float).tiny)
        lag = min(float(lags.mean()), 0.99)
        if not self.overfull or not rows < orbit.misfit < np.inf or lag < _COLOURED or self._late():
            return 1.0
        if self._coloured_level is None:
            wide = tuple(tuple(sorted({*mine, *more})) for mine, more in zip(model, self.overfull, strict=True))
            coef = [np.zeros(len(support)) for support in wide]
            for xi, support, known, mine in zip(coef, wide, orbit.coef, model, strict=True):
                xi[np.searchsorted(support, mine)] = known
            least = OrbitModel(self.measured, wide).fit(coef, orbit.states, WARM).misfit
            extra = sum(map(len, wide)) - sum(map(len, model))
            taken = min(extra * (1 + lag) / (1 - lag) / rows, 0.5)
            self._coloured_level = max(least / rows / (1 - taken), 1.0)
        return self._coloured_level

    def _move(self, evidence: OrbitEvidence, best: Supports, rivals: Mapping[int, tuple[Rival, ...]]) -> Supports:
        """Return the model after the best single change, or after all changes at once if that is better still."""
        first = {i: evidence.ranked(members)[0] for i, members in rivals.items()}
        whole = tuple(first[i].support if i in first else support for i, support in enumerate(best))
        if whole == best:
            return best
        gains = {
            rival.model: evidence.price_of(members[0]) - evidence.price_of(rival)
            for (i, members), rival in zip(rivals.items(), first.values(), strict=True)
        }
        single = max(gains, key=lambda model: gains[model])
        together = evidence.price(self._fits[best].misfit, best) - evidence.price(self._fit(whole).misfit, whole)
        return whole if together > gains[single] else single

    def _late(self) -> bool:
        return time.monotonic() > self.deadline

    def _rivals(self, evidence: OrbitEvidence, best: Supports, orbit: Orbit, i: int) -> tuple[Rival, ...]:
        """Return what equation i might be instead, the present support first."""
        found = {
            best[i]: None,
            **dict.fromkeys(self._plausible(i)),
            **dict.fromkeys(self._proposed(evidence, best, orbit, i)),
        }
        rivals = []
        for support in found:
            if self._late() and support != best[i]:
                continue
            model = (*best[:i], support, *best[i + 1 :])
            rivals.append(Rival(model, i, self._fit(model, (best, orbit)).misfit, self.shares[i].get(support, 0.0)))
        return tuple(rivals)

    def _plausible(self, i: int) -> list[Support]:
        ranked = sorted(self.shares[i], key=lambda s: -self.shares[i][s])
        return [s for n, s in enumerate(ranked) if n == 0 or (n < _MOST and self.shares[i][s] >= _LEAST)]

    def _proposed(self, evidence: OrbitEvidence, best: Supports, orbit: Orbit, i: int) -> Iterator[Support]:
        """Yield the best supports of all sizes from 0 but the largest by the likelihood linearised at the orbit."""
        path = None if self._late() else self._tangent(best, orbit, i)
        if path is None:
            return
        here = evidence.price(orbit.misfit, best)
        for k in range(max(len(path) - 1, 2)):
            support = tuple(sorted(int(j) for j in path[k].support[0]))
            model = (*best[:i], support, *best[i + 1 :])
            price = evidence.price(float(path[k].objective[0]), model)
            if price < here + _WINDOW or abs(k - len(best[i])) <= 1:
                self._coef.setdefault((i, support), path[k].coef[0, list(support)])
                yield support

    def _tangent(self, best: Supports, orbit: Orbit, i: int) -> Path | None:
        problem = tangent_problem(self.measured, best, orbit, i)
        if problem is None:
            return None
        left = max(self.deadline - time.monotonic(), 0.05)
        return fair_path(problem, self.k_max, settings=Settings(threads=1, nodes=_NODES, seconds=left))

    def _fit(self, model: Supports, near: tuple[Supports, Orbit] | None = None) -> Orbit:
        if model not in self._fits:
            orbit_model = OrbitModel(self.measured, model)
            if near is None or not np.isfinite(near[1].misfit):
                self._fits[model] = orbit_model.fit([self._guess(i, s) for i, s in enumerate(model)])
            else:
                known, orbit = near
                coef = [
                    orbit.coef[i] if known[i] == support else self._guess(i, support) for i, support in enumerate(model)
                ]
                self._fits[model] = orbit_model.fit(coef, orbit.states, WARM)
        return self._fits[model]

    def _guess(self, i: int, support: Support) -> Array:
        if (i, support) not in self._coef:
            block, j = self.starts[i].locate(0)
            z, _ = block.target(j)
            columns = block.theta_factor[:, list(support)]
            self._coef[i, support] = np.asarray(np.linalg.lstsq(columns, z, rcond=None)[0], dtype=np.float64)
        return self._coef[i, support]
