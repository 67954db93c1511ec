"""The benchmark of laws with parameters: its truth, its rows and its page."""

from __future__ import annotations

import numpy as np

import exactsindy as es
from exactsindy_experiments.parameter_benchmark import CASES, NOISES, Row, append_row, exactness, page, read_rows


def test_common_terms_agree_with_enumeration():
    assert exactness(150, seed=1) == (150, 0)


def test_the_true_terms_are_those_of_the_right_hand_sides():
    rng = np.random.default_rng(0)
    for case in CASES:
        names = (*case.states, *(("u",) if case.control else ()))
        variables = es.Model.from_coefficients(
            {f"{name}'": {} for name in case.states}, controls=names[len(case.states) :], parameters=(case.parameter,)
        ).variables
        for i, terms in enumerate(case.terms.values()):
            columns, rates = [], []
            features = es.Terms(sorted(terms)).bind(variables)
            for _ in range(20):
                x, value, t = rng.normal(size=len(case.states)), float(rng.normal()), float(rng.uniform(0, 5))
                u = [] if case.control is None else case.control(np.array([t]))[0]
                columns.append(features.evaluate([[*x, *u, value]])[0])
                rates.append(case.rhs(t, x, value)[i])
            left = np.linalg.lstsq(np.array(columns), np.array(rates), rcond=None)[1]
            assert left.sum() < 1e-20


def test_rows_are_kept_and_the_page_counts_them(tmp_path):
    row = Row(CASES[0].name, NOISES[1], 0, True, True, False, True, True, False)
    append_row(tmp_path / "rows.csv", row)
    append_row(tmp_path / "rows.csv", row)
    assert read_rows(tmp_path / "rows.csv") == [row, row]
    text = page([row, row], (150, 0), "a machine")
    assert "| Hopf normal form | 1 % | 2 of 2 | 2 of 2 | 0 of 2 | 2 of 2 | 2 of 2 | 0 of 2 |" in text
    assert "150 random problems" in text
