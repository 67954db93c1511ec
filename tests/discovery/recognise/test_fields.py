"""A field whose ends do not match is not periodic."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery.recognise.fields import periodic_notices


def field(values, x, t, periodic=("x",)):
    return es.Field.from_arrays(values, dims=("x", "t"), coords={"x": x, "t": t}, periodic=periodic)


def test_a_front_called_periodic_is_told():
    x, t = np.linspace(0.0, 20.0, 100), np.linspace(0.0, 3.0, 40)
    front = 1.0 / (1.0 + np.exp(x[:, None] - 5.0 - t))
    (notice,) = periodic_notices(field(front, x, t))
    assert notice.kind == "ends"
    assert notice.message.startswith("'x' is called periodic, but from its last point to its first u jumps by")
    assert notice.message.endswith("the ends do not match. Leave out periodic='x'.")
    assert periodic_notices(field(front, x, t, periodic=())) == ()


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_a_periodic_wave_is_not(noise):
    x, t = np.arange(64) / 64, np.linspace(0.0, 3.0, 40)
    wave = np.sin(2 * np.pi * (x[:, None] - 0.3 * t)) + noise * np.random.default_rng(0).normal(size=(64, 40))
    assert periodic_notices(field(wave, x, t)) == ()


def test_discover_says_it():
    x, t = np.linspace(0.0, 20.0, 64), np.linspace(0.0, 3.0, 60)
    front = 1.0 / (1.0 + np.exp(x[:, None] - 5.0 - t))
    found = es.discover(field(front, x, t), seconds=5)
    assert [notice.kind for notice in found.warnings if notice.kind == "ends"] == ["ends"]
