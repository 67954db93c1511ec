"""One call from data to a selected, certified model: read, trim, prepare, select, refine, prove, explain."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from exactsindy._limits import OutOfTime
from exactsindy.chunked import Pieces
from exactsindy.constraints import Constraint, constraint_list
from exactsindy.data import Columns, DataLike, Samples
from exactsindy.discovery.adequacy import withheld
from exactsindy.discovery.attempt import attempt
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.explain import explain
from exactsindy.discovery.families import grown
from exactsindy.discovery.in_pieces import reading_notices, sampled
from exactsindy.discovery.jumps import cut_at_jumps
from exactsindy.discovery.map_discovery import discover_map
from exactsindy.discovery.order import is_open, with_named_rates, with_order
from exactsindy.discovery.parameters import leave_out_constant_parameters
from exactsindy.discovery.proof_folder import check_request
from exactsindy.discovery.prove import prove
from exactsindy.discovery.read import Measurement, read
from exactsindy.discovery.recognise import (
    STAND_INS,
    leave_out_sentinels,
    recognise,
    undetermined_states,
)
from exactsindy.discovery.request import (
    DEFAULT_SECONDS,
    Request,
    call_settings,
    default_library,
    find_form,
    find_library,
)
from exactsindy.discovery.resolve import resolve
from exactsindy.discovery.result import Discovery
from exactsindy.discovery.scheme_errors import with_scheme_named
from exactsindy.discovery.solver_steps import at_solver_steps, exact_equations, withheld_at_steps
from exactsindy.discovery.trim import trim_steady_tail
from exactsindy.errors import ProblemError, suggests_keywords
from exactsindy.forms import Form, MapForm
from exactsindy.library import Library
from exactsindy.model import Model
from exactsindy.selection import Rule, Selection, find_rule
from exactsindy.solver import Settings, Status, Total, ctrl_c_held

# What describes a field is said where the field is made.
_OF_A_FIELD = "Fields are described before: discover(Field.from_arrays(data, periodic=..., dims=..., coords=...))."


@suggests_keywords(
    t="time",
    dt="time",
    u="controls",
    select="rule",
    feature_names="states",
    feature_library="library",
    threshold="k_max",
    alpha="ridge",
    poly_order="degree",
    periodic=_OF_A_FIELD,
    dims=_OF_A_FIELD,
    coords=_OF_A_FIELD,
    x="data",
    differentiation_method="form",
    x_dot="Measured derivatives: data=es.Trajectories.from_arrays(x, t, derivatives=x_dot).",
    optimizer="The search is exact, so there is none to choose; leave it out. The most terms are k_max=.",
)
def discover(
    data: DataLike | Pieces,
    time: ArrayLike | None = None,
    *,
    states: Sequence[str] | None = None,
    targets: str | Sequence[str] | None = None,
    controls: Sequence[str] | Samples | Sequence[Samples] | None = None,
    parameters: Sequence[str] | Mapping[str, ArrayLike] | None = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
    library: Library | str | None = "auto",
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
        An array (samples x states), a pandas or polars frame, the path of a file that `load` reads, an xarray object,
        a list of those (several trajectories), `Trajectories`, or a `Field`. What `scan_parquet` returns, and xarray
        objects and fields of Dask arrays, are read piece by piece and never loaded as a whole.
    time
        Sample times or the step; the name of the time column for tables.
    states
        Names of the states; for tables all columns that are nothing else by default.
    controls
        The inputs u(t): their values, or the names of their columns.
    targets
        The equations wanted, such as ``"x''"``, if not the first derivative of every state. Where an equation is for
        x'', its velocity x' is a variable of the library and need not be measured. By default the order is chosen: a
        library that names x' asks for x''; where states do not determine their rates and equations of second order
        explain the data, these are taken, and a notice of the kind ``"order"`` says so.
    parameters
        Constants of each trajectory, which coefficients may depend on: a mapping from name to one value per trajectory,
        ``{"mu": [0.1, 0.4]}``; for tables also the names of columns that are constant within each trajectory.
    trajectory
        Tables: the column whose value tells trajectories apart.
    gaps
        ``"refuse"`` missing values, or ``"split"`` trajectories at them and at long breaks in time.
    library
        Candidate terms. ``"auto"``: monomials up to degree 3, for fields also times spatial derivatives, with
        parameters also times each of them (``Polynomials(3) * Parameters(1)``); where tests say that these do not hold
        the law of an equation, other families of functions are tried for it, and a notice of the kind ``"library"``
        says so. A library that is given is never changed.
    degree
        Short for ``library=Polynomials(degree)``, for fields also times spatial derivatives.
    form
        ``"auto"``: noise-whitened increments on measured and on smoothed states, each equation from the better one;
        for fields whitened increments of spatial modes or, where those are unsure, windows. Otherwise a form, or
        ``"strong"``, ``"weak"``, ``"increment"``, ``"modal"``, or ``"map"`` (`MapForm`) for discrete time: equations of
        the next sample, ``x[k+1]``. For maps ``time`` may be left out.
    k_max
        Largest number of terms tried, or ``Total(k)`` for a budget shared by all equations; 8 by default (10 for
        large libraries of fields).
    rule
        Rule that picks the number of terms, or its name (``"growth"``, ``"bic"``, ``"ebic"``, ``"cross-validation"``,
        ``"stability"``). By default the regression evidence of the paths (`PathEvidence`) and, where that leaves an
        equation ambiguous, the likelihood of trajectory fits. See `exactsindy.select`.
    constraints
        What is known: records of `exactsindy.constraints`, or texts such as ``"y': x z == -1"``.
    ridge
        Weight of a penalty on the squares of coefficients, one for all equations or one for each; none by default.
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
        none: a limit came first, or there is no proof file under these constraints.

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
    library = find_library(library)
    if library is not None and degree is not None:
        raise ProblemError(f"discover(library={library!r}, degree={degree!r}): two libraries; give one of them.")
    request = Request(library, find_form(form), k_max, find_rule(rule), ridge, constraint_list(constraints), limits)
    request = replace(request, proof=check_request(proof))
    columns = Columns(
        time,
        states,
        controls=controls,
        targets=targets,
        trajectory=trajectory,
        gaps=gaps,
        parameters=parameters,
        steps=isinstance(request.form, MapForm),
    )
    measured = sampled(data, columns)
    if measured is None:
        measured = leave_out_constant_parameters(leave_out_sentinels(read(data, columns)))
    if degree is not None:
        request = replace(request, library=default_library(measured.data, degree))
    if targets is None and library is not None and request.form is None:
        measured = with_named_rates(measured, library)
    clock = Clock(limits)  # files were read
    with ctrl_c_held():
        try:
            with clock.within():
                found = _discovered(measured, request, form, clock)
                if targets is None and measured.source is None and is_open(measured, request):
                    found = with_order(found, measured, lambda other: _discovered(other, request, form, clock), clock)
                return found
        except OutOfTime:
            reason = clock.no_answer()
    raise reason


def _discovered(measured: Measurement, request: Request, form: Form | str, clock: Clock) -> Discovery:
    """Return the answer; `OutOfTime` if the call is over before there is one."""
    if isinstance(request.form, MapForm):
        return _map(measured, request, request.form, clock)
    clock.begin("smoothing the states")
    if request.form is not None or measured.source is not None:
        return _answer(measured, request, form, clock)
    steps = at_solver_steps(measured) if request.compares_trajectories else None
    if steps is not None:
        found = _answer(steps, request, form, clock)
        exact, every = exact_equations(found, steps), found.solution.terms
        if (
            clock.interrupted_in is not None
            or len(exact) == len(every)
            or (exact and not undetermined_states(measured))
        ):
            # Exact rates rule out that a state is missing or late, but not that other laws agree on what was measured.
            notices = tuple(notice for notice in recognise(measured, found.solution) if notice.kind in STAND_INS)
            found = replace(found, selection=withheld(found.selection, notices), warnings=(*notices, *found.warnings))
            return withheld_at_steps(found, steps)
    found = _answer(trim_steady_tail(cut_at_jumps(measured)), request, form, clock)
    return found if steps is None else withheld_at_steps(found, steps)


def _answer(measured: Measurement, request: Request, form: Form | str, clock: Clock) -> Discovery:
    """Return the answer from the data as they are."""
    resolved = resolve(measured, request, clock)
    request = replace(request, library=resolved.library)
    first = attempt(measured, request, clock)
    smaller = resolved.at_terms(first.selection.solution)
    if smaller is not None:  # terms of a rational law were dropped: once more at what is best without them
        resolved, request = smaller, replace(request, library=smaller.library)
        first = attempt(measured, request, clock)
    growth = grown(measured, request, first, clock)
    request, prepared, refined = growth.request, growth.answer.prepared, growth.answer.refined
    selection = growth.answer.selection
    proved = prove(resolved.with_ties(selection), request, clock)
    explanation = explain(measured, prepared, refined, proved, clock)
    notices = (*resolved.notices, *resolved.foreign(selection.solution), *growth.notices, *explanation.notices)
    notices = (*notices, *reading_notices(measured))
    selection = withheld(proved.selection, notices)
    selection = selection if clock.interrupted_in is None else _interrupted(selection)
    solution = selection.solution
    found = Discovery(
        model=resolved.with_errors(Model.from_solution(solution, variables=measured.data)),
        selection=selection,
        problem=solution.problem,
        pool=proved.pool,
        warnings=notices,
        data=measured.data,
        solution=solution,
        arguments=request.as_text(prepared.library, form, prepared.k_max),
        constants=tuple(
            constant
            for constant in (*resolved.constants, *growth.constants)
            if not constant.within or constant.within in solution.terms[constant.equation]
        ),
        residuals=explanation.residuals,
        noise=explanation.noise,
        tried=(*resolved.tried, *growth.tried),
    )
    found = with_scheme_named(found)
    notices = found.warnings
    late = clock.notices()  # Ctrl-C may have come since the notices were made
    return replace(found, warnings=tuple(dict.fromkeys([*notices, *late]))) if clock.interrupted_in else found


def _map(measured: Measurement, request: Request, form: MapForm, clock: Clock) -> Discovery:
    """Return the answer for samples of a map."""
    answer = discover_map(measured, request, form, clock)
    selection = answer.selection if clock.interrupted_in is None else _interrupted(answer.selection)
    solution = selection.solution
    return Discovery(
        model=Model.from_solution(solution, variables=answer.data),
        selection=selection,
        problem=solution.problem,
        pool=answer.proved.pool,
        warnings=tuple(dict.fromkeys([*answer.notices, *clock.notices()])),
        data=answer.data,
        solution=solution,
        arguments=request.as_text(answer.prepared.library, form, answer.prepared.k_max),
        noise=answer.noise,
    )


def _interrupted(selection: Selection) -> Selection:
    """Return the selection of a call that Ctrl-C ended: what is not proved is so because of that."""
    status = tuple(Status.INTERRUPTED if s is Status.TIME_LIMIT else s for s in selection.solution.status)
    return replace(selection, solution=replace(selection.solution, status=status))
