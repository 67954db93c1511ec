"""The rational laws of trajectories: all equations fitted together, supports from the likelihood linearised there."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.discovery.rational.concrete import renormalised
from exactsindy.discovery.rational.curve_rows import curve_rows
from exactsindy.discovery.rational.joint_candidates import JointCandidates
from exactsindy.discovery.rational.output_fit import LawFit
from exactsindy.discovery.rational.row_search import RowSearch, without_one
from exactsindy.discovery.rational.shapes import Shape
from exactsindy.solver import Deadline, solve_pool
from exactsindy.trajectory_fit import (
    SCHEDULE,
    WARM,
    TrajectoryFit,
    TrajectoryModel,
    tangent_problem,
)

# Supports of each size that are fitted, from the likelihood linearised at a fit; only those whose linearised criterion
# is within _WINDOW of the best one, except the best of each size.
_POOL, _WINDOW = 3, 12.0
# Nodes of one search, and rounds over all equations.
_NODES, _ROUNDS = 20_000, 4
# Laws of the search on the curve of a fit that are fitted: so many, within so much of the best one by its criterion;
# and by how many coefficients they may have more than the law of the fit.
_MOST_BESIDE, _BESIDE, _MORE = 30, 16.0, 1


@dataclass(frozen=True, eq=False)
class JointFit:
    """Laws of all equations fitted together, and their trajectory."""

    laws: tuple[LawFit, ...]
    fit: TrajectoryFit
    criterion: float

    @property
    def misfit(self) -> float:
        """Return the squared distance to the samples in units of the noise."""
        return self.fit.misfit


@dataclass(eq=False)
class TrajectoryLaws:
    """Joint fits of laws made so far; each once, however its denominators are normalised."""

    joint: JointCandidates
    largest: int
    clock: Deadline
    fits: dict[object, JointFit] = field(default_factory=dict)

    def fit(self, start: Sequence[LawFit], near: JointFit | None = None) -> JointFit:
        """Return the joint fit of laws from their coefficients, and from the trajectory of a similar model if given."""
        go_on()
        laws = tuple(self.joint.dominated(i, law) for i, law in enumerate(start))
        key = tuple(self.key(i, law.shape) for i, law in enumerate(laws))
        known = self.fits.get(key)
        if known is not None and (near is None or known.misfit < 1.05 * near.misfit):
            return known
        measured, supports = self.joint.measured(laws), self.joint.supports(laws)
        coef = [np.concatenate([law.plain, law.over, law.under]) for law in laws]
        model = TrajectoryModel(measured, supports)
        deadline = time.monotonic() + self.clock.left()
        at, schedule = (None, SCHEDULE) if near is None else (near.fit.states, WARM)
        fit = model.fit(coef, at, schedule, deadline)
        fitted = tuple(self.joint.law(law.shape, part, fit.misfit) for law, part in zip(laws, fit.coef, strict=True))
        value = self.joint.rule(measured).criterion(fit.misfit, supports)
        if not all(self.joint.is_defined(i, law) for i, law in enumerate(fitted)):
            value = math.inf
        joint = JointFit(fitted, fit, value)
        if known is None or joint.misfit < known.misfit:
            self.fits[key] = joint
        return self.fits[key]

    def key(self, i: int, shape: Shape) -> object:
        """Return what tells shapes of an equation apart."""
        return shape.plain, shape.over, frozenset(shape.under)

    def neighbours(self, joint: JointFit, i: int) -> Iterator[LawFit]:
        """Yield laws of equation i near a joint fit: the best supports of every size of its linearised likelihood."""
        law = joint.laws[i]
        measured, supports = self.joint.measured(joint.laws), self.joint.supports(joint.laws)
        problem = tangent_problem(measured, supports, joint.fit, i)
        if problem is None:
            return
        rule = self.joint.rule(measured)
        proposals = []
        limits = replace(self.clock.settings(), nodes=_NODES, progress=None, threads=1)
        for k in range(1, min(self.largest, len(problem.terms)) + 1):
            go_on()
            for rank, member in enumerate(solve_pool(problem, k, count=_POOL, settings=limits)[0]):
                support = tuple(sorted(member.support))
                model = (*supports[:i], support, *supports[i + 1 :])
                coef = np.array([member.terms[problem.names[j]] for j in support])
                proposals.append((rule.criterion(max(member.objective, 1e-12), model), rank, support, coef))
        best = min((value for value, *_ in proposals), default=math.inf)
        first = law.shape.under[0] if law.shape.over else 0
        for value, rank, support, coef in sorted(proposals, key=lambda proposal: proposal[:2]):
            if value < best + _WINDOW or rank == 0:
                yield self.joint.proposed(i, first, support, coef, bool(law.shape.over))

    def improved(self, joint: JointFit, i: int, others: Sequence[LawFit] = ()) -> JointFit:
        """Return the best joint fit with another law of equation i: from other searches, or near the present fit."""
        best = joint
        law = joint.laws[i]
        starts = [*others, *self.neighbours(joint, i)]
        for position in range(1, len(law.shape.under) if law.shape.over else 0):
            if renormalised(law, position).under.size and np.isfinite(renormalised(law, position).under).all():
                turned = self._replaced(joint, i, renormalised(law, position))
                starts += self.neighbours(turned, i)
        for start in starts:
            if self.clock.expired:
                break
            start = self.joint.cancelled(i, start)
            if start.shape.size > self.largest or not self.joint.is_defined(i, start):
                continue
            fitted = self.fit((*joint.laws[:i], start, *joint.laws[i + 1 :]), joint)
            best = min(best, fitted, key=lambda found: found.criterion)
        return self._dropped(best, i)

    def _dropped(self, joint: JointFit, i: int) -> JointFit:
        """Return the best fit after leaving out terms of equation i one by one, as long as that gains."""
        best = joint
        while not self.clock.expired:
            now = best
            linear = {self.key(i, law.shape): law for law in self._drop_starts(now, i)}
            for law in linear.values():
                if self.joint.is_defined(i, law):
                    fitted = self.fit((*now.laws[:i], law, *now.laws[i + 1 :]), now)
                    best = min(best, fitted, key=lambda found: found.criterion)
            if best is now:
                break
        return best

    def _drop_starts(self, joint: JointFit, i: int) -> Iterator[LawFit]:
        """Yield the laws with one term less, their coefficients from the likelihood linearised at the fit."""
        law = joint.laws[i]
        values = {
            "plain": dict(zip(law.shape.plain, law.plain, strict=True)),
            "over": dict(zip(law.shape.over, law.over, strict=True)),
        }
        for shape, under in without_one(law):
            shape = Shape(shape.plain) if not shape.over else shape
            yield LawFit(
                shape,
                np.array([values["plain"][j] for j in shape.plain]),
                np.array([values["over"][j] for j in shape.over]),
                np.asarray(under) if shape.over else np.zeros(0),
                math.inf,
            )

    def searched(self, starts: Sequence[Sequence[LawFit]]) -> JointFit:
        """Return the best joint fit: from the first law of every equation on, equation by equation until none changes.

        ``starts`` are laws of every equation, the best first.
        """
        joint = self.fit([laws[0] for laws in starts])
        for round_ in range(_ROUNDS):
            before = joint
            for i in range(len(self.joint.candidates)):
                joint = self.improved(joint, i, starts[i] if round_ == 0 else ())
            if joint is before or self.clock.expired:
                break
        changed = list(range(len(self.joint.candidates)))
        for _ in range(_ROUNDS):
            before = joint
            for i in changed:
                for law in self.beside(joint, i):
                    if self.clock.expired:
                        break
                    fitted = self.fit((*joint.laws[:i], law, *joint.laws[i + 1 :]), joint)
                    joint = min(joint, fitted, key=lambda found: found.criterion)
            pairs = zip(joint.laws, before.laws, strict=True)
            changed = [i for i, (now, then) in enumerate(pairs) if self.key(i, now.shape) != self.key(i, then.shape)]
            if not changed or self.clock.expired:
                break
        return joint

    def beside(self, joint: JointFit, i: int) -> list[LawFit]:
        """Return laws of equation i that may fit as well, whatever their denominators, the best first.

        They are searched on the curve of the joint fit, in its likelihood: a law that fits about as well is near it.
        """
        if self.clock.expired or not self.joint.candidates[i].under:
            return []
        rows = curve_rows(self.joint, joint.laws, joint.fit, i)
        if rows is None:
            return []
        largest = min(self.largest, joint.laws[i].shape.size + _MORE)
        search = RowSearch(rows, self.joint.candidates[i], largest, self.clock, self.joint.poles[i])
        ranked = search.run()
        return [law.law for law in ranked[:_MOST_BESIDE] if law.criterion < ranked[0].criterion + _BESIDE]

    def rivals(self, joint: JointFit, i: int) -> list[JointFit]:
        """Return the fits that differ from the best one in equation i only, the best first, each identity once."""
        own = [law.shape for law in joint.laws]
        found: dict[object, JointFit] = {}
        for other in sorted(self.fits.values(), key=lambda fit: fit.criterion):
            same = all(self.key(j, law.shape) == self.key(j, own[j]) for j, law in enumerate(other.laws) if j != i)
            if same and math.isfinite(other.criterion):
                found.setdefault(self.joint.candidates[i].identity(other.laws[i].shape), other)
        return list(found.values())

    def curvature(self, laws: Sequence[LawFit], joint: JointFit) -> tuple[Array, list[slice]] | None:
        """Return the curvature of the misfit by all coefficients, and where those of each equation are."""
        measured, supports = self.joint.measured(laws), self.joint.supports(laws)
        coef = np.concatenate([np.concatenate([law.plain, law.over, law.under]) for law in laws])
        model = TrajectoryModel(measured, supports)
        step = model.step(joint.fit.states, coef, WARM[-1])
        if step is None:
            return None
        places = [slice(int(a), int(b)) for a, b in zip(model.first[:-1], model.first[1:], strict=True)]
        return step.curvature, places

    def _replaced(self, joint: JointFit, i: int, law: LawFit) -> JointFit:
        """Return a joint fit with the law of one equation written with another normalisation."""
        coef = (*joint.fit.coef[:i], np.concatenate([law.plain, law.over, law.under]), *joint.fit.coef[i + 1 :])
        laws = (*joint.laws[:i], law, *joint.laws[i + 1 :])
        return replace(joint, laws=laws, fit=replace(joint.fit, coef=coef))
