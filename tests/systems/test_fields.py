"""Partial differential equations of the catalogue: laws, starts, noise."""

import numpy as np
import pytest

from exactsindy.errors import DataError
from exactsindy.model import Model
from exactsindy.systems import FIELD_SYSTEMS, add_field_noise, find_field_system

EVERY = pytest.mark.parametrize("system", FIELD_SYSTEMS.values(), ids=FIELD_SYSTEMS)


@EVERY
def test_the_library_holds_the_law(system):
    from exactsindy.library import Variables

    names = system.library.bind(Variables(system.names, axes=tuple(system.lengths))).names
    for terms in system.truth.values():
        assert set(terms) <= set(names)
    assert len(names) == {1: 19, 2: 109}[len(system.lengths)]


@pytest.mark.parametrize("name", ["burgers", "korteweg_de_vries", "fisher", "allen_cahn", "swift_hohenberg"])
def test_simulated_fields_obey_the_law(name):
    system = find_field_system(name)
    times = np.linspace(0, 0.005 * system.times[-1], 9)
    data = system.simulate(np.random.RandomState(1), points=128, times=times)
    assert data.shape == (128, 9)
    residual = Model.from_coefficients(system.truth).residual(data)["u_t"]
    rate = np.gradient(data["u"], times, axis=-1)
    assert np.sqrt(np.mean(residual[:, 2:-2] ** 2)) < 0.02 * np.sqrt(np.mean(rate**2))


def test_spirals_turn():
    system = find_field_system("reaction diffusion")
    data = system.simulate(np.random.RandomState(0), points=32, times=np.linspace(0, 0.2, 5))
    assert data.names == ("u", "v")
    assert data.periods == (20.0, 20.0)
    assert np.abs(data["u"]).max() < 1.5


def test_noise_is_relative_to_the_mean_size_over_time():
    system = find_field_system("allen_cahn")
    clean = system.simulate(np.random.RandomState(2), points=64, times=np.linspace(0, 1, 60))
    size = np.mean(np.sqrt(np.mean(clean["u"] ** 2, axis=0)))
    noise = add_field_noise(clean, 0.2, np.random.RandomState(3))["u"] - clean["u"]
    assert noise.std() == pytest.approx(0.2 * size, rel=0.03)


def test_messages():
    with pytest.raises(DataError, match=r"there is no field system 'burger'\. Did you mean 'burgers'"):
        find_field_system("burger")
    clean = find_field_system("burgers").simulate(np.random.RandomState(0), points=32, times=[0.0, 0.01, 0.02])
    with pytest.raises(DataError, match="fraction: got -1; expected a noise level"):
        add_field_noise(clean, -1, np.random.RandomState(0))
