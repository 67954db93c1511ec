"""Proper orthogonal decomposition."""

from __future__ import annotations

import numpy as np

from exactsindy.data import Field, pod


def travelling_wave():
    grid, times = np.linspace(0, 2 * np.pi, 50, endpoint=False), np.linspace(0, 10, 300)
    values = 3 * np.cos(grid[:, None] - times) + 0.1 * np.sin(2 * grid[:, None]) * np.cos(5 * times)
    return Field.from_arrays(values, dims=("x", "t"), coords={"x": grid, "t": times})


def test_pod_modes_are_orthonormal_energies_sorted_and_the_field_is_rebuilt():
    data = travelling_wave()
    result = pod(data, 3)
    flat = result.modes.reshape(3, -1)
    np.testing.assert_allclose(flat @ flat.T, np.eye(3), atol=1e-12)
    assert (np.diff(result.energies) < 0).all()
    np.testing.assert_allclose(result.share.sum(), 1.0)
    amplitudes = result.trajectories[0].states
    np.testing.assert_allclose((amplitudes**2).mean(axis=0), result.energies)
    np.testing.assert_allclose(result.reconstruct(amplitudes)[:, 0].T, data["u"], atol=1e-12)
    assert result.trajectories.state_names == ("a1", "a2", "a3")
    np.testing.assert_array_equal(result.trajectories[0].times, data.times)


def test_pod_without_centring_and_with_several_fields():
    planes = np.random.default_rng(1).normal(size=(2, 6, 7, 8))
    plane = Field.from_arrays(
        list(planes), names=("u", "v"), dims=("x", "y", "t"), coords={"x": 0.2, "y": 0.3, "t": 0.4}
    )
    result = pod(plane, 8, center=False)
    assert result.modes.shape == (8, 2, 6, 7)
    assert not result.mean.any()
    rebuilt = result.reconstruct(result.trajectories[0].states)
    np.testing.assert_allclose(np.moveaxis(rebuilt, 0, -1), planes, atol=1e-12)


def test_pod_signs_do_not_depend_on_the_sign_of_rounding():
    data = travelling_wave()
    for mode in pod(data, 3).modes:
        assert mode.ravel()[np.abs(mode).argmax()] > 0
