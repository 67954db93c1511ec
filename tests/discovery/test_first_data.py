"""The simplest data people have: a falling body, a draining tank, a switched circuit, a coarse simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy.discovery.jumps import jumps
from exactsindy.discovery.recognise import solver_output_notices


def predator_and_prey(count=400, **options):
    t = np.linspace(0, 20, count)
    states = solve_ivp(lambda t, x: [x[0] * (1 - x[1]), x[1] * (x[0] - 1)], (0, 20), [2, 1], t_eval=t, **options)
    return es.Trajectories.from_arrays(states.y.T, time=t)


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_falling_body_has_a_constant_acceleration(noise):
    t = np.linspace(0, 4, 80)
    height = 100 - 4.905 * t**2 + np.random.default_rng(0).normal(0, noise, 80)
    found = es.discover(height, t, states=("h",), threads=1)
    assert list(found.confidence) == ["h''"]
    assert found.model.coefficients["h''"] == {"1": pytest.approx(-9.81, rel=0.02)}
    assert "no function of h that was tried explains h'" in found.warnings[0].message


def test_a_law_outside_a_given_library_is_not_replaced_by_second_order():
    t = np.linspace(0, 4, 400)
    s = solve_ivp(lambda t, x: [-x[0] / (0.3 + x[0])], (0, 4), [3.0], t_eval=t, rtol=1e-9, atol=1e-9).y[0]
    found = es.discover(s, t, states=("S",), library=es.Polynomials(3), seconds=10, threads=1)
    assert found.confidence == {"S'": None}


def test_a_draining_tank_has_a_square_root():
    t = np.linspace(0, 6, 200)
    found = es.discover((2 - 0.25 * t) ** 2, t, states=("h",), threads=1)
    assert found.model.coefficients["h'"] == {"sqrt(h)": pytest.approx(-0.5, rel=1e-6)}


def switched(count=900, step=1 / 30, hold=90):
    u = np.where((np.arange(count) // hold) % 2 == 0, 1.0, -1.0)
    v = np.zeros(count)
    for i in range(count - 1):
        v[i + 1] = u[i] + (v[i] - u[i]) * np.exp(-step / 2)
    return pd.DataFrame({"t": np.arange(count) * step, "v": v, "u": u})


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_an_input_that_is_switched(noise):
    table = switched()
    table["v"] += np.random.default_rng(1).normal(0, noise, len(table))
    found = es.discover(table, time="t", controls="u", threads=1)
    assert found.model.coefficients["v'"] == {"v": pytest.approx(-0.5, rel=0.02), "u": pytest.approx(0.5, rel=0.02)}
    assert found.confidence["v'"] > 0.9
    notice = next(notice for notice in found.warnings if notice.kind == "jump")
    assert notice.message.startswith("u jumps 9 times: trajectories are cut there")
    assert not any("u^2" in term for term in found.problem.names)


def test_jumps_are_those_of_inputs_that_are_held():
    held, wave = np.repeat([0.0, 1.0, 3.0], 20), np.sin(np.arange(60.0))
    assert jumps(np.column_stack([held, wave])).tolist() == [19, 39]
    assert jumps(wave[:, None]).tolist() == []
    assert jumps(np.zeros((1, 1))).tolist() == []


def test_output_of_a_solver_with_its_default_tolerance_is_named():
    data = predator_and_prey()
    (notice,) = solver_output_notices(data)
    assert notice.kind == "simulated"
    assert "Simulate again with rtol=1e-9, atol=1e-9." in notice.message
    found = es.discover(data, library=es.Polynomials(2), seconds=20, threads=1)
    assert "simulated" in [notice.kind for notice in found.warnings]


@pytest.mark.parametrize(
    "data",
    [
        predator_and_prey(rtol=1e-10, atol=1e-12, method="DOP853"),
        es.Trajectories.from_arrays(np.linspace(0, 1, 300)[:, None] ** 3, time=0.1),
        es.Trajectories.from_arrays(np.random.default_rng(0).normal(size=(300, 2)), time=0.1),
        es.Trajectories.from_arrays(np.ones((6, 1)), time=0.1),
    ],
    ids=["accurate", "one polynomial", "noise", "short"],
)
def test_other_data_are_not_taken_for_it(data):
    assert solver_output_notices(data) == ()
