"""Explain the answer: what about the data or the choice should make a reader careful, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field, Notice, Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.fitted_models import COLOURED
from exactsindy.discovery.next_experiment import start_notices
from exactsindy.discovery.prepare import Prepared
from exactsindy.discovery.prove import Proved
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.recognise import recognise, solver_output_notices
from exactsindy.discovery.refine import Refined
from exactsindy.discovery.variants import is_large
from exactsindy.errors import DataError
from exactsindy.forms import Form, Smoothed, SmoothedField, Whiteness, WindowedField
from exactsindy.problem import Problem
from exactsindy.selection import Selection
from exactsindy.solver import Member, Pool, Status, Total

# Fewer periods than this are few; fewer samples per period than this are coarse.
_FEW_PERIODS, _COARSE = 2.0, 20.0
# Residual in units of the noise beyond which something is missing.
_LARGE_RESIDUAL = 1.5
#: Residual in units of the noise below which it is not noise that is left: data without noise, whose errors are those
#: of integrals between samples and of their simulation.
SMALL_RESIDUAL = 0.5
# Ratio of the noise of parts of the data beyond which it is called unequal.
_UNEQUAL = 2.0
# Supports whose log-likelihoods differ by less than this cannot be told apart.
_INDISTINGUISHABLE = 2.0
# Indistinguishable supports that a notice lists.
_LISTED = 4
# Notices that say no more than that samples of a map have no rates.
_OF_MAPS = frozenset({"empty", "coloured"})


@dataclass(frozen=True)
class Explanation:
    """Notices, the residual of each equation in units of the noise, and the noise of each state in its own units.

    Residual and noise hold only what was computed.
    """

    notices: tuple[Notice, ...]
    residuals: Mapping[str, float]
    noise: Mapping[str, float]


def explain(measured: Measurement, prepared: Prepared, refined: Refined, proved: Proved, clock: Clock) -> Explanation:
    """Return all notices about data, choice and answer, each once, and the sizes of residuals and noise."""
    residuals: dict[str, float] = {}
    selection = proved.selection
    k_max = prepared.k_max.k if isinstance(prepared.k_max, Total) else prepared.k_max
    # Of data in pieces `prepared` names the gaps of all; the data here are a sample of them.
    own = [notice for notice in measured.data.warnings if measured.source is None or notice.kind != "gap"]
    notices = [*measured.notices, *prepared.notices, *refined.notices, *own]
    notices += [*sampling_notices(measured), *selection_notices(selection, k_max)]
    clock.begin("examining the residuals")
    if refined.whiteness is None:
        with clock.optional("tests of the residuals"):
            for tested in tested_residuals(prepared, selection):
                notices += tested.notices()
                residuals |= tested.sizes()
    else:
        notices += residual_notices(refined.whiteness, (), selection.solution.coef)
        residuals |= _sizes(refined.whiteness)
    if proved.pool is not None:
        notices += ambiguity_notices(proved.pool)
    with clock.optional("recognition of data that mislead"):
        notices += _misleading_notices(measured, proved, clock)
    if isinstance(measured.used, Trajectories) and any(size > _LARGE_RESIDUAL for size in residuals.values()):
        notices = [*solver_output_notices(measured.used), *notices]
    notices += [*proved.notices, *clock.notices()]
    return Explanation(tuple(dict.fromkeys(_unexplained(notices))), residuals, _noise(measured, prepared))


def _unexplained(notices: Sequence[Notice]) -> list[Notice]:
    """Return the notices without those that another one explains.

    A column that never changes has no terms, and the rates of a map are noise: neither needs a second notice.
    """
    if any(notice.kind == "map" for notice in notices):
        return [notice for notice in notices if notice.kind not in _OF_MAPS]
    still = [n.message.partition(" never changes")[0] for n in notices if n.kind == "constant"]  # names in quotes
    return [n for n in notices if n.kind != "empty" or repr(str(n.equation).rstrip("'")) not in still]


def _noise(measured: Measurement, prepared: Prepared) -> dict[str, float]:
    """Return the noise of each state, as far as the states were smoothed."""
    smoothed = prepared.variants[-1].smoothed
    if isinstance(smoothed, Smoothed):
        level = (smoothed.plain or smoothed).measured_noise
    elif isinstance(smoothed, SmoothedField | WindowedField):
        level = smoothed.noise
    else:
        return {}
    names = measured.used.state_names
    if len(level) != len(names):
        return {}
    return {name: float(size) for name, size in zip(names, level, strict=True) if np.isfinite(size)}


def _misleading_notices(measured: Measurement, proved: Proved, clock: Clock) -> Iterator[Notice]:
    """Yield what about the data misleads, and which start would tell apart what these data cannot."""
    solution = proved.selection.solution
    misleading = recognise(measured, solution)
    yield from misleading
    if proved.pool is not None and not any(notice.kind == "copy" for notice in misleading):  # no start parts copies
        yield from start_notices(measured, solution, proved.pool, indistinguishable(proved.pool), clock)


def sampling_notices(measured: Measurement) -> Iterator[Notice]:
    """Yield notices about the time axis: samples that cannot be used, few periods, few samples per period.

    Measured derivatives need no time axis: each row says a rate by itself.
    """
    if isinstance(measured.used, Field) or measured.used[0].derivatives is not None:
        return
    try:
        sampled = measured.sampling
    except DataError:  # too short to smooth
        return
    lost = measured.used.n_samples - sampled.samples
    if lost:
        yield Notice("short piece", f"{lost} samples lie in stretches of fewer than 8, too short to smooth: not used.")
    if 0 < sampled.periods < _FEW_PERIODS:
        text = f"Only about {sampled.periods:.1f} periods of data: several laws may fit so short a record."
        yield Notice("short", f"{text} Measure longer.")
    elif sampled.per_period < _COARSE:
        text = f"Only about {sampled.per_period:.0f} samples per period: integrals between samples are inaccurate."
        yield Notice("coarse", f"{text} Sample more often if you can.")


@dataclass(frozen=True)
class TestedResiduals:
    """The whitened residuals of the equations that were taken from one variant."""

    whiteness: Whiteness
    folds: Sequence[Problem]
    coef: Array
    equations: frozenset[str | None]

    def notices(self) -> Iterator[Notice]:
        """Yield notices about the residuals of these equations."""
        for notice in residual_notices(self.whiteness, self.folds, self.coef):
            if notice.equation in self.equations:
                yield notice

    def sizes(self) -> dict[str, float]:
        """Return the residual of these equations in units of the noise."""
        return {name: size for name, size in _sizes(self.whiteness).items() if name in self.equations}


def _sizes(whiteness: Whiteness) -> dict[str, float]:
    sizes = zip(whiteness.target_names, map(float, whiteness.ratio), strict=True)
    return {name: size for name, size in sizes if np.isfinite(size)}


def tested_residuals(prepared: Prepared, selection: Selection) -> Iterator[TestedResiduals]:
    """Yield the residuals of the equations of each variant, as far as its rows are whitened."""
    if is_large(prepared.data):
        return  # costs as much as the regression itself
    position = {term: j for j, term in enumerate(selection.solution.problem.names)}
    shared = isinstance(selection.solution.k, Total)
    for variant in prepared.variants:
        equations = {choice.equation for choice in selection.choices if choice.variant == variant.name}
        form = variant.form
        if not equations or not isinstance(form, Form) or not form.whitened:
            continue
        coef = selection.solution.coef[:, [position[term] for term in variant.problem.names]]
        whiteness = form.whiteness(prepared.data, prepared.library, coef)
        folds = variant.folds.parts if len(variant.folds) > 1 else ()
        said = frozenset({*whiteness.target_names, None} if shared else equations)
        yield TestedResiduals(whiteness, folds, coef, said)


def residual_notices(whiteness: Whiteness, folds: Sequence[Problem], coef: Array) -> Iterator[Notice]:
    """Yield notices about coloured, large or unequal residuals of the chosen model."""
    small = {
        name for name, ratio in zip(whiteness.target_names, whiteness.ratio, strict=True) if ratio < SMALL_RESIDUAL
    }
    if small:
        text = "Residuals are far smaller than the errors of integrals between samples and of simulations may be"
        yield Notice("clean", f"{text}: the data have hardly any noise. Standard errors do not include such errors.")
    for name, ratio, lag in zip(whiteness.target_names, whiteness.ratio, whiteness.lag, strict=True):
        if name in small:
            continue
        if abs(lag) > COLOURED:
            text = f"{name}: neighbouring residuals are correlated ({lag:+.2f})"
            cause = "the noise is not white, or a term is missing. Confidence and standard errors are too optimistic."
            yield Notice("coloured", f"{text}: {cause}", name)
        if ratio > _LARGE_RESIDUAL:
            text = f"{name}: residuals are {ratio:.1f} times the noise"
            cause = "the library may lack a term, or the samples are too far apart."
            yield Notice("residual", f"{text}: {cause}", name)
    for i, name in enumerate(whiteness.target_names if len(folds) > 1 else ()):
        level = np.array([np.sqrt(fold.rss(coef)[i] / max(fold.n_samples_of(i), 1)) for fold in folds])
        if name not in small and level.min() > 0 and level.max() > _UNEQUAL * level.min():
            ratio = level.max() / level.min()
            text = f"{name}: residuals are {ratio:.1f} times as large in some parts of the data as in others"
            yield Notice("unequal", f"{text}: the noise changes, or the law does.", name)


def ambiguity_notices(pool: Pool) -> Iterator[Notice]:
    """Yield notices about supports of the chosen size that the data cannot tell apart."""
    for target, alike in indistinguishable(pool).items():
        members = pool.members[target]
        common = set.intersection(*(set(m.terms) for m in alike))
        swapped = list(dict.fromkeys(name for m in alike for name in m.terms if name not in common))
        count = f"{len(alike)}" + ("" if len(alike) < len(members) or pool.complete[target] else " or more")
        listed = "; ".join(", ".join(m.terms) for m in alike[:_LISTED]) + ("; ..." if len(alike) > _LISTED else "")
        text = f"{target}: {_joined(swapped)} stand in for each other here"
        yield Notice("indistinguishable", f"{text}: these {count} supports are indistinguishable ({listed}).", target)


def indistinguishable(pool: Pool) -> dict[str, list[Member]]:
    """Return for each equation that has several the supports that the data cannot tell from the best one."""
    alike = {}
    for i, (target, members) in enumerate(pool.members.items()):
        rows = pool.problem.n_samples_of(i)
        alike[target] = [m for m in members if 0.5 * rows * np.log1p(m.excess) < _INDISTINGUISHABLE]
    return {target: members for target, members in alike.items() if len(members) > 1}


def selection_notices(selection: Selection, k_max: int) -> Iterator[Notice]:
    """Yield notices about empty equations, sizes next to the largest one, and missing proofs."""
    for choice in selection.choices:
        name = choice.equation
        if choice.k == 0:
            text = f"{name}: no term is statistically justified: the right-hand side looks like noise."
            yield Notice("empty", text, name)
        elif choice.k >= k_max - 1 and k_max < len(selection.solution.problem.terms):
            text = f"{name}: {choice.k} terms, next to the largest size tried; allow more with k_max=."
            yield Notice("size", text, name)
    solution = selection.solution
    names = [choice.equation for choice in selection.choices]
    for name, status in zip(names, solution.status, strict=True):
        if status not in (Status.OPTIMAL, Status.REFITTED):
            yield Notice("unproved", f"{name}: {status.value}", name)
    if isinstance(solution.k, Total):
        return
    for i, choice in enumerate(selection.choices):
        proved = (Status.OPTIMAL, Status.INFEASIBLE)
        later = [k for k, s in enumerate(selection.path) if s.status[i] not in proved]
        if later and later[0] == choice.k + 1:
            text = f"{choice.equation}: sizes from {later[0]} terms on are not proved."
            why = selection.path[later[0]].status[i]
            reason = "Their share of the time limit was over." if why is Status.TIME_LIMIT else why.value
            yield Notice("unproved", f"{text} {reason}", choice.equation)


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
