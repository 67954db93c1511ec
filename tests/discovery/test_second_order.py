"""Equations for x'' from positions alone: x' is a variable without samples."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy.errors import DataError, ProblemError
from second_order_samples import damped, positions, van_der_pol


def terms(found):
    return {row.name: {term.name for term in row.terms} for row in found.model.rows}


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize(
    ("law", "expected"), [(damped, {"x": -4.0, "x'": -0.2}), (van_der_pol, {"x": -1.0, "x'": 1.3, "x^2 x'": -1.3})]
)
def test_damping_is_found_from_positions(law, expected, noise):
    t, x = positions(law, [1.0, 0.0], noise=noise)
    found = es.discover(x, t, states=("x",), targets="x''", threads=1)
    (row,) = found.model.rows
    assert {term.name: value for term, value in zip(row.terms, row.coefficients, strict=True)} == pytest.approx(
        expected, rel=0.03
    )
    assert found.selection.choices[0].variant == "trajectory fit"
    assert found.model.phase_names == ("x", "x'")
    if noise:  # three standard errors
        for term, value, error in zip(row.terms, row.coefficients, row.standard_errors, strict=True):
            assert abs(value - expected[term.name]) < 4 * error


def test_first_and_second_order_in_one_system():
    def rate(t, s):
        return [s[1], -4 * s[0] - 0.3 * s[1] + s[2], -0.5 * s[2] + 0.8 * s[0]]

    t = np.linspace(0.0, 15.0, 600)
    states = solve_ivp(rate, (0.0, 15.0), [1.0, 0.0, 0.5], t_eval=t, rtol=1e-10, atol=1e-12).y[[0, 2]].T
    states += 0.01 * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    found = es.discover(states, t, states=("x", "y"), targets=("x''", "y'"), degree=2, threads=1)
    assert terms(found) == {"x''": {"x", "y", "x'"}, "y'": {"x", "y"}}


def test_several_trajectories_and_an_input():
    def push(t):
        return np.sin(1.7 * t) * np.cos(0.3 * t)

    parts = [
        positions(lambda x, v, t: -2 * x - 0.3 * v + 1.1 * push(t), start, noise=0.01, seed=i, samples=300)
        for i, start in enumerate(([0.5, 0.0], [-1.0, 0.4]))
    ]
    found = es.discover(
        [x[:, None] for _, x in parts],
        [t for t, _ in parts],
        states=("x",),
        controls=[{"u": push(t)} for t, _ in parts],
        targets="x''",
        threads=1,
    )
    assert terms(found) == {"x''": {"x", "x'", "u"}}


def test_constraints_on_the_velocity():
    t, x = positions(damped, [1.0, 0.0], noise=0.02)
    found = es.discover(x, t, states=("x",), targets="x''", constraints=["x'': x' == -0.25"], threads=1)
    assert dict(zip([term.name for term in found.model.rows[0].terms], found.model.rows[0].coefficients, strict=True))[
        "x'"
    ] == pytest.approx(-0.25)


def test_named_forms_have_the_velocity():
    t, x = positions(damped, [1.0, 0.0], noise=0.002)
    library = es.Terms(["x", "x'", "x' abs(x')", "x x'"])
    for form in ("strong", "weak"):
        found = es.discover(x, t, states=("x",), targets="x''", library=library, form=form, threads=1)
        assert terms(found.at(k=2)) == {"x''": {"x", "x'"}}


def test_a_result_is_printed_saved_and_exported(tmp_path):
    t, x = positions(damped, [1.0, 0.0], noise=0.01)
    found = es.discover(x, t, states=("x",), targets="x''", threads=1)
    assert "x'' = (" in str(found)
    assert r"\dot{x}" in found.model.to_latex()
    assert "x, x_dot, = state" in found.model.to_python()
    scope: dict[str, object] = {}
    exec(found.model.to_python(), scope)
    np.testing.assert_allclose(scope["rhs"](0.0, [1.0, 2.0])[0], 2.0)
    found.save(tmp_path / "run")
    assert es.Discovery.load(tmp_path / "run").model.equations() == found.model.equations()
    found.report(tmp_path / "report.html")
    assert "′" in (tmp_path / "report.html").read_text(encoding="utf-8")
    run = found.simulate({"x": 1.0, "x'": 0.0}, t)
    assert run.success
    assert run.names == ("x", "x'")
    assert found.model.score(x, t, differentiation=es.differentiation.PenalisedSpline()) > 0.95
    with pytest.raises(DataError, match="expected 2 numbers, one for each of x, x'"):
        found.simulate([1.0], t)


def test_a_library_that_names_the_velocity_asks_for_its_equation():
    t, x = positions(damped, [1.0, 0.0])
    found = es.discover(x, t, states=("x",), library=es.Terms(["x", "x'", "sin(x)"]), threads=1)
    assert terms(found) == {"x''": {"x", "x'"}}
    with pytest.raises(ProblemError, match=r"x' is no variable here.*pass targets=\"x''\""):
        es.discover(x, t, states=("x",), targets="x'", library=es.Terms(["x'"]))


def test_a_pendulum_is_found_from_its_angle_alone():
    t, x = positions(lambda x, v, t: -1.7 * np.sin(x) - 0.1 * v, [2.2, 0.0], noise=0.01)
    found = es.discover(x, t, states=("x",), threads=1)
    assert terms(found) == {"x''": {"x'", "sin(x)"}}
    assert any("trigonometric: holds the law" in line for line in found.tried)
    assert next(notice for notice in found.warnings if notice.kind == "library").equation == "x''"


@pytest.mark.parametrize("start", [0.7, -1.2])
def test_a_driven_position_that_nearly_follows_its_input_is_of_second_order(start):
    def push(t):
        return 0.5 * np.cos(1.6 * t)

    t, x = positions(lambda x, v, t: 1.5 * x - 0.7 * x**3 - 0.35 * v + push(t), [start, 0.4], noise=0.01)
    found = es.discover(x, t, states=("x",), controls={"u": push(t)}, threads=1)
    assert terms(found) == {"x''": {"x", "x^3", "x'", "u"}}
    assert "x' differs where x, u are the same" in orders(found)[0]


def orders(found):
    return [notice.message for notice in found.warnings if notice.kind == "order"]


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_positions_alone_are_of_second_order(noise):
    t, x = positions(damped, [1.0, 0.0], noise=noise)
    found = es.discover(x, t, states=("x",), threads=1)
    assert terms(found) == {"x''": {"x", "x'"}}
    (message,) = orders(found)
    assert message.startswith("Second order was taken (x''): x rises and falls through the same values")
    assert 'Pass targets="x\'" for first order.' in message
    asked = es.discover(x, t, states=("x",), targets="x'", threads=1)
    assert asked.model.target_names == ("x'",)
    assert not orders(asked)


def test_an_orbit_that_repeats_is_of_second_order():
    t, x = positions(lambda x, v, t: -2.5 * x, [1.0, 0.3])
    assert terms(es.discover(x, t, states=("x",), threads=1)) == {"x''": {"x"}}


def test_two_positions_are_of_second_order():
    def rate(t, s):
        return [s[2], s[3], -3 * s[0] + s[1] - 0.1 * s[2], s[0] - 2 * s[1] - 0.15 * s[3]]

    t = np.linspace(0.0, 20.0, 800)
    states = solve_ivp(rate, (0.0, 20.0), [1.0, -0.5, 0.0, 0.0], t_eval=t, rtol=1e-10, atol=1e-12).y[:2].T
    states += 0.01 * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    found = es.discover(states, t, states=("x", "y"), degree=1, threads=1)
    assert terms(found) == {"x''": {"x", "y", "x'"}, "y''": {"x", "y", "y'"}}
    assert "x', y' as variables" in orders(found)[0]


def test_measured_velocities_stay_of_first_order():
    t, x = positions(van_der_pol, [1.0, 0.0])
    _, v = t, np.gradient(x, t, edge_order=2)
    noise = 0.01 * np.random.default_rng(0).normal(size=(len(t), 2))
    found = es.discover(np.column_stack([x, v]) + noise, t, states=("x", "v"), threads=1)
    assert terms(found) == {"x'": {"v"}, "v'": {"x", "v", "x^2 v"}}
    assert not orders(found)


def test_a_failed_second_order_is_said():
    def lorenz(t, s):
        return [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]]

    t = np.linspace(0.0, 10.0, 1000)
    x = solve_ivp(lorenz, (0.0, 10.0), [1.0, 1.0, 20.0], t_eval=t, rtol=1e-9, atol=1e-9).y[0]
    found = es.discover(x, t, states=("x",), degree=2, threads=1)
    assert found.model.target_names == ("x'",)
    assert orders(found) == ["Equations of second order (x'') were tried, too: they leave more than noise."]


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_law_outside_the_library_is_not_confirmed(noise):
    t, x = positions(lambda x, v, t: -4 * np.sin(x) - 0.1 * v, [2.1, 0.0], noise=noise)
    found = es.discover(x, t, states=("x",), targets="x''", library=es.Polynomials(3), threads=1)
    assert found.confidence == {"x''": None}
    assert "the library does not seem to hold this law" in found.selection.choices[0].withheld
    library = es.Polynomials(1) + es.Terms(["sin(x)", "x' abs(x')"])
    for chosen in (library, "auto"):
        found = es.discover(x, t, states=("x",), targets="x''", library=chosen, threads=1)
        assert terms(found) == {"x''": {"x'", "sin(x)"}}


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_decay_does_not_tell_the_position_from_its_velocity(noise):
    t = np.linspace(0.0, 6.0, 200)
    x = np.exp(-t)
    x += noise * x.std() * np.random.default_rng(0).normal(size=t.size)
    found = es.discover(x, t, states=("x",), targets="x''", threads=1)
    assert terms(found)["x''"] in ({"x"}, {"x'"})
    assert found.confidence["x''"] < 0.8
