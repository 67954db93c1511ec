"""Random constrained problems of every type and mixtures against brute force (see constrained_cases)."""

from __future__ import annotations

import numpy as np
import pytest

from constrained_cases import KINDS, Case


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", range(2))
def test_one_kind_against_brute_force(kind, batch):
    for seed in range(12):
        Case([batch, seed, KINDS.index(kind)], [kind]).check()


@pytest.mark.parametrize("batch", range(16))
def test_mixtures_against_brute_force(batch):
    for seed in range(42):
        rng = np.random.default_rng([7, batch, seed])
        Case([batch, seed], [str(kind) for kind in rng.choice(KINDS, size=int(rng.integers(2, 5)))]).check()


@pytest.mark.parametrize("limit", [1.1, 1.5, 4.0])
@pytest.mark.parametrize("batch", range(6))
def test_coefficient_limit_against_brute_force(batch, limit):
    """A low limit excludes supports whose columns resemble each other."""
    for seed in range(100):
        rng = np.random.default_rng([9, batch, seed])
        kinds = [str(kind) for kind in rng.choice(KINDS, size=int(rng.integers(1, 4)))]
        Case([200 + batch, seed], kinds, limit, alike=5.0).check()


@pytest.mark.campaign
@pytest.mark.parametrize("batch", range(100))
def test_many_mixtures_against_brute_force(batch):
    for seed in range(100):
        rng = np.random.default_rng([8, batch, seed])
        Case([100 + batch, seed], [str(kind) for kind in rng.choice(KINDS, size=int(rng.integers(1, 5)))]).check()


def test_other_signs_of_the_next_best_support():
    """With one sign of a term that must have a certain size it fits badly, with the other it is a smaller support."""
    Case([9051123, 34158], ["Equal", "SemiContinuous", "Equal", "Sign"]).check()
