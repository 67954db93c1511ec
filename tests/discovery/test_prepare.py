"""The costly steps of a call are made once."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery import read, variants
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.prepare import prepare
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.request import Request, find_form
from exactsindy.selection import GrowthRatio, PathEvidence, folds

T = np.arange(0.0, 10.0, 0.02)
DATA = es.Trajectories.from_arrays(
    np.column_stack([np.cos(T), -np.sin(T)]) + 0.02 * np.random.default_rng(0).normal(size=(len(T), 2)), time=T
)
ONE = es.Settings(threads=1)


@pytest.fixture
def counted(monkeypatch):
    """How often a function of a module is called."""
    calls = []

    def count(module, name):
        function = getattr(module, name)

        def counting(*arguments, **options):
            calls.append(name)
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, counting)

    count(read, "smooth")
    count(variants, "smooth")
    count(folds, "weighted_sum")
    return calls


def test_states_are_smoothed_once_and_each_regression_is_summed_once(counted, monkeypatch):
    monkeypatch.setattr("exactsindy.discovery.select.is_unambiguous", lambda selection: False)
    monkeypatch.setattr("exactsindy.discovery.select.is_resolved", lambda selection: False)
    es.discover(DATA, degree=2, rule=PathEvidence(), settings=ONE)
    assert counted.count("smooth") == 1
    whole_sums = 3  # one for each variant, although there were three attempts
    resamples = 3  # of each attempt the sum of all folds, in units of which resamples are drawn
    assert counted.count("weighted_sum") == whole_sums + resamples


@pytest.mark.parametrize(("form", "count"), [("auto", 3), ("increment", 1), ("weak", 1)])
def test_the_regression_is_the_sum_of_its_parts(form, count):
    request = Request(es.Polynomials(1), find_form(form), None, "auto", 0.0, (), ONE)
    prepared = prepare(Measurement(DATA, DATA), request, Clock(ONE))
    assert len(prepared.variants) == count
    assert type(prepared.rule) is (PathEvidence if form == "auto" else GrowthRatio)
    assert (prepared.samples is None) == (form != "auto")
    for variant in prepared.variants:
        assert len(variant.folds) > 1
        assert variant.problem is variant.folds.whole
        whole = variant.form.problem(DATA, prepared.library)
        for part, block in zip(variant.problem.blocks, whole.blocks, strict=True):
            assert part.n_samples == block.n_samples
            np.testing.assert_allclose(part.factor.T @ part.factor, block.factor.T @ block.factor, rtol=1e-8, atol=1e-8)
