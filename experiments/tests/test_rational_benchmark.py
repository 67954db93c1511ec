"""Rational laws of the benchmark: data whose truth is known, and how answers are judged."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy_experiments.rational_benchmark import NOISES, RationalRow, cases, page
from exactsindy_experiments.rational_cases import (
    ATP,
    FAMILIES,
    fraction_of,
    glycolysis,
    labelled,
    progress_curves,
    same,
)


def test_rates_are_those_of_the_states():
    data = labelled("toggle", 0.0, 3)
    member = data[0]
    slopes = np.gradient(member.states[:, 0], member.times)
    assert np.abs(slopes - member.derivatives[:, 0])[2:-2].max() < 0.05
    assert progress_curves(0.1, 0, 5).n_samples == 5 * 51
    assert glycolysis(0.002, 1).n_samples == 92


def test_answers_are_compared_as_fractions():
    truth = FAMILIES["Michaelis-Menten with inflow"].fraction
    assert same((frozenset(("x", "x^2")), frozenset(("x", "x^2"))), truth)
    assert not same((frozenset(("1",)), frozenset(("1", "x"))), truth)


def test_a_right_answer_is_called_right():
    x = np.random.default_rng(0).uniform(0.1, 2.0, (60, 1))
    rates = 0.8 - 1.5 * x / (0.4 + x)
    data = es.Trajectories.from_arrays(x, time=0.1, states=("x",), derivatives=rates)
    found = es.discover(data, library=es.Rational(es.Polynomials(1), es.Polynomials(1)), threads=1)
    assert same(fraction_of(found, "x'"), FAMILIES["Michaelis-Menten with inflow"].fraction)
    assert len(ATP[0]) == 7


def test_every_law_has_as_many_draws():
    every = list(cases(NOISES, range(2)))
    assert len(every) == len(set(every)) == 2 * (6 * 4 + 6 * 3 + 4 + 4)


def test_page_lists_wrong_answers():
    rows = [
        RationalRow("labels", "toggle", 0.01, seed, seed != 602, False, 0.9, 2.0, "x' = -x")
        for seed in (301, 601, 602, 603)
    ]
    text = page(rows, "Here.")
    assert "| toggle | 2 of 3 |" in text
    assert "| toggle | 0.01 | 602 | 90 % | no | `x' = -x` |" in text
    assert "Printed with 90 % or more: 3 of 3, of which 1 wrong." in text
    assert "Earlier rules, seeds below 601: 1 of 1 at 0.01." in text


def test_parts_have_names():
    with pytest.raises(KeyError):
        list(cases(["nothing"], [0]))
