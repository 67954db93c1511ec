"""Which modes hold signal, and how they are smoothed in time."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.discovery import variants
from exactsindy.forms import ModalForm, smooth_field, smooth_field_guided
from exactsindy.forms.modal.mode_smoothing import TimeBasis, smooth_modes
from exactsindy.forms.modal.modes import spectra
from forms.cases import WIDE as LIBRARY
from forms.cases import noisy_burgers, on_support


def test_noise_and_cutoff_are_found():
    data, _, noise = noisy_burgers(0.3)
    found = spectra(data)
    assert found.noise[0] == pytest.approx(noise, rel=0.02)
    smoothed = smooth_field(data)
    assert 3 <= smoothed.cutoff <= 12
    clean, _, _ = noisy_burgers(0.0)
    x = smoothed.box.to_grid(smoothed.values[0], (128,))
    error = np.sqrt(((x.T - clean.values[0]) ** 2).mean())
    assert error < 0.2 * noise


def test_sure_picks_the_right_amount_of_smoothing():
    n = 200
    t = np.linspace(0, 1, n)
    rng = np.random.default_rng(0)
    slow = np.stack([np.exp(2j * np.pi * t), np.exp(9j * np.pi * t)], axis=1)
    noise = (rng.normal(size=(n, 2)) + 1j * rng.normal(size=(n, 2))) * np.sqrt(0.5) * 0.5
    basis = TimeBasis.of(n)
    smooth, _ = smooth_modes(slow + noise, 0.25, basis)
    assert np.abs(smooth - slow).std() < 0.2
    cosines = TimeBasis((2 - 2 * np.cos(np.pi * np.arange(n) / n)) ** 3, None)
    other, _ = smooth_modes(slow + noise, 0.25, cosines)
    assert np.abs((other - smooth)[20:-20]).max() < 0.15
    assert np.allclose(basis.compose(basis.analyse(slow)), slow)
    assert np.allclose(cosines.compose(cosines.analyse(slow)), slow)


def test_guided_field_is_closer_to_the_truth():
    data, truth, _ = noisy_burgers(1.0)
    clean = noisy_burgers(0.0)[0].values[0]
    plain = smooth_field(data)
    guided = smooth_field_guided(data, LIBRARY, truth)
    errors = [np.sqrt(((s.box.to_grid(s.values[0], (128,)).T - clean) ** 2).mean()) for s in (plain, guided)]
    assert errors[1] < errors[0]
    assert smooth_field_guided(data, LIBRARY, None, start=guided) is guided
    again = ModalForm(model=truth, smoothed=guided).problem(data, LIBRARY)
    assert np.abs(on_support(again, truth) - truth).max() < 0.3


def test_fewer_modes_are_used_where_rows_or_points_are_many(monkeypatch):
    data, _, _ = noisy_burgers(0.01)
    smoothed = smooth_field(data)
    assert variants.few_modes(smoothed) is smoothed
    monkeypatch.setattr(variants, "_MOST_ROWS", 2 * 150 * 10)
    monkeypatch.setattr(variants, "_MOST_POINTS", 36)
    less = variants.few_modes(smoothed)
    # Rows need at most ten modes; 3 K + k + 2 points of products fit into 36.
    assert less.cutoff < smoothed.cutoff
    assert less.kept.sum() <= 10
    assert less.cutoff <= less.box.largest[0] == (36 - less.cutoff - 2) // 3 < smoothed.box.largest[0]
    again = smooth_field_guided(data, LIBRARY, np.zeros((1, 19)), start=less)
    assert again.cutoff == less.cutoff


def test_modes_beyond_a_box_are_dropped():
    data, _, _ = noisy_burgers(0.1)
    smoothed = smooth_field(data)
    k = smoothed.box.largest[0] - 2
    less = smoothed.within((k,))
    assert less.values.shape[-1] == less.score.shape[-1] == k + 1
    assert np.array_equal(less.values, smoothed.values[..., : k + 1])
