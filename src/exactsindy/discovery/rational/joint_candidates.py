"""Rational laws of all equations as one model of trajectories: its columns, its samples, and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Target
from exactsindy.discovery.rational.concrete import renormalised
from exactsindy.discovery.rational.output_fit import LawFit
from exactsindy.discovery.rational.poles import PoleCheck
from exactsindy.discovery.rational.shapes import Candidates, Shape
from exactsindy.discovery.refine import trajectory_rule
from exactsindy.forms import Smoothed
from exactsindy.library import Features, Variables
from exactsindy.selection import TrajectoryEvidence
from exactsindy.trajectory_fit import MeasuredTrajectories, Quotient, Quotients


@dataclass(frozen=True, eq=False)
class JointCandidates:
    """Smoothed trajectories, the candidates of every equation, and the check of its denominators."""

    smoothed: Smoothed
    variables: Variables
    targets: tuple[Target, ...]
    candidates: tuple[Candidates, ...]
    poles: tuple[PoleCheck, ...]

    def measured(self, laws: Sequence[LawFit]) -> MeasuredTrajectories:
        """Return the samples with the quotients that these laws are written in."""
        quotients = {}
        for target, own, law in zip(self.targets, self.candidates, laws, strict=True):
            divided = Quotient(own.plain, own.over, own.under, law.shape.under[0]) if law.shape.over else None
            quotients[target.name] = divided or Quotient(own.plain)
        groups = tuple(quotients[target.name].group(self.variables, target) for target in self.targets)
        return MeasuredTrajectories(self.smoothed, groups, rate_models=Quotients(quotients))

    def supports(self, laws: Sequence[LawFit]) -> tuple[tuple[int, ...], ...]:
        """Return the columns of laws in their quotients."""
        supports = []
        for own, law in zip(self.candidates, laws, strict=True):
            shape, plain, over = law.shape, len(own.plain), len(own.over)
            if not shape.over:
                supports.append(shape.plain)
                continue
            free = {j: n for n, j in enumerate(j for j in range(len(own.under)) if j != shape.under[0])}
            below = (plain + over + free[j] for j in shape.free_under)
            supports.append((*shape.plain, *(plain + j for j in shape.over), *below))
        return tuple(supports)

    def rule(self, measured: MeasuredTrajectories) -> TrajectoryEvidence:
        """Return the evidence by which misfits are compared, with all candidates of every equation counted."""
        rule = trajectory_rule(measured)
        return replace(rule, terms=tuple(candidates.free for candidates in self.candidates))

    def law(self, shape: Shape, coef: Array, misfit: float) -> LawFit:
        """Return a law from its coefficients: of p, of M, of free terms of D."""
        p, m = len(shape.plain), len(shape.over)
        return LawFit(shape, coef[:p], coef[p : p + m], coef[p + m :], misfit)

    def proposed(self, i: int, first: int, support: Sequence[int], coef: Array, divided: bool) -> LawFit:
        """Return a law from a support over the columns of its quotient."""
        own = self.candidates[i]
        plain = len(own.plain)
        over = len(own.over) if divided else 0
        free = [j for j in range(len(own.under)) if j != first]
        p = tuple(j for j in support if j < plain)
        m = tuple(j - plain for j in support if plain <= j < plain + over)
        d = tuple(free[j - plain - over] for j in support if j >= plain + over)
        if not m:
            return LawFit(Shape(p), coef[: len(p)], np.zeros(0), np.zeros(0), math.inf)
        shape = Shape(p, m, (first, *d))
        return LawFit(shape, coef[: len(p)], coef[len(p) : len(p) + len(m)], coef[len(p) + len(m) :], math.inf)

    def is_defined(self, i: int, law: LawFit) -> bool:
        """Return True if the denominator of a law keeps its sign on the smoothed states."""
        if not law.shape.over:
            return True
        values = self._under(i)[:, law.shape.under] @ np.concatenate([[1.0], law.under])
        keeps = np.isfinite(values).all() and ((values > 0).all() or (values < 0).all())
        return bool(keeps) and not self.poles[i](law)

    def cancelled(self, i: int, law: LawFit) -> LawFit:
        """Return a law without the common monomial of M and D."""
        shape = self.candidates[i].cancelled(law.shape)
        return law if shape == law.shape else replace(law, shape=shape)

    def dominated(self, i: int, law: LawFit) -> LawFit:
        """Return a law with the largest term of its denominator normalised, all terms in order."""
        if not law.shape.over:
            return replace(law, shape=Shape(law.shape.plain), under=np.zeros(0))
        if len(law.shape.under) == 1:
            return law
        every = np.concatenate([[1.0], law.under])
        size = np.abs(self._under(i)[:, law.shape.under]).mean(axis=0) * np.abs(every)
        return renormalised(law, int(size.argmax()))

    def _under(self, i: int) -> Array:
        return _denominators(self, i)


@lru_cache(maxsize=64)
def _denominators(search: JointCandidates, i: int) -> Array:
    """Return the candidates of the denominator of an equation on the smoothed states."""
    features = Features(search.variables, search.candidates[i].under)
    pieces = zip(search.smoothed.pieces, search.smoothed.values, strict=True)
    return features.evaluate(np.vstack([features.inputs_of(piece, values) for piece, values in pieces]))
