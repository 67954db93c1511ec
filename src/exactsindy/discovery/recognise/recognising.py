"""Look at data for what misleads, each kind by a recogniser of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from exactsindy.data import Field, Notice, Trajectories
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.recognise.fields import periodic_notices, shock_notices
from exactsindy.discovery.recognise.hidden import has_several_rates, hidden_notices, undetermined
from exactsindy.discovery.recognise.maps import map_notices
from exactsindy.discovery.recognise.orbit import Orbit, closed_orbit
from exactsindy.discovery.recognise.relation_notices import is_copy, relation_notices
from exactsindy.discovery.recognise.relations import Relation, relations
from exactsindy.discovery.recognise.shifts import shift_notices
from exactsindy.discovery.recognise.view import view_of
from exactsindy.errors import DataError
from exactsindy.library import Term
from exactsindy.solver import Solution

# Kinds of notices that undermine every equation, and kinds that undermine the equations they name.
_ALL = frozenset({"map", "hidden state", "shifted"})
_NAMED = frozenset({"closed orbit", "conserved", "copy", "feedback", "cycle", "few steps", "scheme"})
#: Kinds of notices that say that other terms stand in for those found, on these data.
STAND_INS = frozenset({"closed orbit", "conserved", "copy"})
#: What each kind of misleading data means for an equation, in words that go on from "not identified:".
UNDERMINING = {
    "map": "the samples look like those of a map, not of a flow",
    "hidden state": "a state that is not measured seems to act",
    "shifted": "a column seems to be late",
    "closed orbit": "laws that agree on one orbit cannot be told apart",
    "conserved": "a conserved quantity lets other terms stand in for these",
    "copy": "a column that repeats another lets other terms stand in for these",
    "cycle": "many maps pass through the cycle that the samples have settled on",
    "few steps": "there are no more steps than terms",
    "scheme": "it has terms as small as errors of a simulation on a grid",
    "feedback": "an input that follows the states lets other terms stand in for these",
}


def recognise(measured: Measurement, solution: Solution) -> tuple[Notice, ...]:
    """Return notices on data that mislead, for the equations of a solution; see `misleading`."""
    terms = solution.problem.terms
    supports = {
        target: [term for j in support if isinstance(term := terms[j], Term)]
        for target, support in zip(solution.problem.target_names, solution.support, strict=True)
    }
    return misleading(measured, supports, [term for term in terms if isinstance(term, Term)])


def misleading(
    measured: Measurement, supports: Mapping[str, Sequence[Term]], library: Sequence[Term]
) -> tuple[Notice, ...]:
    """Return notices on data that mislead: what is wrong with them, and what to do about it.

    ``supports`` are the terms of each equation, ``library`` all candidates. It takes time in proportion to the samples,
    up to 20,000 of them.
    """
    data = measured.used
    if isinstance(data, Field):
        return (*periodic_notices(data), *shock_notices(data))
    if any(piece.derivatives is not None for piece in data):
        return ()  # measured rates need no time
    jumps = map_notices(data)
    if jumps:
        return jumps
    try:
        view = view_of(measured)
    except DataError:  # too short to smooth
        return ()
    bound = relations(view)
    notices = list(relation_notices(bound, data.control_names, supports, library))
    orbit = closed_orbit(view)
    algebraic = [relation for relation in bound if not is_copy(relation)]
    if orbit is not None:
        notices += orbit_notices(orbit, data.state_names, supports, algebraic=bool(algebraic))
    elif len(view.pieces) == 1 and lies_on_curve(algebraic, data.state_names):
        notices += curve_notices(data.state_names, supports)
    if _autonomous(data, library):
        view = view_of(measured, constants=True) if data.parameter_names else view
        notices += hidden_notices(view) or (() if bound else shift_notices(view))
    return tuple(notices)


def undetermined_states(measured: Measurement) -> tuple[str, ...]:
    """Return the states whose rates the states do not determine: positions without velocities, for example."""
    try:
        return undetermined(view_of(measured))
    except DataError:  # too short to smooth
        return ()


def is_driven_position(measured: Measurement) -> bool:
    """Return True for one state with inputs whose rate takes several values where state and inputs are the same."""
    data = measured.used
    if not isinstance(data, Trajectories) or len(data.state_names) > 1 or not data.control_names:
        return False
    try:
        return has_several_rates(view_of(measured))
    except DataError:  # too short to smooth
        return False


def _autonomous(data: Trajectories, library: Sequence[Term]) -> bool:
    """Return True if all equations are of first order and no candidate depends on the time."""
    timed = any(variable.name == data.time_name for term in library for variable in term.variables())
    return not timed and all(target.order == 1 for target in data.targets)


def orbit_notices(
    orbit: Orbit, states: Sequence[str], supports: Mapping[str, Sequence[Term]], *, algebraic: bool
) -> Iterator[Notice]:
    """Yield a notice on the nonlinear equations that a closed orbit cannot confirm.

    They have as many terms as numbers determine the rate on the orbit, so that many laws fit it, or the orbit lies on a
    curve of low degree (``algebraic``), on which terms repeat each other.
    """
    doubtful = [
        f"{state}'"
        for state, numbers in zip(states, orbit.numbers, strict=True)
        if _is_nonlinear(supports.get(f"{state}'", ())) and (algebraic or len(supports[f"{state}'"]) >= numbers)
    ]
    yield from _one_curve(f"one closed orbit (period {orbit.period:.3g}) of {len(states)} states", doubtful)


def lies_on_curve(relations: Sequence[Relation], states: Sequence[str]) -> bool:
    """Return True if relations between the states, not all of them linear, leave a single curve.

    One relation of two states counts only if it holds to rounding: noise lets a short stretch of any curve look so.
    """
    own = [relation for relation in relations if relation.states <= set(states)]
    curved = any(term.degree > 1 for relation in own for term in relation.terms)
    certain = len(states) > 2 or any(relation.exact for relation in own)
    return curved and certain and len(own) >= len(states) - 1


def curve_notices(states: Sequence[str], supports: Mapping[str, Sequence[Term]]) -> Iterator[Notice]:
    """Yield a notice on the nonlinear equations of states that stay on one curve: a part of an orbit, for example."""
    doubtful = [f"{state}'" for state in states if _is_nonlinear(supports.get(f"{state}'", ()))]
    yield from _one_curve(f"one curve in the space of {len(states)} states", doubtful)


def _one_curve(what: str, doubtful: Sequence[str]) -> Iterator[Notice]:
    if doubtful:
        why = f"laws that agree on it cannot be told apart, and {', '.join(doubtful)} may be such a law"
        text = f"The data are {what}: {why}. Add a trajectory from another start."
        yield Notice("closed orbit", text, ", ".join(doubtful))


def _is_nonlinear(support: Sequence[Term]) -> bool:
    return any(not term.polynomial or term.degree > 1 for term in support)


def undermines_all(notices: Iterable[Notice]) -> bool:
    """Return True if the data mislead about every equation: a map, a missing state, a shifted column."""
    return any(notice.kind in _ALL for notice in notices)


def undermined(notices: Iterable[Notice], equations: Sequence[str]) -> dict[str, Notice]:
    """Return the equations that data cannot confirm, whatever their residuals say, each with the first reason.

    A map, a missing state and a shifted column undermine all equations. Closed orbits, conserved quantities, copies
    and inputs that follow the states undermine those that could as well be written with other terms: their notices
    name them in ``equation``.

    Examples
    --------
    >>> notices = [Notice("copy", "x2 is a copy of x.", "x', y'"), Notice("conserved", "S + P is constant.")]
    >>> list(undermined(notices, ["x'", "y'", "z'"]))
    ["x'", "y'"]
    """
    reasons: dict[str, Notice] = {}
    for notice in notices:
        named = [] if notice.equation is None else notice.equation.split(", ")
        concerned = equations if notice.kind in _ALL else named if notice.kind in _NAMED else ()
        for equation in concerned:
            reasons.setdefault(equation, notice)
    return reasons
