"""Whitened increments of low modes of fields."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import ModalForm, WeakForm
from exactsindy.library import Polynomials, Terms
from forms.cases import WIDE as LIBRARY
from forms.cases import burgers, noisy_burgers, on_support


@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_residuals_of_the_truth_are_white_and_of_the_right_size(noise):
    data, truth, _ = noisy_burgers(noise)
    form = ModalForm(model=truth)
    found = form.whiteness(data, LIBRARY, truth)
    assert 0.9 < found.ratio[0] < 1.1
    assert abs(found.lag[0]) < 0.1
    coef = on_support(form.problem(data, LIBRARY), truth)
    assert np.abs(coef - truth).max() < 0.1


def test_clean_field_gives_exact_coefficients():
    data, truth, _ = noisy_burgers(0.0)
    problem = ModalForm(model=truth).problem(data, LIBRARY)
    assert np.abs(on_support(problem, truth) - truth).max() < 1e-4


def test_modal_rows_beat_windows_under_heavy_noise():
    data, truth, _ = noisy_burgers(1.0)
    library = Terms(["u u_x", "u_xx"])
    short = truth[truth != 0][[1, 0]][None]
    errors = [
        np.abs(on_support(form.problem(data, library), short) - short).max()
        for form in (ModalForm(model=short), WeakForm(domains=500))
    ]
    assert errors[0] < 0.3
    assert errors[0] < errors[1]


def test_two_fields_in_two_dimensions():
    n, nt = 32, 120
    x = 2 * np.pi * np.arange(n) / n
    t = np.linspace(0, 1, nt)
    wave = x[:, None, None] + 2 * x[:, None]
    # u_t = v_x + 0.1 u_yy, v_t = u_x: a damped wave, one exact mode.
    roots = np.roots([1.0, 0.4, 1.0])
    amplitude = np.exp(roots[0] * t) * np.exp(1j * wave)
    u, v = amplitude.real, (1j / roots[0] * amplitude).real
    rng = np.random.default_rng(0)
    noisy = {name: f + 0.05 * rng.normal(size=f.shape) for name, f in (("u", u), ("v", v))}
    data = Field.from_arrays(noisy, dims=("x", "y", "t"), coords={"x": x, "y": x, "t": t}, periodic=("x", "y"))
    library = Terms(["u", "v", "u_x", "v_x", "u_yy", "v_yy", "u v", "u^2 u_x"])
    truth = np.zeros((2, 8))
    truth[0, 3], truth[0, 4], truth[1, 2] = 1.0, 0.1, 1.0
    form = ModalForm(model=truth)
    problem = form.problem(data, library)
    assert problem.target_names == ("u_t", "v_t")
    assert np.abs(on_support(problem, truth) - truth).max() < 0.05
    found = form.whiteness(data, library, truth)
    assert (np.abs(found.ratio - 1) < 0.1).all()
    assert (np.abs(found.lag) < 0.1).all()


def test_errors_name_the_cure():
    data = noisy_burgers(0.1)[0]
    x, t, u, _ = burgers()
    coords = {"x": x, "t": t}
    with pytest.raises(DataError, match=r"ModalForm is for fields .* use IncrementForm"):
        ModalForm().problem(Trajectories.from_arrays(u[:, :3], time=0.1), Polynomials(1))
    open_ends = Field.from_arrays(u[:12], dims=("x", "t"), coords={"x": x[:12], "t": t})
    with pytest.raises(DataError, match=r"'x' has 12 points; expected 16 to 4096 where it is not periodic"):
        ModalForm().problem(open_ends, LIBRARY)
    stretched = Field.from_arrays(u, dims=("x", "t"), coords={"x": x + x**2, "t": t})
    with pytest.raises(DataError, match=r"points of 'x' are not equally spaced; use WeakForm"):
        ModalForm().problem(stretched, LIBRARY)
    uneven = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t**2 + t}, periodic=("x",))
    with pytest.raises(DataError, match=r"times are not equally spaced; interpolate to equal steps or use"):
        ModalForm().problem(uneven, LIBRARY)
    holes = u.copy()
    holes[3, 3] = np.nan
    with pytest.raises(DataError, match=r"1 cells are missing; use WeakForm"):
        ModalForm().problem(
            Field.from_arrays(holes, dims=("x", "t"), coords=coords, periodic=("x",), missing="keep"), LIBRARY
        )
    with pytest.raises(DataError, match=r"1 cells are missing; use WeakForm"):
        ModalForm().problem(Field.from_arrays(holes, dims=("x", "t"), coords=coords, missing="keep"), LIBRARY)
    coarse = Field.from_arrays(u[::16], dims=("x", "t"), coords={"x": x[::16], "t": t}, periodic=("x",))
    with pytest.raises(DataError, match=r"'x' has fewer than 16 points; use WeakForm"):
        ModalForm().problem(coarse, LIBRARY)
    brief = Field.from_arrays(u[:, :5], dims=("x", "t"), coords={"x": x, "t": t[:5]}, periodic=("x",))
    with pytest.raises(DataError, match=r"5 times are too few; it needs at least 8"):
        ModalForm().problem(brief, LIBRARY)
    with pytest.raises(ProblemError, match=r"ModalForm\(model=\.\.\.\) has shape \(1, 3\)"):
        ModalForm(model=[[1, 2, 3]]).problem(data, LIBRARY)
    with pytest.raises(DataError, match=r"expected an integer from 2 to 150, the number of increments in ti"):
        ModalForm().folds(data, LIBRARY, 1)
    with pytest.raises(ProblemError, match=r"whiteness\(coef=\.\.\.\): expected coefficients"):
        ModalForm().whiteness(data, LIBRARY, None)
