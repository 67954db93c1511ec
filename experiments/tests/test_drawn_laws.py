"""Drawn laws: what is marked as a polynomial is one, what is marked as outside is none."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.errors import DataError
from exactsindy_experiments.drawn_families import FAMILIES
from exactsindy_experiments.drawn_laws import LEAST_DEPARTURE, drawn_law


@pytest.mark.parametrize("family", FAMILIES)
def test_inside_equations_are_in_the_library_and_outside_ones_are_not(family):
    law = drawn_law(0, family=family)
    assert None in law.truth.values()
    names = law.library.bind(law.members[0].names).names
    for target, terms in law.truth.items():
        if terms is None:
            assert law.departure[target] > LEAST_DEPARTURE or family == "one_orbit"
        else:
            assert law.departure[target] < 1e-10
            _only_these(law, target, [names.index(term) for term in terms])


def _only_these(law, target, columns):
    """The marked terms alone give the derivative, taken between samples by the trapezoidal rule."""
    state = law.members[0].names.index(target.removesuffix("'"))
    misses, steps = [], []
    for member in law.members:
        values = law.library.bind(member.names).evaluate(member.states)[:, columns]
        widths = np.diff(member.times)[:, None]
        misses.append((values[1:] + values[:-1]) / 2 * widths)
        steps.append(np.diff(member.states[:, state]))
    theta, z = np.vstack(misses), np.concatenate(steps)
    coef, *_ = np.linalg.lstsq(theta, z, rcond=None)
    assert np.linalg.norm(theta @ coef - z) < 0.02 * np.linalg.norm(z)
    assert (np.abs(coef) > 1e-2).all()


def test_seeds_decide_family_half_and_noise():
    even, odd = drawn_law(2), drawn_law(3)
    assert (even.family, even.half, odd.half) == (odd.family, "tuning", "reporting")
    assert even.members[0].states[0, 0] != odd.members[0].states[0, 0]
    assert {drawn_law(seed).family for seed in range(0, 6, 2)} == set(list(FAMILIES)[:3])
    again = drawn_law.__wrapped__(2)
    assert again.measured(0.02).fingerprint == even.measured(0.02).fingerprint != even.measured(0.1).fingerprint


def test_noise_is_relative_to_the_spread_of_each_state():
    law = drawn_law(0, family="goodwin")
    clean = law.members[0].states
    error = law.measured(0.1)[0].states - clean
    np.testing.assert_allclose(error.std(axis=0) / clean.std(axis=0), 0.1, rtol=0.2)
    np.testing.assert_array_equal(law.measured(0.0)[0].states, clean)


def test_unknown_family_is_refused():
    with pytest.raises(DataError, match=r"family='gears'\): expected one of michaelis_menten"):
        drawn_law(0, family="gears")
