from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories
from exactsindy.differentiation import FiniteDifference
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import StrongForm, WeakForm
from exactsindy.forms.weak.by_parts import ByParts
from exactsindy.forms.weak.windows import Cells, bump
from exactsindy.library import Derivatives, PerEquation, Polynomials, Terms, Variables
from exactsindy.model import Model
from exactsindy.solver import solve
from exactsindy.systems import add_noise, lorenz
from forms.cases import burgers, gram, least_squares, on_support

BURGERS = Polynomials(2, bias=False) + Polynomials(1) * Derivatives(2)


@pytest.fixture(scope="module")
def states():
    return lorenz().simulate([1.0, 2.0, 20.0], np.arange(0, 6, 0.002))


@pytest.fixture(scope="module")
def data(states):
    return Trajectories.from_arrays(states, time=0.002, states=("x", "y", "z"))


def burgers_field(periodic=("x",), missing="refuse", change=None, **size):
    x, t, u, nu = burgers(**size)
    u = u if change is None else change(u.copy())
    return Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=periodic, missing=missing), nu


@pytest.mark.parametrize("d", range(5))
def test_bump_derivatives_match_the_expanded_polynomial(d):
    s = np.linspace(-1, 1, 41)
    power = np.polynomial.Polynomial([1.0, 0.0, -1.0]) ** 3
    assert np.allclose(bump(s, 3, d), power.deriv(d)(s) if d else power(s), atol=1e-11)
    assert bump(np.array([-1.5, 2.0]), 3, d).tolist() == [0.0, 0.0]


def test_weights_integrate_polynomials_exactly():
    s = np.sort(np.random.default_rng(0).uniform(-1.3, 1.3, 40))
    fine = np.linspace(-1, 1, 200001)
    cells = Cells.of(s, 8)
    first, weights = cells.weights(0.0, 1.0, 4, 1)
    for degree in range(6):
        expected = np.trapezoid(bump(fine, 4, 1) * fine**degree, fine)
        assert weights @ s[first : first + len(weights)] ** degree == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "name", ["u_xx", "u^2 u_x", "u v_xx", "u v_xy", "x u_x", "u u_xxxx", "sin(u) v_yy", "u_x^2", "x u v_xx"]
)
def test_integration_by_parts_is_an_identity(name):
    n = 48
    x = 2 * np.pi * np.arange(n) / n
    u = {"u": (np.sin(x)[:, None] + np.cos(x)) / 3, "v": np.cos(x[:, None] - x) / 2}
    # A test function that vanishes at the ends of the period, as x is not periodic.
    phi = np.sin(x / 2)[:, None] ** 12 * np.cos(x) ** 0

    def along(values, axes):
        for axis in axes:
            k = 1j * np.fft.fftfreq(n, 1 / n)
            shape = (-1, 1) if axis == "x" else (1, -1)
            values = np.fft.ifft2(np.fft.fft2(values) * k.reshape(shape)).real
        return values

    variables = Variables(("u", "v"), axes=("x", "y"))
    term = Terms([name]).terms(variables)[0]

    def value(term):
        from exactsindy.library import Features

        features = Features(variables, (term,))
        inputs = [
            along(u[v.name], v.axes) if v.name in u else np.broadcast_to(x[:, None], (n, n)) for v in features.inputs
        ]
        return features.rows(inputs).reshape(n, n)

    direct = (phi * value(term)).sum()
    parts = ByParts(("x", "y"), ("u", "v")).full(term)
    moved = sum(
        part.factor * (along(phi, "x" * part.orders[0] + "y" * part.orders[1]) * value(part.integrand)).sum()
        for part in parts
    )
    assert moved == pytest.approx(direct, rel=1e-9, abs=1e-9)
    highest = max((len(v.axes) for part in parts for v in part.integrand.variables()), default=0)
    assert highest <= {"u_xx": 0, "u^2 u_x": 0, "x u_x": 0, "u u_xxxx": 2}.get(name, 1)


def test_lorenz_is_recovered(data):
    problem = WeakForm(domains=400).problem(data, Polynomials(2))
    truth = lorenz().coefficients(problem.names)
    assert problem.n_samples == 400
    assert np.abs(least_squares(problem) - truth).max() < 1e-7


def test_strong_and_weak_agree_on_clean_data(data):
    weak = least_squares(WeakForm(domains=400).problem(data, Polynomials(2)))
    strong = least_squares(StrongForm(FiniteDifference(order=6)).problem(data, Polynomials(2)))
    assert np.abs(weak - strong).max() < 1e-3


def test_weak_needs_no_derivative_of_noise(states):
    noisy = add_noise(states, 0.02, np.random.default_rng(3))
    data = Trajectories.from_arrays(noisy, time=0.002, states=("x", "y", "z"))
    true = Terms(["x", "y", "z", "x y", "x z"])
    truth = lorenz().coefficients(true.bind(data).names)
    weak = np.abs(least_squares(WeakForm(domains=600).problem(data, true)) - truth).max()
    strong = np.abs(least_squares(StrongForm().problem(data, true)) - truth).max()
    assert weak < 1.0
    assert weak < strong / 2


def test_seeds_widths_and_layouts(data):
    def of(**settings):
        return gram(WeakForm(domains=50, **settings).problem(data, Polynomials(1)))[0]

    assert np.array_equal(of(seed=1), of(seed=1))
    assert not np.allclose(of(seed=1), of(seed=2))
    assert np.array_equal(of(seed=np.random.default_rng(1)), of(seed=1))
    grid = of(layout="grid", width=0.1)
    assert np.array_equal(grid, of(layout="grid", width=0.1, seed=5))
    centre = 0.002 * np.linspace(50, 2949, 50).round()
    assert np.allclose(of(centres=centre, width=0.1), grid)


@pytest.mark.parametrize("irregular", [False, True])
def test_folds_sum_to_the_whole(states, irregular):
    t = np.arange(len(states)) * 0.002
    if irregular:
        t = t + 0.0005 * np.sin(np.arange(len(t)))
    data = Trajectories.from_arrays([states[:1000], states[1000:]], time=[t[:1000], t[1000:]])
    form = WeakForm(domains=100)
    folds = form.folds(data, Polynomials(2), 4)
    assert [fold.n_samples for fold in folds] == [25] * 4
    assert np.allclose(gram(sum(folds))[0], gram(form.problem(data, Polynomials(2)))[0], rtol=1e-9)


def test_trajectories_shorter_than_a_window_are_left_out(states):
    form = WeakForm(domains=100, width=0.1)
    both = form.problem(Trajectories.from_arrays([states[:1000], states[1000:1050]], time=0.002), Polynomials(1))
    assert both.n_samples == 95


def test_unequal_steps_converge():
    errors = []
    for n in (60, 120):
        t = np.linspace(0, 4, n) + 0.3 / n * np.sin(np.arange(n))
        data = Trajectories.from_arrays(np.exp(-np.sin(t)), time=t, states=("x",))
        library = Terms([("f", lambda x, t: -np.cos(t) * x)])
        errors.append(abs(least_squares(WeakForm(width=0.8).problem(data, library))[0, 0] - 1))
    assert errors[1] < 1e-6
    assert errors[0] / errors[1] > 16


def test_second_derivatives_and_controls():
    t = np.linspace(0, 10, 2001)
    u = np.cos(3 * t)
    data = Trajectories.from_arrays(
        np.sin(t) + 0.2 * u, time=t, states=("x",), controls=u, control_names=("u",), targets=("x''",)
    )
    problem = WeakForm(domains=200).problem(data, Terms(["x", "u", "cos(t)"]))
    assert np.allclose(least_squares(problem), [[-1.0, -1.6, 0.0]], atol=1e-8)


def test_a_library_per_equation(data):
    library = PerEquation({"x": Polynomials(1)}, default=Polynomials(2))
    problem = WeakForm(domains=60).problem(data, library)
    whole = WeakForm(domains=60).problem(data, Polynomials(2))
    assert [len(block.terms) for block in problem.blocks] == [4, 10]
    assert np.allclose(gram(problem)[1][-1, -1], gram(whole)[0][-1, -1])


def test_units_and_order_of_states_do_not_matter(states, data):
    base = WeakForm(domains=100, width=0.05).problem(data, Polynomials(2))
    other = WeakForm(domains=100, width=0.05).problem(
        Trajectories.from_arrays(8.0 * states[:, [1, 0, 2]], time=0.002, states=("y", "x", "z")), Polynomials(2)
    )
    first = dict(zip(base.names, least_squares(base)[0], strict=True))
    second = dict(zip(other.names, least_squares(other)[1], strict=True))
    assert second["x"] == pytest.approx(first["x"], rel=1e-6)
    assert 8 * second["z^2"] == pytest.approx(first["z^2"], abs=1e-6)


@pytest.mark.parametrize("periodic", [(), ("x",)])
def test_burgers_is_recovered(periodic):
    data, nu = burgers_field(periodic)
    problem = WeakForm(domains=150).problem(data, BURGERS)
    coef = dict(zip(problem.names, least_squares(problem)[0], strict=True))
    expected = {"u u_x": -1.0, "u_xx": nu}
    assert all(abs(coef[name] - expected.get(name, 0.0)) < 1e-6 for name in coef)
    folds = WeakForm(domains=150).folds(data, BURGERS, 3)
    assert [fold.n_samples for fold in folds] == [50] * 3
    assert np.allclose(gram(sum(folds))[0], gram(problem)[0], rtol=1e-9)


def test_unequal_points_in_space_and_time():
    fine = np.linspace(0, 1, 121)
    x, t = 1.5 * (fine + 0.05 * np.sin(6 * fine)), np.linspace(0, 1, 101) ** 1.2
    # Burgers without viscosity; u v_x needs a derivative of the data.
    u = (x[:, None] + 1) / (1 + t)
    v = np.sin(x[:, None]) * np.cos(t)
    data = Field.from_arrays({"u": u, "v": v}, dims=("x", "t"), coords={"x": x, "t": t}, targets=("u_t",))
    problem = WeakForm(domains=200, width=(0.2, 0.15)).problem(data, Terms(["u u_x", "v_xx", "u v_x", "v u_x"]))
    assert np.allclose(least_squares(problem), [[-1.0, 0.0, 0.0, 0.0]], atol=1e-5)


def test_memory_stays_near_that_of_a_window():
    x, t = 0.1 * np.arange(64), 0.05 * np.arange(100)
    u = np.sin(x[:, None, None] + x[:, None] - t)
    data = Field.from_arrays(u, dims=("x", "y", "t"), coords={"x": x, "y": x, "t": t}, periodic=())
    tracemalloc.start()
    WeakForm(domains=50, width=(0.6, 0.6, 0.3)).problem(data, Polynomials(3) * Derivatives(2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < u.nbytes


def test_windows_go_round_the_period():
    data, _ = burgers_field()
    ends = [[0.0, 0.5], [2 * np.pi * 127 / 128, 0.5]]
    problem = WeakForm(centres=ends, width=(0.6, 0.2)).problem(data, Terms(["u u_x", "u_xx"]))
    assert problem.rss([[-1.0, 0.3]])[0] < 1e-16 * problem.rss([[0.0, 0.0]])[0]


def test_three_space_dimensions_and_coordinates():
    x, y, z = (np.linspace(0, 1, n) for n in (26, 28, 30))
    t = np.linspace(0, 1, 32)
    shape = np.sin(x)[:, None, None, None] * np.cos(y)[:, None, None] * (z**2)[:, None]
    data = Field.from_arrays(shape * np.exp(-t), dims=("x", "y", "z", "t"), coords={"x": x, "y": y, "z": z, "t": t})
    problem = WeakForm(domains=20, width=0.22).problem(data, Terms(["z u_z", "u_xx", "u u_y"]))
    assert problem.rss([[0.0, 1.0, 0.0]])[0] < 1e-12 * problem.rss([[0.0, 0.0, 0.0]])[0]
    assert problem.rss([[-0.5, 0.0, 0.0]])[0] < 1e-12 * problem.rss([[0.0, 0.0, 0.0]])[0]


def test_windows_avoid_missing_cells():
    def holes(u):
        u[60:64, 40:44] = np.nan
        return u

    data, nu = burgers_field(missing="keep", change=holes)
    problem = WeakForm(domains=100, width=(0.5, 0.1)).problem(data, Terms(["u u_x", "u_xx"]))
    assert problem.n_samples == 100
    assert np.allclose(least_squares(problem), [[-1.0, nu]], atol=1e-7)

    def everywhere(u):
        u[::4, ::4] = np.nan
        return u

    data, _ = burgers_field(missing="keep", change=everywhere)
    with pytest.raises(DataError, match=r"every window meets one of the 832 missing cells; reduce the width"):
        WeakForm(domains=20, width=(0.5, 0.1)).problem(data, Terms(["u"]))


def test_errors_name_the_cure(data):
    pde, _ = burgers_field(periodic=())
    with pytest.raises(ProblemError, match=r"domains=0\): expected an integer >= 1"):
        WeakForm(domains=0)
    with pytest.raises(ProblemError, match=r"layout='hex'\): expected 'random' or 'grid'"):
        WeakForm(layout="hex")
    with pytest.raises(ProblemError, match=r"order=0\): expected an integer >= 1"):
        WeakForm(order=0)
    with pytest.raises(ProblemError, match=r"order=2\): the test function must take derivatives of order 2"):
        WeakForm(order=2).problem(pde, Terms(["u_xx"]))
    with pytest.raises(ProblemError, match=r"width=\(1, 2, 3\)\): expected one positive half-width"):
        WeakForm(width=(1, 2, 3)).problem(pde, Terms(["u"]))
    with pytest.raises(ProblemError, match=r"width=\.\.\.\) names y; expected one half-width for each of x, t"):
        WeakForm(width={"y": 1.0}).problem(pde, Terms(["u"]))
    with pytest.raises(DataError, match=r"half-width 4 along t do not fit between 0 and 5.998 \(3000 samp"):
        WeakForm(width=4.0).problem(data, Polynomials(1))
    with pytest.raises(DataError, match=r"the window around t = 0 leaves the data"):
        WeakForm(width=0.1, centres=[0.0]).problem(data, Polynomials(1))
    with pytest.raises(ProblemError, match=r"centres=\.\.\.\) has shape \(1, 2\); expected windows x 1"):
        WeakForm(width=0.1, centres=[[0.0, 1.0]]).problem(data, Polynomials(1))
    with pytest.raises(DataError, match=r"expected an integer from 2 to 10, the number of windows"):
        WeakForm(domains=10).folds(data, Polynomials(1), 11)


def kuramoto_sivashinsky(noise):
    terms = {"u u_x": -1.0, "u_xx": -1.0, "u_xxxx": -1.0}
    model = Model.from_coefficients({"u_t": terms})
    length, n = 8 * np.pi, 128
    x = length * np.arange(n) / n
    start = np.cos(2 * np.pi * x / length) * (1 + np.sin(4 * np.pi * x / length))
    run = model.simulate_field(start, np.r_[0.0, np.arange(20.0, 60.0, 0.4)], periods={"x": length})
    u = run.values[0][:, 1:]
    return x, run.t[1:], u, terms, noise * np.sqrt((u**2).mean())


def cole_hopf(noise):
    x, t, u, nu = burgers(nt=151)
    return x, t, u, {"u u_x": -1.0, "u_xx": nu}, noise * np.sqrt((u**2).mean())


@pytest.mark.parametrize(("case", "noise", "error"), [(kuramoto_sivashinsky, 0.05, 0.05), (cole_hopf, 0.1, 0.1)])
def test_default_windows_of_noisy_fields_give_support_and_coefficients(case, noise, error):
    x, t, u, terms, level = case(noise)
    u = u + level * np.random.default_rng(0).normal(size=u.shape)
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    library = Polynomials(3, bias=False) + Polynomials(3) * Derivatives(4)
    names = library.bind(data).names
    truth = np.array([[terms.get(name, 0.0) for name in names]])
    problem = WeakForm(300).problem(data, library)
    assert solve(problem, len(terms)).support[0] == tuple(np.flatnonzero(truth[0]))
    wrong = np.abs(on_support(problem, truth) - truth).max() / np.abs(truth).max()
    assert wrong < error
    if case is kuramoto_sivashinsky:
        # Windows as narrow as the noise alone would allow.
        narrow = WeakForm(300, width={"x": 8 * (x[1] - x[0]), "t": 8 * (t[1] - t[0])}).problem(data, library)
        assert np.abs(on_support(narrow, truth) - truth).max() > 5 * wrong
