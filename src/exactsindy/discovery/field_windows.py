"""Fields whose modes leave the choice unsure: the answer is compared with that of windows, by likelihood.

Low modes of a product are those of low modes alone only where the field has no others. A shock has, and so have narrow
waves under noise that hides them: then the modes are right about the field that is left, and wrong about the law. Rows
of windows use every sample, their derivatives are those of test functions, and the mean of noise in powers is taken
out of them. They lose more to noise where many derivatives are taken.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.prepare import Prepared
from exactsindy.discovery.refine import Refined
from exactsindy.discovery.request import Request
from exactsindy.discovery.select import SURE, is_interrupted
from exactsindy.discovery.variants import Variant, is_large, saturated
from exactsindy.errors import DataError
from exactsindy.forms import EquationGroup, NotPositiveDefinite, WeakForm, field_noise, groups
from exactsindy.selection import Folds, GrowthRatio, PathEvidence, Selection, ln_choose, select
from exactsindy.solver import Settings, Solution, Total, refit, solve_pool

#: The name of the variant.
WINDOWS = "windows"
# Rounds of whitening by what was taken in the one before.
_ROUNDS = 3
# Windows over a sample beyond which more of them say little that is new, where there is noise and where there is
# hardly any; the least and most windows.
_OVERLAP, _FEW, _LEAST, _MOST = 20, 5, 150, 1000
# Largest exponent of odds.
_LARGEST = 700.0
# -2 ln likelihood and penalties by which windows must be better (odds of 150).
_BETTER = 10.0
# Nodes of each search: small sizes come first, and those far beyond the chosen one need no proof.
_NODES = 2_000
# Supports of the size chosen, next to it, that are compared where there is noise: each with what it lets through.
_RIVALS = 3
# Noise, as a share of the root mean square of a field, from which a wrong trial model can confirm itself.
_LARGE_NOISE = 0.05
# Models whose criteria differ by less than this (odds of 20) count as equals.
_ALIKE = 6.0
# Fraction of the time limit after which windows are not begun, and that of each search.
_UNTIL, _SEARCH = 0.6, 0.03


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows whitened by a model, and what the growth ratio takes from them.

    ``given`` is -2 ln of the likelihood of the model, with the penalties of the extended BIC, ``taken`` that of its
    terms fitted to these rows; it is infinite if other terms were taken, for they have other noise.
    """

    form: WeakForm
    model: Array
    folds: Folds
    selection: Selection
    given: float
    taken: float

    @property
    def settled(self) -> bool:
        """Return True if the terms taken are those of the model."""
        return self.taken < math.inf

    @property
    def criterion(self) -> float:
        """Return the criterion of the terms of the model."""
        return min(self.given, self.taken)

    @property
    def left(self) -> float:
        """Return the sum of squares that the model leaves, in units of the noise."""
        return float(np.maximum(self.folds.whole.rss(self.model), self.folds.floor).sum())

    @property
    def chosen(self) -> Selection:
        """Return the selection with the terms of the model, refitted where the growth ratio takes others."""
        before = self.selection
        if self.settled:
            return before
        support = _support(self.model)
        solution = before.path.at([len(terms) for terms in support])
        if solution.support != support:
            solution = refit(self.folds.whole, support, ridge=solution.ridge, constraints=solution.constraints)
        choices = tuple(replace(c, k=len(terms), rival=None) for c, terms in zip(before.choices, support, strict=True))
        sizes = {choice.equation: choice.k for choice in choices}
        table = tuple(replace(row, chosen=row.k == sizes[row.equation]) for row in before.table)
        return replace(before, solution=solution, choices=choices, table=table)


@dataclass(frozen=True, eq=False)
class _Windows:
    """The windows of a field, their rows whitened by one model after another; each set of terms is looked at once."""

    form: WeakForm
    data: Field
    prepared: Prepared
    request: Request
    limits: Settings
    noisy: bool
    known: dict[tuple[tuple[int, ...], ...], _Rows] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Field, prepared: Prepared, request: Request, limits: Settings) -> _Windows:
        """Return as many windows as noise asks for."""
        sizes = np.array([np.sqrt(np.nanmean(values**2)) for values in data.values])
        noisy = bool((field_noise(data) > _LARGE_NOISE * sizes).any())
        form = WeakForm(hermite=True)
        wanted = (_OVERLAP if noisy else _FEW) / form.box(data, prepared.library)
        least = max(_LEAST, 2 * len(prepared.variants[-1].problem.terms))
        return cls(replace(form, domains=int(min(max(wanted, least), _MOST))), data, prepared, request, limits, noisy)

    def rows(self, model: Array) -> _Rows:
        """Return the rows that a model whitens."""
        support = _support(model)
        if support not in self.known:
            go_on()
            problem, determinants = self.form.whitened_by(self.data, self.prepared.library, model)
            folds = Folds((problem,), tuple(self.form.floor(self.data).tolist()))
            selection = self._taken(folds)
            taken = selection.solution.coef
            self.known[support] = _Rows(
                replace(self.form, model=model),
                model,
                folds,
                selection,
                _criterion(folds, model, determinants),
                _criterion(folds, taken, determinants) if _support(taken) == support else math.inf,
            )
        return self.known[support]

    def settled(self, model: Array) -> _Rows:
        """Return the rows of the model that a trial leads to."""
        for _ in range(_ROUNDS):
            rows = self.rows(model)
            if rows.settled:
                break
            model = rows.selection.solution.coef
        return rows

    def trials(self) -> Iterator[Array]:
        """Yield models of rows that are not whitened: that taken, and where noise is large the saturated one."""
        plain = self._taken(Folds((self.form.problem(self.data, self.prepared.library),)))
        yield plain.solution.coef
        if self.noisy:
            yield saturated(plain.path).coef

    def best(self, models: Sequence[Array]) -> _Rows:
        """Return the best of the models that trials lead to, and of those that rival it: of equals, the simplest."""
        found = min((self.settled(model) for model in models), key=lambda rows: rows.criterion)
        for model in self._rivals(found) if self.noisy else ():
            self.rows(model)
        least = min(rows.criterion for rows in self.known.values())
        alike = [rows for rows in self.known.values() if rows.criterion <= least + _ALIKE]
        return min(alike, key=lambda rows: (_size(rows.model), rows.criterion))

    def weighed(self, best: _Rows) -> Selection:
        """Return what was taken from the best rows, its confidence lowered by the likelihood of all other models.

        The likelihood prefers models that let less noise through. So where others of no more terms leave less, each of
        them may be the law as well.
        """
        others = [rows for rows in self.known.values() if rows is not best]
        differences = [min(0.5 * (best.criterion - rows.criterion), _LARGEST) for rows in others]
        size = _size(best.model)
        less = sum(_size(rows.model) <= size and rows.left < best.left for rows in others)
        share = min(1.0 / (1.0 + sum(map(math.exp, differences))), 1.0 / (1.0 + less))
        chosen = best.chosen
        choices = tuple(replace(c, confidence=share * c.confidence) for c in chosen.choices)
        return replace(chosen, choices=choices, inclusion={})

    def _rivals(self, rows: _Rows) -> Iterator[Array]:
        """Yield the models in which one equation has another support of its size that fits about as well."""
        solution = rows.selection.solution
        sizes = [len(support) for support in solution.support]
        pool = solve_pool(solution.problem, sizes, count=_RIVALS + 1, ridge=solution.ridge, settings=self.limits)
        for i, members in enumerate(pool.members.values()):
            for member in members[1:]:
                model = np.array(solution.coef)
                model[i] = [member.terms.get(name, 0.0) for name in solution.problem.names]
                yield model

    def _taken(self, folds: Folds) -> Selection:
        return select(
            {WINDOWS: folds},
            k_max=self.prepared.k_max,
            ridge=self.request.ridge,
            rule=GrowthRatio(rows="modes"),
            constraints=self.request.constraints,
            settings=self.limits,
        )


def in_windows(refined: Refined, prepared: Prepared, request: Request, clock: Clock) -> tuple[Prepared, Refined]:
    """Return the answer of windows where the modes are unsure and windows are clearly better; else what is given."""
    data, selection = prepared.data, refined.selection
    if not isinstance(data, Field) or not isinstance(selection.rule, PathEvidence) or is_interrupted(selection):
        return prepared, refined
    if isinstance(prepared.k_max, Total) or data.lazy or is_large(data):
        return prepared, refined
    if all(choice.confidence >= SURE for choice in selection.choices):
        return prepared, refined
    clock.begin("comparing with windows")
    with clock.optional("the comparison with windows", _UNTIL), contextlib.suppress(DataError, NotPositiveDefinite):
        windows = _Windows.of(data, prepared, request, replace(clock.share(_SEARCH), progress=None, nodes=_NODES))
        modes = _columns(selection.solution, groups(data, prepared.library))
        own = windows.rows(modes)
        best = windows.best([modes, *windows.trials()])
        if _support(best.model) == _support(modes) and best.criterion >= own.given - _BETTER:
            return prepared, replace(refined, selection=_confirmed(selection, windows.weighed(best)))
        if best.criterion < own.given - _BETTER and not (windows.noisy and _adds(best.model, modes)):
            variant = Variant(WINDOWS, best.form, best.folds)
            chosen = Refined(windows.weighed(best), notices=refined.notices)
            return replace(prepared, variants=(variant, *prepared.variants)), chosen
    return prepared, refined


def _confirmed(selection: Selection, windows: Selection) -> Selection:
    """Return a selection whose terms windows choose as well, with the larger confidence of the two."""
    pairs = zip(selection.choices, windows.choices, strict=True)
    choices = tuple(replace(c, confidence=max(c.confidence, other.confidence)) for c, other in pairs)
    return replace(selection, choices=choices)


def _criterion(folds: Folds, coef: Array, determinants: Array) -> float:
    """Return -2 ln likelihood of a model of all equations, with the penalties of the extended BIC."""
    problem, total = folds.whole, 0.0
    for i, (xi, square) in enumerate(zip(coef, np.maximum(problem.rss(coef), folds.floor), strict=True)):
        k, terms = int(np.count_nonzero(xi)), len(problem.locate(i)[0].terms)
        total += float(square + determinants[i]) + k * math.log(problem.n_samples_of(i)) + 2 * ln_choose(terms, k)
    return total


def _columns(solution: Solution, equations: Sequence[EquationGroup]) -> Array:
    """Return the coefficients of a solution in the order of the terms of a form."""
    names = dict.fromkeys(name for group in equations for name in group.features.names)
    return np.asarray(solution.coef[:, [solution.problem.names.index(name) for name in names]])


def _adds(model: Array, to: Array) -> bool:
    """Return True if a model has all the terms of another one and more: noise in columns of rows makes such terms."""
    return _support(model) != _support(to) and bool(((model != 0) >= (to != 0)).all())


def _size(model: Array) -> int:
    return int(np.count_nonzero(model))


def _support(coef: Array) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in coef)
