"""Looks among the best supports of all equations for the model whose orbit is the most likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy.discovery.fitted_models import FittedModels, Supports, changed
from exactsindy.discovery.orbit_noise import noise_level
from exactsindy.selection import Rival, TrajectoryEvidence, effective_samples
from exactsindy.trajectory_fit import WARM, Support, TrajectoryFit, TrajectoryModel, row_count

# Supports of an equation that rows make plausible are compared: so many, if their probability reaches this.
_MOST, _LEAST = 5, 0.003
# Of those the linearised likelihood proposes, so many.
_PROPOSED = 12
_ROUNDS = 6
# Terms beyond those chosen, in the saturated model at whose orbit the second start is looked for.
_SATURATED = 3
# A model whose misfit is so many times the number of rows is wrong, and says nothing about quadrature.
_POOR = 2.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """The model chosen, its orbit, and for each open equation what it was compared with."""

    supports: Supports
    orbit: TrajectoryFit
    rivals: Mapping[int, tuple[Rival, ...]]
    evidence: TrajectoryEvidence


@dataclass(frozen=True, eq=False)
class TrajectorySearch:
    """Looks for the model with the most likely orbit, one equation changed at a time.

    Parameters
    ----------
    fits
        The samples, and orbits fitted to them.
    shares
        Per equation the supports that its rows make plausible, with their probability.
    open
        The equations that may change.
    saturated
        A model of more terms than laws have, whose orbit tells the size of coloured noise.
    rule
        How misfits are compared, if noise is white and as large as estimated.
    costly
        What errors of quadrature may add to the misfit; None if it is enough that they do not exceed the tolerance of
        the equations in any state. Fields have many states.
    """

    fits: FittedModels
    shares: Sequence[Mapping[Support, float]]
    open: Sequence[int]
    saturated: Supports
    rule: TrajectoryEvidence
    costly: float | None = None

    def run(self) -> Comparison | None:
        """Return the best model found.

        Two starts: what the rows say, and what the likelihood says at the orbit of an saturated model, which rests on
        no choice: where several equations are wrong at once, changing one at a time may lead nowhere.

        None if time was too short to compare anything, or if quadrature errs by more than the tolerance of the
        equations: so clean or so coarse are the data that its errors, not the noise, would be fitted.
        """
        first = tuple(max(shares, key=lambda s: shares[s]) for shares in self.shares)
        orbit = self.fits.fit(first)
        if self._coarse(first, orbit) and orbit.misfit < _POOR * row_count(self.fits.measured):
            return None
        found = self._descend(first)
        second = None if found is None else self._unbiased(found)
        if found is not None and second is not None:
            other = self._descend(second)
            if other is not None and self._price(found.evidence, other) < self._price(found.evidence, found):
                found = other
        return None if found is None or self._coarse(found.supports, found.orbit) else found

    def _coarse(self, model: Supports, orbit: TrajectoryFit) -> bool:
        """Say whether quadrature errs by more than the equations may."""
        if not np.isfinite(orbit.misfit):
            return True
        errors = TrajectoryModel(self.fits.measured, model).quadrature_errors(orbit)
        if self.costly is not None:
            return float(((errors / WARM[-1]) ** 2).sum()) > self.costly
        return float(np.sqrt(np.mean(errors**2, axis=0)).max()) > WARM[-1]

    def _price(self, evidence: TrajectoryEvidence, found: Comparison) -> float:
        """Return the price of a model, with what the rows of all open equations say."""
        rows = (evidence.regression_penalty(self.shares[i].get(found.supports[i], 0.0)) for i in self.open)
        return evidence.criterion(found.orbit.misfit, found.supports) + sum(rows)

    def _descend(self, model: Supports) -> Comparison | None:
        """Return where changes of one equation at a time lead; None if there was no time for the first."""
        found = None
        for _ in range(_ROUNDS):
            orbit = self.fits.fit(model)
            evidence = self._evidence(model, orbit)
            rivals = {i: self._rivals(evidence, model, i) for i in self.open}
            if self.fits.late:
                break
            found = Comparison(model, orbit, rivals, evidence)
            after = self._move(found)
            if after == model:
                break
            model = after
        return found

    def _unbiased(self, found: Comparison) -> Supports | None:
        """Return the best supports by the likelihood linearised at the orbit of a model with terms to spare."""
        wide = found.supports
        for i in self.open:
            size = len(found.supports[i]) + _SATURATED
            proposed = self.fits.proposed(found.evidence, found.supports, i)
            large = {s: price for s, price in proposed.items() if len(s) == min(size, max(map(len, proposed)))}
            if large:
                wide = changed(wide, i, min(large, key=lambda s: large[s]))
        if self.fits.late or not np.isfinite(self.fits.fit(wide, found.supports).misfit):
            return None
        model = found.supports
        for i in self.open:
            proposed = self.fits.proposed(found.evidence, wide, i)
            if proposed:
                model = changed(model, i, min(proposed, key=lambda s: proposed[s]))
        return None if self.fits.late or model == found.supports else model

    def _evidence(self, model: Supports, orbit: TrajectoryFit) -> TrajectoryEvidence:
        """Return the rule, its rows counted by how independent the residuals are."""
        m = self.fits.measured
        shares = [effective_samples(column) / len(column) for column in (m.samples - orbit.states).T]
        level = noise_level(self.fits, model, self.saturated)
        return replace(self.rule, effective=min(float(np.mean(shares)), 1.0), level=level)

    def _move(self, found: Comparison) -> Supports:
        """Return the model after the best single change, or after all changes at once if that is better still."""
        evidence, model = found.evidence, found.supports
        first = {i: evidence.ranked(members)[0] for i, members in found.rivals.items()}
        whole = tuple(first[i].support if i in first else support for i, support in enumerate(model))
        if whole == model:
            return model
        gains = {
            rival.model: evidence.criterion_of(members[0]) - evidence.criterion_of(rival)
            for (i, members), rival in zip(found.rivals.items(), first.values(), strict=True)
        }
        single = max(gains, key=lambda m: gains[m])
        together = evidence.criterion(found.orbit.misfit, model) - evidence.criterion(
            self.fits.fit(whole).misfit, whole
        )
        return whole if together > gains[single] else single

    def _rivals(self, evidence: TrajectoryEvidence, model: Supports, i: int) -> tuple[Rival, ...]:
        """Return what equation i might be instead, the present support first."""
        proposed = self.fits.proposed(evidence, model, i)
        best = sorted(proposed, key=lambda s: proposed[s])[:_PROPOSED]
        # One term more and one less than now are always among them: the gap to those is what the confidence rests on.
        near = {k: min((s for s in proposed if len(s) == k), key=lambda s: proposed[s]) for k in map(len, proposed)}
        best += [near[k] for k in (len(model[i]) - 1, len(model[i]) + 1) if k in near]
        found = dict.fromkeys([model[i], *self._plausible(i), *best])
        rivals = []
        for support in found:
            if self.fits.late and support != model[i]:
                continue
            other = changed(model, i, support)
            misfit = self.fits.fit(other, model).misfit
            rivals.append(Rival(other, i, misfit, self.shares[i].get(support, 0.0)))
        return tuple(rivals)

    def _plausible(self, i: int) -> list[Support]:
        ranked = sorted(self.shares[i], key=lambda s: -self.shares[i][s])
        return [s for n, s in enumerate(ranked) if n == 0 or (n < _MOST and self.shares[i][s] >= _LEAST)]
