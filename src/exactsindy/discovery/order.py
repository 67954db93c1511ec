"""The order of the equations: where states do not determine their rates, equations for x'' are tried."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from exactsindy.data import Notice, Target, Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.read import Measurement, crossings
from exactsindy.discovery.recognise import is_driven_position, undetermined_states
from exactsindy.discovery.request import Request
from exactsindy.discovery.result import Discovery
from exactsindy.errors import ExactSindyError
from exactsindy.library import Library
from exactsindy.selection import TRAJECTORY_FIT

# Kinds of notices that say that an answer does not explain the data, and those that say that it was not tested.
_INADEQUATE, _UNTESTED = frozenset({"empty", "residual"}), frozenset({"coarse"})
# A state that crosses its mean so often in a trajectory oscillates.
_CROSSINGS = 3
# Where nothing rules out first order but that no law of it was found, laws for x'' have at most so many terms.
_SHORT = 2


def is_open(measured: Measurement, request: Request) -> bool:
    """Return True if the order may be chosen: default equations of trajectories, nothing said about single equations.

    A proof is written for the equations that were asked for.
    """
    data = measured.data
    if not isinstance(data, Trajectories) or any(member.derivatives is not None for member in data):
        return False
    default = tuple(Target(name) for name in data.state_names)
    plain = request.form is None and not request.constraints and request.proof is None
    return plain and data.targets == default and request.allows_trajectory_fits


def with_order(
    first: Discovery, measured: Measurement, discovered: Callable[[Measurement], Discovery], clock: Clock
) -> Discovery:
    """Return the answer of first order, or one with equations for x'' if these alone explain the data.

    They are tried where trajectories pass the same states (and inputs) in different directions, which no law of first
    order does (a single state that oscillates does so), and for a single state whose rate no function of it explained.
    An answer of first order that explains the data stays.
    """
    reason = _reason(first, measured)
    if reason is None or clock.interrupted_in is not None or not _unexplained(first):
        return first
    data = measured.data
    certain = len(data.state_names) > 1 or bool(data.control_names) or _oscillates(measured)
    tried = []
    for targets in _candidates(measured):
        names = ", ".join(target.name for target in targets if target.order > 1)
        with clock.optional(f"the search for equations of {names}"), contextlib.suppress(ExactSindyError):
            second = discovered(_with_targets(measured, targets))
            fitted = all(choice.variant == TRAJECTORY_FIT for choice in second.selection.choices)
            if fitted and not _unexplained(second) and (certain or _is_short(second)):
                return replace(second, warnings=(_chosen(names, reason), *second.warnings))
            tried.append(names)
    if not tried:
        return first
    text = f"Equations of second order ({'; '.join(tried)}) were tried, too: they leave more than noise."
    return replace(first, warnings=(*first.warnings, Notice("order", text)))


def with_named_rates(measured: Measurement, library: Library) -> Measurement:
    """Return the measurement with equations for x'' where a library names the velocity x', which only these have."""
    data = measured.data
    if not isinstance(data, Trajectories) or any(target.order > 1 for target in data.targets) or library.is_open:
        return measured
    states = data.state_names
    if not _knows(library, measured, states) or _knows(library, measured, ()):
        return measured
    needed = [name for name in states if not _knows(library, measured, [other for other in states if other != name])]
    return _with_targets(measured, tuple(Target(name, 2 if name in needed else 1) for name in states))


def _knows(library: Library, measured: Measurement, second: Sequence[str]) -> bool:
    """Return True if a library knows all names it uses, the equations of these states being of second order."""
    targets = tuple(Target(name, 2 if name in second else 1) for name in measured.data.state_names)
    data = _with_targets(measured, targets).data
    try:
        for target in targets:
            library.for_equation(target.name).terms(data)
    except ExactSindyError:
        return False
    return True


def _reason(first: Discovery, measured: Measurement) -> str | None:
    """Return in words why no law of first order can be right; None if nothing says so."""
    hidden = next((notice.message for notice in first.warnings if notice.kind == "hidden state"), None)
    if hidden is not None:
        return hidden.partition(": a state is missing")[0]
    data = measured.data
    name, inputs = data.state_names[0], ", ".join(data.control_names)
    if inputs and is_driven_position(measured):
        return f"{name}' differs where {name}, {inputs} are the same, so they do not determine it"
    if len(data.state_names) > 1 or inputs:
        return None
    if not _oscillates(measured):
        return f"no function of {name} that was tried explains {name}'"
    return f"{name} rises and falls through the same values, which no law {name}' = f({name}) does"


def _oscillates(measured: Measurement) -> bool:
    """Return True if a state crosses its mean often: of one state that alone rules out a law of first order."""
    return bool(crossings(measured.smoothed.values).max() >= _CROSSINGS)


def _is_short(found: Discovery) -> bool:
    return all(choice.k <= _SHORT for choice in found.selection.choices)


def _unexplained(found: Discovery) -> list[str]:
    """Return the equations that have no terms, that leave more than noise, or that no test has looked at."""
    named = {notice.equation for notice in found.warnings if notice.kind in _INADEQUATE}
    untested = any(notice.kind in _UNTESTED for notice in found.warnings)
    return [
        choice.equation
        for choice in found.selection.choices
        if untested or choice.equation in named or choice.withheld.startswith("the library")
    ]


def _candidates(measured: Measurement) -> Iterator[tuple[Target, ...]]:
    """Yield equations to try: of second order for the states that do not determine their rate, then for all."""
    states = measured.data.state_names
    flagged = undetermined_states(measured)
    if flagged:
        yield tuple(Target(name, 2 if name in flagged else 1) for name in states)
    if len(flagged) < len(states):
        yield tuple(Target(name, 2) for name in states)


def _with_targets(measured: Measurement, targets: tuple[Target, ...]) -> Measurement:
    data, used = (
        replace(part, targets=targets) if isinstance(part, Trajectories) else part
        for part in (measured.data, measured.used)
    )
    return Measurement(data, data if measured.used is measured.data else used, measured.notices)


def _chosen(names: str, reason: str) -> Notice:
    """Return the notice that says which order was taken and why."""
    rates = names.replace("''", "'")
    what = f"{rates} as a variable" if "," not in rates else f"{rates} as variables"
    text = f"Second order was taken ({names}): {reason}, and with {what} no more than noise is left."
    return Notice("order", f'{text} Pass targets="{rates}" for first order.')
