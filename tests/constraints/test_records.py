"""Constraints as records: what they write, and what they refuse."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import exactsindy as es
from exactsindy.constraints import compile_rules

NAMES = ["1", "x", "y", "x^2", "x y", "y^2", "x^3", "x^2 y", "x y^2", "y^3"]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 60))
    theta = np.column_stack([x**i * y**j for i, j in [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]])
    theta = np.column_stack([theta, x**3, x**2 * y, x * y**2, y**3])
    return es.Problem.from_arrays(theta, rng.normal(size=(60, 2)), names=NAMES, target_names=["x'", "y'"])


def refused(problem, constraints, text):
    with pytest.raises(es.errors.ConstraintError) as caught:
        compile_rules(problem, constraints)
    assert text in str(caught.value)


def readable(rules, row):
    return {rules.label(v): c for v, c in zip(row.variables, row.coefs, strict=True)}


# What they write


def test_the_gradient_system_of_the_duffing_experiment(problem):
    """The six equalities of the paper's experiment."""
    rules = compile_rules(problem, [es.constraints.GradientSystem()])
    rows = [readable(rules, row) for row in rules.equalities]
    assert rows == [
        {"x': y": 1, "y': x": -1},
        {"x': x y": 1, "y': x^2": -2},
        {"x': y^2": 2, "y': x y": -1},
        {"x': x^2 y": 1, "y': x^3": -3},
        {"x': x y^2": 2, "y': x^2 y": -2},
        {"x': y^3": 3, "y': x y^2": -1},
    ]
    assert all(row.rhs == 0 and row.source == 0 for row in rules.equalities)
    assert rules.components() == [(0, 1)]


def test_gradient_by_coordinates(problem):
    named = compile_rules(problem, [es.constraints.GradientSystem({"x'": "x", "y'": "y"})])
    assert named.equalities == compile_rules(problem, [es.constraints.GradientSystem()]).equalities


def test_hamiltonian_is_free_of_divergence(problem):
    rules = compile_rules(problem, [es.constraints.Hamiltonian([("x", "y")])])
    rows = [readable(rules, row) for row in rules.equalities]
    # x' = dH/dy, y' = -dH/dx: d x'/dx + d y'/dy = 0.
    assert {"x': x": -1, "y': y": -1} in rows
    assert {"x': x^2": -2, "y': x y": -1} in rows
    assert len(rows) == 6


def test_quadratic_terms_that_do_no_work(problem):
    rules = compile_rules(problem, [es.constraints.EnergyPreserving(weights={"y": 3})])
    rows = [readable(rules, row) for row in rules.equalities]
    assert rows == [
        {"x': x^2": 1},
        {"x': x y": 1, "y': x^2": 3},
        {"x': y^2": 1, "y': x y": 3},
        {"y': y^2": 3},
    ]
    # Single coefficients that must be 0 are absent.
    assert [readable(rules, row) for row in rules.presence] == [{"x': x^2": 1}, {"y': y^2": 1}]


def test_symmetry_by_signs_forbids_even_terms(problem):
    rules = compile_rules(problem, [es.constraints.Symmetry({"x": -1, "y": -1})])
    even = {rules.label(row.variables[0]) for row in rules.presence}
    assert even == {f"{e}: {t}" for e in ("x'", "y'") for t in ("1", "x^2", "x y", "y^2")}


def test_symmetry_by_rotation(problem):
    """Turning by 90 degrees: f(Mx) = M f(x) makes the linear part a multiple of a rotation."""
    rules = compile_rules(problem, [es.constraints.Symmetry([[0, -1], [1, 0]])])
    null = _null_space(rules)
    coef = null @ np.random.default_rng(1).normal(size=null.shape[1])
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    point = np.array([0.3, -1.2])
    assert np.allclose(_field(coef, turn @ point), turn @ _field(coef, point))
    assert null.shape[1] > 0


def test_conserved_quantity(problem):
    rules = compile_rules(problem, [es.constraints.Conserved("x^2 + 2*y^2")])
    coef = _null_space(rules) @ np.random.default_rng(2).normal(size=_null_space(rules).shape[1])
    for point in ([0.3, -1.2], [1.5, 0.2]):
        assert abs(np.dot([2 * point[0], 4 * point[1]], _field(coef, np.array(point)))) < 1e-12
    same = compile_rules(problem, [es.constraints.Conserved({"x^2": 1, "y^2": 2})])
    assert same.equalities == rules.equalities


def _field(coef, point):
    x, y = point
    return coef.reshape(2, 10) @ np.array([1, x, y, x**2, x * y, y**2, x**3, x**2 * y, x * y**2, y**3])


def _null_space(rules):
    matrix = np.zeros((len(rules.equalities), 20))
    for line, row in zip(matrix, rules.equalities, strict=True):
        line[list(row.variables)] = row.coefs
    _, values, vt = np.linalg.svd(matrix)
    return vt[np.sum(values > 1e-10) :].T


def test_hierarchy(problem):
    strong = compile_rules(problem, [es.constraints.Hierarchy(equations="x'")])
    rows = [readable(strong, row) for row in strong.presence]
    assert {"x': x y": 1, "x': y": -1} in rows
    assert {"x': x y": 1, "x': x": -1} in rows
    assert {"x': x^2": 1, "x': x": -1} in rows
    assert not any("x': 1" in row for row in rows)
    weak = compile_rules(problem, [es.constraints.Hierarchy("weak", ["x'"])])
    assert {"x': x y": 1, "x': x": -1, "x': y": -1} in [readable(weak, row) for row in weak.presence]


def test_correlated_pairs_are_excluded(problem):
    rules = compile_rules(problem, [es.constraints.MaxCorrelation(0.7, "x")])
    pairs = {tuple(readable(rules, row)) for row in rules.presence}
    assert ("x': x", "x': x^3") in pairs
    assert ("x': x", "x': y") not in pairs


@pytest.mark.parametrize("order", ["target", "feature"])
def test_matrices_in_both_orders(problem, order):
    lhs = np.zeros((1, 2, 10))
    lhs[0, 0, 2], lhs[0, 1, 1] = 1.0, -1.0  # x': y and y': x
    flat = lhs.reshape(1, 20) if order == "target" else lhs.transpose(0, 2, 1).reshape(1, 20)
    rules = compile_rules(problem, [es.constraints.LinearMatrix(flat, [0.5], order)])
    assert readable(rules, rules.equalities[0]) == {"x': y": 1, "y': x": -1}
    assert rules.equalities[0].rhs == 0.5


def test_single_inequalities_become_bounds(problem):
    rules = compile_rules(problem, ["x': -2*x <= 4", "x': x <= 3", es.constraints.Sign("y", "y", "-")])
    assert (rules.lower[1], rules.upper[1], rules.upper[12]) == (-2, 3, 0)
    assert not rules.inequalities


def test_names_may_be_indices_terms_and_reordered_products(problem):
    rules = compile_rules(
        problem,
        [es.constraints.Forbid(0, 4), es.constraints.Forbid("x", "y x"), es.constraints.Forbid("x'", problem.terms[4])],
    )
    assert [row.variables for row in rules.presence] == [(4,), (4,), (4,)]


def test_groups(problem):
    rules = compile_rules(
        problem,
        [
            es.constraints.AtMost(1, "y"),
            es.constraints.AtMost(1, {"x'": ["x", "y"]}),
            es.constraints.Exactly(1, [("x", "x")]),
        ],
    )
    assert [row.variables for row in rules.presence] == [tuple(range(10, 20)), (1, 2), (1,), (1,)]


# Text


@pytest.mark.parametrize(
    "text, coefs, relation, rhs",
    [
        ("y': x z == -1", {("y'", "x z"): 1}, "==", -1),
        ("x': x + y == 0", {("x'", "x"): 1, ("x'", "y"): 1}, "==", 0),
        ("x': y == y': x", {("x'", "y"): 1, ("y'", "x"): -1}, "==", 0),
        ("x': 2*x y - 1e-3 x^2 <= 3 x - 2", {("x'", "x y"): 2, ("x'", "x^2"): -0.001, ("x'", "x"): -3}, "<=", -2),
        ("x: -y + 2 >= 1", {("x", "y"): -1}, ">=", -1),
        ("x': 1*1 == 0", {("x'", "1"): 1}, "==", 0),
        ("x': sin(2 x - 1) - x == .5", {("x'", "sin(2 x - 1)"): 1, ("x'", "x"): -1}, "==", 0.5),
    ],
)
def test_text(text, coefs, relation, rhs):
    found = es.constraints.parse_constraint(text)
    assert (dict(found.coefs), found.relation, found.rhs) == (coefs, relation, rhs)


@pytest.mark.parametrize(
    "text, why",
    [
        ("x': x", "expected one of ==, <=, >= once"),
        ("x': x == 1 == 2", "expected one of ==, <=, >= once"),
        ("x == 1", "no equation is named before 'x'"),
        ("x': 1 == 2", "it names no coefficient"),
        ("x': x ==", "one side is empty"),
    ],
)
def test_text_that_cannot_be_read(text, why):
    with pytest.raises(es.errors.ConstraintError, match="cannot read the constraint") as caught:
        es.constraints.parse_constraint(text)
    assert why in str(caught.value)


def test_text_must_be_text():
    with pytest.raises(es.errors.ConstraintError, match="parse_constraint: got int: expected text"):
        es.constraints.parse_constraint(3)


# What they refuse


@pytest.mark.parametrize(
    "constraint, text",
    [
        (es.constraints.Forbid("x'", "xx"), "constraints[0]: there is no term 'xx'. Did you mean 'x'"),
        (es.constraints.Forbid("q", "x"), "constraints[0]: there is no target 'q'"),
        (es.constraints.Equal("x", ("x'", "y")), "'x' is no coefficient: expected a pair (equation, term)"),
        (es.constraints.Equal(("x", "y"), ("x'", "y")), "Equal names the same coefficient x': y twice."),
        (es.constraints.NotBoth(("x", "y"), ("x'", "y")), "NotBoth names the same term x': y twice; use Forbid"),
        (es.constraints.Linear([1, 2]), "Linear(coefs=[1, 2]): expected a mapping"),
        (es.constraints.Linear({("x", "x"): "a"}), "coefs='a': expected a number."),
        (es.constraints.Linear({("x", "x"): 1}, "<"), "relation '<': expected '==', '<=' or '>='."),
        (es.constraints.Linear({("x", "x"): 0}, "==", 1), "says 0 == 1: no coefficients can do that."),
        (es.constraints.Linear({("x", "x"): 1}, "==", np.inf), "rhs=inf: expected a finite number."),
        (es.constraints.Bounds("x", "x", 2, 1), "Bounds(2, 1): no number lies between them."),
        (es.constraints.Sign("x", "x", "0"), "sign='0': expected '+' or '-'."),
        (es.constraints.SemiContinuous("x", "x", 2, 1), "least=2, most=1: expected 0 <= least <= most."),
        (es.constraints.AtMost(-1, "x"), "count=-1: expected a whole number >= 0."),
        (es.constraints.AtMost(1, []), "the group is empty."),
        (es.constraints.AtMost(1, 5), "5 is no group: expected pairs"),
        (es.constraints.AtMost(1, [("x", "x"), ("x'", "x")]), "the group names a coefficient twice."),
        (es.constraints.AtLeast(3, [("x", "x")]), "at least 3 of 1 terms cannot be present."),
        (es.constraints.Hierarchy("loose"), "kind='loose': expected 'strong' or 'weak'."),
        (es.constraints.SameSupport(["x"]), "SameSupport needs at least two different equations."),
        (es.constraints.MaxCorrelation(2), "limit=2: expected a number from 0 to 1."),
        (
            es.constraints.LinearMatrix(np.zeros((1, 3)), [0]),
            "lhs has shape (1, 3): expected (rows, 20) for 2 equations and 10 terms.",
        ),
        (
            es.constraints.LinearMatrix(np.zeros((1, 20)), [0, 1]),
            "rhs has shape (2,): expected (1,), one number per row of lhs.",
        ),
        (es.constraints.LinearMatrix(np.zeros((1, 20)), [0], "rows"), "order='rows': expected 'target' or 'feature'."),
        (es.constraints.LinearMatrix(np.full((1, 20), np.nan), [0]), "lhs has NaN or infinite entries."),
        (es.constraints.LinearMatrix([["a"]], [0]), "lhs is not an array of numbers."),
        (es.constraints.Hamiltonian([("x",)]), "pairs holds ('x',): expected pairs (q, p) of state names."),
        (
            es.constraints.Symmetry(np.eye(3)),
            "matrix has shape (3, 3): expected (2, 2) finite numbers, in the order x, y.",
        ),
        (es.constraints.Symmetry({"z": -1}), "matrix names 'z': the states are x, y."),
        (es.constraints.Conserved("x^2 + z^2"), "quantity depends on 'z': the states are x, y."),
        (es.constraints.Conserved("sin(x)"), "'sin(x)' in the quantity is no product of powers such as 'x^2 y'."),
        (es.constraints.Conserved(3), "quantity=3: expected text such as 'x^2 + y^2' or a mapping."),
        (es.constraints.Conserved("2"), "the quantity '2' depends on no state."),
        (3, "constraints[0] is of type int: expected a constraint such as Equal(...)"),
    ],
)
def test_errors(problem, constraint, text):
    refused(problem, [constraint], text)


def test_contradictions_are_named(problem):
    refused(
        problem,
        [es.constraints.Bounds("x", "x", 1, 2), es.constraints.Bounds("x", "x", 3, 4)],
        "constraints[1] contradicts constraints[0]: the coefficient x': x would have to be >= 3 and <= 2.",
    )
    refused(
        problem,
        [es.constraints.Require("x", "x"), es.constraints.Forbid("x", "x")],
        "constraints[0] makes the term x': x present, constraints[1] forbids it: drop one of them.",
    )
    refused(
        problem,
        [es.constraints.SemiContinuous("x", "x", 1, 2), es.constraints.SemiContinuous("x", "x", 0, 0.5)],
        "constraints[1]: a present x': x would need a size of at least 1 and at most 0.5; use Forbid to exclude it.",
    )


def test_polynomials_only(problem):
    other = es.Problem.from_arrays(np.eye(3), np.ones((3, 2)), names=["x", "y", "sin(x)"], target_names=["x'", "y'"])
    refused(other, [es.constraints.GradientSystem()], "the term 'sin(x)' is no product of powers of variables")


def test_terms_an_equation_does_not_have():
    rng = np.random.default_rng(3)
    parts = [
        es.Problem.from_arrays(rng.normal(size=(9, 2)), rng.normal(size=9), names=names, target_names=[target])
        for names, target in ((["a", "b"], "x'"), (["b", "c"], "y'"))
    ]
    problem = es.Problem.from_blocks(parts)
    refused(problem, [es.constraints.Forbid("x'", "c")], "the equation x' has no term 'c' in its library.")
    refused(
        problem,
        [es.constraints.LinearMatrix(np.ones((1, 6)), [0])],
        "lhs asks for x': c, which is not in that library.",
    )
    rules = compile_rules(problem, [es.constraints.SameSupport()])
    assert {rules.label(row.variables[0]) for row in rules.presence if len(row.variables) == 1} == {"x': a", "y': c"}


# Calls in a loop translate constraints once


def test_the_same_records_are_translated_once(problem):
    asked = (es.constraints.GradientSystem(), es.constraints.Bounds("x'", "x", -1, 1), "y': y <= 2")
    first, again = compile_rules(problem, asked), compile_rules(problem, list(asked))
    assert again.equalities is first.equalities
    assert again.lower is first.lower
    assert not first.lower.flags.writeable
    assert again.sources == asked
    equal = (es.constraints.GradientSystem(), *asked[1:])
    assert compile_rules(problem, equal).equalities is not first.equalities  # (1 and True are equal, but no numbers)


def test_mappings_and_records_that_change_are_translated_again(problem):
    """A mapping inside a record, a list of another one, and records of other programs."""
    coefs = {("x'", "x"): 1.0, ("y'", "y"): 1.0}
    asked = [es.constraints.Linear(coefs, "<=", 1.0)]
    assert compile_rules(problem, asked).inequalities[0].coefs == (1.0, 1.0)
    coefs["y'", "y"] = 3.0
    assert compile_rules(problem, asked).inequalities[0].coefs == (1.0, 3.0)

    pairs = [("x'", "x"), ("y'", "y")]
    counted = [es.constraints.AtMost(1, pairs)]
    assert len(compile_rules(problem, counted).presence[0].variables) == 2
    pairs.append(("x'", "y"))
    assert len(compile_rules(problem, counted).presence[0].variables) == 3

    class Own:
        limit = 1.0

        def write(self, rules):
            rules.bound(1, -np.inf, self.limit)

    own = [Own()]
    assert compile_rules(problem, own).upper[1] == 1.0
    own[0].limit = 2.0
    assert compile_rules(problem, own).upper[1] == 2.0


def test_translations_do_not_keep_problems_alive():
    problem = es.Problem.from_arrays(np.eye(3), np.ones((3, 1)), names=["a", "b", "c"], target_names=["x'"])
    es.solve(problem, 1, constraints=[es.constraints.Forbid("x'", "a")])
    known = weakref.ref(problem)
    del problem
    gc.collect()
    assert known() is None
