"""Libraries so small that there is nothing to compare."""

from __future__ import annotations

import math

import numpy as np

import exactsindy as es


def test_a_library_of_one_term_is_chosen_or_not():
    t = np.arange(0.0, 5.0, 0.02)
    found = es.discover(np.exp(-t), time=t, states=("x",), library=es.Terms(["x"]))
    assert found.model.equations(3) == ["x' = -x"]
    assert math.isnan(found.selection.confidence["x'"])
