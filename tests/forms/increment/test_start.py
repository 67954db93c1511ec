"""The regression from which a search starts."""

from __future__ import annotations

import numpy as np

from exactsindy.forms import StartRegression
from exactsindy.library import Polynomials
from forms.cases import on_support

STEP = 0.006
CUBIC = Polynomials(3)


def truth_of(system, data, library=CUBIC):
    return system.coefficients(library.bind(data).names)


def test_start_regression(lorenz, noisy):
    truth = truth_of(lorenz, noisy)
    form = StartRegression()
    ratios = form.drift_ratios(noisy, CUBIC, truth)
    assert ((ratios > 1e-4) & (ratios < 1)).all()
    weighted = StartRegression(drift_ratio=ratios)
    errors = [np.abs(on_support(f.problem(noisy, CUBIC), truth) - truth).max() for f in (form, weighted)]
    assert errors[1] < 1.0
    assert errors[1] < errors[0]
    assert weighted.problem(noisy, CUBIC).n_samples == 2999
    # Divided by the noise and the drift, what the truth leaves has about the size of the noise.
    assert np.all(weighted.problem(noisy, CUBIC).rss(truth) / 2999 < 2)
