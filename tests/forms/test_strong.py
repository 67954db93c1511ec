from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories
from exactsindy.differentiation import FiniteDifference, SmoothedFiniteDifference
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import StrongForm
from exactsindy.library import Derivatives, PerEquation, Polynomials, Terms
from exactsindy.systems import lorenz
from forms.cases import burgers, gram, least_squares


@pytest.fixture(scope="module")
def states():
    return lorenz().simulate([1.0, 2.0, 20.0], np.arange(0, 6, 0.002))


def test_lorenz_is_recovered(states):
    data = Trajectories.from_arrays(states, time=0.002, states=("x", "y", "z"))
    problem = StrongForm(FiniteDifference(order=6)).problem(data, Polynomials(2))
    truth = lorenz().coefficients(problem.names)
    assert problem.target_names == ("x'", "y'", "z'")
    assert problem.n_samples == 3000
    assert np.abs(least_squares(problem) - truth).max() < 1e-3


def test_rows_are_derivative_and_library(states):
    data = Trajectories.from_arrays(states[:300], time=0.002, states=("x", "y", "z"))
    method = SmoothedFiniteDifference(window=11)
    problem = StrongForm(method).problem(data, Polynomials(2))
    rows = np.hstack([Polynomials(2).evaluate(states[:300]), method(states[:300], 0.002)])
    assert np.allclose(gram(problem)[0], rows.T @ rows, rtol=1e-11)
    smooth = StrongForm(method, smooth_states=True).problem(data, Polynomials(2))
    rows[:, :10] = Polynomials(2).evaluate(method.states(states[:300], 0.002))
    assert np.allclose(gram(smooth)[0], rows.T @ rows, rtol=1e-11)


def test_blocks_do_not_show(states, monkeypatch):
    data = Trajectories.from_arrays(states, time=0.002)
    whole = StrongForm().problem(data, Polynomials(2))
    monkeypatch.setattr("exactsindy.forms.strong.BLOCK_ROWS", 37)
    assert np.allclose(gram(StrongForm().problem(data, Polynomials(2)))[0], gram(whole)[0], rtol=1e-10)


@pytest.mark.parametrize("irregular", [False, True])
def test_folds_sum_to_the_whole(states, irregular):
    t = np.arange(len(states)) * 0.002
    if irregular:
        t = t + 0.0005 * np.sin(np.arange(len(t)))
    data = Trajectories.from_arrays([states[:700], states[700:]], time=[t[:700], t[700:]])
    form = StrongForm()
    folds = form.folds(data, Polynomials(2), 4)
    whole = form.problem(data, Polynomials(2))
    assert [fold.n_samples for fold in folds] == [750] * 4
    assert np.allclose(gram(sum(folds))[0], gram(whole)[0], rtol=1e-9)


def test_second_derivatives_controls_and_time():
    t = np.linspace(0, 10, 4001)
    u = np.cos(3 * t)
    x = np.sin(t) + 0.2 * u
    data = Trajectories.from_arrays(x, time=t, states=("x",), controls=u, control_names=("u",), targets=("x''",))
    problem = StrongForm(FiniteDifference(order=4)).problem(data, Terms(["x", "u", "cos(t)"]))
    assert problem.target_names == ("x''",)
    assert np.allclose(least_squares(problem), [[-1.0, -1.6, 0.0]], atol=1e-5)


def test_measured_derivatives_are_used():
    t = np.linspace(0, 3, 400)
    x, slope = np.sin(t), 7 * np.ones_like(t)
    data = Trajectories.from_arrays(x, time=t, states=("x",), derivatives=slope)
    assert np.allclose(least_squares(StrongForm().problem(data, Polynomials(1))), [[7.0, 0.0]])
    second = Trajectories.from_arrays(x, time=t, states=("x",), derivatives=np.cos(t), targets=("x''",))
    assert np.allclose(least_squares(StrongForm().problem(second, Terms(["x"]))), [[-1.0]], atol=1e-3)


def test_a_library_per_equation(states):
    data = Trajectories.from_arrays(states, time=0.002, states=("x", "y", "z"))
    library = PerEquation({"x": Polynomials(1)}, default=Polynomials(2))
    problem = StrongForm().problem(data, library)
    assert [block.target_names for block in problem.blocks] == [("x'",), ("y'", "z'")]
    assert [len(block.terms) for block in problem.blocks] == [4, 10]


def test_units_and_order_of_states_do_not_matter(states):
    library = Polynomials(2)
    base = StrongForm().problem(Trajectories.from_arrays(states, time=0.002, states=("x", "y", "z")), library)
    order = [2, 0, 1]
    other = StrongForm().problem(
        Trajectories.from_arrays(4.0 * states[:, order], time=0.002, states=("z", "x", "y")), library
    )
    first = dict(zip(base.names, least_squares(base)[0], strict=True))
    names = [" ".join(sorted(name.split())) for name in other.names]
    second = dict(zip(names, least_squares(other)[other.target_names.index("x'")], strict=True))
    assert second["x"] == pytest.approx(first["x"], rel=1e-6)
    assert 4.0 * second["x y"] == pytest.approx(first["x y"], abs=1e-6)
    assert np.allclose(base.rss(least_squares(base))[0] * 16, other.rss(least_squares(other))[1], rtol=1e-6)


@pytest.mark.parametrize("periodic", [True, False])
def test_burgers_is_recovered(periodic):
    x, t, u, nu = burgers()
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",) if periodic else ())
    library = Polynomials(2, bias=False) + Polynomials(1) * Derivatives(2)
    problem = StrongForm(FiniteDifference(order=4)).problem(data, library)
    assert problem.target_names == ("u_t",)
    assert problem.n_samples == (128 if periodic else 124) * 97
    expected = {"u u_x": -1.0, "u_xx": nu}
    coef = dict(zip(problem.names, least_squares(problem)[0], strict=True))
    assert all(abs(coef[name] - expected.get(name, 0.0)) < 1e-3 for name in coef)
    folds = StrongForm(FiniteDifference(order=4)).folds(data, library, 3)
    assert np.allclose(gram(sum(folds))[0], gram(problem)[0], rtol=1e-10)


def test_error_falls_with_the_order_of_accuracy():
    errors = []
    for nt in (41, 81):
        x, t, u, nu = burgers(nt=nt)
        data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
        problem = StrongForm(FiniteDifference(order=2)).problem(data, Terms(["u u_x", "u_xx"]))
        errors.append(np.abs(least_squares(problem)[0] - [-1.0, nu]).max())
    assert 3.0 < errors[0] / errors[1] < 5.0


def test_two_space_dimensions_and_coordinates():
    x, y, t = (np.linspace(0, 1, n) for n in (20, 24, 30))
    u = np.exp(-t) * x[:, None, None] ** 2 * y[:, None] ** 2
    data = Field.from_arrays(u, dims=("x", "y", "t"), coords={"x": x, "y": y, "t": t})
    problem = StrongForm(FiniteDifference(order=4)).problem(data, Terms(["x y u_xy", "u_xx"]))
    assert np.allclose(least_squares(problem), [[-0.25, 0.0]], atol=1e-5)


def test_missing_cells_are_left_out():
    x, t, u, nu = burgers()
    u = u.copy()
    u[40, 50] = np.nan
    grid = {"x": x, "t": t}
    data = Field.from_arrays(u, dims=("x", "t"), coords=grid, missing="keep")
    problem = StrongForm(FiniteDifference(order=4)).problem(data, Terms(["u u_x", "u_xx"]))
    # The five points of each stencil see the cell: nine points in all.
    assert problem.n_samples == 124 * 97 - 9
    assert np.allclose(least_squares(problem), [[-1.0, nu]], atol=1e-3)
    periodic = Field.from_arrays(u, dims=("x", "t"), coords=grid, missing="keep", periodic=("x",))
    with pytest.raises(DataError, match=r"1 missing cells cannot be differentiated.*spectral=False"):
        StrongForm().problem(periodic, Terms(["u_xx"]))


def test_errors_name_the_cure(states):
    data = Trajectories.from_arrays(states, time=0.002)
    with pytest.raises(DataError, match=r"data is of type ndarray; expected trajectories or a field"):
        StrongForm().problem(states, Polynomials(2))
    with pytest.raises(ProblemError, match=r"library is of type int: expected a library such as"):
        StrongForm().problem(data, 3)
    with pytest.raises(DataError, match=r"folds\(count=1\): expected an integer from 2 to 3000"):
        StrongForm().folds(data, Polynomials(1), 1)
    tiny = Field.from_arrays(np.ones((4, 30)), dims=("x", "t"), coords={"x": 1.0, "t": 1.0})
    with pytest.raises(DataError, match=r"has no point where all stencils fit"):
        StrongForm(FiniteDifference()).problem(tiny, Terms(["u_xx"]))
    with pytest.raises(ProblemError, match=r"Derivatives are spatial and need a field"):
        StrongForm().problem(data, Derivatives(1))


def test_memory_does_not_grow_with_the_data():
    peaks = []
    for n in (40_000, 80_000):
        x = np.sin(np.linspace(0, 50, n))[:, None] * [1.0, 2.0]
        data = Trajectories.from_arrays(x, time=0.01)
        StrongForm().problem(Trajectories.from_arrays(x[:100], time=0.01), Polynomials(4))
        tracemalloc.start()
        StrongForm().problem(data, Polynomials(4))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
