"""One call from data to a selected, certified model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from exactsindy.data import Columns, Data, Field, Notice, as_data
from exactsindy.discovery.explain import ambiguity_notices, residual_notices, sampling_notices, selection_notices
from exactsindy.discovery.prepare import default_rule, folds_of, measured, prepare
from exactsindy.discovery.prove import interrupted, prove, resolved, rivals, unambiguous
from exactsindy.discovery.refine import refine
from exactsindy.discovery.request import default_library, default_size, largest
from exactsindy.discovery.residuals import residuals
from exactsindy.discovery.result import Discovery
from exactsindy.discovery.sampling import calibrated, sampling
from exactsindy.discovery.stopwatch import DEFAULT_SECONDS, Stopwatch, limits
from exactsindy.discovery.trajectory_variants import Variant
from exactsindy.discovery.trim import trim_steady_tail
from exactsindy.errors import DataError
from exactsindy.forms import Smoothed, Whiteness
from exactsindy.library import Library
from exactsindy.model import Model
from exactsindy.selection import Rule, Selection
from exactsindy.selection import select as select_size
from exactsindy.solver import Settings, Total

# Fractions of the time limit.
_GLANCE = 0.02
_TRIAL_SHARE, _PATH_SHARES, _ORBIT_SHARE = 0.2, (_GLANCE, 0.1, 0.35), 0.4


def discover(
    data: Any,
    *,
    time: Any = None,
    states: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    controls: Any = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
    library: Library | None = None,
    form: Any = "auto",
    k_max: int | Total | None = None,
    rule: Rule | str = "auto",
    constraints: Sequence[Any] = (),
    ridge: Any = 0.0,
    seconds: float | None = DEFAULT_SECONDS,
    threads: int | None = None,
    settings: Settings | None = None,
) -> Discovery:
    """Find the equations behind data: everything is chosen from the data unless said otherwise.

    Parameters
    ----------
    data
        An array (samples x states), a pandas or polars frame, a path to CSV, Parquet, NetCDF or npz, an xarray
        object, a list of those (several trajectories), `Trajectories`, or a `Field`.
    time
        Sample times or the step; the name of the time column for tables.
    states, targets, controls
        Names of the states; the equations wanted, if not the first derivative of every state; the inputs u(t).
    trajectory
        Tables: the column whose value tells trajectories apart.
    gaps
        ``"refuse"`` missing values, or ``"split"`` trajectories at them and at long breaks in time.
    library
        Candidate terms; monomials up to degree 3 by default, for fields also times spatial derivatives.
    form
        ``"auto"``: noise-whitened increments on measured and on smoothed states, each equation from the better one;
        for fields whitened increments of spatial modes. Otherwise a form, or ``"strong"``, ``"weak"``,
        ``"increment"``, ``"modal"``.
    k_max
        Largest number of terms tried, or ``Total(k)`` for a budget shared by all equations; 8 by default (10 for
        large libraries of fields).
    rule
        Rule that picks the number of terms. By default the evidence of the paths (`PathEvidence`) and, where that
        leaves an equation open, the likelihood of whole orbits. See `exactsindy.select`.
    constraints, ridge
        As in `solve`.
    seconds
        Time limit of the whole call, 60 by default; ``None`` is no limit. Ctrl-C during the search keeps the best
        answer so far.
    threads
        Number of threads; every core by default.
    settings
        Other limits and options: nodes, gap, progress. ``Settings(seconds=...)`` or ``Settings(threads=...)`` stand in
        for the keywords of these names; a setting left at ``None`` leaves them as they are. Different values in both
        are an error.

    Returns
    -------
    Discovery
        ``.model``, ``.selection``, ``.certificates``, ``.warnings``, ``.at(k=...)``, ``.at(rival=2)``; print it.

    Raises
    ------
    DataError, ProblemError, SolverError
        If the data or an argument cannot be used; the message names the cure.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> t = np.arange(0.0, 20.0, 0.02)
    >>> x = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * np.random.default_rng(0).normal(size=(1000, 2))
    >>> found = es.discover(x, time=t, states=("x", "v"))
    >>> found.model.equations(2)
    ["x' = v", "v' = -x"]
    """
    settings = limits(seconds, threads, settings)
    watch = Stopwatch(settings)
    found = _data(data, time, states, targets, controls, trajectory, gaps)
    terms = default_library(found) if library is None else library
    used, notes = _used(found, form)
    prepared, more = prepare(used, terms, form, watch.share(_TRIAL_SHARE))
    notes += more
    size = default_size(used, prepared[0].problem) if k_max is None else k_max
    folds = {part.name: folds_of(part, used, terms) for part in prepared}
    chosen_rule = default_rule(rule, prepared)
    asked = (rule, size, ridge, tuple(constraints))
    whiteness = None
    # Without a time limit every try would be the same search.
    for share in _PATH_SHARES if settings.seconds is not None else _PATH_SHARES[-1:]:
        selection = select_size(
            folds, k_max=size, ridge=ridge, rule=chosen_rule, constraints=constraints, settings=watch.share(share)
        )
        if share == _GLANCE and not unambiguous(selection):
            continue
        # Orbits need no proof of the rows' paths: what they choose is proved for a regression of their own.
        selection, whiteness = _refined(used, terms, prepared, selection, asked, watch)
        if whiteness is not None or resolved(selection) or interrupted(selection):
            break
    smoothed = getattr(prepared[0].form, "smoothed", None)
    if isinstance(smoothed, Smoothed):
        selection = calibrated(selection, sampling(smoothed.values, smoothed.noise))
    selection = prove(selection, constraints, watch)
    pool = rivals(selection, constraints, watch)
    solution = selection.solution
    notes += [*found.warnings, *sampling_notices(used, smoothed), *selection_notices(selection, largest(size))]
    if whiteness is None:
        notes += residuals(used, terms, prepared, folds, selection)
    else:
        notes += residual_notices(whiteness, (), selection.solution.coef)
    if pool is not None:
        notes += ambiguity_notices(pool)
    model = Model.from_solution(solution, variables=found)
    arguments = {
        "library": repr(terms) if library is not None else f"{terms!r} (default)",
        "form": form if isinstance(form, str) else repr(form),
        "k_max": repr(size),
        "ridge": repr(ridge),
        "constraints": "; ".join(map(str, constraints)) or "none",
        "time limit": f"{settings.seconds:g} s" if settings.seconds is not None else "none",
    }
    return Discovery(model, selection, solution.problem, pool, tuple(dict.fromkeys(notes)), found, solution, arguments)


def _refined(
    data: Data,
    library: Library,
    prepared: Sequence[Variant],
    selection: Selection,
    asked: tuple[Any, ...],
    watch: Stopwatch,
) -> tuple[Selection, Whiteness | None]:
    """Return the selection after the likelihood of orbits was heard, where it has something to say.

    Orbits are fitted without ridge or constraints, and need states that were smoothed around a model's flow.
    """
    rule, size, ridge, constraints = asked
    samples = measured(prepared[-1].form, data, library)
    plain = isinstance(rule, str) and not isinstance(size, Total) and not constraints
    plain = plain and isinstance(ridge, int | float) and ridge == 0
    if samples is None or not plain or interrupted(selection):
        return selection, None
    return refine(selection, samples, size, watch.share(_ORBIT_SHARE))


def _used(data: Data, form: Any) -> tuple[Data, list[Notice]]:
    """Return the part of the data that equations are sought in."""
    if isinstance(data, Field) or not (isinstance(form, str) and form == "auto"):
        return data, []
    used, notes = trim_steady_tail(data)
    return used, list(notes)


def _data(data: Any, time: Any, states: Any, targets: Any, controls: Any, trajectory: str | None, gaps: str) -> Data:
    given = {"time": time, "states": states, "controls": controls, "trajectory": trajectory}
    found = as_data(data, Columns(targets=targets, gaps=gaps, **given))
    if found is data:
        unused = [name for name, value in given.items() if value is not None]
        if unused:
            raise DataError(
                f"{', '.join(unused)}: the data are already {type(found).__name__} and carry their own; leave it out."
            )
        if targets is not None:
            from exactsindy.data import parse_targets

            wanted = parse_targets(targets, found.state_names, field=isinstance(found, Field))
            found = replace(found, targets=wanted)
    return found
