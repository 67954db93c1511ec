"""Noisy oscillators as samples for trajectory fits."""

import numpy as np

import exactsindy as es
from exactsindy.forms import groups, smooth
from exactsindy.trajectory_fit import MeasuredTrajectories, features_of

LIBRARY = es.Polynomials(3)
T = np.arange(0.0, 20.0, 0.05)


def oscillator(t, mu=0.0):
    """x'' = -x with amplitude falling as exp(-mu t / 2), up to terms of second order in mu."""
    return np.exp(-mu * t / 2)[:, None] * np.column_stack([np.cos(t), -np.sin(t)])


def measured(clean, noise, seed, *, library=LIBRARY, t=T, **more):
    rng = np.random.default_rng(seed)
    data = es.Trajectories.from_arrays(clean + noise * rng.normal(size=clean.shape), time=t, states=("x", "v"), **more)
    return MeasuredTrajectories(smooth(data), groups(data, library))


def columns(m, *supports):
    names = features_of(m, 0).names
    return tuple(tuple(sorted(names.index(name) for name in terms)) for terms in supports)


def van_der_pol(t):
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0, "v": 1.0, "x^2 v": -1.0}})
    return model.simulate([1.0, 0.5], t).x
