"""Smoothed states, plain and guided by a model."""

from __future__ import annotations

import numpy as np

from exactsindy.data import Trajectories
from exactsindy.forms import IncrementForm, smooth, smooth_guided
from exactsindy.library import Polynomials
from exactsindy.systems import add_noise, noise_scale
from forms.cases import gram

STEP = 0.006
CUBIC = Polynomials(3)


def truth_of(system, data, library=CUBIC):
    return system.coefficients(library.bind(data).names)


def test_guided_states_are_closer_to_the_truth(lorenz, clean, noisy):
    truth = truth_of(lorenz, noisy)
    plain = smooth(noisy)
    assert np.allclose(plain.noise, 0.05 * noise_scale(clean), rtol=0.05)
    once = smooth_guided(noisy, CUBIC, truth)
    twice = smooth_guided(noisy, CUBIC, truth, start=once)
    errors = [np.sqrt(((s.values[0] - clean) ** 2).mean()) for s in (plain, once, twice)]
    assert errors[1] < 0.8 * errors[0]
    assert errors[2] < errors[1]
    given = IncrementForm("guided", model=truth, smoothed=once).problem(noisy, CUBIC)
    assert np.allclose(gram(given)[0], gram(IncrementForm("guided", model=truth).problem(noisy, CUBIC))[0])


def test_gaps_cut_a_trajectory(lorenz, clean):
    values = add_noise(clean, 0.05, np.random.default_rng(2))
    keep = np.r_[0:1000, 1300:3000]
    data = Trajectories.from_arrays(values[keep], time=STEP * keep, states=lorenz.states)
    truth = truth_of(lorenz, data)
    form = IncrementForm(model=truth)
    assert form.problem(data, CUBIC).n_samples == len(keep) - 2
    assert (np.abs(form.whiteness(data, CUBIC, truth).ratio - 1) < 0.1).all()
