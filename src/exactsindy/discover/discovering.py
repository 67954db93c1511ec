"""One call from data to a selected, certified model."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from exactsindy.data import Field, Notice, Trajectories, as_data
from exactsindy.discover.defaults import default_library, default_size, largest, named_form
from exactsindy.discover.field_forms import INFORMED_CELLS, cells, whitened_modes
from exactsindy.discover.notices import (
    ambiguity_notices,
    residual_notices,
    sampling_notices,
    selection_notices,
)
from exactsindy.discover.record import Discovery
from exactsindy.discover.refining import refine
from exactsindy.discover.sampling import sampling, tempered
from exactsindy.discover.trajectory_forms import Prepared, whitened_increments, whitened_windows
from exactsindy.errors import DataError, ProblemError
from exactsindy.form import IncrementForm, ModalForm, Smoothed, StrongForm, WeakForm
from exactsindy.form.equations import groups
from exactsindy.form.increment import Whiteness
from exactsindy.library import Library
from exactsindy.model import Model
from exactsindy.problem import Problem
from exactsindy.selection import GrowthRatio, PathEvidence, Rule, Selection
from exactsindy.selection import select as select_size
from exactsindy.solver import Pool, Settings, Status, Total, solve, solve_pool

DEFAULT_SECONDS = 60.0
# Parts of the data for inclusion probabilities.
_FOLDS = 20
# Rivals of the chosen size that are ranked.
_RIVALS = 10
# Shares of the time limit: trial models, paths (the second try if the first leaves the choice open), orbits, rivals.
# What is left proves the chosen sizes.
_TRIAL_SHARE, _PATH_SHARES, _ORBIT_SHARE, _POOL_SHARE = 0.2, (0.1, 0.35), 0.4, 0.1


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
    select: Rule | str = "auto",
    constraints: Sequence[Any] = (),
    ridge: Any = 0.0,
    settings: Settings = Settings(seconds=DEFAULT_SECONDS),  # noqa: B008 - frozen
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
    select
        Rule that picks the number of terms. By default the evidence of the paths (`PathEvidence`) and, where that
        leaves a trajectory's equation open, the likelihood of whole orbits. See `exactsindy.select`.
    constraints, ridge
        As in `solve`.
    settings
        Limits; 60 seconds for the whole call by default. Ctrl-C during the search keeps the best answer so far.

    Returns
    -------
    Discovery
        ``.model``, ``.selection``, ``.certificate``, ``.warnings``, ``.at(k=...)``, ``.at(rival=2)``; print it.

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
    watch = Stopwatch(settings)
    found = _data(data, time, states, targets, controls, trajectory, gaps)
    terms = default_library(found) if library is None else library
    prepared, notes = _prepare(found, terms, form, watch.share(_TRIAL_SHARE))
    size = default_size(found, prepared[0].problem) if k_max is None else k_max
    folds = {part.name: _folds(part, found, terms) for part in prepared}
    rule = _rule(select, prepared)
    asked = (select, size, ridge, tuple(constraints))
    whiteness = None
    for share in _PATH_SHARES:
        selection = select_size(
            folds, k_max=size, ridge=ridge, by=rule, constraints=constraints, settings=watch.share(share)
        )
        # Orbits need no proof of the rows' paths: what they choose is proved for a regression of their own.
        selection, whiteness = _refined(found, terms, prepared, selection, asked, watch)
        if whiteness is not None or _settled(selection) or _interrupted(selection):
            break
    smoothed = getattr(prepared[0].form, "smoothed", None)
    if isinstance(smoothed, Smoothed):
        selection = tempered(selection, sampling(smoothed))
    selection = _prove(selection, constraints, watch)
    pool = _rivals(selection, constraints, watch)
    solution = selection.solution
    notes += [*found.warnings, *sampling_notices(found, smoothed), *selection_notices(selection, largest(size))]
    if whiteness is None:
        notes += _residuals(found, terms, prepared, folds, selection)
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


@dataclass(frozen=True)
class Stopwatch:
    """The time limit of the whole call, handed out in parts."""

    settings: Settings
    begin: float = -1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "begin", clock.monotonic())

    def share(self, share: float) -> Settings:
        """Return settings with a share of the whole limit, but not more than what is left."""
        if self.settings.seconds is None:
            return self.settings
        left = self.settings.seconds - (clock.monotonic() - self.begin)
        return replace(self.settings, seconds=max(min(share * self.settings.seconds, left), 0.05))


def _data(
    data: Any, time: Any, states: Any, targets: Any, controls: Any, trajectory: str | None, gaps: str
) -> Trajectories | Field:
    given = {"time": time, "states": states, "controls": controls, "trajectory": trajectory}
    found = as_data(data, targets=targets, gaps=gaps, **given)
    if found is data:
        unused = [name for name, value in given.items() if value is not None]
        if unused:
            raise DataError(
                f"{', '.join(unused)}: the data are already {type(found).__name__} and carry their own; leave it out."
            )
        if targets is not None:
            from exactsindy.data.target import parse_targets

            wanted = parse_targets(targets, found.state_names, field=isinstance(found, Field))
            found = replace(found, targets=wanted)
    return found


def _prepare(
    data: Trajectories | Field, library: Library, form: Any, settings: Settings
) -> tuple[list[Prepared], list[Notice]]:
    if not (isinstance(form, str) and form == "auto"):
        chosen = named_form(form)
        return [Prepared("", chosen, chosen.problem(data, library))], []
    if isinstance(data, Field):
        return [whitened_modes(data, library, settings)], []
    if data[0].derivatives is not None:
        strong = StrongForm()
        note = Notice("derivatives", "Measured derivatives are used as they are (StrongForm).")
        return [Prepared("measured derivatives", strong, strong.problem(data, library))], [note]
    if any(target.order > 1 for target in data.targets):
        return [whitened_windows(data, library, settings)], []
    try:
        return list(whitened_increments(data, library, settings)), []
    except ProblemError as error:
        if "not positive definite" not in str(error):
            raise
        weak = WeakForm()
        note = Notice("coarse", "The samples are too far apart for increments: windows are used instead (WeakForm).")
        return [Prepared("windows", weak, weak.problem(data, library))], [note]


def _rule(select: Rule | str, prepared: Sequence[Prepared]) -> Rule | str:
    """Return the rule: the weighed evidence where its weights were fitted, the growth ratio elsewhere."""
    if not (isinstance(select, str) and select == "auto"):
        return select
    if not prepared[0].name:
        return GrowthRatio()
    if isinstance(prepared[0].form, ModalForm):
        return PathEvidence.for_modes()
    return PathEvidence() if isinstance(prepared[0].form, IncrementForm) else GrowthRatio()


def _refined(
    data: Trajectories | Field,
    library: Library,
    prepared: Sequence[Prepared],
    selection: Selection,
    asked: tuple[Any, ...],
    watch: Stopwatch,
) -> tuple[Selection, Whiteness | None]:
    """Return the selection after the likelihood of orbits was heard, where it has something to say.

    Orbits are fitted without ridge or constraints, and need states that were smoothed around a model's flow.
    """
    select, size, ridge, constraints = asked
    smoothed = getattr(prepared[-1].form, "smoothed", None)
    plain = isinstance(select, str) and not isinstance(size, Total) and not constraints
    plain = plain and isinstance(ridge, int | float) and ridge == 0
    if isinstance(data, Field) or not isinstance(smoothed, Smoothed) or not plain or _interrupted(selection):
        return selection, None
    return refine(selection, smoothed, groups(data, library), size, watch.share(_ORBIT_SHARE))


def _folds(part: Prepared, data: Trajectories | Field, library: Library) -> Problem | tuple[Problem, ...]:
    """Return the parts of a regression, or the whole where it has none or the data are too short."""
    count = min(_FOLDS, part.problem.n_samples // 8)
    if count < 5 or (isinstance(data, Field) and cells(data) > INFORMED_CELLS):
        return part.problem
    try:
        return part.form.folds(data, library, count)
    except DataError:
        return part.problem


def _settled(selection: Selection) -> bool:
    """Say whether the chosen sizes and the next ones, which the choice rests on, are proved."""
    last = len(selection.path) - 1
    return all(
        selection.path[min(k, last)].status[i] is Status.OPTIMAL
        for i, choice in enumerate(selection.choices)
        for k in range(choice.k + 2)
    )


def _interrupted(selection: Selection) -> bool:
    return any(Status.INTERRUPTED in solution.status for solution in selection.path)


def _prove(selection: Selection, constraints: Sequence[Any], watch: Stopwatch) -> Selection:
    """Spend what is left on proving the chosen sizes, if the path ran out of time before them."""
    before = selection.solution
    if before.optimal or _interrupted(selection):
        return selection
    settings = watch.share(1.0 - _POOL_SHARE)
    after = solve(
        before.problem, before.k, ridge=before.ridge, constraints=constraints, start=before, settings=settings
    )
    return replace(selection, solution=after)


def _rivals(selection: Selection, constraints: Sequence[Any], watch: Stopwatch) -> Pool | None:
    """Return the best supports of the chosen sizes; none for a shared budget."""
    solution = selection.solution
    if isinstance(solution.k, Total) or _interrupted(selection) or len(tuple(constraints)):
        return None
    sizes = [len(support) for support in solution.support]
    settings = replace(watch.share(_POOL_SHARE), progress=None)
    return solve_pool(solution.problem, sizes, count=_RIVALS, ridge=solution.ridge, start=solution, settings=settings)


def _residuals(
    data: Trajectories | Field,
    library: Library,
    prepared: Sequence[Prepared],
    folds: Mapping[str, Any],
    selection: Selection,
) -> list[Notice]:
    """Return what residuals say, equation by equation in the preparation it was taken from."""
    notes: list[Notice] = []
    if isinstance(data, Field) and cells(data) > INFORMED_CELLS:
        return notes  # costs as much as the regression itself
    by_name = {part.name: part for part in prepared}
    wanted = {choice.preparation for choice in selection.choices}
    for name in wanted:
        part, parts = by_name[name], folds[name]
        whiteness = getattr(part.form, "whiteness", None)
        if whiteness is None or getattr(part.form, "model", None) is None:
            continue
        position = {term: j for j, term in enumerate(selection.solution.problem.names)}
        columns = [position[term] for term in part.problem.names]
        coef = selection.solution.coef[:, columns]
        found = whiteness(data, library, coef)
        mine = {c.equation for c in selection.choices if c.preparation == name}
        shared = any("," in equation for equation in mine)
        for note in residual_notices(found, parts if isinstance(parts, tuple) else (), coef):
            if shared or note.message.split(":")[0] in mine:
                notes.append(note)
    return notes
