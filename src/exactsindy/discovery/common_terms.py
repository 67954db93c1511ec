"""One set of terms for all trajectories, each trajectory with coefficients of its own: one exact search over both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from exactsindy._limits import OutOfTime
from exactsindy.constraints import SameSupport
from exactsindy.data import Columns, DataLike, Notice, Samples, Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.prepare import Prepared, prepare
from exactsindy.discovery.read import Measurement, read
from exactsindy.discovery.request import DEFAULT_SECONDS, Request, call_settings, default_library, find_form
from exactsindy.discovery.trajectory_coefficients import PerTrajectory
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import Form
from exactsindy.library import Library
from exactsindy.model import Model
from exactsindy.problem import Problem
from exactsindy.selection import GrowthRatio, log_gains, one_equation, ratios
from exactsindy.solver import Path, Settings, ctrl_c_held, refit, solve_path

# Fraction of the time limit for the regressions of all trajectories; the rest is for the searches.
_PREPARE_SHARE = 0.6
# Seconds that a search gets at least, also when the limit has passed: enough for a first support of every size.
_LEAST_SECONDS = 0.02


@dataclass(frozen=True, eq=False)
class _Sized:
    """The joint path of one equation in one variant, and the size that its growth ratio picks."""

    variant: int
    path: Path
    k: int
    ratio: float


def discover_per_trajectory(
    data: DataLike,
    time: ArrayLike | None = None,
    *,
    states: Sequence[str] | None = None,
    targets: str | Sequence[str] | None = None,
    controls: Sequence[str] | Samples | Sequence[Samples] | None = None,
    parameters: Sequence[str] | Mapping[str, ArrayLike] | None = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
    library: Library | None = None,
    degree: int | None = None,
    form: Form | str = "auto",
    k_max: int | None = None,
    seconds: float | None = DEFAULT_SECONDS,
    threads: int | None = None,
    settings: Settings | None = None,
) -> PerTrajectory:
    """Find the terms that all trajectories have in common, with coefficients of their own for each trajectory.

    For each equation and every number of terms it minimises the sum over the trajectories of their squared residuals,
    over all common supports; the minimum is proved. Nothing is assumed about how the coefficients depend on parameters:
    `PerTrajectory.against_parameters` looks at that afterwards.

    Parameters
    ----------
    data, time, states, targets, controls, parameters, trajectory, gaps
        As in `discover`; at least two trajectories.
    library, degree, form, k_max, seconds, threads, settings
        As in `discover`; the library is that of one trajectory, without parameters.

    Returns
    -------
    PerTrajectory
        ``.terms``, ``.models``, ``.coefficients``, ``.against_parameters(degree)``, ``.solutions``; print it.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> t = np.linspace(0.0, 5.0, 200)
    >>> runs = [np.exp(-rate * t)[:, None] for rate in (0.5, 1.0, 2.0)]
    >>> found = es.discover_per_trajectory(runs, t, states=("x",), parameters={"rate": [0.5, 1.0, 2.0]}, degree=2)
    >>> found.terms
    {"x'": ('x',)}
    >>> found.against_parameters(1).equations(3)
    ["x' = -rate x"]
    """
    limits = call_settings(seconds, threads, settings)
    if library is not None and degree is not None:
        raise ProblemError(f"discover_per_trajectory(library={library!r}, degree={degree!r}): give one of them.")
    columns = Columns(
        time, states, controls=controls, targets=targets, trajectory=trajectory, gaps=gaps, parameters=parameters
    )
    measured = read(data, columns).data
    if not isinstance(measured, Trajectories) or len(measured) < 2:
        raise DataError("discover_per_trajectory: expected at least two trajectories; for one use discover.")
    plain = measured.with_parameters(())
    chosen = default_library(plain, degree) if library is None else library
    request = Request(chosen, find_form(form), k_max, "auto", 0.0, (), limits)
    clock = Clock(limits)
    with ctrl_c_held():
        try:
            with clock.within():
                return _found(measured, plain, request, clock)
        except OutOfTime:
            reason = clock.no_answer()
    raise reason


def _found(measured: Trajectories, plain: Trajectories, request: Request, clock: Clock) -> PerTrajectory:
    every = []
    for i in range(len(plain)):
        clock.begin(f"making the regressions of trajectory {i + 1} of {len(plain)}")
        own = Clock(_share(clock, len(plain) - i))
        every.append(_prepared(plain, i, request, own))
        clock.cut += own.cut
    count = min(len(prepared.variants) for prepared in every)
    largest = min(prepared.k_max for prepared in every if isinstance(prepared.k_max, int))
    labels = [member.label or str(i) for i, member in enumerate(plain)]
    names = every[0].variants[0].problem.target_names
    chosen: dict[str, _Sized] = {}
    for equation in range(len(names)):
        clock.begin(f"searching the common terms of {names[equation]}")
        sized = []
        for back in range(count):  # the last variants are the most smoothed ones
            problems = [prepared.variants[back - count].problem for prepared in every]
            joint = _joint(problems, equation, labels)
            limits = clock.settings((len(names) - equation) * (count - back), least=_LEAST_SECONDS)
            path = solve_path(joint, largest, constraints=[SameSupport()], settings=limits)
            sized.append(_sized(back - count, path))
        chosen[names[equation]] = max(sized, key=lambda one: one.ratio)
    models = [_model(plain, i, every[i], chosen) for i in range(len(plain))]
    return PerTrajectory(
        measured,
        tuple(models),
        {name: one.path[one.k] for name, one in chosen.items()},
        {name: one.path for name, one in chosen.items()},
        {name: one.ratio for name, one in chosen.items()},
        tuple(dict.fromkeys([*_notices(plain, every, chosen), *clock.notices()])),
    )


def _share(clock: Clock, trajectories: int) -> Settings:
    """Return the limits of the regressions of one of the trajectories that are left."""
    seconds = clock.limits.seconds
    if seconds is None:
        return clock.limits
    left = _PREPARE_SHARE * seconds - clock.elapsed
    return replace(clock.limits, seconds=max(left / trajectories, _LEAST_SECONDS))


def _prepared(plain: Trajectories, i: int, request: Request, clock: Clock) -> Prepared:
    one = plain.slices([(i, 0, len(plain[i]))])
    try:
        return prepare(Measurement(one, one), request, clock)
    except DataError as error:
        raise DataError(f"trajectory {plain[i].label or i}: {error}") from None


def _joint(problems: Sequence[Problem], equation: int, labels: Sequence[str]) -> Problem:
    """Return the problem whose equations are one equation in all trajectories."""
    blocks = [one_equation(problem, equation) for problem in problems]
    named = [f"{block.target_names[0]} ({label})" for block, label in zip(blocks, labels, strict=True)]
    return Problem(tuple(replace(block, target_names=(name,)) for block, name in zip(blocks, named, strict=True)))


def _sized(variant: int, path: Path) -> _Sized:
    """Return the size with the largest ratio of its gain to the next one's, as `GrowthRatio` does for one equation.

    A term of pure noise has a coefficient in each trajectory, so that it gains as much as so many terms.
    """
    trajectories = len(path.problem.target_names)
    rows = sum(path.problem.n_samples_of(i) for i in range(trajectories))
    per_term = max(rows // trajectories, 1)
    gains = log_gains(path)[:, 0]
    q = ratios(gains, per_term)
    k = GrowthRatio().pick(gains, q, per_term)
    return _Sized(variant, path, k, float(q[k - 1]) if 0 < k <= len(q) else math.nan)


def _model(plain: Trajectories, i: int, prepared: Prepared, chosen: Mapping[str, _Sized]) -> Model:
    """Return the equations of one trajectory, each from the variant that was chosen for it."""
    one = plain.slices([(i, 0, len(plain[i]))])
    rows: list[Any] = []
    for name, sized in chosen.items():
        problem = prepared.variants[sized.variant].problem
        alone = Problem((one_equation(problem, problem.target_names.index(name)),))
        terms = [sized.path.problem.names[j] for j in sized.path[sized.k].support[i]]
        rows += Model.from_solution(refit(alone, [terms]), variables=one).rows
    return Model(Model.from_solution(refit(alone, [[]]), variables=one).variables, tuple(rows))


def _notices(plain: Trajectories, every: Sequence[Prepared], chosen: Mapping[str, _Sized]) -> list[Notice]:
    notices = [*plain.notices, *(notice for prepared in every for notice in prepared.notices)]
    for name, sized in chosen.items():
        status = sized.path[sized.k].status[0]
        if not sized.path[sized.k].optimal:
            notices.append(Notice("unproved", f"{name}: {status.value}", name))
        if sized.k >= len(sized.path) - 2 and sized.k < len(sized.path.problem.terms):
            text = f"{name}: {sized.k} terms, next to the largest size tried; allow more with k_max=."
            notices.append(Notice("size", text, name))
    return notices
