"""One call from data to a selected, certified model: read, trim, prepare, select, refine, prove, explain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from exactsindy._limits import OutOfTime
from exactsindy.constraints import Constraint, constraint_list
from exactsindy.data import Columns, DataLike, Samples
from exactsindy.discovery.adequacy import tested, withheld
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.explain import explain
from exactsindy.discovery.prepare import Prepared, prepare
from exactsindy.discovery.proof_folder import check_request
from exactsindy.discovery.prove import prove
from exactsindy.discovery.read import Measurement, read
from exactsindy.discovery.recognise import leave_out_sentinels
from exactsindy.discovery.refine import Refined, refine
from exactsindy.discovery.request import DEFAULT_SECONDS, Request, call_settings, default_library, find_form
from exactsindy.discovery.result import Discovery
from exactsindy.discovery.select import attempts, calibrated, is_interrupted, is_resolved
from exactsindy.discovery.trim import trim_steady_tail
from exactsindy.errors import ProblemError
from exactsindy.forms import Form, Smoothed
from exactsindy.library import Library
from exactsindy.model import Model
from exactsindy.selection import Rule, Selection, find_rule
from exactsindy.solver import Settings, Status, Total, ctrl_c_held

# Fraction of the time limit for trajectory fits. Trial models, paths and rivals have others (prepare.py, select.py,
# prove.py); what is left proves the chosen sizes.
_FIT_SHARE = 0.4


def discover(
    data: DataLike,
    time: ArrayLike | None = None,
    *,
    states: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    controls: Sequence[str] | Samples | Sequence[Samples] | None = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
    library: Library | None = None,
    degree: int | None = None,
    form: Form | str = "auto",
    k_max: int | Total | None = None,
    rule: Rule | str = "auto",
    constraints: Sequence[Constraint] = (),
    ridge: ArrayLike = 0.0,
    seconds: float | None = DEFAULT_SECONDS,
    threads: int | None = None,
    settings: Settings | None = None,
    proof: str | os.PathLike[str] | None = None,
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
    degree
        Short for ``library=Polynomials(degree)``, for fields also times spatial derivatives.
    form
        ``"auto"``: noise-whitened increments on measured and on smoothed states, each equation from the better one;
        for fields whitened increments of spatial modes. Otherwise a form, or ``"strong"``, ``"weak"``,
        ``"increment"``, ``"modal"``.
    k_max
        Largest number of terms tried, or ``Total(k)`` for a budget shared by all equations; 8 by default (10 for
        large libraries of fields).
    rule
        Rule that picks the number of terms, or its name (``"growth"``, ``"bic"``, ``"ebic"``, ``"cross-validation"``,
        ``"stability"``). By default the regression evidence of the paths (`PathEvidence`) and, where that leaves an
        equation ambiguous, the likelihood of trajectory fits. See `exactsindy.select`.
    constraints, ridge
        As in `solve`.
    seconds
        Time limit of the whole call but for reading files, 60 by default; ``None`` is no limit. A warning of the kind
        ``"limit"`` says what there was no time for. Ctrl-C ends the call with the best answer so far and a warning of
        the kind ``"interrupted"``, or with KeyboardInterrupt if there is none yet; pressed twice it always does.
    threads
        Number of threads; every core by default.
    settings
        Other limits and options: nodes, gap, progress. ``Settings(seconds=...)`` or ``Settings(threads=...)`` stand in
        for the keywords of these names; a setting left at ``None`` leaves them as they are. Different values in both
        are an error.
    proof
        A folder for a proof of the chosen equations that a separate program checks: ``solution.proof`` and the
        regression it is about, ``problem.npz`` (see `check_proof`). A warning of the kind ``"proof"`` says why there is
        none: a limit came first, or constraints bind coefficients or several equations.

    Returns
    -------
    Discovery
        ``.equations``, ``.model``, ``.confidence``, ``.identified``, ``.verdict``, ``.rivals``, ``.certificates``,
        ``.warnings``, ``.at(k=...)``, ``.at(rival=2)``, ``.plot()``, ``.report(...)``, ``.save(...)``; print it.

    Raises
    ------
    DataError, ProblemError, SolverError
        If the data or an argument cannot be used; the message names the cure.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> t = np.arange(0.0, 20.0, 0.02)
    >>> x = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * np.random.default_rng(0).normal(size=(1000, 2))
    >>> found = es.discover(x, t, states=("x", "v"))
    >>> found.model.equations(2)
    ["x' = v", "v' = -x"]
    """
    limits = call_settings(seconds, threads, settings)
    if library is not None and degree is not None:
        raise ProblemError(f"discover(library={library!r}, degree={degree!r}): two libraries; give one of them.")
    request = Request(library, find_form(form), k_max, find_rule(rule), ridge, constraint_list(constraints), limits)
    request = replace(request, proof=check_request(proof))
    columns = Columns(time, states, controls=controls, targets=targets, trajectory=trajectory, gaps=gaps)
    measured = leave_out_sentinels(read(data, columns))
    if degree is not None:
        request = replace(request, library=default_library(measured.data, degree))
    clock = Clock(limits)  # files were read
    with ctrl_c_held():
        try:
            with clock.within():
                return _discovered(measured, request, form, clock)
        except OutOfTime:
            reason = clock.no_answer()
    raise reason


def _discovered(measured: Measurement, request: Request, form: Form | str, clock: Clock) -> Discovery:
    """Return the answer; `OutOfTime` if the call is over before there is one."""
    clock.begin("smoothing the states")
    if request.form is None:
        measured = trim_steady_tail(measured)
    prepared = prepare(measured, request, clock)
    refined = _chosen(prepared, request, clock)
    selection = refined.selection
    if isinstance(prepared.variants[0].smoothed, Smoothed):
        selection = calibrated(selection, measured.sampling)
        clock.begin("testing whether the library holds the law")
        with clock.optional("tests whether the library holds the law"):
            selection = tested(selection, prepared, clock)
    proved = prove(selection, request, clock)
    notices = explain(measured, prepared, refined, proved, clock)
    selection = withheld(proved.selection, notices)
    selection = selection if clock.interrupted_in is None else _interrupted(selection)
    solution = selection.solution
    found = Discovery(
        model=Model.from_solution(solution, variables=measured.data),
        selection=selection,
        problem=solution.problem,
        pool=proved.pool,
        warnings=notices,
        data=measured.data,
        solution=solution,
        arguments=request.as_text(prepared.library, form, prepared.k_max),
    )
    late = clock.notices()  # Ctrl-C may have come since the notices were made
    return replace(found, warnings=tuple(dict.fromkeys([*notices, *late]))) if clock.interrupted_in else found


def _chosen(prepared: Prepared, request: Request, clock: Clock) -> Refined:
    """Return the first selection that is proved as far as it must be, or resolved by trajectory fits, or the last."""
    clock.begin("searching the best supports of every size")
    for selection in attempts(prepared, request, clock):
        refined = Refined(selection)
        # Trajectory fits need no proof of these paths: what they choose is proved for a regression of their own.
        clock.begin("fitting trajectories")
        with clock.optional("trajectory fits"):
            refined = refine(selection, prepared, request, clock.share(_FIT_SHARE))
        if refined.whiteness is not None or is_resolved(refined.selection) or is_interrupted(refined.selection):
            break
        if clock.is_over():
            break
        clock.begin("searching the best supports of every size")
    return refined


def _interrupted(selection: Selection) -> Selection:
    """Return the selection of a call that Ctrl-C ended: what is not proved is so because of that."""
    status = tuple(Status.INTERRUPTED if s is Status.TIME_LIMIT else s for s in selection.solution.status)
    return replace(selection, solution=replace(selection.solution, status=status))
