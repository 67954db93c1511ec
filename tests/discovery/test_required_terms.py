"""Terms that constraints require are part of the answer, not all of it."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import numpy as np
import pytest
from typer.testing import CliRunner

import exactsindy as es
from exactsindy.cli import app
from exactsindy.datasets import dataset
from exactsindy.errors import SolverError
from exactsindy.model import Model

ONE = es.Settings(seconds=60.0, threads=1)
TERMS = {"x'": {"x", "y"}, "y'": {"x", "y", "x z"}, "z'": {"z", "x y"}}


def discovered(constraints, **options):
    options = {"library": es.Polynomials(2), "k_max": 6, "settings": ONE, **options}
    return es.discover(dataset("lorenz"), constraints=constraints, **options)


def terms_of(found):
    return {row.name: {term.name for term in row.terms} for row in found.model.rows}


@pytest.fixture(scope="module")
def fixed():
    return discovered(["y': x z == -1"])


def test_a_known_coefficient(fixed):
    assert terms_of(fixed) == TERMS
    assert fixed.solution.terms["y'"]["x z"] == -1.0
    assert all(choice.confidence > 0.9 for choice in fixed.selection.choices)
    assert fixed.solution.optimal
    assert not any(notice.kind == "unproved" for notice in fixed.warnings)


def test_a_known_coefficient_has_no_standard_error(fixed, tmp_path):
    (row,) = [row for row in fixed.model.rows if row.name == "y'"]
    errors = dict(zip([term.name for term in row.terms], row.standard_errors, strict=True))
    free = discovered([]).model.rows[1]
    before = dict(zip([term.name for term in free.terms], free.standard_errors, strict=True))
    assert math.isnan(errors["x z"])
    assert 0 < errors["x"] < before["x"]  # one coefficient less to estimate
    assert "(-1 fixed) x z" in str(fixed)
    fixed.model.save(tmp_path / "model.json")
    again = Model.load(tmp_path / "model.json").rows[1].standard_errors
    np.testing.assert_array_equal(again, row.standard_errors)
    assert fixed.report(tmp_path / "report.html").stat().st_size > 0


@pytest.mark.parametrize(
    "constraints",
    [
        [es.constraints.Require("y'", "x z")],
        [es.constraints.Bounds("y'", "x", 5.0, 100.0)],
        ["y': x >= 5"],
        ["y': x z == -1", "y': x == 28", "y': y == -1"],
        ["x': x == -10", "z': x y == 1"],
    ],
    ids=str,
)
def test_required_terms(constraints):
    assert terms_of(discovered(constraints)) == TERMS


@pytest.mark.parametrize("rule", [es.selection.GrowthRatio(), es.selection.EBIC()], ids=["growth", "ebic"])
def test_other_rules(rule):
    found = terms_of(discovered(["y': x z == -1"], rule=rule))
    assert TERMS["y'"] <= found["y'"]
    assert len(found["y'"]) == 3 or isinstance(rule, es.selection.BIC)


def test_a_shared_budget():
    assert terms_of(discovered(["y': x z == -1"], k_max=es.Total(10))) == TERMS


def test_a_met_bound_has_no_standard_error():
    row = discovered(["y': x >= 30"]).model.rows[1]
    errors = dict(zip([term.name for term in row.terms], row.standard_errors, strict=True))
    assert math.isnan(errors["x"])


def test_constraints_that_no_size_satisfies():
    required = [es.constraints.Require("y'", name) for name in ("x", "y", "z", "x y", "x z")]
    with pytest.raises(SolverError, match="y': no model with at most 4 terms satisfies the constraints"):
        discovered(required, k_max=4)


def test_on_the_command_line():
    path = str(files("exactsindy.datasets") / "lorenz.csv")
    arguments = ["discover", path, "--degree", "2", "--constraint", "y': x z == -1", "--json"]
    result = CliRunner().invoke(app, [*arguments, "--threads", "1", "--quiet"])
    assert result.exit_code == 0, result.output
    coefficients = json.loads(result.stdout)["coefficients"]
    assert {name: set(row) for name, row in coefficients.items()} == TERMS
    assert coefficients["y'"]["x z"] == -1.0


def test_a_size_that_constraints_leave_without_an_answer_is_refused(fixed):
    with pytest.raises(
        SolverError, match=r"at\(k=0\): no model of y' of this size .* the smallest that does has 1 terms"
    ):
        fixed.at(k=0)
    assert fixed.at(k={"x'": 0}).solution.support[0] == ()


def test_the_confidence_is_about_the_terms_beyond_those_required(fixed):
    assert [choice.required for choice in fixed.selection.choices] == [0, 1, 0]
    assert fixed.verdict["y'"].endswith("in the terms beyond those required")
    assert "required" not in fixed.verdict["x'"]
