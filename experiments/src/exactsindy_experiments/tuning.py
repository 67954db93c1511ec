"""Fits the weights of the selection rules on the tuning half: one name per fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from exactsindy.errors import DataError
from exactsindy.library import Polynomials
from exactsindy.selection import TrajectoryEvidence
from exactsindy_experiments.adequacy_tuning import adequacy_examples, fit_adequacy
from exactsindy_experiments.field_tuning import compared_fields, field_examples, tuning_paths
from exactsindy_experiments.first_contact_cases import contact_seeds, part_cases
from exactsindy_experiments.sampling_tuning import fit_power, row_examples
from exactsindy_experiments.selection_cases import NOISES, half_cases
from exactsindy_experiments.selection_conditions import condition_cases
from exactsindy_experiments.selection_tuning import (
    Compared,
    compared_fits,
    examples,
    fit_confidence,
    fit_weights,
    shares_right,
)

Say = Callable[[str], None]
# Degrees by number of states that make libraries of 36 to 84 monomials.
_LARGE = {2: 7, 3: 5, 4: 4, 5: 3}


def tune(what: str, samples: tuple[int, ...], systems: int, *, say: Say) -> str:
    """Fit something on the tuning half and return what to write into the rules.

    Parameters
    ----------
    what
        ``rows`` (weights of `PathEvidence`), ``trajectories`` (of `TrajectoryEvidence`, on heavy noise and coarse
        samples of the first-contact benchmark as well), ``gamma`` (of large
        libraries), ``fields`` and ``field-trajectories`` (the same for fields), ``sampling`` (the power of the
        samples per period), or ``adequacy`` (of `LackOfFit`: whether the library holds a law).
    samples, systems
        Lengths and number of the random data sets.
    say
        Told about every data set.
    """
    cases = half_cases("tuning", samples, NOISES, systems)
    if what == "rows":
        return _weights(fit_weights(examples(cases, say=say)))
    if what == "trajectories":
        contact = part_cases(contact_seeds("tuning", systems))
        return _confidence(compared_fits([*cases, *contact["heavy"], *contact["coarse"]], say=say))
    if what == "fields":
        return _weights(fit_weights(field_examples(tuning_paths(0, say=say))), "MODE_")
    if what == "field-trajectories":
        compared = list(compared_fields(0, say=say))
        return f"{_shares(compared, 'trust', (0.0, 0.1, 0.2, 0.4, 0.7, 1.0))}\n{_confidence(compared, 'MODE_')}"
    if what == "gamma":
        cases = half_cases("tuning", (350,), (0.002, 0.01, 0.05), systems)
        fits = compared_fits(cases, library=lambda states: Polynomials(_LARGE.get(states, 3)), say=say)
        return _shares(list(fits), "gamma", (0.0, 0.5, 1.0, 1.5))
    if what == "sampling":
        rows = row_examples([case for case in condition_cases("tuning") if "per period" in case.system], say=say)
        return f"power {fit_power(rows):.2f} ({len(rows)} equations)"
    if what == "adequacy":
        tests = adequacy_examples(systems, say=say)
        outside = sum(not test.inside for test in tests)
        return f"WEIGHTS = {_tuple(fit_adequacy(tests))}  # {len(tests)} equations, {outside} of them outside"
    expected = "rows, trajectories, gamma, fields, field-trajectories, sampling or adequacy"
    raise DataError(f"--tune {what!r}: expected {expected}.")


def _weights(fitted: tuple[Iterable[float], float], prefix: str = "") -> str:
    return f"{prefix}WEIGHTS = {_tuple(fitted[0])}\n{prefix}NONE = {fitted[1]:.3f}"


def _confidence(compared: Iterable[Compared], prefix: str = "") -> str:
    data = [example for one in compared for example in one.examples()]
    return f"{prefix}WEIGHTS = {_tuple(fit_confidence(data))}"


def _shares(compared: Sequence[Compared], name: str, values: Sequence[float]) -> str:
    def changed(rule: TrajectoryEvidence, value: float) -> TrajectoryEvidence:
        options: dict[str, Any] = {name: value}
        return replace(rule, **options)

    shares = shares_right(compared, changed, values)
    count = sum(len(one.comparison.rivals) for one in compared)
    return f"{count} ambiguous equations; right by {name}: " + ", ".join(f"{v:g}: {s:.3f}" for v, s in shares.items())


def _tuple(weights: Iterable[float]) -> str:
    return f"({', '.join(f'{w:.3f}' for w in weights)})"
