"""Plots show the numbers of the result, on the axes given, without pyplot."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import DataError
from exactsindy.plots import both_signs, predictions, raised

matplotlib = pytest.importorskip("matplotlib")


def figure(*shape):
    from matplotlib.figure import Figure

    return Figure().subplots(*shape)


def test_path_shows_every_objective_and_marks_the_choice(oscillator):
    ax = es.plots.path(oscillator, equation="x")
    line, proved, _, ring = ax.get_lines()
    path = oscillator.selection.path
    np.testing.assert_allclose(line.get_ydata(), path.objectives[:, 0])
    assert list(line.get_xdata()) == list(range(len(path)))
    assert len(proved.get_xdata()) == len(path)
    assert list(ring.get_xdata()) == [oscillator.selection.choices[0].k]
    assert ax.get_yscale() == "log"


def test_path_takes_paths_and_selections_and_draws_unproved_bounds():
    rng = np.random.default_rng(0)
    problem = es.Problem.from_arrays(rng.normal(size=(60, 30)), rng.normal(size=60))
    path = es.solve_path(problem, 8, settings=es.Settings(nodes=1, threads=1))
    assert not path[8].optimal
    ax = es.plots.path(path)
    drawn = ax.get_lines()
    assert len(drawn[2].get_xdata()) == sum(not s.optimal for s in path) > 0
    bars = ax.collections[0].get_segments()
    assert bars[-1][0][1] == pytest.approx(path[8].lower_bound[0])


def test_path_of_something_else_is_refused():
    with pytest.raises(DataError, match=r"plots\.path: expected a Path, a Selection or a Discovery, not int"):
        es.plots.path(3)


def test_fit_draws_one_panel_per_state(oscillator):
    panels = es.plots.fit(oscillator)
    assert [panel.get_ylabel() for panel in panels] == ["x", "v"]
    measured, simulated = panels[0].get_lines()
    np.testing.assert_array_equal(measured.get_ydata(), oscillator.data[0].states[:, 0])
    start = simulated.get_ydata()[0]
    assert abs(start - 1.0) < 0.05
    assert simulated.get_xdata()[-1] == pytest.approx(oscillator.data[0].times[-1])


def test_given_axes_are_used(oscillator):
    two = figure(2, 1)
    assert es.plots.fit(oscillator, ax=two) == list(two)
    one = figure()
    assert es.plots.path(oscillator, ax=one) is one
    assert es.plots.phase(oscillator, ax=figure()).get_ylabel() == "v"
    with pytest.raises(DataError, match="ax holds 1 axes; expected 2, one for each panel"):
        es.plots.fit(oscillator, ax=figure())


def test_phase_in_three_dimensions():
    t = np.linspace(0, 6, 100)
    data = es.Trajectories.from_arrays(
        np.column_stack([np.cos(t), -np.sin(t), np.exp(-t)]), time=t, states=("x", "v", "w")
    )
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0}, "w'": {"w": -1.0}})
    assert es.plots.phase(model, data).get_zlabel() == "w"
    assert es.plots.phase(model, data, states=("x", "w")).get_ylabel() == "w"
    with pytest.raises(DataError, match=r"plots\.phase\(states=\('x', 'q'\)\): expected two or three of x, v, w"):
        es.plots.phase(model, data, states=("x", "q"))
    with pytest.raises(DataError, match=r"plots\.fit\(trajectory=5\): there are 1 trajectories"):
        es.plots.fit(model, data, trajectory=5)


def test_fit_of_a_model_that_runs_away_stops_early():
    t = np.linspace(0, 3, 60)
    data = es.Trajectories.from_arrays(np.ones((60, 1)), time=t, states=("x",))
    (ax,) = es.plots.fit(es.Model.from_coefficients({"x'": {"x^2": 1.0}}), data)
    assert ax.get_lines()[1].get_xdata()[-1] < 1.01


def test_supports_fill_a_cell_per_term(oscillator):
    ax = es.plots.supports(oscillator, equation="v", count=3)
    shown = np.asarray(ax.images[0].get_array())
    members = oscillator.pool["v"][:3]
    names = [text.get_text() for text in ax.get_xticklabels()]
    for row, member in zip(shown, members, strict=True):
        assert {name for name, cell in zip(names, row, strict=True) if cell} == {raised(name) for name in member.terms}
    with pytest.raises(DataError, match=r"plots\.supports: expected a Pool"):
        es.plots.supports(oscillator.model)


def test_field_is_an_image_of_its_values(burgers):
    ax = es.plots.field(burgers)
    np.testing.assert_array_equal(np.ravel(ax.collections[0].get_array()), burgers.data["u"].ravel())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("t", "x")
    with pytest.raises(DataError, match=r"plots\.field\(name='v'\): there is no such field; there are u"):
        es.plots.field(burgers, name="v")
    with pytest.raises(DataError, match=r"plots\.field: expected a Field, a FieldSimulation or a Discovery, not list"):
        es.plots.field([1.0])


def test_field_in_two_dimensions_is_a_snapshot():
    x = np.arange(6.0)
    values = np.random.default_rng(0).normal(size=(6, 6, 4))
    data = es.Field.from_arrays(values, dims=("x", "y", "t"), coords={"x": x, "y": x, "t": np.arange(4.0)})
    ax = es.plots.field(data, time=1.1)
    np.testing.assert_array_equal(np.ravel(ax.collections[0].get_array()), values[..., 1].T.ravel())


def test_comparison_writes_every_coefficient(oscillator):
    ax = es.plots.comparison({"truth": {"x'": {"v": 1.0}, "v'": {"x": -1.0}}, "found": oscillator})
    texts = {text.get_text() for text in ax.texts}
    assert {"1", "-1"} <= texts
    assert [label.get_text() for label in ax.get_xticklabels()] == ["truth", "found"]
    assert len(ax.texts) == 2 + sum(len(row.terms) for row in oscillator.model.rows)


def test_plots_do_not_touch_pyplot():
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_the_horizon_of_a_chaotic_model_is_given_in_lyapunov_times():
    lorenz = es.Model.from_coefficients(
        {"x'": {"x": -10.0, "y": 10.0}, "y'": {"x": 28.0, "y": -1.0, "x z": -1.0}, "z'": {"z": -8 / 3, "x y": 1.0}}
    )
    t = np.arange(0.0, 24.0, 0.005)
    clean = lorenz.simulate([-8.0, 8.0, 27.0], t).x
    noisy = clean + 0.02 * np.random.default_rng(0).normal(size=clean.shape)
    far = predictions(lorenz, es.Trajectories.from_arrays(noisy, time=t, states=("x", "y", "z")))
    assert 0.9 < far.lyapunov_time < 1.4  # the largest exponent is 0.906
    assert len(far.runs) == 6
    assert "Lyapunov times of the model." in far.sentence()
    assert 2 < far.horizon < 20


def test_a_model_that_is_not_chaotic_has_no_lyapunov_time():
    circle = es.Model.from_coefficients({"x'": {"y": 1.0}, "y'": {"x": -1.0}})
    t = np.arange(0.0, 60.0, 0.05)
    data = es.Trajectories.from_arrays(np.column_stack([np.sin(t), np.cos(t)]), time=t, states=("x", "y"))
    far = predictions(circle, data)
    assert far.lyapunov_time is None
    assert "to the end of the record each time" in far.sentence()


def test_noise_around_zero_is_no_second_sign():
    assert both_signs(-1.0, 1.0)
    assert both_signs(-0.5, 1.0)
    assert not both_signs(-0.03, 1.02)
    assert not both_signs(0.0, 1.0)


def test_powers_are_raised_in_labels():
    assert raised("x^2 y^-3 + z^10") == "x² y⁻³ + z¹⁰"
    ax = es.plots.comparison({"truth": {"x'": {"x^3 y": -1.0}}})
    assert [text.get_text() for text in ax.get_yticklabels()] == ["x': x³ y"]


def test_curves_that_coincide_are_both_seen(oscillator):
    lines = es.plots.path(oscillator).get_lines()
    first, second = lines[1], lines[5]
    assert first.get_markersize() > second.get_markersize() >= 5
