"""Equations, true coefficients and samplers agree with each other and with the published values."""

import numpy as np
import pytest

from exactsindy.errors import DataError
from exactsindy.systems import SYSTEMS, find_system, lorenz, roessler

EVERY = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def monomial(name, states, x):
    """Evaluate a term from its name, independently of the library room."""
    value = np.ones(x.shape[:-1])
    for factor in name.split():
        if factor != "1":
            state, _, power = factor.partition("^")
            value = value * x[..., states.index(state)] ** int(power or 1)
    return value


@EVERY
def test_truth_is_the_right_hand_side(system):
    x = np.random.default_rng(5).normal(size=(7, 4, len(system.states)))
    rate = system.right_hand_side(x)
    assert system.targets == tuple(f"{state}'" for state in system.states)
    for column, terms in enumerate(system.truth.values()):
        expected = sum(value * monomial(name, system.states, x) for name, value in terms.items())
        np.testing.assert_allclose(rate[..., column], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(system.right_hand_side(x[3, 2]), rate[3, 2])


@EVERY
def test_term_factors_follow_the_order_of_the_states(system):
    for terms in system.truth.values():
        for name in terms:
            order = [system.states.index(factor.partition("^")[0]) for factor in name.split() if factor != "1"]
            assert order == sorted(set(order))


def test_sizes_of_the_published_systems():
    sizes = {name: SYSTEMS[name].sizes for name in ("lorenz", "hopf", "mhd")}
    assert sizes == {"lorenz": (2, 3, 2), "hopf": (4, 4), "mhd": (2, 2, 2, 2, 2, 2)}


@pytest.mark.parametrize(
    ("name", "seed", "x0"),
    [
        ("lorenz", 1, (-0.8297799529742598, 2.2032449344215808, 10.003431244520346)),
        ("hopf", 2, (-0.7020933927588789, 0.298626161093504)),
        ("roessler", 1, (8.89338736597506, -7.307866004953485, 0.1738518401949005)),
    ],
)
def test_published_initial_conditions(name, seed, x0):
    drawn = SYSTEMS[name].initial_condition(np.random.RandomState(seed))
    np.testing.assert_allclose(drawn, x0, rtol=1e-11)


@EVERY
def test_one_initial_condition_is_drawn_like_many(system):
    drawn = system.initial_conditions(np.random.RandomState(3), 5)
    assert drawn.shape == (5, len(system.states))
    assert system.initial_condition(np.random.default_rng(0)).shape == (len(system.states),)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("lorenz", (-5, -5, 10), (5, 5, 40)),
        ("mhd", (-1.5,) * 6, (1.5,) * 6),
        ("van_der_pol", (-1, -3), (1, 3)),
        ("lotka_volterra", (0, 0), (1, 1)),
        ("duffing", (-np.pi,) * 4, (np.pi,) * 4),
    ],
)
def test_boxes_are_filled(name, low, high):
    drawn = SYSTEMS[name].initial_conditions(np.random.RandomState(0), 4000)
    width = np.subtract(high, low)
    assert (drawn >= low).all()
    assert (drawn <= high).all()
    assert (np.ptp(drawn, axis=0) > 0.99 * width).all()


def test_hopf_starts_in_a_ring_and_roessler_above_the_plane():
    radius = np.hypot(*SYSTEMS["hopf"].initial_conditions(np.random.RandomState(0), 1000).T)
    assert radius.min() >= 0.75
    assert radius.max() <= 1.25
    assert (SYSTEMS["roessler"].initial_conditions(np.random.RandomState(0), 200)[:, 2] >= 0).all()


def test_parameters_reach_equations_and_truth():
    system = lorenz(rho=20.0)
    assert system.truth["y'"]["x"] == system.parameters["rho"] == 20.0
    assert system.right_hand_side(np.array([1.0, 0.0, 0.0]))[1] == 20.0
    assert roessler(c=4.0).truth["z'"]["z"] == -4.0


@pytest.mark.parametrize("name", ["Van der Pol", "van-der-pol", " VAN_DER_POL "])
def test_names_are_forgiving(name):
    assert find_system(name) is SYSTEMS["van_der_pol"]


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(DataError, match=r"name: there is no system 'lorentz'\. Did you mean 'lorenz'\?"):
        find_system("lorentz")
    with pytest.raises(DataError, match="there is no system '???'. Known are lorenz, hopf, mhd".replace("?", r"\?")):
        find_system("???")
