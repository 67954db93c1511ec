"""Weak rows of PySINDy and of the published experiments: the same numbers as theirs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.interpolate import RegularGridInterpolator

from exactsindy.data import Field, Trajectories
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms.weak import bump
from exactsindy.library import Polynomials, Terms
from exactsindy.systems import add_noise, lorenz, roessler
from exactsindy_experiments.published_weak_form import PublishedWeakForm
from exactsindy_experiments.published_windows import linear_weights


def gram(problem):
    (block,) = problem.blocks
    return block.factor.T @ block.factor


@pytest.mark.filterwarnings("ignore")
def test_pysindy_trajectories():
    ps = pytest.importorskip("pysindy")
    states = lorenz().simulate([1.0, 2.0, 20.0], np.arange(0, 6, 0.002))
    t = np.arange(len(states)) * 0.002
    np.random.seed(0)  # noqa: NPY002
    peer = ps.WeakPDELibrary(ps.PolynomialLibrary(degree=3), spatiotemporal_grid=t, K=80)
    rows = np.hstack([np.asarray(peer.fit_transform(states)), peer.convert_u_dot_integral(states)])
    form = PublishedWeakForm(domains=80, rule="pysindy", seed=np.random.RandomState(0))
    ours = gram(form.problem(Trajectories.from_arrays(states, time=t), Polynomials(3)))
    assert relative(ours, rows) < 1e-10


def relative(ours, rows):
    expected = rows.T @ rows
    norms = np.sqrt(np.diag(expected))
    return np.abs((ours - expected) / np.outer(norms, norms)).max()


@pytest.mark.filterwarnings("ignore")
def test_pysindy_fields():
    ps = pytest.importorskip("pysindy")
    x, y, t = 0.2 * np.arange(24), 0.25 * np.arange(22), 0.05 * np.arange(30)
    rng = np.random.default_rng(1)
    u = np.sin(x[:, None, None] + y[:, None] - t) + 0.1 * rng.normal(size=(24, 22, 30))
    v = np.cos(x[:, None, None] - y[:, None] + t) + 0.1 * rng.normal(size=(24, 22, 30))
    np.random.seed(0)  # noqa: NPY002
    peer = ps.WeakPDELibrary(
        ps.PolynomialLibrary(degree=2, include_bias=False),
        derivative_order=2,
        spatiotemporal_grid=np.stack(np.meshgrid(x, y, t, indexing="ij"), -1),
        K=20,
        H_xt=[0.9, 1.1, 0.3],
    )
    both = np.stack([u, v], -1)
    axes = {"ax_spatial": [0, 1], "ax_time": 2, "ax_coord": 3}
    rows = np.hstack([np.asarray(peer.fit_transform(ps.AxesArray(both, axes))), peer.convert_u_dot_integral(both)])
    data = Field.from_arrays({"u": u, "v": v}, dims=("x", "y", "t"), coords={"x": x, "y": y, "t": t})
    functions = ("u", "v", "u^2", "u v", "v^2")
    slopes = [f"{name}_{word}" for word in ("y", "yy", "x", "xy", "xx") for name in "uv"]
    library = Terms([*functions, *slopes, *(f"{f} {s}" for s in slopes for f in functions)])
    form = PublishedWeakForm(domains=20, rule="pysindy", seed=np.random.RandomState(0), width=(0.9, 1.1, 0.3))
    assert relative(gram(form.problem(data, library)), rows) < 1e-10


def test_fields_follow_the_published_rule():
    x, t = 0.2 * np.arange(60), 0.05 * np.arange(50)
    u = np.sin(x[:, None] - t) + 0.1 * np.random.default_rng(1).normal(size=(60, 50))
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t})
    count, width = 30, (1.5, 0.4)
    form = PublishedWeakForm(domains=7, seed=3, width=width, points=count)
    problem = form.problem(data, Terms(["u^2", "u_xx", "u^2 u_xxx"]))
    rng = np.random.RandomState(3)
    cx, ct = rng.uniform(1.5, x[-1] - 1.5, 7), rng.uniform(0.4, t[-1] - 0.4, 7)
    s = np.linspace(-1, 1, count)
    rows = []
    for a, b in zip(cx, ct, strict=True):
        px, pt = np.linspace(a - 1.5, a + 1.5, count), np.linspace(b - 0.4, b + 0.4, count)
        points = np.stack(np.meshgrid(px, pt, indexing="ij"), -1)
        w, square = (RegularGridInterpolator((x, t), f)(points) for f in (u, u**2))
        phi = bump(s, 4)
        step = px[1] - px[0]

        def d1(f, h=step):
            return (np.roll(f, -1, 0) - np.roll(f, 1, 0)) / (2 * h)

        def d2(f, h=step):
            return (np.roll(f, -1, 0) - 2 * f + np.roll(f, 1, 0)) / h**2

        integrands = [
            np.outer(phi, phi) * square,
            np.outer(bump(s, 4, 2) / 1.5**2, phi) * w,
            -d1(np.outer(phi, phi) * square) * d2(w),
            -np.outer(phi, bump(s, 4, 1) / 0.4) * w,
        ]
        rows.append([trapezoid(trapezoid(f, px, axis=0), pt) for f in integrands])
    assert relative(gram(problem), np.array(rows)) < 1e-12
    with pytest.raises(ProblemError, match=r"has no rule for 'u_x\^2'.*Use WeakForm"):
        form.problem(data, Terms(["u_x^2"]))


def test_a_published_trial_is_reproduced():
    system = roessler()
    x0 = [8.89338736597506, -7.307866004953485, 0.1738518401949005]
    clean = system.simulate(x0, np.arange(0, 75, 0.002))
    rng = np.random.RandomState(1)
    noisy = add_noise(clean, 0.01, rng)
    data = Trajectories.from_arrays(noisy[:25000], time=0.002, states=("x", "y", "z"))
    form = PublishedWeakForm(domains=2400, seed=rng)
    problem = form.problem(data, Polynomials(3))
    truth = system.coefficients(problem.names)
    found = np.zeros_like(truth)
    block = problem.blocks[0]
    for i, row in enumerate(truth):
        support = np.flatnonzero(row)
        z, _ = block.target(i)
        found[i, support] = np.linalg.lstsq(block.theta_factor[:, support], z, rcond=None)[0]
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    assert error == pytest.approx(0.0016506740, rel=1e-5)


def test_straight_lines_between_nodes_are_integrated():
    fine, nodes = np.linspace(-1, 1, 200001), np.linspace(-1, 1, 9)
    assert linear_weights(nodes, 4, 0) @ nodes**0 == pytest.approx(trapezoid(bump(fine, 4), fine))


def test_folds_sum_to_the_whole():
    t = np.arange(0, 3, 0.01)
    data = Trajectories.from_arrays(np.exp(-t), time=t, states=("x",))
    form = PublishedWeakForm(30)
    assert np.allclose(gram(sum(form.folds(data, Polynomials(1), 3))), gram(form.problem(data, Polynomials(1))))


def test_errors_name_the_cure():
    data = Trajectories.from_arrays(np.arange(300.0), time=0.01)
    with pytest.raises(ProblemError, match=r"rule='fast'\): expected one of published, pysindy"):
        PublishedWeakForm(rule="fast")
    with pytest.raises(DataError, match=r"holds fewer than 2 samples; increase the width"):
        PublishedWeakForm(width=0.004, rule="pysindy").problem(data, Polynomials(1))
    with pytest.raises(DataError, match=r"half-width 4 along t do not fit"):
        PublishedWeakForm(width=4.0).problem(data, Polynomials(1))
