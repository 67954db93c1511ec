"""From samples of a map to its equations."""

from __future__ import annotations

import numpy as np
import pytest
from tests.map_cases import henon, logistic, noisy

import exactsindy as es
from exactsindy.discovery import verify_run
from exactsindy.errors import DataError, ProblemError


def kinds(found):
    return {notice.kind for notice in found.warnings}


@pytest.mark.parametrize("share", [0.0, 0.01, 0.05])
def test_logistic_map(share):
    found = es.discover(noisy(logistic(), share), form="map", states=("x",), threads=1)
    assert found.model.equations(3) == ["x[k+1] = 3.8 x[k] - 3.8 x[k]^2"]
    assert found.identified
    assert found.certificates[0].target == "x[k+1]"


def test_henon_map_with_noise_a_control_and_a_folder_that_verifies(tmp_path):
    u = 0.02 * np.sin(0.7 * np.arange(400.0))
    states = noisy(henon(control=u), 0.03)
    found = es.discover(
        {"x": states[:, 0], "y": states[:, 1], "u": u}, form="map", controls=("u",), degree=2, threads=1
    )
    assert [set(row) for row in found.solution.terms.values()] == [{"1", "x^2", "y", "u"}, {"x"}]
    errors = found.model.rows[1].standard_errors
    assert errors is not None
    assert abs(found.model.rows[1].coefficients[0] - 0.3) < 4 * errors[0]
    folder = found.save(tmp_path / "run")
    again = es.Discovery.load(folder)
    assert str(again) == str(found)
    assert verify_run(folder).ok
    assert found.simulate([0.1, 0.1], 10, u=u[:10]).success


def test_lags_find_the_delayed_form():
    x = noisy(henon(500)[:, 0], 0.01)
    found = es.discover(x, form=es.MapForm(lags=2), states=("x",), degree=2, threads=1)
    assert set(found.solution.terms["x[k+1]"]) == {"1", "x^2", "x[k-1]"}
    assert "x[k-1]" in found.equations[0]


def test_several_trajectories_and_increments():
    parts = [noisy(logistic(80, start), 0.01, i)[:, None] for i, start in enumerate((0.2, 0.4, 0.6))]
    found = es.discover(parts, form=es.MapForm(increments=True), states=("x",), threads=1)
    assert found.model.equations(2) == ["x[k+1] - x[k] = 2.8 x[k] - 3.8 x[k]^2"]


def test_parameters_that_differ_between_trajectories():
    rates = [3.6, 3.7, 3.9]
    parts = [noisy(logistic(100, rate=rate), 0.01, i)[:, None] for i, rate in enumerate(rates)]
    found = es.discover(parts, form="map", states=("x",), parameters={"r": rates}, threads=1)
    assert found.model.equations(3) == ["x[k+1] = r x[k] - r x[k]^2"]
    assert found.noise["x"] == pytest.approx(0.01 * parts[0].std(), rel=0.3)
    np.testing.assert_allclose(found.simulate([0.3], 1, parameters={"r": 2.0})["x"][1], 0.42, rtol=1e-2)


def test_constraints_hold_and_rules_may_be_chosen():
    states = noisy(henon(300), 0.02)
    found = es.discover(states, form="map", states=("x", "y"), degree=2, constraints=["y[k+1]: x == 0.3"], threads=1)
    assert found.model.rows[1].coefficients == pytest.approx([0.3])
    plain = es.discover(states, form="map", states=("x", "y"), degree=2, rule="bic", k_max=4, threads=1)
    assert plain.confidence["y[k+1]"] is None


def test_confidence_is_withheld_where_the_library_lacks_the_law():
    x = [0.5]
    for _ in range(500):
        x.append(x[-1] * np.exp(2.9 * (1 - x[-1])))
    found = es.discover(noisy(np.array(x), 0.01), form="map", states=("x",), threads=1)
    assert not found.identified
    assert "the library does not seem to hold this law" in found.verdict["x[k+1]"]


def test_samples_of_a_flow_are_noticed():
    t = np.arange(0.0, 20.0, 0.02)
    found = es.discover(np.column_stack([np.cos(t), -np.sin(t)]), t, form="map", states=("x", "v"), degree=1, threads=1)
    (notice,) = (notice for notice in found.warnings if notice.kind == "flow")
    assert "leave form='map' (--map) out" in notice.message


def test_cycles_leave_the_map_open():
    found = es.discover(noisy(logistic(600, rate=3.5)[300:], 0.001), form="map", states=("x",), degree=4, threads=1)
    sizes = found.selection.choices[0].k
    assert ("cycle" in kinds(found)) == (sizes >= 4)
    steady = es.discover(noisy(logistic(600, rate=3.2)[300:], 0.001), form="map", states=("x",), degree=4, threads=1)
    assert not steady.identified or steady.selection.choices[0].k < 2


def test_maps_given_as_flows_are_sent_here():
    found = es.discover(logistic(), 1.0, states=("x",), threads=1)
    (notice,) = (notice for notice in found.warnings if notice.kind == "map")
    assert "form='map' (--map on the command line)" in notice.message


def test_missing_samples_are_said():
    x = logistic(200)
    times = np.delete(np.arange(200.0), 90)
    found = es.discover(np.delete(x, 90), times, form="map", states=("x",), threads=1)
    assert any(n.kind == "gap" and "no step of the map goes across" in n.message for n in found.warnings)
    assert found.problem.n_samples == 197


def test_time_is_needed_elsewhere():
    with pytest.raises(DataError, match="time is missing"):
        es.discover(logistic(), states=("x",))
    with pytest.raises(DataError, match="steps are not equal"):
        es.discover(logistic(30), np.arange(30.0) ** 1.1, form="map", states=("x",))


def test_as_many_terms_as_steps_have_no_confidence():
    found = es.discover(logistic(4), form="map", states=("x",), degree=2, threads=1)
    assert found.selection.choices[0].k == 3
    assert "few steps" in kinds(found)
    assert found.verdict["x[k+1]"] == "not identified: there are no more steps than terms"


def test_an_exact_map_is_not_told_to_allow_more_terms():
    exact = es.discover(logistic(40), form="map", states=("x",), k_max=3, threads=1)
    assert exact.model.equations(3) == ["x[k+1] = 3.8 x[k] - 3.8 x[k]^2"]
    assert "size" not in kinds(exact)
    measured = es.discover(noisy(logistic(400), 0.02), form="map", states=("x",), k_max=3, threads=1)
    assert "size" in kinds(measured)


@pytest.mark.parametrize("library", [es.Rational(), es.Polynomials(2) + es.Terms(["sin(w*x)"], w=...)])
def test_maps_refuse_constants_inside_terms(library):
    with pytest.raises(ProblemError, match="quotients and inner constants are not searched for maps; write the terms"):
        es.discover(logistic(100), form="map", states=("x",), library=library)
