"""What forms offer beyond the regression."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Trajectories
from exactsindy.errors import ProblemError
from exactsindy.forms import Form, IncrementForm, ModalForm, StartRegression, StrongForm, WeakForm, smooth
from exactsindy.library import Polynomials

T = np.arange(0.0, 2.0, 0.01)
DATA = Trajectories.from_arrays(np.exp(-T), time=T, states=("x",))


@pytest.mark.parametrize("form", [StrongForm(), WeakForm(), IncrementForm(), ModalForm()])
def test_every_form_says_what_it_offers(form):
    assert isinstance(form, Form)
    assert form.smoothed is None
    assert not form.whitened


def test_a_trial_model_whitens_and_smoothed_states_are_kept():
    model, states = [[0.0, -1.0]], smooth(DATA)
    assert IncrementForm(smoothed=states).smoothed is states
    for form in (IncrementForm(model=model), WeakForm(model=model), ModalForm(model=model)):
        assert form.whitened


def test_a_form_of_ones_own_inherits_the_defaults():
    class Doubled(Form):
        def problem(self, data, library):
            return 2.0 * StrongForm().problem(data, library)

        def folds(self, data, library, count):
            return tuple(2.0 * fold for fold in StrongForm().folds(data, library, count))

    form = Doubled()
    assert form.smoothed is None
    assert not form.whitened
    with pytest.raises(ProblemError, match=r"Doubled\.whiteness: the rows of this form are not whitened"):
        form.whiteness(DATA, Polynomials(1), [[0.0, -1.0]])


def test_the_start_regression_is_no_form():
    assert not isinstance(StartRegression(), Form)
