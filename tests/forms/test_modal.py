from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories
from exactsindy.discovery import field_variants
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import ModalForm, WeakForm, smooth_field, smooth_field_guided
from exactsindy.forms.modal.mode_smoothing import TimeBasis, smooth_modes
from exactsindy.forms.modal.modes import Box, spectra
from exactsindy.library import Derivatives, Polynomials, Terms
from forms.cases import burgers, gram, on_support

LIBRARY = Polynomials(3, bias=False) + Polynomials(3) * Derivatives(4)


def burgers_field(noise, seed=0, **size):
    x, t, u, nu = burgers(**{"n": 128, "nt": 151, **size})
    scale = np.sqrt((u**2).mean())
    u = u + noise * scale * np.random.default_rng(seed).normal(size=u.shape)
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    names = LIBRARY.bind(data).names
    truth = np.zeros((1, len(names)))
    truth[0, names.index("u u_x")], truth[0, names.index("u_xx")] = -1.0, nu
    return data, truth, noise * scale


@pytest.mark.parametrize("sizes", [(32,), (24, 20), (12, 16, 10)])
def test_modes_and_grid_are_inverse(sizes):
    box = Box(sizes, tuple(float(n) for n in sizes), tuple(n // 4 for n in sizes))
    rng = np.random.default_rng(0)
    shape = tuple(len(index) for index in box.indices)
    rough = rng.normal(size=(2, *shape)) + 1j * rng.normal(size=(2, *shape))
    grid = box.to_grid(rough, sizes)
    modes = box.of_grid(grid)
    assert np.allclose(box.to_grid(modes, sizes), grid)
    finer = tuple(2 * n for n in sizes)
    assert np.allclose(box.of_grid(box.to_grid(modes, finer)), modes)
    assert np.allclose(box.to_grid(modes, finer)[(slice(None), *[slice(None, None, 2)] * len(sizes))], grid)
    full = np.fft.rfftn(grid, axes=range(1, 1 + len(sizes)))
    where = np.ix_(range(2), *(np.mod(i, n) for i, n in zip(box.indices, sizes, strict=True)))
    assert np.allclose(full[where], modes)


def test_every_real_degree_of_freedom_occurs_once():
    box = Box((16, 16), (1.0, 1.0), (3, 3))
    # 7 x 7 real numbers: the constant and 24 complex modes.
    assert box.independent.sum() == 25


def test_noise_and_corner_are_found():
    data, _, noise = burgers_field(0.3)
    found = spectra(data)
    assert found.noise[0] == pytest.approx(noise, rel=0.02)
    smoothed = smooth_field(data)
    assert 3 <= smoothed.cutoff <= 12
    clean, _, _ = burgers_field(0.0)
    x = smoothed.box.to_grid(smoothed.values[0], (128,))
    error = np.sqrt(((x.T - clean.values[0]) ** 2).mean())
    assert error < 0.2 * noise


def test_sure_picks_the_right_amount_of_smoothing():
    n = 200
    t = np.linspace(0, 1, n)
    rng = np.random.default_rng(0)
    slow = np.stack([np.exp(2j * np.pi * t), np.exp(9j * np.pi * t)], axis=1)
    noise = (rng.normal(size=(n, 2)) + 1j * rng.normal(size=(n, 2))) * np.sqrt(0.5) * 0.5
    basis = TimeBasis.of(n)
    smooth, _ = smooth_modes(slow + noise, 0.25, basis)
    assert np.abs(smooth - slow).std() < 0.2
    cosines = TimeBasis((2 - 2 * np.cos(np.pi * np.arange(n) / n)) ** 3, None)
    other, _ = smooth_modes(slow + noise, 0.25, cosines)
    assert np.abs((other - smooth)[20:-20]).max() < 0.15
    assert np.allclose(basis.compose(basis.analyse(slow)), slow)
    assert np.allclose(cosines.compose(cosines.analyse(slow)), slow)


@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_residuals_of_the_truth_are_white_and_of_the_right_size(noise):
    data, truth, _ = burgers_field(noise)
    form = ModalForm(model=truth)
    found = form.whiteness(data, LIBRARY, truth)
    assert 0.9 < found.ratio[0] < 1.1
    assert abs(found.lag[0]) < 0.1
    coef = on_support(form.problem(data, LIBRARY), truth)
    assert np.abs(coef - truth).max() < 0.1


def test_clean_field_gives_exact_coefficients():
    data, truth, _ = burgers_field(0.0)
    problem = ModalForm(model=truth).problem(data, LIBRARY)
    assert np.abs(on_support(problem, truth) - truth).max() < 1e-4


def test_modal_rows_beat_windows_under_heavy_noise():
    data, truth, _ = burgers_field(1.0)
    library = Terms(["u u_x", "u_xx"])
    short = truth[truth != 0][[1, 0]][None]
    errors = [
        np.abs(on_support(form.problem(data, library), short) - short).max()
        for form in (ModalForm(model=short), WeakForm(domains=500))
    ]
    assert errors[0] < 0.3
    assert errors[0] < errors[1]


def test_informed_field_is_closer_to_the_truth():
    data, truth, _ = burgers_field(1.0)
    clean = burgers_field(0.0)[0].values[0]
    plain = smooth_field(data)
    informed = smooth_field_guided(data, LIBRARY, truth)
    errors = [np.sqrt(((s.box.to_grid(s.values[0], (128,)).T - clean) ** 2).mean()) for s in (plain, informed)]
    assert errors[1] < errors[0]
    assert smooth_field_guided(data, LIBRARY, None, start=informed) is informed
    again = ModalForm(model=truth, smoothed=informed).problem(data, LIBRARY)
    assert np.abs(on_support(again, truth) - truth).max() < 0.3


def test_folds_sum_to_the_whole_and_blocks_do_not_show(monkeypatch):
    data, truth, _ = burgers_field(0.1)
    form = ModalForm(model=truth)
    whole = form.problem(data, LIBRARY)
    monkeypatch.setattr("exactsindy.forms.modal.mode_rows._BLOCK_NUMBERS", 1)
    folds = form.folds(data, LIBRARY, 4)
    assert sum(fold.n_samples for fold in folds) == whole.n_samples
    first, second = gram(whole)[0], gram(sum(folds))[0]
    norms = np.sqrt(np.diag(first))
    assert np.abs((first - second) / np.outer(norms, norms)).max() < 1e-9


def test_integrals_of_the_library_are_formed_once(monkeypatch):
    data, truth, _ = burgers_field(0.1)
    smoothed = smooth_field(data)
    first = ModalForm(smoothed=smoothed).problem(data, LIBRARY)
    monkeypatch.setattr("exactsindy.forms.modal.modal_library.ModalLibrary.columns", None)
    again = ModalForm(smoothed=smoothed).problem(data, LIBRARY)
    assert again.fingerprint == first.fingerprint
    monkeypatch.undo()
    monkeypatch.setattr("exactsindy.forms.modal.mode_rows._KEPT_NUMBERS", 0)
    apart = smooth_field(data)
    assert ModalForm(smoothed=apart).problem(data, LIBRARY).fingerprint == first.fingerprint
    assert not apart.store
    assert ModalForm(model=truth, smoothed=smoothed).problem(data, LIBRARY).fingerprint != first.fingerprint


def test_fewer_modes_are_used_where_rows_or_points_are_many(monkeypatch):
    data, _, _ = burgers_field(0.01)
    smoothed = smooth_field(data)
    assert field_variants._fewer_modes(smoothed) is smoothed
    monkeypatch.setattr(field_variants, "_MOST_ROWS", 2 * 150 * 10)
    monkeypatch.setattr(field_variants, "_MOST_POINTS", 36)
    less = field_variants._fewer_modes(smoothed)
    # Rows need at most ten modes; 3 K + k + 2 points of products fit into 36.
    assert less.cutoff < smoothed.cutoff
    assert less.kept.sum() <= 10
    assert less.cutoff <= less.box.largest[0] == (36 - less.cutoff - 2) // 3 < smoothed.box.largest[0]
    again = smooth_field_guided(data, LIBRARY, np.zeros((1, 19)), start=less)
    assert again.cutoff == less.cutoff


def test_modes_beyond_a_box_are_dropped():
    data, _, _ = burgers_field(0.1)
    smoothed = smooth_field(data)
    k = smoothed.box.largest[0] - 2
    less = smoothed.within((k,))
    assert less.values.shape[-1] == less.score.shape[-1] == k + 1
    assert np.array_equal(less.values, smoothed.values[..., : k + 1])


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


def cut_burgers(noise):
    data, truth, scale = burgers_field(noise, n=192)
    coords = {"x": data.coords[0][:140], "t": data.times}
    return Field.from_arrays(data.values[0][:140], dims=("x", "t"), coords=coords), truth, scale


@pytest.mark.parametrize("noise", [0.05, 0.2])
def test_open_domains_use_windowed_waves(noise):
    data, truth, scale = cut_burgers(noise)
    smoothed = smooth_field(data)
    assert smoothed.noise[0] == pytest.approx(scale, rel=0.03)
    form = ModalForm(model=truth, smoothed=smoothed)
    found = form.whiteness(data, LIBRARY, truth)
    assert 0.9 < found.ratio[0] < 1.1
    assert abs(found.lag[0]) < 0.1
    assert np.abs(on_support(form.problem(data, LIBRARY), truth) - truth).max() < 0.1
    informed = smooth_field_guided(data, LIBRARY, truth, start=smoothed)
    assert (informed.score <= smoothed.score).all()


def test_open_domains_clean_and_in_folds():
    data, truth, _ = cut_burgers(0.0)
    form = ModalForm(model=truth)
    problem = form.problem(data, LIBRARY)
    assert np.abs(on_support(problem, truth) - truth).max() < 1e-4
    first, second = gram(problem)[0], gram(sum(form.folds(data, LIBRARY, 3)))[0]
    norms = np.sqrt(np.diag(first))
    assert np.abs((first - second) / np.outer(norms, norms)).max() < 1e-9


def test_open_domains_in_two_dimensions_with_coordinates():
    x, y, t = np.linspace(0, 3, 40), np.linspace(0, 2, 36), np.linspace(0, 1, 80)
    # u_t = u_xx - u_y + x: heat in x, drift in y, a source that grows with x.
    u = np.exp(-t) * np.sin(x)[:, None, None] + np.cos(2 * (y[:, None] - t)) + x[:, None, None] * t
    noisy = u + 0.03 * np.random.default_rng(0).normal(size=u.shape)
    data = Field.from_arrays(noisy, dims=("x", "y", "t"), coords={"x": x, "y": y, "t": t})
    library = Terms(["u", "u_x", "u_y", "u_xx", "u_yy", "x", "t", "u u_x"])
    truth = np.array([[0.0, 0.0, -1.0, 1.0, 0.0, 1.0, 0.0, 0.0]])
    form = ModalForm(model=truth)
    assert np.abs(on_support(form.problem(data, library), truth) - truth).max() < 0.1
    found = form.whiteness(data, library, truth)
    assert 0.9 < found.ratio[0] < 1.1
    # Windowed waves are not eigenfunctions of the derivatives: a little correlation is left.
    assert abs(found.lag[0]) < 0.2


def test_errors_name_the_cure():
    data = burgers_field(0.1)[0]
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
