"""Fourier modes of periodic fields."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.forms.modal.modes import Box


@pytest.mark.parametrize("sizes", [(32,), (24, 20), (12, 16, 10)])
def test_modes_and_grid_are_inverse(sizes):
    box = Box(sizes, tuple(float(n) for n in sizes), tuple(n // 4 for n in sizes))
    rng = np.random.default_rng(0)
    shape = tuple(len(index) for index in box.indices)
    rough = rng.normal(size=(2, *shape)) + 1j * rng.normal(size=(2, *shape))
    grid = box.to_grid(rough, sizes)
    modes = box.of_grid(grid)
    assert np.allclose(box.to_grid(modes, sizes), grid)
    finer = tuple(2 * n for n in sizes)
    assert np.allclose(box.of_grid(box.to_grid(modes, finer)), modes)
    assert np.allclose(box.to_grid(modes, finer)[(slice(None), *[slice(None, None, 2)] * len(sizes))], grid)
    full = np.fft.rfftn(grid, axes=range(1, 1 + len(sizes)))
    where = np.ix_(range(2), *(np.mod(i, n) for i, n in zip(box.indices, sizes, strict=True)))
    assert np.allclose(full[where], modes)


def test_every_real_degree_of_freedom_occurs_once():
    box = Box((16, 16), (1.0, 1.0), (3, 3))
    # 7 x 7 real numbers: the constant and 24 complex modes.
    assert box.independent.sum() == 25
