"""Find the inner constants of an open library: grids, pools, refinement; the support is proved again on the grid."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._limits import passed
from exactsindy.data import Field, Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.families.equation_rows import EquationRows, FixedTrial
from exactsindy.discovery.families.fits import FamilyFit
from exactsindy.discovery.families.grids import Grid, make_grid
from exactsindy.discovery.families.on_trajectories import refined_on_trajectories
from exactsindy.discovery.families.search import is_best_on_grid, search
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.request import Request
from exactsindy.errors import ProblemError
from exactsindy.forms import IncrementForm, Smoothed, WeakForm, smooth_guided
from exactsindy.library import Library, PerEquation, Term, Terms, Variables
from exactsindy.model import InnerConstant, rounded_to_error
from exactsindy.solver import refit

# Largest number of terms that is tried unless another is asked for.
_SIZE = 6
# Fractions of the time limit: for the searches of all equations and rounds together, and for the proofs on the grid.
_SEARCH, _PROOF = 0.3, 0.1
# Rounds on trajectories: on smoothed states first, then on states smoothed around the flow of what was found.
_ROUNDS = 2
# Fits of every equation that are compared by trajectories, and rounds of leaving out a term of the best one.
_COMPARED, _DROPS = 3, 3
# Fits within this of the best criterion also give their functions to the library: the data may not tell them apart.
_CLOSE = 6.0


@dataclass(frozen=True, eq=False)
class InnerAnswer:
    """A concrete library, the constants in its terms, and what was tried in words."""

    library: Library
    constants: tuple[InnerConstant, ...]
    tried: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Equation:
    """What one equation is searched among."""

    name: str
    closed: tuple[Term, ...]
    grids: tuple[Grid, ...]


def find_inner_constants(measured: Measurement, request: Request, library: Library, clock: Clock) -> InnerAnswer:
    """Return the library with numbers for its constants, for every equation by itself.

    Raises
    ------
    ProblemError
        If the data are a field, or a family has no finite values on them.
    """
    data = measured.used
    if isinstance(data, Field):
        raise ProblemError("Terms with inner constants: they are found for trajectories; give fields concrete terms.")
    clock.begin("finding the inner constants")
    equations = [_equation(library, target.name, data) for target in data.targets]
    size = request.k_max if isinstance(request.k_max, int) else _SIZE
    form: IncrementForm | None = None
    best: dict[str, tuple[FamilyFit, ...]] = {}
    rows: dict[str, EquationRows] = {}
    rounds = _ROUNDS if _is_increment(data, request) else 1
    for round_ in range(rounds):
        if _is_increment(data, request):
            start = IncrementForm("guided", smoothed=measured.smoothed)
            form = _guided(data, equations, best, rows, start) if round_ else start
        with clock.optional("rounds of finding inner constants") if round_ else clock.within():
            for equation in equations:
                rows[equation.name] = _rows(data, request, equation.name, form)
                share = _SEARCH / rounds / len(equations)
                fits = search(rows[equation.name], equation.closed, equation.grids, size, clock, share)
                if fits:
                    best[equation.name] = fits
    if form is not None and form.smoothed is not None and len(best) == len(equations):
        with clock.optional("inner constants by whole trajectories"):
            best = _by_trajectories(data, form.smoothed, best, rows, time.monotonic() + clock.left())
    return _answer(equations, best, rows, clock)


def _equation(library: Library, name: str, data: Trajectories) -> _Equation:
    own, variables = library.for_equation(name), Variables.of(data)
    closed = tuple(dict.fromkeys(variables.ordered(term) for term in own.candidates(variables)))
    families = tuple(dict.fromkeys(own.families(variables)))
    return _Equation(name, closed, tuple(make_grid(family, data) for family in families))


def _is_increment(data: Trajectories, request: Request) -> bool:
    """Return True if the rows are increments: nothing else is measured or asked for."""
    return request.form is None and data[0].derivatives is None and all(t.order == 1 for t in data.targets)


def _rows(data: Trajectories, request: Request, name: str, form: IncrementForm | None) -> EquationRows:
    if form is not None and form.smoothed is not None:
        state = next(target.state for target in data.targets if target.name == name)
        return EquationRows.of(data, name, form, float(form.smoothed.unresolved([state])[0]))
    if request.form is not None:
        return EquationRows.of(data, name, request.form)
    if data[0].derivatives is not None:
        return EquationRows.of_labels(data, name)
    return EquationRows.of(data, name, WeakForm())


def _guided(
    data: Trajectories,
    equations: Sequence[_Equation],
    best: Mapping[str, Sequence[FamilyFit]],
    rows: Mapping[str, EquationRows],
    start: IncrementForm,
) -> IncrementForm:
    """Return rows on states smoothed around the flow of the best fits, whitened by it; as they were without fits."""
    if any(equation.name not in best for equation in equations):
        return start
    terms = tuple(dict.fromkeys(term for fits in best.values() for term in fits[0].terms))
    coef = np.zeros((len(equations), len(terms)))
    for i, equation in enumerate(equations):
        own = best[equation.name][0].terms
        solution = refit(rows[equation.name].problem(own), [tuple(range(len(own)))])
        for term, value in zip(own, solution.coef[0], strict=True):
            coef[i, terms.index(term)] = value
    library = Terms(terms)
    trial = FixedTrial(library.bind(data), coef, tuple(equation.name for equation in equations))
    return IncrementForm("guided", model=trial, smoothed=smooth_guided(data, library, trial, start=start.smoothed))


def _by_trajectories(
    data: Trajectories,
    smoothed: Smoothed,
    best: Mapping[str, tuple[FamilyFit, ...]],
    rows: Mapping[str, EquationRows],
    deadline: float,
) -> dict[str, tuple[FamilyFit, ...]]:
    """Return the fits of every equation, the one of most likely trajectories first, its constants refined by them.

    Equations with inner constants are taken in turn. Compared are the fits that the rows like best, and the winner
    without each of its terms in turn, as long as that changes it.
    """
    chosen = {name: fits[0].as_constants(rows[name]) for name, fits in best.items()}
    if any(fit is None for fit in chosen.values()) or not any(fits[0].fit for fits in best.values()):
        return dict(best)
    current = {name: fit for name, fit in chosen.items() if fit is not None}
    winner = refined_on_trajectories(data, smoothed, current, deadline)
    result = dict(best)
    for name, fits in best.items():
        if not any(fit.fit for fit in fits[:_COMPARED]):
            continue
        rivals, top = list(fits[1:_COMPARED]), fits[0]
        for _ in range(_DROPS):
            changed = False
            for rival in [*rivals, *top.without_one(rows[name])]:
                own = rival.as_constants(rows[name])
                if own is None or passed(deadline):
                    continue
                tried = refined_on_trajectories(data, smoothed, {**winner.fits, name: own}, deadline)
                if tried.criterion < winner.criterion:
                    winner, top, changed = tried, rival, True
            if not changed:
                break
            rivals = []
        result[name] = (top, *(fit for fit in fits if fit.signature != top.signature))
    return {
        name: (fits[0].refined(winner.fits[name]), *fits[1:]) if np.isfinite(winner.misfit) else fits
        for name, fits in result.items()
    }


def _answer(
    equations: Sequence[_Equation],
    best: Mapping[str, Sequence[FamilyFit]],
    rows: Mapping[str, EquationRows],
    clock: Clock,
) -> InnerAnswer:
    libraries: dict[str, Library] = {}
    constants: list[InnerConstant] = []
    tried: list[str] = []
    for equation in equations:
        functions: dict[Term, None] = {}
        used: set[str] = set()
        fits = best.get(equation.name, ())
        close = min((fit.criterion for fit in fits), default=0.0) + _CLOSE
        for fit in (*fits[:1], *(rival for rival in fits[1:] if rival.criterion <= close)):
            new = [part for part in rounded_terms(fit) if part.family not in used]
            used |= {part.family for part in new}
            for part in new:
                functions[part.term] = None
                constants += [replace(constant, equation=equation.name) for constant in part.constants]
        terms = tuple(dict.fromkeys((*equation.closed, *functions)))
        if not terms:
            raise ProblemError(f"{equation.name}: no fit of the terms with inner constants was found in time.")
        libraries[equation.name] = Terms(terms)
        if fits and fits[0].fit is not None:
            tried.append(_words(equation, fits[0], rows[equation.name], clock))
    return InnerAnswer(PerEquation(libraries), tuple(constants), tuple(tried))


@dataclass(frozen=True)
class RoundedTerm:
    """A term with its constants rounded to their errors, the family it is of, and these constants."""

    term: Term
    family: str
    constants: tuple[InnerConstant, ...]


def rounded_terms(fit: FamilyFit) -> tuple[RoundedTerm, ...]:
    """Return the terms of a fit that have inner constants, the constants rounded to a hundredth of their errors."""
    errors = {} if fit.fit is None else fit.fit.standard_errors
    values = {name: rounded_to_error(value, errors.get(name, 0.0)) for name, value in fit.values.items()}
    found = []
    for part in fit.parts:
        concrete, written = part.at(values), part.family.name
        inner = tuple(
            InnerConstant("", written, name, values[own], errors.get(own, math.nan), concrete.name)
            for own, name in part.names
        )
        found.append(RoundedTerm(concrete, written, inner))
    return tuple(found)


def _words(equation: _Equation, fit: FamilyFit, rows: EquationRows, clock: Clock) -> str:
    """Return what is proved about the best fit with inner constants."""
    points = sum(len(grid.points) for grid in equation.grids)
    proved = False
    with clock.optional("the proof on the grid of inner constants"):
        proved = is_best_on_grid(rows, equation.closed, equation.grids, fit, clock.share(_PROOF / 2))
    functions = [part.term.name for part in rounded_terms(fit)]
    names = ", ".join([*(term.name for term in fit.terms if term in equation.closed), *functions])
    where = f"{len(equation.closed)} terms and {points} values of inner constants"
    known = "It is proved" if proved else "It is not proved"
    return (
        f"{equation.name}: {names} fit best among {where}, at most as many of a family as asked for. {known} that no "
        f"other {len(fit.terms)} of them, and of the constants found, fit the first rows better."
    )
