"""Whitened increments of modes, block by block."""

from __future__ import annotations

import numpy as np

from exactsindy.forms import ModalForm, smooth_field
from forms.cases import WIDE as LIBRARY
from forms.cases import gram, noisy_burgers


def test_folds_sum_to_the_whole_and_blocks_do_not_show(monkeypatch):
    data, truth, _ = noisy_burgers(0.1)
    form = ModalForm(model=truth)
    whole = form.problem(data, LIBRARY)
    monkeypatch.setattr("exactsindy.forms.modal.mode_rows._BLOCK_NUMBERS", 1)
    folds = form.folds(data, LIBRARY, 4)
    assert sum(fold.n_samples for fold in folds) == whole.n_samples
    first, second = gram(whole)[0], gram(sum(folds))[0]
    norms = np.sqrt(np.diag(first))
    assert np.abs((first - second) / np.outer(norms, norms)).max() < 1e-9


def test_integrals_of_the_library_are_formed_once(monkeypatch):
    data, truth, _ = noisy_burgers(0.1)
    smoothed = smooth_field(data)
    first = ModalForm(smoothed=smoothed).problem(data, LIBRARY)
    monkeypatch.setattr("exactsindy.forms.modal.modal_library.ModalLibrary.columns", None)
    again = ModalForm(smoothed=smoothed).problem(data, LIBRARY)
    assert again.fingerprint == first.fingerprint
    monkeypatch.undo()
    monkeypatch.setattr("exactsindy.forms.modal.mode_rows._KEPT_NUMBERS", 0)
    apart = smooth_field(data)
    assert ModalForm(smoothed=apart).problem(data, LIBRARY).fingerprint == first.fingerprint
    assert not apart.store
    assert ModalForm(model=truth, smoothed=smoothed).problem(data, LIBRARY).fingerprint != first.fingerprint
