"""Shares of terms in the right-hand side: the definition, by samples and by rows, and where they are shown."""

from __future__ import annotations

import json

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import DataError
from exactsindy.library import mathml_term, parse_term
from exactsindy.model import Model, percent

X = np.random.default_rng(0).normal(size=(50, 2))
MODEL = Model.from_coefficients({"x'": {"x": -1.0, "x y": 0.5}, "y'": {"1": 2.0}, "z'": {}}, variables=("x", "y", "z"))


def rms(values):
    return np.sqrt(np.mean(values**2))


def test_the_share_is_rms_of_the_part_over_rms_of_the_sum():
    x, y = X.T
    shares = MODEL.shares(np.column_stack([X, x]), 0.1)
    whole = rms(-x + 0.5 * x * y)
    assert shares["x'"] == pytest.approx({"x": rms(x) / whole, "x y": 0.5 * rms(x * y) / whole})
    assert shares["y'"] == {"1": pytest.approx(1.0)}
    assert shares["z'"] == {}
    assert Model.from_coefficients({"x'": {}}).shares(X[:, :1], 0.1) == {"x'": {}}


def test_all_trajectories_count_by_their_samples():
    runs = [np.column_stack([X[:30], X[:30, 0]]), np.column_stack([X[30:], X[30:, 0]])]
    data = es.Trajectories.from_arrays(runs, time=0.1, states=("x", "y", "z"))
    together = MODEL.shares(np.column_stack([X, X[:, 0]]), 0.1)
    assert MODEL.shares(data)["x'"] == pytest.approx(together["x'"])


def test_samples_where_a_term_is_not_defined_do_not_count():
    model = Model.from_coefficients({"x'": {"x": 1.0, "log(x)": 1.0}})
    x = np.array([1.0, 2.0, 3.0, -1.0])
    good = x[:3]
    assert model.shares(x[:, None], 0.1)["x'"]["x"] == pytest.approx(rms(good) / rms(good + np.log(good)))


def test_rows_of_a_regression_serve_too():
    theta = np.column_stack([X[:, 0], X[:, 0] * X[:, 1], X[:, 1]])
    y = theta @ [-1.0, 0.5, 0.0]
    problem = es.Problem.from_arrays(theta, y, names=["x", "x y", "y"], target_names=["x'"])
    model = Model.from_solution(es.solve(problem, 2), variables=("x", "y"))
    assert model.shares(problem)["x'"] == pytest.approx(model.shares(X, 0.1)["x'"])


def test_terms_that_cancel_have_no_finite_share():
    model = Model.from_coefficients({"x'": {"x": 1.0, "y": -1.0}, "y'": {"x": 1.0}})
    assert model.shares([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], 0.1)["x'"] == {"x": np.inf, "y": np.inf}
    assert percent(np.inf) == "-"


def test_a_model_of_fields_asks_for_its_regression(burgers):
    with pytest.raises(DataError, match="pass the Problem it was fitted to"):
        burgers.model.shares(burgers.data)
    assert burgers.shares == burgers.model.shares(burgers.problem)
    assert set(burgers.shares["u_t"]) == {"u_xx", "u u_x"}


def test_shares_are_shown_everywhere(oscillator, burgers, tmp_path):
    for found in (oscillator, burgers):
        record = json.loads(json.dumps(found.to_dict()))
        assert record["shares"] == found.shares == es.Discovery.load(found.save(tmp_path / "run")).shares
        for row in found.model.rows:
            assert (
                set(found.shares[row.name])
                == {term.name for term in row.terms}
                == set(record["standard_errors"][row.name])
            )
            for term in row.terms:
                shown = percent(found.shares[row.name][term.name])
                assert f"{shown}\n" in f"{found.coefficients}\n"
                if len(row.terms) > 1:
                    assert f"{term.name} {shown}" in str(found)
                    assert f"{term.name} {shown}" in found._repr_html_()
    text = burgers.report(tmp_path / "report.html").read_text(encoding="utf-8")
    for name, share in burgers.shares["u_t"].items():
        assert f"<td>{mathml_term(parse_term(name, burgers.model.variables))}</td>" in text
        assert f"<td>{percent(share)}</td>" in text
    assert oscillator.at(k=2).shares != oscillator.shares


def test_one_equation_of_the_table():
    table = Model.from_coefficients({"x'": {"x": -1.0}, "y'": {"y": 3.0, "x": 1.0}}).coefficients
    assert table["y'"] == table[1] == {"y": 3.0, "x": 1.0}
