"""Search the best supports of all equations for the model whose trajectory fit is the most likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy.discovery.fitted_models import FittedModels, Supports, changed
from exactsindy.selection import Rival, TrajectoryEvidence, effective_samples
from exactsindy.trajectory_fit import (
    Measured,
    Support,
    TrajectoryFit,
    TrajectoryModel,
    last_tolerance,
    residuals,
    row_count,
)

# At most _MOST supports of an equation are compared for their regression evidence, each of probability _LEAST or more.
_MOST, _LEAST = 5, 0.003
# At most this many are compared because the linearised likelihood proposes them.
_PROPOSED = 12
# At most this many rounds of changing equations; the search ends earlier if a round changes nothing.
_ROUNDS = 6
# At most so many small models are starts where samples are coarse and larger models diverge.
_STARTS = 3
# Terms beyond those chosen, in the saturated model at whose trajectory fit the second start is proposed.
_EXTRA = 3
# A model whose misfit is more than this many times the number of rows is wrong, and tells nothing about quadrature or
# about other models.
_POOR = 2.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """The model chosen, its trajectory fit, and for each ambiguous equation what it was compared with.

    ``measured`` are the samples as they were fitted: in which units of noise, and by which integrals.
    """

    measured: Measured
    supports: Supports
    fit: TrajectoryFit
    rivals: Mapping[int, tuple[Rival, ...]]
    evidence: TrajectoryEvidence


@dataclass(frozen=True, eq=False)
class TrajectorySearch:
    """Search for the model with the most likely trajectory fit, changing one equation at a time.

    ``shares`` are the supports with regression evidence of each equation, and their probability. The trajectory fit of
    ``saturated``, a model of more terms than laws have, tells the size of coloured noise; ``rule`` is for white noise
    as large as estimated. ``allowed`` is what errors of quadrature may add to the misfit; None if it is enough that
    they do not exceed the tolerance of the equations in any state. Fields have many states. ``strict``: quadrature is
    judged even by a model that fits badly, because the equations can be integrated instead. ``small`` are models of few
    terms to start from where trajectories of larger ones diverge.
    """

    fits: FittedModels
    shares: Sequence[Mapping[Support, float]]
    ambiguous: Sequence[int]
    saturated: Supports
    rule: TrajectoryEvidence
    allowed: float | None = None
    strict: bool = False
    small: Sequence[Supports] = ()

    def run(self) -> Comparison | None:
        """Return the best model found.

        Two starts: the supports with most regression evidence, and those proposed by the likelihood at the trajectory
        fit of a saturated model, which depends on no choice: where several equations are wrong at once, changing one at
        a time may lead nowhere.

        None if time was too short to compare anything or to reach a model that no rival beats, or if quadrature errs by
        more than the tolerance of the equations: so clean or so coarse are the data that its errors, not the noise,
        would be fitted.
        """
        first = self._likeliest()
        fit = self.fits.fit(first)
        if self._is_coarse(first, fit) and (self.strict or fit.misfit < _POOR * row_count(self.fits.measured)):
            return None
        best = self._descend(first)
        second = None if best is None else self._unbiased(best)
        if best is not None and second is not None:
            other = self._descend(second)
            if other is not None and self._criterion(best.evidence, other) < self._criterion(best.evidence, best):
                best = other
        best = None if best is None else self._simpler(best)
        if best is None or self._is_coarse(best.supports, best.fit):
            return None
        return None if self.fits.late and self._is_beaten(best) else best

    def _simpler(self, compared: Comparison) -> Comparison:
        """Return where the smallest plausible supports of all equations together lead, if that is better.

        Terms too many in two equations can stand in for each other, so that no change of one equation leads there.
        """
        model = tuple(
            min(self._plausible(i), key=len) if i in self.ambiguous else support
            for i, support in enumerate(compared.supports)
        )
        if model == compared.supports or self.fits.late:
            return compared
        simple = replace(compared, supports=model, fit=self.fits.fit(model, compared.supports))
        if not self._criterion(compared.evidence, simple) < self._criterion(compared.evidence, compared):
            return compared
        other = self._descend(model)
        better = other is not None and self._criterion(compared.evidence, other) < self._criterion(
            compared.evidence, compared
        )
        return other if other is not None and better else compared

    def _is_beaten(self, compared: Comparison) -> bool:
        """Return True if a rival of an equation is better than the model: the search ended on its way."""
        first = (compared.evidence.ranked(members)[0] for members in compared.rivals.values())
        return any(rival.model != compared.supports for rival in first)

    def run_coarse(self, start: Supports | None = None) -> Comparison | None:
        """Return the best model found where samples are coarse and regressions tell little.

        The first start is what the likelihood proposes at the fit of the saturated model, or ``start`` if it is given;
        the second one the supports with most regression evidence; where trajectories of both diverge, small models.
        None if even the best model fits badly: its trajectory then tells nothing about others.
        """
        best = self._best_end([self._saturated() if start is None else start, self._likeliest()])
        if best is None or self._is_poor(best):
            small = sorted(dict.fromkeys(self.small), key=self._of_start)[:_STARTS]
            other = self._best_end([*([] if best is None else [best.supports]), *small])
            best = best if other is None else other
        return None if best is None or self._is_poor(best) else best

    def _is_poor(self, compared: Comparison) -> bool:
        """Return True if a model fits so badly that it tells nothing about others."""
        return compared.fit.misfit > _POOR * row_count(self.fits.measured)

    def _of_start(self, model: Supports) -> float:
        """Return the criterion of a model to start from; infinite where its trajectory diverges."""
        return self.rule.criterion(self.fits.fit(model).misfit, model)

    def _best_end(self, starts: Sequence[Supports | None]) -> Comparison | None:
        """Return the best model that is reached from some starts; None if no trajectory was found."""
        best = None
        for model in dict.fromkeys(starts):
            if model is None or not np.isfinite(self.fits.fit(model).misfit):
                continue
            found = self._descend(model)
            if found is None or not np.isfinite(found.fit.misfit):
                continue
            if best is None or self._criterion(best.evidence, found) < self._criterion(best.evidence, best):
                best = found
        return best

    def _likeliest(self) -> Supports:
        """Return the supports with most regression evidence."""
        return tuple(max(shares, key=lambda s: shares[s]) for shares in self.shares)

    def _saturated(self) -> Supports | None:
        """Return the best supports by the likelihood linearised at the fit of the saturated model."""
        if not np.isfinite(self.fits.fit(self.saturated).misfit):
            return None
        return self._proposed_at(self.saturated, self._likeliest(), self.rule)

    def _is_coarse(self, model: Supports, fit: TrajectoryFit) -> bool:
        """Return True if quadrature errs by more than the equations may."""
        if not np.isfinite(fit.misfit):
            return True
        errors, last = TrajectoryModel(self.fits.measured, model).errors(fit), last_tolerance(self.fits.measured)
        if self.allowed is not None:
            return float(((errors / last) ** 2).sum()) > self.allowed
        return float(np.sqrt(np.mean(errors**2, axis=0)).max()) > last

    def _criterion(self, evidence: TrajectoryEvidence, compared: Comparison) -> float:
        """Return the criterion of a model, with the regression evidence of all ambiguous equations."""
        penalties = (evidence.regression_penalty(self.shares[i].get(compared.supports[i], 0.0)) for i in self.ambiguous)
        return evidence.criterion(compared.fit.misfit, compared.supports) + sum(penalties)

    def _descend(self, model: Supports) -> Comparison | None:
        """Return where changes of one equation at a time lead; None if there was no time for the first."""
        compared = None
        for _ in range(_ROUNDS):
            fit = self.fits.fit(model)
            evidence = self._evidence(model, fit)
            rivals = {i: self._rivals(evidence, model, i) for i in self.ambiguous}
            if self.fits.late:
                break
            compared = Comparison(self.fits.measured, model, fit, rivals, evidence)
            after = self._move(compared)
            if after == model:
                break
            model = after
        return compared

    def _unbiased(self, compared: Comparison) -> Supports | None:
        """Return the best supports by the likelihood linearised at the trajectory fit of a saturated model."""
        wide = compared.supports
        for i in self.ambiguous:
            size = len(compared.supports[i]) + _EXTRA
            proposed = self.fits.proposed(compared.evidence, compared.supports, i)
            large = {s: value for s, value in proposed.items() if len(s) == min(size, max(map(len, proposed)))}
            if large:
                wide = changed(wide, i, min(large, key=lambda s: large[s]))
        if self.fits.late or not np.isfinite(self.fits.fit(wide, compared.supports).misfit):
            return None
        model = self._proposed_at(wide, compared.supports, compared.evidence)
        return None if self.fits.late or model == compared.supports else model

    def _proposed_at(self, wide: Supports, model: Supports, evidence: TrajectoryEvidence) -> Supports:
        """Return a model with the ambiguous equations as the likelihood linearised at the fit of another proposes."""
        for i in self.ambiguous:
            proposed = self.fits.proposed(evidence, wide, i)
            if proposed:
                model = changed(model, i, min(proposed, key=lambda s: proposed[s]))
        return model

    def _evidence(self, model: Supports, fit: TrajectoryFit) -> TrajectoryEvidence:
        """Return the rule, its rows counted by how independent the residuals are."""
        left = residuals(self.fits.measured, fit.states).T
        shares = [effective_samples(column) / len(column) for column in left]
        level = self.fits.noise_level(model, self.saturated)
        return replace(self.rule, effective=min(float(np.mean(shares)), 1.0), level=level)

    def _move(self, compared: Comparison) -> Supports:
        """Return the model after the best single change, or after all changes at once if that is better still."""
        evidence, model = compared.evidence, compared.supports
        first = {i: evidence.ranked(members)[0] for i, members in compared.rivals.items()}
        whole = tuple(first[i].support if i in first else support for i, support in enumerate(model))
        if whole == model:
            return model
        gains = {
            rival.model: evidence.criterion_of(members[0]) - evidence.criterion_of(rival)
            for (i, members), rival in zip(compared.rivals.items(), first.values(), strict=True)
        }
        single = max(gains, key=lambda m: gains[m])
        before, after = compared.fit.misfit, self.fits.fit(whole).misfit
        together = evidence.criterion(before, model) - evidence.criterion(after, whole)
        return whole if together > gains[single] else single

    def _rivals(self, evidence: TrajectoryEvidence, model: Supports, i: int) -> tuple[Rival, ...]:
        """Return the models that differ in equation i, the present one first."""
        proposed = self.fits.proposed(evidence, model, i)
        best = sorted(proposed, key=lambda s: proposed[s])[:_PROPOSED]
        # One term more and one less than now are always among them: the confidence depends on the gap to those.
        near = {k: min((s for s in proposed if len(s) == k), key=lambda s: proposed[s]) for k in map(len, proposed)}
        best += [near[k] for k in (len(model[i]) - 1, len(model[i]) + 1) if k in near]
        rivals = []
        for support in dict.fromkeys([model[i], *self._plausible(i), *best]):
            if self.fits.late and support != model[i]:
                continue
            other = changed(model, i, support)
            misfit = self.fits.fit(other, model).misfit
            rivals.append(Rival(other, i, misfit, self.shares[i].get(support, 0.0)))
        return tuple(rivals)

    def _plausible(self, i: int) -> list[Support]:
        ranked = sorted(self.shares[i], key=lambda s: -self.shares[i][s])
        return [s for n, s in enumerate(ranked) if n == 0 or (n < _MOST and self.shares[i][s] >= _LEAST)]
