"""Solves, paths, pools and refits under constraints: what holds, what is reported, and hard numbers."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from constrained_oracle import Oracle
from exactsindy.systems import add_noise, find_system

NAMES = ["1", "x", "y", "x^2", "x y", "y^2", "x^3", "x^2 y", "x y^2", "y^3"]


def duffing(noise=0.3, n=400, seed=0):
    """Accelerations of the Duffing oscillator with a cubic library: D = 10, two equations."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    theta = np.column_stack([x**0, x, y, x**2, x * y, y**2, x**3, x**2 * y, x * y**2, y**3])
    force = 2 - 0.1 * (x**2 + y**2)
    target = np.column_stack([x * force, y * force]) + noise * rng.normal(size=(n, 2))
    return es.Problem.from_arrays(theta, target, names=NAMES, target_names=["x''", "y''"])


def noisy_problem(name, degree):
    """Two seconds of a known system in steps of 0.002 s with 0.2 % noise, derivatives smoothed over 9 samples."""
    system, times = find_system(name), np.arange(0, 2.0, 0.002)
    clean = system.simulate(system.initial_condition(np.random.RandomState(1)), times)
    x = add_noise(clean, 0.002, np.random.RandomState(1))
    features = es.Polynomials(degree).bind(system.states)
    rates = es.differentiation.SmoothedFiniteDifference(window=9)(x, times)
    return es.Problem.from_arrays(features.evaluate(x), rates, names=features.terms, target_names=system.targets)


@pytest.fixture(scope="module")
def problem():
    return duffing()


def supports(solution):
    return [[NAMES[j] for j in chosen] for chosen in solution.support]


def test_gradient_system_holds_and_is_proved(problem):
    solution = es.solve(problem, es.Total(6), constraints=[es.constraints.GradientSystem()])
    assert solution.optimal
    assert supports(solution) == [["x", "x^3", "x y^2"], ["y", "x^2 y", "y^3"]]
    assert solution.coef[0, 8] == solution.coef[1, 7]
    assert es.verify(problem, replace(solution, k=es.Total(6))).stationary
    assert solution.objective.shape == (1,)
    assert "all together k <= 6" in str(solution)


@pytest.mark.parametrize("k", [2, 4])
def test_gradient_system_against_other_solvers(problem, k):
    pytest.importorskip("gurobipy")
    constraints = [es.constraints.GradientSystem(), es.constraints.Linear({("x''", "x"): 1, ("y''", "y"): 1}, "<=", 3)]
    native = es.solve(problem, es.Total(k), ridge=1e-3, constraints=constraints)
    other = es.solve(problem, es.Total(k), ridge=1e-3, constraints=constraints, backend="gurobi")
    assert other.support == native.support
    assert np.isclose(other.objective, native.objective, rtol=1e-12)
    if k == 2:
        oracle = es.solve(problem, es.Total(k), ridge=1e-3, constraints=constraints, backend="enumerate")
        assert oracle.support == native.support


def test_scip_agrees():
    pytest.importorskip("pyscipopt")
    rng = np.random.default_rng(5)
    theta = rng.normal(size=(30, 4))
    problem = es.Problem.from_arrays(theta, theta[:, :2] + 0.3 * rng.normal(size=(30, 2)), target_names=["x'", "y'"])
    constraints = [es.constraints.Equal(("x", "theta0"), ("y", "theta1")), es.constraints.Bounds("x", "theta2", 0.1, 1)]
    native = es.solve(problem, 2, constraints=constraints)
    other = es.solve(problem, 2, constraints=constraints, backend="scip")
    assert other.support == native.support
    with pytest.raises(es.errors.SolverError, match=r"takes no SemiContinuous"):
        es.solve(problem, 2, constraints=[es.constraints.SemiContinuous("x", "theta0", 0.5)], backend="scip")
    with pytest.raises(
        es.errors.SolverError, match="backend='gurobi-bigm' takes no constraints and no Total: use native, enumerate"
    ):
        es.solve(problem, 2, constraints=constraints, backend="gurobi-bigm")


def test_joint_lorenz_with_inequalities():
    pytest.importorskip("gurobipy")
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=(3, 200)) * np.array([[8], [9], [8]]) + np.array([[0], [0], [23]])
    names = ["1", "x", "y", "z", "x^2", "x y", "x z", "y^2", "y z", "z^2"]
    theta = np.column_stack([x**0, x, y, z, x**2, x * y, x * z, y**2, y * z, z**2])
    target = np.column_stack([10 * (y - x), 28 * x - y - x * z, x * y - 8 / 3 * z]) + rng.normal(size=(200, 3))
    problem = es.Problem.from_arrays(theta, target, names=names, target_names=["x'", "y'", "z'"])
    constraints = [
        es.constraints.EnergyPreserving(),
        es.constraints.Sign("z'", "z", "-"),
        es.constraints.Bounds("x'", "x", -9.5, 0),
        es.constraints.Linear({("y'", "x"): 1, ("x'", "y"): 1}, "<=", 35),
    ]
    native = es.solve(problem, es.Total(7), constraints=constraints)
    other = es.solve(problem, es.Total(7), constraints=constraints, backend="gurobi")
    assert native.optimal
    assert native.support == other.support == ((1, 2), (1, 2, 6), (3, 5))
    assert np.isclose(native.terms["y'"]["x z"], -native.terms["z'"]["x y"], rtol=1e-14)
    assert np.isclose(native.terms["x'"]["x"], -9.5, rtol=1e-12)


def test_equations_that_nothing_binds_are_solved_apart(problem):
    solution = es.solve(problem, 3, constraints=[es.constraints.Forbid("x", "x^3")])
    plain = es.solve(problem, 3)
    assert solution.objective.shape == (2,)
    assert solution.support[1] == plain.support[1]
    assert np.isclose(solution.objective[1], plain.objective[1], rtol=1e-14)
    assert 6 not in solution.support[0]


@pytest.mark.parametrize("system, degree, k", [("hopf", 5, 4), ("lorenz", 3, 3)])
def test_a_constraint_that_asks_nothing_changes_nothing(system, degree, k):
    """The constrained search and the plain one agree to the bit on ill-conditioned libraries."""
    problem = noisy_problem(system, degree)
    for ridge in (0.0, 0.01):
        plain = es.solve(problem, k, ridge=ridge)
        wide = [es.constraints.Bounds(target, problem.names[1], -1e9, 1e9) for target in problem.target_names]
        solution = es.solve(problem, k, ridge=ridge, constraints=wide)
        assert solution.support == plain.support
        assert np.array_equal(solution.objective, plain.objective)
        assert np.allclose(solution.margin, plain.margin, rtol=1e-9)


def test_path_is_what_solve_returns(problem):
    constraints = [es.constraints.GradientSystem(), es.constraints.Sign("x''", "x^3", "-")]
    path = es.solve_path(problem, es.Total(6), constraints=constraints)
    for k in range(7):
        single = es.solve(problem, es.Total(k), constraints=constraints)
        assert path[k].support == single.support
        assert path[k].objective == single.objective
    assert np.all(np.diff(path.objectives[:, 0]) <= 0)
    separate = es.solve_path(problem, 2, constraints=[es.constraints.Forbid("x", "x")])
    assert separate.at([1, 2]).support == (separate[1].support[0], separate[2].support[1])
    bound = es.solve_path(problem, 2, constraints=[es.constraints.GradientSystem()])
    with pytest.raises(es.errors.SolverError, match="constraints bind together: use path"):
        bound.at([1, 2])
    assert bound.penalised(0.0).support == bound[2].support


def test_a_path_starts_infeasible_where_terms_are_required(problem):
    path = es.solve_path(problem, 2, constraints=[es.constraints.Require("x", "y"), es.constraints.Require("x", "1")])
    assert [solution.status[0].name for solution in path] == ["INFEASIBLE", "INFEASIBLE", "OPTIMAL"]


def test_pool_is_complete(problem):
    rng = np.random.default_rng(3)
    theta = rng.normal(size=(20, 5))
    targets = [theta @ rng.normal(size=5) + rng.normal(size=20) for _ in range(2)]
    names = list(itertools.product(["x'", "y'"], ["a", "b", "c", "d", "e"]))
    small = es.Problem.from_arrays(theta, np.column_stack(targets), names=list("abcde"), target_names=["x'", "y'"])
    constraints = [
        es.constraints.Equal(("x'", "a"), ("y'", "b")),
        es.constraints.NotBoth(("x'", "c"), ("y'", "c")),
        es.constraints.Sign("x'", "d", "+"),
    ]
    expected = Oracle([theta, theta], targets, names, [1.0, 1.0]).best(constraints, sizes=[2, 2])
    exact = [s for s in expected if sum(v < 5 for v in s[2]) == 2 == sum(v >= 5 for v in s[2])]
    pool = es.solve_pool(small, 2, count=6, constraints=constraints)
    assert [m.support for m in pool["x"]] == [s[2] for s in exact[:6]]
    assert np.allclose([m.objective for m in pool["y'"]], [s[0] for s in exact[:6]], rtol=1e-9)
    assert pool.complete["x', y'"]
    assert "x', y'" in str(pool)
    within = es.solve_pool(small, 2, within=0.5, constraints=constraints)
    assert len(within) == sum(s[0] <= 1.5 * exact[0][0] for s in exact)
    apart = es.solve_pool(small, 2, count=3, constraints=[es.constraints.Forbid("x'", "a")])
    assert all(0 not in m.support for m in apart["x'"])
    assert apart["y'"][0].support == es.solve(small, 2).support[1]


def test_refit_keeps_constraints(problem):
    constraints = ["x'': x <= 0.5", es.constraints.Equal(("x''", "x y^2"), ("y''", "x^2 y"))]
    fitted = es.refit(problem, {"x''": ["x", "x y^2"], "y''": ["y", "x^2 y"]}, constraints=constraints)
    assert fitted.status == (es.Status.REFITTED,)
    assert fitted.support == ((1, 8), (2, 7))
    assert np.isclose(fitted.coef[0, 1], 0.5, rtol=1e-14)
    assert fitted.coef[0, 8] == fitted.coef[1, 7] != 0
    impossible = es.refit(problem, {"x''": ["x"]}, constraints=["x'': y == 1"])
    assert impossible.status[0] is es.Status.INFEASIBLE


@pytest.mark.parametrize(
    "constraints, k, conflict",
    [
        (
            [es.constraints.Require("x", "x"), es.constraints.Forbid("x", "y"), es.constraints.Require("x", "y^2")],
            1,
            ("Require", "Require", "k = 1"),
        ),
        (
            ["x: x == 1", es.constraints.Forbid("x", "1"), "x: x + y == 0", "x: y >= 0"],
            3,
            ("x: x == 1", "x: x + y == 0", "x: y >= 0"),
        ),
        (
            [es.constraints.Equal(("x", "x"), ("y", "y")), "x: x - y: y == 1", es.constraints.GradientSystem()],
            3,
            ("Equal", "x: x - y: y == 1"),
        ),
        (
            [
                es.constraints.Implies(("x", "x"), ("x", "y")),
                es.constraints.Require("x", "x"),
                es.constraints.Forbid("x", "y"),
            ],
            3,
            ("Implies", "Require", "Forbid"),
        ),
    ],
)
def test_infeasible_names_the_conflict(problem, constraints, k, conflict):
    solution = es.solve(problem, k, constraints=constraints)
    assert es.Status.INFEASIBLE in solution.status
    assert len(solution.conflict) == len(conflict)
    assert all(text.startswith(start) for text, start in zip(solution.conflict, conflict, strict=True))
    assert "these cannot hold together" in str(solution)
    assert np.isinf(solution.objective).any()
    checked = es.verify(problem, solution)
    assert checked.ok
    assert re.search(r": infeasible (yes \(enumerated\)|not checked)", str(checked))


def test_constraints_hold_to_1e_9_after_scaling():
    """Columns from 1e-8 to 1e8 and a weighted joint objective."""
    rng = np.random.default_rng(9)
    for seed in range(5):
        scales = 10.0 ** rng.uniform(-8, 8, 5)
        theta = rng.normal(size=(30, 5)) * scales
        problem = es.Problem.from_arrays(
            theta, rng.normal(size=(30, 2)), names=list("abcde"), target_names=["x'", "y'"]
        )
        ratio = scales[0] / scales[1]
        constraints = [
            es.constraints.Equal(("x'", "b"), ("y'", "a"), ratio),
            es.constraints.Linear({("x'", "c"): scales[2], ("y'", "d"): scales[3]}, ">=", 1),
        ]
        solution = es.solve(problem, es.Total(5, [1.0, 3.0]), constraints=constraints)
        assert solution.optimal, seed
        assert es.verify(problem, solution).feasible


def adversarial():
    rng = np.random.default_rng(4)
    base = rng.normal(size=(20, 4))
    y = base @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.1 * rng.normal(size=20)
    yield "duplicates", base[:, [0, 1, 0, 2, 1]], y
    yield "zero columns", np.column_stack([base[:, 0], np.zeros(20), base[:, 1], np.zeros(20), base[:, 2]]), y
    yield "sums", np.column_stack([base[:, :3], base[:, 0] + base[:, 1], base[:, 3]]), y
    yield "few rows", rng.normal(size=(3, 5)), rng.normal(size=3)
    yield "tiny", 1e-100 * rng.normal(size=(20, 5)), 1e-100 * y
    yield "huge", 1e100 * rng.normal(size=(20, 5)), 1e90 * y
    yield "zero target", rng.normal(size=(20, 5)), np.zeros(20)


@pytest.mark.parametrize(
    "name, theta, y", list(adversarial()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_hard_numbers(name, theta, y):
    problem = es.Problem.from_arrays(theta, y, names=list("abcde"), target_names=["x'"])
    pairs = [("x'", t) for t in "abcde"]
    scale, unit = np.abs(theta).max(), np.abs(y).max() or 1.0
    oracle = Oracle([theta / scale], [y / unit], pairs, [1.0])
    for constraints in (
        [es.constraints.Equal(("x'", "a"), ("x'", "c"), -1)],
        [
            es.constraints.Equal(("x'", "a"), ("x'", "c")),
            es.constraints.Equal(("x'", "a"), ("x'", "c")),
            es.constraints.Linear({("x'", "a"): 2, ("x'", "c"): -2}),
        ],
        [es.constraints.Sign("x'", "a", "-"), es.constraints.Sign("x'", "b", "+"), es.constraints.Require("x'", "b")],
        [es.constraints.Linear({pair: 1.0 for pair in pairs}, "<=", 0)],
        [es.constraints.Exactly(2, pairs), es.constraints.Implies(("x'", "b"), ("x'", "d"))],
    ):
        expected = oracle.best(constraints, sizes=[3])
        solution = es.solve(problem, 3, constraints=constraints)
        assert solution.optimal
        value = float((y / unit) @ (y / unit))
        assert abs(solution.objective[0] / unit**2 - expected[0][0]) <= 1e-9 * value
        assert es.verify(problem, solution).feasible


def test_limits_keep_a_true_bound(problem):
    constraints = [es.constraints.GradientSystem(), es.constraints.Sign("x", "x", "+")]
    full = es.solve(problem, es.Total(9), constraints=constraints)
    short = es.solve(problem, es.Total(9), constraints=constraints, settings=es.Settings(nodes=3))
    assert short.status[0] is es.Status.NODE_LIMIT
    assert 0 <= short.lower_bound[0] <= full.objective[0] <= short.objective[0]
    assert np.isnan(short.margin[0])


def test_start_does_not_change_the_answer(problem):
    constraints = [es.constraints.GradientSystem()]
    plain = es.solve(problem, es.Total(5), constraints=constraints)
    started = es.solve(problem, es.Total(5), constraints=constraints, start=[["1"], ["x", "y"]])
    assert started.support == plain.support
    assert np.array_equal(started.coef, plain.coef)


def test_progress_is_reported():
    rng = np.random.default_rng(8)
    theta = rng.normal(size=(30, 14))
    problem = es.Problem.from_arrays(theta, rng.normal(size=(30, 2)), target_names=["x'", "y'"])
    seen = []
    together = [es.constraints.SameSupport(), es.constraints.Bounds("x'", 0, -1e3, 1e3)]  # (alone it has a fast search)
    es.solve(problem, 5, constraints=together, settings=es.Settings(progress=seen.append))
    assert seen
    assert all(progress.nodes > 0 and list(progress.incumbent) == ["x', y'"] for progress in seen)

    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        es.solve(problem, 5, constraints=together, settings=es.Settings(progress=stop))


def test_certificate_names_constraints_and_comes_back(problem):
    solution = es.solve(problem, es.Total(4), constraints=[es.constraints.GradientSystem()])
    certificate = solution.certificates[0]
    assert certificate.constraints == ("GradientSystem(coordinates=None)",)
    assert type(certificate).from_json(certificate.to_json()) == certificate
    bound = es.solve(problem, 2, constraints=[es.constraints.GradientSystem()]).certificates[0]
    assert (bound.size, bound.weights) == (4, (1.0, 1.0))


def test_verify_sees_wrong_claims():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 80))
    theta = np.column_stack([x, y, x**3, x * y**2, y**3])
    target = np.column_stack([2 * x - 0.1 * x**3, 2 * y - 0.3 * y**3]) + 0.3 * rng.normal(size=(80, 2))
    names = ["x", "y", "x^3", "x y^2", "y^3"]
    problem = es.Problem.from_arrays(theta, target, names=names, target_names=["x''", "y''"])
    constraints = [
        es.constraints.Equal(("x", "x"), ("y", "y")),
        es.constraints.Bounds("x", "x^3", -0.05, 0),
        es.constraints.SemiContinuous("y", "y^3", 0.2),
    ]
    solution = es.solve(problem, 2, constraints=[*constraints, es.constraints.Forbid("x", "x y^2")])
    assert es.verify(problem, solution).ok
    assert es.verify(problem, solution).optimality == "enumerated"
    bent = solution.coef.copy()
    bent[0, solution.support[0][0]] *= 1.001
    assert not es.verify(problem, replace(solution, coef=bent)).ok
    assert not es.verify(problem, replace(solution, objective=solution.objective * 1.01)).ok
    raised = replace(solution, lower_bound=solution.objective * 1.1)
    assert any("exceeds the objective" in text for text in es.verify(problem, raised).failures)
    other = es.refit(problem, [["y"], ["x"]], constraints=constraints)
    wrong = replace(other, status=solution.status, k=(2, 2), lower_bound=other.objective)
    assert any("a support has the objective" in text for text in es.verify(problem, wrong).failures)
    broken = replace(solution, constraints=(*constraints, es.constraints.Require("x", "y"), "x: x + y <= -5"))
    failures = es.verify(problem, broken).failures
    assert any("Require" in text for text in failures)
    assert any("x: x + y <= -5" in text for text in failures)
    crowded = replace(solution, k=(1, 1))
    assert any("whose cap is 1" in text for text in es.verify(problem, crowded).failures)
    nothing = replace(solution, status=(es.Status.INFEASIBLE,))
    assert any("infeasible is claimed" in text for text in es.verify(problem, nothing).failures)


def test_rival_with_a_term_that_must_not_be_small():
    """At the best fit the term has no coefficient; present it needs one, which makes other supports of the size."""
    rng = np.random.default_rng(5)
    theta = rng.standard_normal((20, 4))
    problem = es.Problem.from_arrays(theta, theta[:, 1] - theta[:, 3], names=["a", "b", "c", "d"], target_names=["x'"])
    constraints = [
        es.constraints.Sign("x'", "c", "+"),
        es.constraints.SemiContinuous("x'", "c", 0.65, 1.65),
        es.constraints.Linear({("x'", "c"): 2.0, ("x'", "a"): 0.5}, "==", 0.0),
    ]
    solution = es.solve(problem, 2, ridge=0.3, constraints=constraints)
    best = es.refit(problem, [[1, 3]], ridge=0.3).objective[0]
    # The only other pair: c needs a, at -4 c, and both are worst for these data, so c has its least size.
    at_least = np.array([[-4 * 0.65, 0.0, 0.65, 0.0]])
    rival = problem.rss(at_least)[0] + 0.3 * np.sum(at_least**2)
    assert solution.support == ((1, 3),)
    assert solution.objective[0] == pytest.approx(best)
    assert solution.margin[0] == pytest.approx(rival / best - 1)


def test_a_conflict_with_significance_names_only_what_clashes():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(100, 6))
    problem = es.Problem.from_arrays(theta, 3 * theta[:, 0] + 0.5 * rng.normal(size=100))
    kinds = es.constraints
    asked = [kinds.Forbid(0, "theta5"), kinds.Require(0, "theta3"), kinds.Significant(3.0)]
    solution = es.solve(problem, 2, constraints=asked)
    assert [text.split("(")[0] for text in solution.conflict] == ["Require", "Significant", "k = 2"]
    assert es.verify(problem, solution).ok
