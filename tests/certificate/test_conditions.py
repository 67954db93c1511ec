"""verify's own reading of constraints, beside the translation that the solvers use."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import exactsindy as es
from exactsindy.certificate.condition_names import powers_of, state_of
from exactsindy.certificate.condition_text import read_text, split_sum
from exactsindy.certificate.conditions import read_conditions
from exactsindy.constraints import compile_rules
from exactsindy.errors import ConstraintError

C = es.constraints
NAMES = ["1", "x", "y", "x^2", "x y", "y^2", "x^3"]
X, Y = "x'", "y'"


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    theta = np.column_stack([x**i * y**j for i, j in [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0)]])
    return es.Problem.from_arrays(theta, rng.normal(size=(40, 2)), names=NAMES, target_names=[X, Y])


def turn(angle):
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


RECORDS = [
    C.Forbid(X, "x y"),
    C.Forbid("y", "y x"),
    C.Require(Y, 2),
    C.Implies((X, "x^2"), (Y, "x")),
    C.NotBoth((X, "x"), (X, "y")),
    C.AtMost(1, X),
    C.AtLeast(2, {X: ["x", "y"], Y: ["x^2"]}),
    C.Exactly(1, [(X, "x"), (Y, "y"), (Y, "1")]),
    C.WholeGroup([(X, "x"), (X, "y"), (Y, "x y")]),
    C.Hierarchy(),
    C.Hierarchy("weak", equations="y'"),
    C.SameSupport(),
    C.MaxCorrelation(0.5),
    C.MaxCorrelation(0.3, equations=[X]),
    C.Equal((X, "x"), (Y, "y"), -2.5),
    C.Linear({(X, "x"): 1.0, (X, "y"): -3.0, (Y, "1"): 0.5}, "==", 2.0),
    C.Linear({(X, "x"): 1.0, (X, "y"): -3.0}, ">=", -1.0),
    C.Linear({(X, "x"): 4.0}, "<=", 2.0),
    C.Linear({(X, "x"): -4.0}, "==", 0.0),
    C.Linear({(X, "x"): -4.0}, "==", 8.0),
    C.Fixed(Y, "x^3", 0.0),
    C.Fixed(Y, "x^3", 1.5),
    C.Bounds(X, "x", -1.0, 2.0),
    C.Bounds(X, "x", 0.5),
    C.Sign(X, "y", "-"),
    C.Sign(X, "y", "+"),
    C.SemiContinuous(Y, "x", 0.25, 3.0),
    C.LinearMatrix(np.eye(14)[[2, 9]] - np.eye(14)[[3, 4]], [0.0, 1.0]),
    C.LinearMatrix(np.eye(14)[[2, 9]] * 2.0 - np.eye(14)[[3, 4]], [0.0, 1.0], order="feature", relation=">="),
    C.GradientSystem(),
    C.GradientSystem({X: "y", Y: "x"}),
    C.Hamiltonian([("x", "y")]),
    C.EnergyPreserving(),
    C.EnergyPreserving(degree=1, weights={"x": 2.0}),
    C.Symmetry({"x": -1}),
    C.Symmetry(turn(2 * math.pi / 3)),
    C.Symmetry(turn(math.pi / 2)),
    C.Symmetry([[1.0, 0.5], [0.0, 1.0]]),
    C.Conserved("x^2 + 2*y^2"),
    C.Conserved({"x y": 1.0, "x^3": -0.5}),
    "x': x + 2*x y <= 1",
    "x': y == y': x",
    "x': -y + 1e-3*x - 2 >= y': 3 x^2 + 1*1",
    "y': x y == 0",
    "y': 0.5 x == 3",
]


def rows_of(conditions, size):
    """All equalities and all inequalities as dense rows with their right sides."""
    found = {True: [], False: []}
    for row in (row for meaning in conditions.meanings for row in meaning.rows):
        line = np.zeros(size + 1)
        for v, number in row.numbers.items():
            line[v] = number
        line[-1] = row.rhs
        found[row.equal].append(line)
    return found


def rules_rows(rules, size):
    found = {True: [], False: []}
    for equal, rows in ((True, rules.equalities), (False, rules.inequalities)):
        for row in rows:
            line = np.zeros(size + 1)
            line[list(row.variables)], line[-1] = row.coefs, row.rhs
            found[equal].append(line)
    for v in range(size):
        for limit, sign in ((rules.upper[v], 1.0), (rules.lower[v], -1.0)):
            if np.isfinite(limit):
                line = np.zeros(size + 1)
                line[v], line[-1] = sign, sign * limit
                found[False].append(line)
    return found


def unit(rows):
    """Rows scaled to a largest entry of 1 and sorted, so that equal sets look equal."""
    scaled = [np.round(row / np.abs(row[:-1]).max(), 9) + 0.0 for row in rows]
    return sorted(scaled, key=lambda row: row.tolist())


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_both_readings_agree(problem, record):
    size = 2 * len(NAMES)
    mine, rules = read_conditions(problem, [record]), compile_rules(problem, [record])
    own, other = rows_of(mine, size), rules_rows(rules, size)
    np.testing.assert_allclose(unit(own[False]), unit(other[False]), atol=1e-9)
    if own[True] or other[True]:  # equalities: the same space of rows
        ranks = [np.linalg.matrix_rank(np.array(rows), tol=1e-9) for rows in (own[True], other[True])]
        both = np.linalg.matrix_rank(np.array(own[True] + other[True]), tol=1e-9)
        assert ranks == [both, both]
    rng = np.random.default_rng(1)
    for _ in range(400):
        present = frozenset(np.flatnonzero(rng.random(size) < rng.random()).tolist())
        logic = all(
            sum(c for v, c in zip(row.variables, row.coefs, strict=True) if v in present) <= row.rhs
            for row in rules.presence
        )
        assert mine.allows(present) == logic
    sizes = {v: (rules.least[v], rules.most[v]) for v in range(size) if rules.least[v] or np.isfinite(rules.most[v])}
    assert {v: limits for meaning in mine.meanings for v, limits in meaning.sizes.items()} == sizes


def test_every_public_kind_is_read():
    from exactsindy.certificate.condition_kinds import _READERS

    records = {name for name in dir(C) if hasattr(getattr(C, name), "write") and name != "Constraint"}
    assert set(_READERS) == records


def test_forms_are_those_of_the_records(problem):
    (meaning,) = read_conditions(problem, [C.Quadratic({((X, "x"), (Y, "y")): 1.0}, 2, {(X, "1"): 3.0})]).meanings
    (form,) = meaning.forms
    values = np.array([2.0, 5.0, 7.0])  # 1, x of x', y of y'
    assert form.variables == (0, 1, 9)
    assert values @ form.square @ values + form.linear @ values == 5.0 * 7.0 + 3.0 * 2.0
    (form,) = read_conditions(problem, [C.Dissipative(0.5)]).meanings[0].forms
    linear = np.array([[-1.0, 2.0], [3.0, -4.0]])
    by_name = {(e, s): linear[e, s] for e, s in itertools.product(range(2), range(2))}
    matrix = form.constant + sum(
        by_name[v // 7, v % 7 - 1] * part for v, part in zip(form.variables, form.parts, strict=True)
    )
    np.testing.assert_allclose(matrix, -(linear + linear.T) / 2 - 0.5 * np.eye(2))


@pytest.mark.parametrize(
    "record, words",
    [
        (C.Forbid(X, "z"), "there is no term 'z'"),
        (C.Forbid("z'", "x"), "a constraint cannot be read"),
        ("x': x + y", "expected one of ==, <=, >= once"),
        ("x == 1", "it names no equation"),
        ("x': 1 == 2", "it names no coefficient"),
        (C.Symmetry(np.eye(3)), "the matrix of Symmetry does not fit the states"),
        (C.Conserved("x^2 + sin(x)"), "is no product of powers of states"),
    ],
)
def test_what_cannot_be_read_is_refused(problem, record, words):
    with pytest.raises(ConstraintError) as error:
        read_conditions(problem, [record])
    assert words in str(error.value)


def test_text_is_read_word_by_word():
    parts, relation, rhs = read_text("x': -y + 1.5e-3*x - (sin(x - y)) >= y': 2 x^2 + 3 - x'")
    assert relation == ">="
    assert rhs == 3.0
    assert parts == [
        (X, "y", -1.0),
        (X, "x", 1.5e-3),
        (X, "(sin(x - y))", -1.0),
        (Y, "x^2", -2.0),
        (Y, "x'", 1.0),
    ]
    assert split_sum("x^2 - 2*y^2 + 3 x y") == [(1.0, "x^2"), (-2.0, "y^2"), (3.0, "x y")]


def test_names_of_states_and_powers():
    assert [state_of(name) for name in ("x", "x'", "x''", "u_t", "u_tt", "v_1")] == ["x", "x", "x", "u", "u", "v_1"]
    assert powers_of("x^2 y x") == (("x", 3), ("y", 1))
    assert powers_of("1") == ()
    assert [powers_of(name) for name in ("sin(x)", "x^0", "2 x", "x^-1", "1/x")] == [None] * 5


def test_a_kind_that_is_unknown_is_not_checked(problem):
    class Own:
        """A user's own constraint."""

        def write(self, rules):
            rules.present({0: 1}, 0)

    solution = es.solve(problem, 1, constraints=[Own()])
    result = es.verify(problem, solution)
    assert result.ok
    assert "feasibility" in result.unchecked
    assert "optimality" in result.unchecked
    assert "constraints of the kind Own are not read by verify" in str(result)
