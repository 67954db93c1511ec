"""Fits how much tests lower the probability that the library holds a law, on laws inside and outside of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy.data import Columns
from exactsindy.discovery.adequacy import lack_of_fit
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.prepare import prepare
from exactsindy.discovery.read import read
from exactsindy.discovery.refine import refine
from exactsindy.discovery.request import Request
from exactsindy.discovery.select import attempts, calibrated
from exactsindy.discovery.trim import trim_steady_tail
from exactsindy.forms import Smoothed
from exactsindy.selection import LackOfFit, find_rule
from exactsindy.solver import Settings
from exactsindy_experiments.first_contact_cases import contact_seeds, part_cases
from exactsindy_experiments.first_contact_data import ContactData, load

# Parts of the first-contact benchmark that are fitted to. Each equation counts if its confidence before the tests is
# at least _LIKELY and it is right, or outside the library.
PARTS, _LIKELY, _SECONDS = ("outside", "random", "clean", "coarse", "heavy"), 0.5, 20.0
# Share of equations that no test can place, such as laws that a polynomial fits to within the noise: without it they,
# not the others, would decide the weights. Variance of the logarithms of weights beforehand.
_UNTOLD, _VARIANCE = 0.02, 10.0


@dataclass(frozen=True)
class AdequacyExample:
    """The features of an equation and whether the library holds its law."""

    features: tuple[float, ...]
    inside: bool


def adequacy_examples(systems: int, *, say: Callable[[str], None] = print) -> list[AdequacyExample]:
    """Return the equations of the tuning half of the first-contact benchmark."""
    cases = part_cases(contact_seeds("tuning", systems))
    wanted = [case for part in PARTS for case in cases[part]]
    found = []
    for i, case in enumerate(wanted):
        loaded = load(case)
        for name, (lack, right) in likely_tests(loaded).items():
            if loaded.truth[name] is None or right:
                found.append(AdequacyExample(lack.features(), loaded.truth[name] is not None))
        say(f"[{i + 1}/{len(wanted)}] {case}")
    return found


def likely_tests(loaded: ContactData) -> dict[str, tuple[LackOfFit, bool]]:
    """Return the tests of the likely equations of a data set as `discover` makes them, and which of these are right."""
    settings = Settings(seconds=_SECONDS, threads=1)
    clock = Clock(settings)
    request = Request(loaded.library, None, None, find_rule("auto"), 0.0, (), settings)
    measured = trim_steady_tail(read(loaded.data, Columns()))
    prepared = prepare(measured, request, clock)
    for searched in attempts(prepared, request, clock):
        refined = refine(searched.selection, prepared, request, clock.share(0.4))
        if refined.whiteness is not None or searched.enough:
            break
    chosen = refined.selection
    if isinstance(prepared.variants[0].smoothed, Smoothed):
        chosen = calibrated(chosen, measured.sampling)
    likely = {choice.equation for choice in chosen.choices if choice.confidence >= _LIKELY}
    tests = lack_of_fit(chosen, prepared, Clock(settings))
    terms = chosen.solution.terms
    return {
        name: (lack, frozenset(terms[name]) == loaded.truth[name]) for name, lack in tests.items() if name in likely
    }


def fit_adequacy(data: Sequence[AdequacyExample]) -> tuple[float, ...]:
    """Return the constant and the weights of `LackOfFit.probability` that make the examples most likely.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> against = rng.exponential(2.0, (4000, 1))
    >>> inside = rng.random(4000) < 1 / (1 + np.exp(2 * against[:, 0] - 3))
    >>> data = [AdequacyExample((float(a[0]),), bool(i)) for a, i in zip(against, inside)]
    >>> constant, weight = fit_adequacy(data)
    >>> bool(1 < constant / weight < 2)
    True
    """
    from scipy.optimize import minimize

    features = np.array([example.features for example in data])
    inside = np.array([example.inside for example in data])

    def loss(parameters: np.ndarray) -> float:
        score = parameters[0] - features @ np.exp(parameters[1:])
        probability = 1.0 / (1.0 + np.exp(-np.where(inside, score, -score)))
        surprise = -np.log(_UNTOLD + (1.0 - 2.0 * _UNTOLD) * probability).sum()
        return float(surprise + 0.5 * (parameters[1:] ** 2).sum() / _VARIANCE)

    fitted = minimize(loss, np.r_[4.0, np.zeros(features.shape[1])], method="BFGS").x
    return float(fitted[0]), *(float(weight) for weight in np.exp(fitted[1:]))
