"""Models of fields: right-hand side, residual, score and simulation on periodic grids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from exactsindy.data import Field
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Variables
from exactsindy.model import Model, SimulationStatus
from exactsindy.model.etd import phi_functions

TURN = 2 * np.pi
BURGERS = Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xx": 0.1}})
KS = Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xx": -1.0, "u_xxxx": -1.0}})
HEAT2 = Model.from_coefficients({"u_t": {"u_xx": 0.5, "u_yy": 0.25}})


def grid(n: int, period: float = TURN) -> np.ndarray:
    return period * np.arange(n) / n


def cole_hopf(x: np.ndarray, t: float, nu: float = 0.1) -> np.ndarray:
    """The solution of Burgers' equation from the heat kernel series phi = 1 + e^(-nu t) cos(x) / 2."""
    decay = 0.5 * np.exp(-nu * t)
    return 2 * nu * decay * np.sin(x) / (1 + decay * np.cos(x))


def test_rhs_equals_the_formula() -> None:
    x = grid(64)
    u = np.exp(np.sin(x))
    u_x, u_xx = np.cos(x) * u, (np.cos(x) ** 2 - np.sin(x)) * u
    rates = BURGERS.rhs(u, periods=TURN)
    np.testing.assert_allclose(rates["u_t"], -u * u_x + 0.1 * u_xx, atol=1e-11)
    several = BURGERS.rhs(np.stack([u, 2 * u], axis=1), periods={"x": TURN})["u_t"]
    np.testing.assert_allclose(several[:, 1], -4 * u * u_x + 0.2 * u_xx, atol=1e-11)


def test_rhs_without_period_uses_differences() -> None:
    x = np.linspace(0, 1, 201)
    rates = BURGERS.rhs(x**3, coords=x)
    np.testing.assert_allclose(rates["u_t"], -3 * x**5 + 0.6 * x, atol=1e-6)


def test_rhs_with_coordinates_time_and_several_fields() -> None:
    model = Model.from_coefficients({"u_t": {"x u": 1.0, "cos(t)": 2.0}, "v_t": {"u v_x": 1.0, "1": 3.0}})
    x, t = grid(32), np.array([0.0, 1.0])
    u, v = np.ones((32, 2)), np.sin(x)[:, None] * np.ones(2)
    rates = model.rhs({"u": u, "v": v}, periods=TURN, t=t)
    np.testing.assert_allclose(rates["u_t"], x[:, None] + 2 * np.cos(t))
    np.testing.assert_allclose(rates["v_t"], np.cos(x)[:, None] + 3 * np.ones(2), atol=1e-12)
    np.testing.assert_allclose(model.rhs([u, v], periods=TURN, t=t)["v_t"], rates["v_t"])
    with pytest.raises(DataError, match=r"The equations use the time 't': pass it as t=\.\.\."):
        model.rhs([u, v], periods=TURN)


def test_residual_and_score_on_data() -> None:
    x, t = grid(64), np.linspace(0, 1, 101)
    u = np.stack([cole_hopf(x, s) for s in t], axis=1)
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic={"x": TURN})
    assert np.abs(BURGERS.residual(data)["u_t"]).max() < 1e-6
    assert BURGERS.score(data) == pytest.approx(1.0, abs=1e-9)
    wrong = Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xx": 0.2}})
    assert wrong.score(data) < 0.1
    swapped = Field.from_arrays(u.T, dims=("t", "x"), coords={"x": x, "t": t}, periodic={"x": TURN})
    assert BURGERS.score(swapped) == BURGERS.score(data)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_burgers_agrees_with_cole_hopf(tolerance: float) -> None:
    x, t = grid(64), np.linspace(0, 5, 6)
    run = BURGERS.simulate_field(cole_hopf(x, 0.0), t, periods=TURN, rtol=tolerance, atol=tolerance * 1e-3)
    exact = np.stack([cole_hopf(x, s) for s in t], axis=1)
    assert run.success
    assert run["u"].shape == (64, 6)
    assert np.abs(run["u"] - exact).max() < 10 * tolerance


def test_kuramoto_sivashinsky_agrees_with_a_resolved_reference() -> None:
    period, n = 22.0, 64
    x = grid(n, period)
    u0 = np.cos(TURN * x / period) * (1 + np.sin(TURN * x / period))
    k = TURN / period * np.fft.rfftfreq(2 * n, 1 / (2 * n))

    def rhs(_: float, u: np.ndarray) -> np.ndarray:
        waves = np.fft.rfft(u)
        rest = np.fft.irfft((k**2 - k**4) * waves)
        return rest - u * np.fft.irfft(1j * k * waves)

    phase = TURN * grid(2 * n, period) / period
    fine = np.cos(phase) * (1 + np.sin(phase))
    t = np.array([0.0, 2.0, 5.0])
    direct = solve_ivp(rhs, (0, 5), fine, method="BDF", t_eval=t, rtol=1e-9, atol=1e-10)
    run = KS.simulate_field(u0, t, periods=period, rtol=1e-9, atol=1e-11)
    assert np.abs(run["u"] - direct.y[::2]).max() < 1e-5
    assert run.steps < 2000


def test_linear_equations_are_exact_in_one_step_per_output() -> None:
    x, y = grid(16)[:, None], grid(12)[None, :]
    run = HEAT2.simulate_field(np.sin(x) * np.cos(2 * y) + 1, [0.0, 0.3, 4.0], periods=TURN)
    for j, t in enumerate(run.t):
        np.testing.assert_allclose(run["u"][..., j], 1 + np.exp(-1.5 * t) * np.sin(x) * np.cos(2 * y), atol=1e-13)
    assert run.steps == 2


def test_three_dimensions_mixed_derivatives_and_odd_grids() -> None:
    model = Model.from_coefficients({"u_t": {"u_x": -1.0, "u_yz": 1.0, "u_zz": 1.0}})
    x, y, z = np.meshgrid(grid(7), grid(8), grid(9), indexing="ij")
    run = model.simulate_field(np.sin(x + y - z), [0.0, 0.7], periods=TURN)
    # u = exp(t (-i k_x - k_y k_z - k_z^2)): here -(1)(-1) - 1 = 0, so the wave only travels.
    np.testing.assert_allclose(run["u"][..., 1], np.sin(x - 0.7 + y - z), atol=1e-12)


def test_dispersion_travels_without_loss() -> None:
    soliton_speed = 4.0  # u = 3 c sech^2(sqrt(c) (x - c t) / 2) solves u_t = -u u_x - u_xxx
    kdv = Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xxx": -1.0}})
    period = 30.0
    x = grid(256, period)
    start = 3 * soliton_speed / np.cosh(np.sqrt(soliton_speed) * (x - 10) / 2) ** 2
    run = kdv.simulate_field(start, [0.0, 0.5, 1.0], periods=period, rtol=1e-7, atol=1e-9)
    moved = 3 * soliton_speed / np.cosh(np.sqrt(soliton_speed) * (x - 14) / 2) ** 2
    assert np.abs(run["u"][:, -1] - moved).max() < 1e-4


def test_waves_of_second_order_in_time_are_exact() -> None:
    wave = Model.from_coefficients({"u_tt": {"u_xx": 4.0}})
    assert wave.phase_names == ("u", "u_t")
    x = grid(32)
    run = wave.simulate_field({"u": np.sin(x) + 2, "u_t": 0 * x + 1}, [0.0, 1.0, 2.5], periods=TURN)
    np.testing.assert_allclose(run["u"][:, -1], np.cos(5.0) * np.sin(x) + 2 + 2.5, atol=1e-12)
    np.testing.assert_allclose(run["u_t"][:, -1], 1 - 2 * np.sin(5.0) * np.sin(x), atol=1e-12)


def test_reaction_diffusion_of_two_fields_agrees_with_a_direct_integration() -> None:
    spiral = Model.from_coefficients(
        {
            "u_t": {"u_xx": 0.1, "u": 1.0, "u^3": -1.0, "u v^2": -1.0, "u^2 v": 1.0, "v^3": 1.0},
            "v_t": {"v_xx": 0.1, "v": 1.0, "v^3": -1.0, "u^2 v": -1.0, "u^3": -1.0, "u v^2": -1.0},
        }
    )
    x = grid(96)
    start = [0.5 * np.cos(x), 0.3 * np.sin(x) + 0.2]
    k2 = np.fft.rfftfreq(96, 1 / 96) ** 2

    def rhs(_: float, s: np.ndarray) -> np.ndarray:
        u, v = s.reshape(2, 96)
        r = 1 - u**2 - v**2
        lap = [np.fft.irfft(-k2 * np.fft.rfft(w)) for w in (u, v)]
        return np.concatenate([0.1 * lap[0] + r * u + (u**2 + v**2) * v, 0.1 * lap[1] + r * v - (u**2 + v**2) * u])

    t = np.linspace(0, 3, 4)
    direct = solve_ivp(rhs, (0, 3), np.concatenate(start), t_eval=t, method="DOP853", rtol=1e-10, atol=1e-11)
    run = spiral.simulate_field(start, t, periods=TURN, rtol=1e-9, atol=1e-11)
    assert np.abs(np.concatenate(run.values) - direct.y).max() < 1e-6


def test_forcing_by_coordinate_and_time() -> None:
    forced = Model.from_coefficients({"u_t": {"u_xx": 1.0, "sin(x) cos(t)": 1.0}})
    x, t = grid(32), np.linspace(0, 4, 5)
    run = forced.simulate_field(np.zeros(32), t, periods=TURN, rtol=1e-9, atol=1e-11)
    exact = np.sin(x)[:, None] * (np.cos(t) + np.sin(t) - np.exp(-t)) / 2
    assert np.abs(run["u"] - exact).max() < 1e-7


def test_simulation_from_data_gives_data() -> None:
    x, t = grid(64), np.linspace(0, 2, 41)
    u = np.stack([cole_hopf(x, s) for s in t], axis=1)
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic={"x": TURN})
    run = BURGERS.simulate_field(data, rtol=1e-8, atol=1e-10)
    assert np.abs(run["u"] - u).max() < 1e-6
    again = run.field()
    assert again.periods == (pytest.approx(TURN),)
    assert BURGERS.score(again) == pytest.approx(1.0, abs=1e-5)
    assert repr(run) == "FieldSimulation(u; x 64; 41 times; COMPLETE)"


def test_runaway_fields_stop_early() -> None:
    model = Model.from_coefficients({"u_t": {"u_xx": 1.0, "u^2": 1.0}})
    run = model.simulate_field(5 + np.sin(grid(32)), np.linspace(0, 1, 21), periods=TURN, rtol=1e-4)
    assert run.status is SimulationStatus.BLOW_UP
    assert not run.success
    assert 0.1 <= run.t[-1] < 0.2 + 1e-12
    assert run["u"].shape == (32, len(run.t))
    assert np.isfinite(run["u"]).all()
    backward = Model.from_coefficients({"u_t": {"u_xx": -1.0, "u u_x": 1.0}})
    assert backward.simulate_field(np.sin(grid(64)), [0.0, 1.0, 50.0], periods=TURN).status is SimulationStatus.BLOW_UP
    limited = Model.from_coefficients({"u_t": {"u": 1.0}})
    assert limited.simulate_field(1 + 0 * grid(8), [0.0, 1.0, 9.0], periods=TURN, max_abs=5.0).t[-1] == 1.0


def test_too_many_steps_is_a_status() -> None:
    run = KS.simulate_field(np.sin(grid(64)), [0.0, 0.01, 30.0], periods=TURN * 4, rtol=1e-10, max_steps=30)
    assert run.status is SimulationStatus.TOO_MANY_STEPS
    assert len(run.t) == 2


def test_dealiasing_matters() -> None:
    sharp = Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xx": 0.01}})
    x = grid(64)
    kept = sharp.simulate_field(np.sin(x), [0.0, 3.0], periods=TURN, rtol=1e-5)
    folded = sharp.simulate_field(np.sin(x), [0.0, 3.0], periods=TURN, rtol=1e-5, dealias=False)
    assert np.abs(kept["u"][:, 1] - folded["u"][:, 1]).max() > 1e-3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BURGERS.simulate_field(np.ones(8), periods=1.0), r"t is missing; pass the times at which"),
        (lambda: BURGERS.simulate_field(np.ones(8), [0, 1]), r"The axis 'x' has neither coordinates nor a period"),
        (
            lambda: BURGERS.simulate_field(np.ones(8), [0, 1], coords=grid(8)),
            r"the axis 'x' has no period; fields are .* integrate model.rhs\(u, coords=...\)",
        ),
        (
            lambda: BURGERS.simulate_field(np.ones((8, 8)), [0, 1], periods=1.0),
            r"u0 has shape \(8, 8\); expected one axis",
        ),
        (
            lambda: HEAT2.simulate_field(np.ones(8), [0, 1], periods=1.0),
            r"u0 has arrays of shape \(8,\); expected one array",
        ),
        (
            lambda: BURGERS.simulate_field(np.full(8, np.nan), [0, 1], periods=1.0),
            "the field 'u' holds missing or infinite",
        ),
        (
            lambda: BURGERS.simulate_field(np.ones(8), [0, 1], periods=-1.0),
            "'x' has the period -1.0; expected a positive",
        ),
        (
            lambda: BURGERS.simulate_field(np.ones(8), [0, 1], periods={"s": 1.0}),
            "'s' is not a space axis of this model",
        ),
        (
            lambda: BURGERS.simulate_field(np.ones(8), [0, 1], periods=[1.0]),
            r"periods: expected one entry per axis, e.g. \{'x'",
        ),
        (
            lambda: HEAT2.rhs(np.ones((8, 8)), coords=grid(8)),
            r"coords: expected one entry per axis, e.g. \{'x': array\}",
        ),
        (lambda: BURGERS.rhs(np.ones(8), coords=grid(9)), r"coords: 'x' has shape \(9,\); expected \(8,\)"),
        (
            lambda: BURGERS.rhs(np.ones(8), coords=np.linspace(0, 1, 8), periods=1.0),
            "has 8 points from 0 to 1 and the period 1; expected .* the first point is not repeated",
        ),
        (lambda: BURGERS.rhs({"v": np.ones(8)}, periods=1.0), "values has the fields v; expected u: 'u' is missing"),
        (lambda: BURGERS.rhs([np.ones(8)] * 2, periods=1.0), "values holds 2 fields; expected 1: u, as a list"),
        (
            lambda: BURGERS.simulate_field(np.ones(8), [0, 1], periods=1.0, rtol=2.0),
            "rtol=2.0, atol=1e-09: expected 0 < rtol",
        ),
        (
            lambda: BURGERS.simulate_field(np.ones(8), [0, 1], periods=1.0)["v"],
            r"simulation\['v'\]: there is no such field",
        ),
    ],
)
def test_refused_fields(call, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()


def test_inputs_that_are_no_fields_are_refused() -> None:
    model = Model.from_coefficients({"u_t": {"u q": 1.0}}, variables=Variables(("u",), ("q",), axes=("x",)))
    with pytest.raises(
        ProblemError, match="use 'q', which is neither a field nor a space axis; a simulation of fields has"
    ):
        model.simulate_field(np.ones(8), [0, 1], periods=1.0)
    with pytest.raises(ProblemError, match="use 'q', which is neither a field nor a space axis"):
        model.rhs(np.ones(8), periods=1.0)


def test_phi_functions_keep_their_digits() -> None:
    z = np.array([0.0, 1e-12, -1e-3, 0.4, -3.0, 1j, 50j, -1e6, -700.0, 5.0])
    phi = phi_functions(z[:, None, None])
    big = np.abs(z) > 1
    exact = [np.exp(z)]
    with np.errstate(all="ignore"):
        for k, constant in enumerate((1.0, 1.0, 0.5), start=1):
            series = sum(z**m / float(np.prod(np.arange(1.0, m + k + 1))) for m in range(25))
            exact.append(np.where(big, (exact[-1] - constant) / np.where(z == 0, 1, z), series))
    for got, wanted in zip(phi, exact, strict=True):
        np.testing.assert_allclose(got[:, 0, 0], wanted, rtol=2e-13, atol=1e-300)


def test_phi_functions_of_defective_matrices() -> None:
    z = np.array([[[0.0, 3.0], [0.0, 0.0]]])
    e, p1, p2, _ = phi_functions(z)
    np.testing.assert_allclose(e[0], [[1, 3], [0, 1]])
    np.testing.assert_allclose(p1[0], [[1, 1.5], [0, 1]])
    np.testing.assert_allclose(p2[0], [[0.5, 0.5], [0, 0.5]])


def test_fields_with_boundaries_by_the_recipe_of_the_error():
    """Burgers between walls that keep their values: the exact solution is odd, so u = 0 at both."""
    x = np.linspace(0, np.pi, 49)

    def rates(t: float, u: np.ndarray) -> np.ndarray:
        found = BURGERS.rhs(u, coords=x)["u_t"]
        found[[0, -1]] = 0.0
        return found

    run = solve_ivp(rates, (0.0, 3.0), cole_hopf(x, 0.0), method="BDF", rtol=1e-8, atol=1e-10)
    assert np.abs(run.y[:, -1] - cole_hopf(x, 3.0)).max() < 1e-5
