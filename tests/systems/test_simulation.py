"""Simulation, noise and true coefficient matrices; two published trials to the printed digits."""

import numpy as np
import pytest
from scipy.signal import savgol_filter

from exactsindy.errors import DataError
from exactsindy.systems import SYSTEMS, add_noise, noise_scale

MONOMIALS = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "x y": (1, 1, 0), "x z": (1, 0, 1)}
MONOMIALS |= {"x^3": (3, 0, 0), "x y^2": (1, 2, 0), "x^2 y": (2, 1, 0), "y^3": (0, 3, 0)}


def coefficient_error(truth, found):
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)


def published_trial(name, seed, duration):
    """Simulate, add noise and split as published; return the noisy training data and the noise width."""
    system = SYSTEMS[name]
    clean = system.simulate(system.initial_condition(np.random.RandomState(seed)), np.arange(0, 1.5 * duration, 0.002))
    noisy = add_noise(clean, 0.002, np.random.RandomState(seed))
    return system, noisy[: int(duration / 0.002)], 0.002 * noise_scale(clean)


def fit_true_terms(system, x):
    """Ordinary least squares on the true support from raw states and smoothed derivatives."""
    rates = np.gradient(savgol_filter(x, 9, 3, axis=0), 0.002, axis=0, edge_order=2)
    names = list(MONOMIALS)
    columns = np.column_stack([np.prod(x ** MONOMIALS[name][: x.shape[1]], axis=1) for name in names])
    found = np.zeros((len(system.targets), len(names)))
    for row, terms in enumerate(system.truth.values()):
        support = [names.index(name) for name in terms]
        found[row, support] = np.linalg.lstsq(columns[:, support], rates[:, row])[0]
    return found, system.coefficients(names)


def test_published_lorenz_trial():
    system, x, width = published_trial("lorenz", 1, 10.556063286183154)
    assert len(x) == 5278
    assert width == pytest.approx(0.0280066, abs=5e-8)
    found, truth = fit_true_terms(system, x)
    assert coefficient_error(truth, found) == pytest.approx(0.00064840035, rel=2e-8)
    printed = [-9.998166, 9.997998, 27.980349, -0.995116, -0.999511, -2.666244, 0.999600]
    np.testing.assert_allclose(found[[0, 0, 1, 1, 1, 2, 2], [0, 1, 0, 1, 4, 2, 3]], printed, atol=6e-7)


def test_published_hopf_trial():
    system, x, width = published_trial("hopf", 2, 4.53725008878185)
    assert len(x) == 2268
    assert width == pytest.approx(0.000526067, abs=5e-10)
    found, truth = fit_true_terms(system, x)
    # The published optimum has the ridge 1e-5 in the second equation, which changes the eighth digit.
    assert coefficient_error(truth, found) == pytest.approx(0.0100488163, rel=1e-6)


def test_energy_of_mhd_and_duffing_is_kept():
    times = np.linspace(0, 5, 50)
    duffing = SYSTEMS["duffing"]
    x, y, px, py = duffing.simulate(duffing.initial_condition(np.random.RandomState(4)), times).T
    square = x**2 + y**2
    energy = (px**2 + py**2) / 2 - square + 0.1 * square**2 / 4
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)
    mhd = SYSTEMS["mhd"]
    fields = mhd.simulate(mhd.initial_condition(np.random.RandomState(4)), times)
    np.testing.assert_allclose((fields**2).sum(axis=1), (fields[0] ** 2).sum(), rtol=1e-8)


def test_noise_has_one_width_for_all_states():
    clean = np.random.default_rng(0).normal(size=(40_000, 3)) * [1.0, 10.0, 100.0]
    assert noise_scale(clean) == pytest.approx(37.0, rel=0.02)
    noise = add_noise(clean, 0.1, np.random.RandomState(2)) - clean
    np.testing.assert_allclose(noise.std(axis=0), 0.1 * noise_scale(clean), rtol=0.02)
    np.testing.assert_allclose(
        (add_noise(clean, 0.1, np.random.RandomState(2), scale=1.0) - clean).std(), 0.1, rtol=0.02
    )


def test_coefficients_follow_terms_and_targets():
    matrix = SYSTEMS["duffing"].coefficients(["y^3", "x", "y", "x^2 y"], ["Y'"])
    np.testing.assert_array_equal(matrix, [[-0.1, 0.0, 2.0, -0.1]])


def test_messages():
    lorenz = SYSTEMS["lorenz"]
    with pytest.raises(DataError, match=r"x0: got shape \(2,\); expected 3 finite numbers, .* x, y, z"):
        lorenz.simulate([1.0, 2.0], [0, 1])
    with pytest.raises(DataError, match="t: expected at least two increasing finite times"):
        lorenz.simulate([1.0, 2.0, 3.0], [0, 1, 1])
    with pytest.raises(DataError, match=r"terms: the library lacks \['y'\], which equation x' of lorenz contains"):
        lorenz.coefficients(["x"])
    with pytest.raises(DataError, match='targets: "w\'" is not an equation of lorenz; expected some of'):
        lorenz.coefficients(["x"], ["w'"])
    with pytest.raises(DataError, match=r"fraction: got -1; expected a noise level >= 0"):
        add_noise([[1.0]], -1, np.random.RandomState(0))
    with pytest.raises(DataError, match=r"x: got shape \(1,\); expected a non-empty array \(times, states\)"):
        noise_scale([1.0])


def test_blow_up_is_reported():
    from exactsindy.systems import System

    explosion = System("explosion", ("x",), {}, lambda x: x**2, lambda rng, n: np.ones((n, 1)), {"x'": {"x^2": 1.0}})
    with pytest.raises(DataError, match=r"x0: the trajectory from \[1.0\] runs away near t = 1; start elsewhere"):
        explosion.simulate([1.0], [0.0, 2.0])
