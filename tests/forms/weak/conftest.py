"""Noisy Lorenz data for the tests of weak rows."""

import numpy as np
import pytest

from exactsindy.systems import lorenz
from forms.cases import QUADRATIC, STEP, noisy_lorenz


@pytest.fixture(scope="module")
def clean():
    return lorenz().simulate([1.0, 2.0, 20.0], np.arange(0, 8, STEP))


@pytest.fixture(scope="module")
def data(clean):
    return noisy_lorenz(clean, 0)


@pytest.fixture(scope="module")
def truth(data):
    return lorenz().coefficients(QUADRATIC.bind(data).names)
