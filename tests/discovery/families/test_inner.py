"""Inner constants found by `discover`: on labels, on trajectories, and what is said about them."""

import time

import numpy as np
import pytest

import exactsindy as es
from exactsindy._limits import noting
from exactsindy.data import Trajectories, Trajectory
from exactsindy.discovery.families.grids import make_grid
from exactsindy.discovery.families.on_trajectories import refined_on_trajectories
from exactsindy.errors import ProblemError
from exactsindy.library import Variables
from exactsindy.systems import integrate


def labels(rate, x, noise=0.0, seed=0):
    """Measured derivatives of one state at given values of it."""
    y = rate(x)
    y = y + noise * np.sqrt(np.mean(y**2)) * np.random.default_rng(seed).normal(size=len(x))
    return Trajectories([Trajectory(np.arange(float(len(x))), x[:, None], ("x",), derivatives=y[:, None])])


def two_functions(x):
    return 1.5 * x - 2 * np.sin(2.37 * x) + 0.8 * np.exp(-1.13 * x)


LIBRARY = es.Polynomials(3) + es.Terms(["sin(w*x)", "cos(w*x)", "exp(-r*x)"], w=(0.5, 6), r=(0.3, 4))


@pytest.fixture(scope="module")
def found():
    return es.discover(labels(two_functions, np.linspace(0, 6, 600), 0.02), library=LIBRARY)


def test_constants_of_two_families_are_found(found):
    constants = {constant.name: constant for constant in found.constants}
    assert set(constants) == {"w", "r"}
    for name, truth in (("w", 2.37), ("r", 1.13)):
        assert abs(constants[name].value - truth) < 4 * constants[name].standard_error
    assert set(found.solution.terms["x'"]) == {"x", constants["w"].within, constants["r"].within}


def test_the_answer_says_what_is_proved_and_prints_the_constants(found):
    assert "Fitted inside the terms: w = 2.3" in str(found)
    assert "It is proved that no other 3 of them" in found.tried[0]
    assert all(constant.within in found.equations[0] for constant in found.constants)


def test_a_run_folder_keeps_the_constants(found, tmp_path):
    again = es.Discovery.load(found.save(tmp_path / "run"))
    assert again.constants == found.constants
    assert es.verify(again.problem, again.solution).ok


def test_exact_labels_give_exact_constants():
    answer = es.discover(labels(two_functions, np.linspace(0, 6, 200)), library=LIBRARY)
    assert sorted(round(constant.value, 9) for constant in answer.constants) == [1.13, 2.37]


def test_the_range_may_be_left_to_the_data():
    library = es.Polynomials(2) + es.Functions(["hill2"])
    answer = es.discover(
        labels(lambda x: 2 - 3 * x**2 / (0.7**2 + x**2), np.linspace(0, 3, 200), 0.01), library=library
    )
    (constant,) = answer.constants
    assert constant.term == "x^2/(K^2 + x^2)"
    assert abs(constant.value - 0.7) < 4 * constant.standard_error


def test_values_of_a_list_are_not_refined():
    library = es.Polynomials(3) + es.Terms(["sin(w*x)"], w=[1, 2, 3])
    answer = es.discover(labels(lambda x: 1 + np.sin(2 * x), np.linspace(0, 6, 200)), library=library)
    assert "sin(2 x)" in answer.solution.terms["x'"]


def test_constants_of_equal_names_are_one_number_if_the_data_allow_it():
    def rate(x):
        return np.sin(2.2 * x) + 0.5 * np.cos(2.2 * x)

    library = es.Terms(["x", "sin(w*x)", "cos(w*x)"], w=(0.5, 6))
    answer = es.discover(labels(rate, np.linspace(0, 6, 300), 0.02), library=library)
    first, second = answer.constants
    assert first.value == second.value
    assert abs(first.value - 2.2) < 0.01


def test_pendulum_of_unknown_frequency_from_its_trajectory():
    def rate(s):
        return np.array([s[1], -2 * np.sin(1.7 * s[0]) - 0.1 * s[1]])

    times = np.arange(0, 16, 0.05)
    states = integrate(rate, np.array([1.3, 0.0]), times)
    states += 0.005 * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    answer = es.discover(
        states, times, states=("x", "v"), library=es.Polynomials(2) + es.Terms(["sin(w*x)"], w=(0.5, 6))
    )
    (constant,) = answer.constants
    assert set(answer.solution.terms["v'"]) == {"v", constant.within}
    assert abs(constant.value - 1.7) < 5 * constant.standard_error < 0.1


def test_neighbours_on_a_grid_are_nearly_parallel():
    data = labels(np.sin, np.linspace(0, 6, 100))
    (family,) = es.Terms(["sin(w*x)"], w=(0.5, 6)).families(Variables.of(data))
    values = np.array([point["w"] for point in make_grid(family, data).points])
    assert values[0] == 0.5
    assert values[-1] == 6.0
    assert np.diff(values).max() < 1.5 / 6  # about 1.2 over the range of x
    assert len(values) < 60


def test_a_field_is_refused():
    field = es.Field.from_arrays(np.ones((8, 9)), dims=("x", "t"), coords={"x": np.arange(8.0), "t": np.arange(9.0)})
    with pytest.raises(ProblemError, match="they are found for trajectories"):
        es.discover(field, library=es.Terms(["sin(w*u)"], w=...))


def test_a_range_without_a_scale_is_asked_for():
    data = labels(np.sin, np.linspace(0, 6, 100))
    with pytest.raises(ProblemError, match=r"range of 'q'.*cannot be chosen.*give it"):
        es.discover(data, library=es.Terms(["x", "sin(q*x + q)"], q=...))


def test_constants_that_time_leaves_unrefined_are_noted():
    data, told = labels(two_functions, np.linspace(0, 6, 10)), []
    with noting(lambda: told.append("cut")):
        left = refined_on_trajectories(data, None, {}, time.monotonic() - 1.0)
    assert told == ["cut"]
    assert not np.isfinite(left.misfit)
