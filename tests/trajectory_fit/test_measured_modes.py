"""The most likely trajectory of a field: modes as states, coefficients shared by all modes."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.forms import ModalLibrary, groups, smooth_field
from exactsindy.systems import FIELD_SYSTEMS, add_field_noise
from exactsindy.trajectory_fit import MeasuredModes, TrajectoryModel, features_of, row_count, tangent_problem
from exactsindy.trajectory_fit.modal_grid import wave_matrix


def fisher(noise, seed, library=None):
    system = FIELD_SYSTEMS["fisher"]
    data = add_field_noise(system.simulate(np.random.RandomState(seed)), noise, np.random.RandomState(seed))
    return modes(data, system.library if library is None else library)


def modes(data, library):
    return MeasuredModes(data, smooth_field(data), groups(data, library))


def columns(m, *supports):
    names = features_of(m, 0).names
    return tuple(tuple(sorted(names.index(name) for name in terms)) for terms in supports)


def two_fields(dims=1, seed=0):
    """Smooth noisy fields u and v with a few modes, on a line or a plane."""
    rng = np.random.default_rng(seed)
    axes = ("x", "y")[:dims]
    points = [2 * np.pi * np.arange(16) / 16] * dims
    t = np.linspace(0.0, 1.0, 12)
    mesh = np.meshgrid(*points, t, indexing="ij")
    waves = sum(np.cos(place + k) for k, place in enumerate(mesh[:-1]))
    shape = mesh[0].shape
    values = {
        "u": np.sin(mesh[0] - mesh[-1]) + waves + 0.02 * rng.normal(size=shape),
        "v": np.cos(mesh[0] + 2 * mesh[-1]) + 0.3 + 0.05 * rng.normal(size=shape),
    }
    return es.Field.from_arrays(
        values, dims=(*axes, "t"), coords={**dict(zip(axes, points, strict=True)), "t": t}, periodic=axes
    )


def test_states_are_the_field_on_a_grid_and_noise_has_size_one():
    m = fisher(0.05, 1000)
    points = m.data.shape[:-1]
    one = np.ones(len(m.smoothed.box.indices[0]), dtype=complex)
    grid = m.guess @ (wave_matrix(m.smoothed, one, points) * m.smoothed.noise[0]).T
    values = np.where(m.smoothed.outside, 0.0, m.smoothed.values[0])
    np.testing.assert_allclose(grid, m.smoothed.box.to_grid(values, points), atol=1e-12)
    residual = m.samples - m.guess
    assert residual.std() == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("dims", [1, 2])
def test_slopes_are_those_of_the_rates(dims):
    m = modes(two_fields(dims), es.Terms(["1", "u v^2", "u_x v", "u^2 v_x", "u_y v_x" if dims == 2 else "u_xx"]))
    names = features_of(m, 0).names
    supports = (tuple(range(len(names))), (0, len(names) - 1))
    flow = m.flow(supports)
    rng = np.random.default_rng(1)
    coef = [rng.normal(size=len(s)) for s in supports]
    part = flow._parts[0]
    rates, terms, slopes = part.linear(m.guess, coef)
    np.testing.assert_allclose(rates, flow.rates(m.guess, coef), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(rates[:, : m.per_field], terms[0] @ coef[0], atol=1e-9)
    direction = rng.normal(size=m.guess.shape)
    h = 1e-6 * np.abs(m.guess).max()
    ahead, behind = (flow.rates(m.guess + sign * h * direction, coef) for sign in (1, -1))
    expected = (ahead - behind) / (2 * h)
    found = np.einsum("nes,ns->ne", slopes, direction)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_terms_are_those_of_the_modal_form():
    """The same columns as the rows of the form, from the same smoothed field."""
    m = fisher(0.05, 1001)
    names = features_of(m, 0).names
    every = (tuple(range(len(names))),)
    _, terms, _ = m.flow(every)._parts[0].linear(m.guess, [np.zeros(len(names))])
    library = ModalLibrary(m.data, m.smoothed, m.equations[0])
    kept = library.columns(slice(0, len(m.data.times))) * library.scale / m.smoothed.noise[0]
    parts = [np.concatenate([c.real, c.imag[:, ~m.smoothed.constant]], axis=1) for c in kept]
    np.testing.assert_allclose(terms[0], np.stack(parts, axis=2), atol=1e-7 * np.abs(terms[0]).max())


def test_the_right_model_leaves_the_noise_and_coefficients_are_not_attenuated():
    errors = []
    for seed in range(1000, 1006):
        m = fisher(0.2, seed)
        supports = columns(m, ("u", "u^2", "u_xx"))
        fit = TrajectoryModel(m, supports).fit([[0.9, -0.9, 0.05]])
        assert fit.misfit == pytest.approx(row_count(m), rel=0.12)
        names = [features_of(m, 0).names[j] for j in supports[0]]
        truth = {"u": 1.0, "u^2": -1.0, "u_xx": 0.1}
        errors.append([xi / truth[name] - 1 for name, xi in zip(names, fit.coef[0], strict=True)])
    assert np.abs(np.mean(errors, axis=0)).max() < 0.05


def test_a_wrong_model_fits_worse_by_far():
    m = fisher(0.1, 1002)
    right = TrajectoryModel(m, columns(m, ("u", "u^2", "u_xx"))).fit([[1.0, -1.0, 0.1]])
    wrong = TrajectoryModel(m, columns(m, ("u", "u_xx"))).fit([[0.5, 0.1]])
    assert wrong.misfit > 1.3 * right.misfit


def test_standard_errors_of_the_tangent_regression_are_right():
    scores = []
    for seed in range(1000, 1010):
        m = fisher(0.2, seed)
        supports = columns(m, ("u", "u^2", "u_xx"))
        fit = TrajectoryModel(m, supports).fit([[1.0, -1.0, 0.1]])
        block, _ = tangent_problem(m, supports, fit, 0).locate(0)
        theta = block.theta_factor[:, list(supports[0])]
        spread = np.sqrt(np.diag(np.linalg.inv(theta.T @ theta)))
        names = [features_of(m, 0).names[j] for j in supports[0]]
        truth = np.array([{"u": 1.0, "u^2": -1.0, "u_xx": 0.1}[name] for name in names])
        scores.append((fit.coef[0] - truth) / spread)
    assert 0.6 < np.std(scores) < 1.5


def test_a_field_without_equation_is_free():
    """u_t = 0.5 v alone: the modes of v follow their samples, and the coefficient is found all the same."""
    x, t = 2 * np.pi * np.arange(32) / 32, np.linspace(0.0, 4.0, 80)
    rng = np.random.default_rng(3)
    v = np.cos(x[:, None] + t)
    u = 0.5 * (np.sin(x[:, None] + t) - np.sin(x[:, None]))
    noisy = {"u": u + 0.05 * rng.normal(size=u.shape), "v": v + 0.05 * rng.normal(size=v.shape)}
    data = es.Field.from_arrays(noisy, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",), targets=("u_t",))
    m = modes(data, es.Terms(["u", "v", "u_x"]))
    assert len(m.own) == m.per_field
    assert m.samples.shape[1] == 2 * m.per_field
    fit = TrajectoryModel(m, columns(m, ("v",))).fit([[0.3]])
    assert fit.coef[0][0] == pytest.approx(0.5, abs=0.01)
    free = m.columns_of(0).max() + 1
    assert (m.samples - fit.states)[:, free:].std() == pytest.approx(0.0, abs=0.3)


def test_a_model_that_overflows_is_infinitely_bad():
    m = fisher(0.2, 1000)
    fit = TrajectoryModel(m, columns(m, ("u^3", "u^2"))).fit([[1e300, 1e300]])
    assert fit.misfit == np.inf
