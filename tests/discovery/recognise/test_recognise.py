"""Data that mislead are recognised and said, with the cure; ordinary data are not accused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy.data import Notice
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.recognise import leave_out_sentinels, misleading, undermined
from exactsindy.discovery.recognise.recognising import lies_on_curve
from exactsindy.discovery.recognise.relations import Relation
from exactsindy.forms import groups
from exactsindy.library import Term
from exactsindy.systems import find_system, integrate

KINDS = {
    "closed orbit",
    "conserved",
    "copy",
    "feedback",
    "hidden state",
    "map",
    "outlier",
    "sentinel",
    "shifted",
    "ends",
}


def noisy(states, share, seed=0):
    return states + share * states.std(axis=0) * np.random.default_rng(seed).normal(size=states.shape)


def simulated(name, step, count, start=None):
    system = find_system(name)
    times = step * np.arange(count)
    first = system.initial_condition(np.random.RandomState(0)) if start is None else np.array(start)
    return times, system.simulate(first, times)


def predators():
    return simulated("lotka_volterra", 0.05, 400, (0.3, 0.2))


def said(found, kind):
    return [notice for notice in found.warnings if notice.kind == kind]


def reasons(found):
    return undermined(found.warnings, [row.name for row in found.model.rows])


@pytest.mark.parametrize("name, step", [("lorenz", 0.01), ("van_der_pol", 0.05), ("hopf", 0.06), ("roessler", 0.06)])
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.2])
def test_ordinary_data_are_not_accused(name, step, noise):
    times, states = simulated(name, step, 800)
    found = es.discover(noisy(states, noise), times, degree=2, seconds=60, threads=1)
    assert not [notice for notice in found.warnings if notice.kind in KINDS]
    assert reasons(found) == {}


def test_a_conserved_sum_is_named_with_its_value():
    times = np.linspace(0.0, 4.0, 80)
    substrate = 3.0 + 7.0 * np.exp(-times)
    states = np.column_stack([substrate, 10.0 - substrate]) + 0.05 * np.random.default_rng(0).normal(size=(80, 2))
    found = es.discover(states, times, states=("S", "P"), degree=2)
    (notice,) = said(found, "conserved")
    assert notice.message.startswith("S + P is constant (10.0")
    assert "± 0.0" in notice.message
    assert "Add a trajectory on which it has another value, or leave out a state." in notice.message
    assert set(reasons(found)) == {"S'", "P'"}, "1, S and 1, P fit equally well"


def test_a_conserved_sum_does_not_undermine_the_only_equation_of_its_size():
    times = np.linspace(0.0, 4.0, 80)
    substrate = 10.0 * np.exp(-times)
    states = np.column_stack([substrate, 10.0 - substrate]) + 0.05 * np.random.default_rng(0).normal(size=(80, 2))
    found = es.discover(states, times, states=("S", "P"), degree=2)
    assert said(found, "conserved")
    assert {name: list(terms) for name, terms in found.solution.terms.items()} == {"S'": ["S"], "P'": ["S"]}
    assert reasons(found) == {}


def test_a_second_trajectory_with_another_sum_is_the_cure():
    times = np.linspace(0.0, 4.0, 80)
    rng = np.random.default_rng(0)
    pieces = []
    for total in (10.0, 14.0):
        substrate = 3.0 + 7.0 * np.exp(-times)
        pieces.append(np.column_stack([substrate, total - substrate]) + 0.05 * rng.normal(size=(80, 2)))
    found = es.discover(pieces, [times, times], states=("S", "P"), degree=2)
    assert not said(found, "conserved")


def test_a_circle_is_named_as_a_conserved_square():
    times = np.arange(0.0, 20.0, 0.05)
    states = np.column_stack([np.cos(times), -np.sin(times)]) + 0.01 * np.random.default_rng(0).normal(size=(400, 2))
    found = es.discover(states, times, states=("x", "v"))
    (notice,) = said(found, "conserved")
    assert notice.message.startswith("x^2 + v^2 is constant (0.999 ± 0.020)")
    assert reasons(found) == {}, "x' = v is the only equation with one term"


def kepler(noise):
    def rate(state):
        x, y, vx, vy = state.T
        radius = np.hypot(x, y) ** 3
        return np.array([vx, vy, -x / radius, -y / radius]).T

    times = np.linspace(0.0, 30.0, 1000)
    return times, noisy(integrate(rate, np.array([1.0, 0.0, 0.0, 1.15]), times), noise)


def test_one_kepler_orbit_is_a_closed_orbit_with_conserved_angular_momentum():
    times, states = kepler(0.002)
    found = es.discover(states, times, states=("x", "y", "vx", "vy"), seconds=20)
    (conserved,) = said(found, "conserved")
    assert conserved.message.startswith("x vy - y vx is constant (1.1")
    (orbit,) = said(found, "closed orbit")
    assert "The data are one closed orbit (period 11" in orbit.message
    assert orbit.message.endswith("Add a trajectory from another start.")
    assert {"vx'", "vy'"} <= set(reasons(found))
    assert "x'" not in reasons(found), "x' = vx is not in doubt"


def test_an_undamped_pendulum_has_no_more_harmonics_than_its_equation_has_terms():
    def swing(damping):
        def rate(state):
            return np.array([state.T[1], -9.8 * np.sin(state.T[0]) - damping * state.T[1]]).T

        return noisy(integrate(rate, np.array([2.1, 0.0]), times), 0.002)

    times = np.linspace(0.0, 20.0, 1000)
    found = es.discover(swing(0.0), times, states=("th", "w"), degree=3)
    (notice,) = said(found, "closed orbit")
    assert notice.equation == "w'"
    found = es.discover(swing(0.1), times, states=("th", "w"), degree=3)
    assert not said(found, "closed orbit")


@pytest.mark.parametrize(
    "factor, shift, text",
    [
        (1.0, 0.0, "x2 is a copy of x."),
        (100.0, 0.0, "x2 is a copy of x (x2 = 100 x)."),
        (1.8, 32.0, "x2 is a copy of x (x2 = 1.8 x + 32)."),
    ],
)
def test_copies_are_named(factor, shift, text):
    times, states = predators()
    states = noisy(states, 0.01)
    found = es.discover(
        np.column_stack([states, factor * states[:, 0] + shift]), times, states=("x", "y", "x2"), seconds=5
    )
    (notice,) = said(found, "copy")
    assert notice.message.startswith(text + " Leave one of them out")
    assert "y'" in reasons(found)
    assert not said(found, "next experiment"), "no start parts copies"


def test_an_input_that_follows_the_states_is_named():
    times = np.arange(0.0, 30.0, 0.05)
    clean = integrate(
        lambda s: np.array([s.T[1], -s.T[0] - 0.6 * s.T[1] + s.T[0] ** 2 / 4]).T, np.array([1.5, 0.0]), times
    )
    control = -0.5 * clean[:, :1] - 0.4 * clean[:, 1:]
    states = noisy(clean, 0.005)
    found = es.discover(states, times, states=("x", "v"), controls={"u": control[:, 0]}, degree=2)
    (notice,) = said(found, "feedback")
    assert notice.message.startswith("The input u follows the states: x + 0.8")
    assert "Measure with an input that does not depend on them" in notice.message
    assert "v'" in reasons(found)
    free = es.discover(states, times, states=("x", "v"), controls={"u": np.cos(1.7 * times)}, degree=2)
    assert not said(free, "feedback")


def test_feedback_of_three_states_is_found():
    times, clean = simulated("lorenz", 0.01, 800, (-8.0, 8.0, 27.0))
    control = clean @ [0.5, -1.0, 0.7]
    found = es.discover(noisy(clean, 0.002), times, states=("x", "y", "z"), controls={"u": control}, degree=1)
    (notice,) = said(found, "feedback")
    assert set(notice.message.split("is constant")[0].split(": ")[1].split()) >= {"x", "y", "z", "u"}


def test_the_logistic_map_is_no_flow_and_its_cure_works():
    x = [0.3]
    for _ in range(299):
        x.append(3.8 * x[-1] * (1 - x[-1]))
    states = np.array(x)[:, None]
    found = es.discover(states, 1.0, states=("x",))
    (notice,) = said(found, "map")
    assert "this looks like a discrete map of x" in notice.message
    assert "For the map pass form='map' (--map on the command line)" in notice.message
    assert set(reasons(found)) == {"x'"}
    cured = es.discover(states, states=("x",), form="map")
    assert cured.model.equations(3) == ["x[k+1] = 3.8 x[k] - 3.8 x[k]^2"]
    assert not said(cured, "map")


def test_noise_is_no_map():
    found = es.discover(np.random.default_rng(0).normal(size=(400, 2)), 1.0, degree=2)
    assert not said(found, "map")


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_position_without_its_velocity_lacks_a_state(noise):
    times = np.arange(0.0, 20.0, 0.02)
    states = noisy(np.exp(-0.1 * times)[:, None] * np.cos(2 * times)[:, None], noise)
    found = es.discover(states, times, states=("x",), targets="x'")
    (notice,) = said(found, "hidden state")
    assert notice.message == (
        "x rises and falls through the same values, which no law x' = f(x) does: a state is missing. If x is a "
        "position, ask for its acceleration, targets=\"x''\", or add its velocity as a state if it was measured."
    )
    assert set(reasons(found)) == {"x'"}
    second = es.discover(states, times, states=("x",), targets=["x''"])
    assert not said(second, "hidden state")


def test_the_velocity_is_the_cure_of_a_missing_state():
    times = np.arange(0.0, 20.0, 0.02)
    position = noisy(np.exp(-0.1 * times)[:, None] * np.cos(2 * times)[:, None], 0.001)[:, 0]
    found = es.discover(np.column_stack([position, np.gradient(position, times)]), times, states=("x", "v"), degree=2)
    assert {name: set(terms) for name, terms in found.solution.terms.items()} == {"x'": {"v"}, "v'": {"x", "v"}}
    assert not said(found, "hidden state")


def test_two_positions_without_velocities_lack_states():
    times, clean = simulated("duffing", 0.02, 2000, (1.0, 2.0, 0.5, -1.0))
    found = es.discover(noisy(clean[:, :2], 0.002), times, states=("x", "y"), targets=("x'", "y'"))
    (notice,) = said(found, "hidden state")
    assert "differs where x, y are the same, so they do not determine it: a state is missing." in notice.message


@pytest.mark.parametrize("shift", [4, 8])
def test_a_shifted_column_is_named(shift):
    times, clean = simulated("lorenz", 0.01, 1500, (-8.0, 8.0, 27.0))
    states = clean[shift:].copy()
    states[:, 2] = clean[:-shift, 2]
    found = es.discover(noisy(states, 0.001), times[:-shift], states=("x", "y", "z"), degree=2, seconds=10)
    (notice,) = said(found, "shifted")
    assert notice.message.startswith("z seems to lag behind the other columns by about")
    samples = int(notice.message.split("about ")[1].split()[0])
    assert abs(samples - shift) <= 2
    assert set(reasons(found)) == {"x'", "y'", "z'"}


def test_a_kink_along_one_orbit_is_no_shift():
    times = np.linspace(0.0, 120.0, 800)
    force = 2.73732586 * np.sin(0.42303112 * times + 3.46463826)

    def rate(t, x):
        return -2 * x / (0.4 + abs(x)) + 2.73732586 * np.sin(0.42303112 * t + 3.46463826)

    x = solve_ivp(rate, (0, 120), [1.0], t_eval=times, rtol=1e-9, atol=1e-11, max_step=0.05).y[0]
    data = Measurement(*2 * (es.Trajectories.from_arrays(x, time=times, states=("x",), controls={"u": force}),))
    assert not [notice for notice in misleading(data, {}, []) if notice.kind == "shifted"]


def test_a_slow_sensor_is_named():
    times, clean = simulated("lorenz", 0.01, 1500, (-8.0, 8.0, 27.0))
    states = clean.copy()
    for k in range(1, len(states)):
        states[k, 1] = states[k - 1, 1] + (clean[k, 1] - states[k - 1, 1]) * (1 - np.exp(-1 / 6))
    found = es.discover(states[60:], times[60:], states=("x", "y", "z"), degree=2, seconds=10)
    (notice,) = said(found, "shifted")
    assert notice.message.startswith("y seems to come from a slow sensor, with a time constant of about")
    constant = float(notice.message.split("(")[1].split()[0])
    assert 0.04 <= constant <= 0.08


def test_undermined_names_equations_and_reasons():
    whole, named = Notice("map", "a map"), Notice("copy", "a copy", "x', z'")
    assert undermined([named, whole], ["x'", "y'", "z'"]) == {"x'": named, "z'": named, "y'": whole}
    assert undermined([Notice("conserved", "constant"), Notice("residual", "large", "x'")], ["x'"]) == {}


def odd_states(rng, times, count):
    waves = np.column_stack([np.sin((k + 1) * times + k) for k in range(count)])
    shapes = (
        np.zeros_like(waves),
        np.full_like(waves, 3.0),
        rng.normal(size=waves.shape),
        np.round(3 * waves),
        1e150 * waves,
        1e-160 * waves,
        np.column_stack([waves[:, 0]] * count),
        np.column_stack([times] * count),
    )
    return shapes[rng.integers(len(shapes))]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(60))
def test_odd_data_are_looked_at_without_a_fault(seed):
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, 10.0, int(rng.integers(8, 200)))
    states = odd_states(rng, times, int(rng.integers(1, 6)))
    controls = {"u": np.zeros(len(times))} if rng.random() < 0.3 else None
    data = es.Trajectories.from_arrays(states, time=times, controls=controls)
    measured = leave_out_sentinels(Measurement(data, data))
    library = list(groups(data, es.Polynomials(2))[0].features.terms)
    notices = misleading(measured, {target.name: library[:2] for target in data.targets}, library)
    assert {notice.kind for notice in notices} <= KINDS


@pytest.mark.parametrize("shift", range(9, 16))
def test_shifts_at_the_end_of_the_reach_are_no_fault(shift):
    times, clean = simulated("lorenz", 0.01, 800, (-8.0, 8.0, 27.0))
    states = clean[shift:].copy()
    states[:, 2] = clean[:-shift, 2]
    data = es.Trajectories.from_arrays(states, time=times[:-shift])
    library = list(groups(data, es.Polynomials(2))[0].features.terms)
    notices = misleading(Measurement(data, data), {target.name: library[:2] for target in data.targets}, library)
    assert {notice.kind for notice in notices} <= {"shifted"}


def test_relations_that_leave_one_curve_do_what_a_closed_orbit_does():
    """Not yet one and a half periods; on the hodograph, a circle, cubics of the velocity are the acceleration."""
    times, states = kepler(0.0)
    part = slice(0, 450)  # 1.2 periods
    data = es.Trajectories.from_arrays(states[part], time=times[part], states=("x", "y", "vx", "vy"))
    vx, vy = (Term.variable(name) for name in data.state_names[2:])
    chosen = {"x'": [vx], "y'": [vy], "vx'": [Term(), vy, vx * vx, vx * vx * vy], "vy'": [vx * vx * vx, vx * vy * vy]}
    library = [term for group in groups(data, es.Polynomials(3)) for term in group.features.terms]
    notices = misleading(Measurement(data, data), chosen, library)
    (curve,) = (notice for notice in notices if notice.kind == "closed orbit")
    assert curve.message.startswith("The data are one curve in the space of 4 states")
    assert {"vx'", "vy'"} <= set(undermined(notices, list(chosen)))
    assert not {"x'", "y'"} & set(undermined(notices, list(chosen)))


def test_one_relation_of_two_noisy_states_is_no_curve():
    x, y = Term.variable("x"), Term.variable("y")
    bound = {exact: Relation((x * x, y * y), (1.0, 1.0), 1.0, 0.01, exact) for exact in (True, False)}
    assert lies_on_curve([bound[True]], ("x", "y"))
    assert not lies_on_curve([bound[False]], ("x", "y"))
    assert not lies_on_curve([bound[True]], ("x", "y", "z"))
    assert not lies_on_curve([Relation((x, y), (1.0, 1.0), 1.0, 0.0, True)], ("x", "y")), "a column less does it"
