"""Random polynomial systems keep what they promise."""

import numpy as np
import pytest

from exactsindy.errors import DataError
from exactsindy.library import Polynomials
from exactsindy_experiments.random_systems import WEAKEST_SHARE, random_system


@pytest.fixture(autouse=True, scope="module")
def few_at_a_time():
    """Draw few candidates at once: other systems than by default, but soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exactsindy_experiments.random_systems._BATCH", 30)
        random_system.cache_clear()
        yield
    random_system.cache_clear()


@pytest.fixture(scope="module", params=[(2, "oscillating"), (3, "decaying")])
def drawn(request):
    states, kind = request.param
    return random_system(12, states=states, kind=kind)


def test_same_seed_same_system_and_halves(drawn):
    again = random_system.__wrapped__(12, states=len(drawn.start), kind=drawn.kind)
    assert again.system.truth == drawn.system.truth
    assert np.array_equal(again.start, drawn.start)
    assert drawn.half == "tuning"
    assert random_system(1, states=2, kind="oscillating").half == "reporting"


def test_truth_is_the_right_hand_side_and_is_in_the_library(drawn):
    x = np.random.default_rng(0).normal(size=(20, len(drawn.start)))
    features = Polynomials(drawn.degree).bind(drawn.system.states)
    coef = drawn.system.coefficients(features.names)
    np.testing.assert_allclose(drawn.system.right_hand_side(x), features.evaluate(x) @ coef.T, rtol=1e-12, atol=1e-12)
    assert all(2 <= size <= 5 for size in drawn.system.sizes)


def test_every_term_matters_and_the_orbit_is_bounded(drawn):
    times, x = drawn.simulate(400)
    assert np.allclose(np.diff(times), drawn.step)
    assert np.abs(drawn.simulate(1500)[1]).max() < 40
    features = Polynomials(drawn.degree).bind(drawn.system.states)
    columns, coef = features.evaluate(x), drawn.system.coefficients(features.names)
    for row in coef:
        support = np.flatnonzero(row)
        size = np.sqrt(np.mean((columns @ row) ** 2))
        for q in support:
            others = columns[:, [s for s in support if s != q]]
            rest = columns[:, q] - others @ np.linalg.lstsq(others, columns[:, q], rcond=None)[0]
            # The conditions are checked on a coarser orbit.
            assert abs(row[q]) * np.sqrt(np.mean(rest**2)) / size > 0.8 * WEAKEST_SHARE
    if drawn.kind == "decaying":
        late = drawn.simulate(1500)[1][-300:]
        assert (late.std(axis=0) < x.std(axis=0)).all()


def test_messages():
    with pytest.raises(DataError, match=r"states=7\): expected 2, 3, 4 or 5"):
        random_system(0, states=7)
    with pytest.raises(DataError, match=r"kind='wild'\): expected one of oscillating, chaotic, decaying"):
        random_system(0, kind="wild")
    with pytest.raises(DataError, match="two states cannot be chaotic"):
        random_system(0, states=2, kind="chaotic")
