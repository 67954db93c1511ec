"""Drawn data that mislead are what they are called, and the tables count what is said."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Notice
from exactsindy_experiments.misleading_benchmark import NOISES, notices_of, tables
from exactsindy_experiments.misleading_cases import KINDS, draw, ordinary
from exactsindy_experiments.random_systems import random_system


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "outlier"])
def test_clean_draws_are_recognised(kind):
    assert kind.split(":")[0] in {notice.kind for notice in notices_of(draw(kind, 4, 0.0))}


def test_draws_repeat_and_differ_by_seed():
    first, again, other = (draw("map", seed, 0.01)[0].states for seed in (2, 2, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_ordinary_data_are_not_accused():
    truth = random_system(4).system.truth
    assert notices_of(ordinary(4, 0.01), truth) == ()


def test_tables_count_data_sets_and_shares():
    alarms = [("a", noise, (Notice("map", "m"),) if noise == 0.2 else ()) for noise in NOISES]
    text = tables(alarms, [("copy", noise, noise < 0.1) for noise in NOISES])
    assert "| data sets | 1 | 1 | 1 | 1 | 1 | 1 | 6 |" in text
    assert "| map | 0 | 0 | 0 | 0 | 0 | 1 | 16.7 % |" in text
    assert "| copy | 1.00 | 1.00 | 1.00 | 1.00 | 0.00 | 0.00 |" in text
