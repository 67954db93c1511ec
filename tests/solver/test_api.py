"""What a user calls: solve, solve_path, refit, verify and what they return."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from exactsindy.certificate import Certificate, verify
from exactsindy.differentiation import SmoothedFiniteDifference
from exactsindy.library import Polynomials
from exactsindy.problem import Block, Problem
from exactsindy.solver import Settings, Solution, Status, Total, refit, solve, solve_path
from exactsindy.solver.backends import native
from exactsindy.solver.equations import equations_of
from exactsindy.systems import add_noise, find_system
from oracle import best_supports

PACKAGES = {"scip": "pyscipopt", "gurobi": "gurobipy", "gurobi-bigm": "gurobipy"}


def polynomial_problem(system, degree, duration):
    """A noisy trajectory of a known system, differentiated, over all monomials up to a degree."""
    known = find_system(system)
    times = np.arange(0, duration, 0.002)
    clean = known.simulate(known.initial_condition(np.random.RandomState(1)), times)
    x = add_noise(clean, 0.002, np.random.RandomState(1))
    features = Polynomials(degree).bind(known.states)
    x_dot = SmoothedFiniteDifference(window=9)(x, times)
    return Problem.from_arrays(features.evaluate(x), x_dot, names=features.terms, target_names=known.targets), known


def one_equation(problem, target):
    """The same problem with a single target."""
    block, j = problem.locate(target)
    z, rest = block.target(j)
    width = len(block.terms)
    factor = np.zeros((width + 1, width + 1))
    factor[:width, :width] = block.theta_factor
    factor[:width, width] = z
    factor[width, width] = np.linalg.norm(rest)
    return Problem((Block(factor, block.n_samples, block.terms, (block.target_names[j],)),))


def two_libraries(seed=3):
    """x' over a..f and y', z'' over d..i: two blocks that share d, e, f."""
    rng = np.random.default_rng(seed)
    first = rng.standard_normal((60, 6))
    second = rng.standard_normal((45, 6))
    x = first[:, [0, 4]] @ [2.0, -1.5] + 0.4 * rng.standard_normal(60)
    y = second[:, [1, 3, 5]] @ [1.0, 0.7, -2.0] + 0.4 * rng.standard_normal(45)
    z = second[:, [0]] @ [1.2] + 0.8 * rng.standard_normal(45)
    p = Problem.from_arrays(first, x, names=list("abcdef"), target_names=["x'"])
    q = Problem.from_arrays(second, np.column_stack([y, z]), names=list("defghi"), target_names=["y'", "z''"])
    raw = {"x'": (first, x, 0), "y'": (second, y, 3), "z''": (second, z, 3)}
    return Problem.from_blocks([p, q]), raw


def bits(solution):
    """Everything a completed search must give again, to the bit."""
    return (
        solution.support,
        solution.coef.tobytes(),
        solution.objective.tobytes(),
        solution.lower_bound.tobytes(),
        solution.margin.tobytes(),
        solution.status,
    )


def best_of_at_most(theta, y, size, ridge=0.0):
    """Least objective over all supports of at most ``size`` terms."""
    sizes = range(min(size, theta.shape[1]) + 1)
    return min(best_supports(theta, y, s, ridge).values.min() for s in sizes)


# One call, several equations


@pytest.mark.parametrize(
    "k, sizes",
    [
        (2, (2, 2, 2)),
        ([1, 3, 2], (1, 3, 2)),
        (np.array([1, 3, 2]), (1, 3, 2)),
        ({"x'": 2, "y'": 1, "z''": 0}, (2, 1, 0)),
        ({"z": 3, "x": 1, "y": 2}, (1, 2, 3)),
        (np.int32(1), (1, 1, 1)),
    ],
)
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_solve_finds_the_best_support_of_every_equation(k, sizes, ridge):
    problem, raw = two_libraries()
    solution = solve(problem, k, ridge=ridge)
    assert solution.k == sizes
    assert solution.optimal
    assert solution.status == (Status.OPTIMAL,) * 3
    for row, (target, size) in enumerate(zip(problem.target_names, sizes, strict=True)):
        theta, y, first = raw[target]
        values = best_supports(theta, y, size, ridge)
        best = int(np.argmin(values.values))
        assert solution.support[row] == tuple(int(j) + first for j in values.supports[best])
        assert solution.objective[row] == pytest.approx(values.values[best], rel=1e-11)
        others = np.delete(values.values, best)
        if len(others):
            expected = others.min() / values.values[best] - 1
            assert solution.margin[row] == pytest.approx(expected, rel=1e-8)
        else:
            assert solution.margin[row] == math.inf
    assert np.all(solution.lower_bound <= solution.objective)
    assert np.all(solution.gap <= 1e-12)
    assert verify(problem, solution).ok


def test_shapes_and_zeros():
    problem, _ = two_libraries()
    solution = solve(problem, 2)
    assert solution.coef.shape == (3, 9)
    for name in ("objective", "lower_bound", "gap", "margin", "nodes", "seconds", "exact_fit"):
        assert getattr(solution, name).shape == (3,)
    for row, support in enumerate(solution.support):
        assert tuple(np.flatnonzero(solution.coef[row])) == support
        assert all(isinstance(j, int) for j in support)
    assert not solution.coef[0, 6:].any()
    assert not solution.coef[1:, :3].any()
    assert solution.ridge.shape == (3, 9)
    assert np.all(solution.seconds >= 0)


def test_terms_are_keyed_by_name():
    problem, _ = two_libraries()
    solution = solve(problem, {"x": 2, "y": 3, "z": 1})
    assert list(solution.terms) == ["x'", "y'", "z''"]
    assert set(solution.terms["x'"]) == {"a", "e"}
    assert set(solution.terms["y'"]) == {"e", "g", "i"}
    assert solution.terms["x'"]["a"] == solution.coef[0, 0]


@pytest.mark.parametrize("kind", ["number", "per term", "per equation and term"])
def test_ridge_in_all_its_shapes(kind):
    problem, raw = two_libraries()
    rng = np.random.default_rng(5)
    given_ridge = {
        "number": 0.7,
        "per term": rng.uniform(0, 2, 9),
        "per equation and term": rng.uniform(0, 2, (3, 9)),
    }[kind]
    full = np.broadcast_to(np.asarray(given_ridge), (3, 9))
    solution = solve(problem, 2, ridge=given_ridge)
    assert np.array_equal(solution.ridge, full)
    for row, target in enumerate(problem.target_names):
        theta, y, first = raw[target]
        values = best_supports(theta, y, 2, full[row, first : first + 6])
        assert solution.objective[row] == pytest.approx(values.values.min(), rel=1e-11)
    expected = problem.rss(solution.coef) + np.sum(full * solution.coef**2, axis=1)
    assert solution.objective == pytest.approx(expected, rel=1e-11)
    assert verify(problem, solution).ok


def test_ridge_given_by_the_caller_is_not_shared():
    problem, _ = two_libraries()
    ridge = np.ones((3, 9))
    solution = solve(problem, 1, ridge=ridge)
    ridge[:] = 5.0
    assert np.all(solution.ridge == 1.0)


# Starts


@pytest.mark.parametrize(
    "start",
    [
        "solution",
        {"x": ["b", "c"], "y": ["d"]},
        {"x'": [1, 2]},
        [["b", "c"], [3, 4, 5, 6, 7, 8], []],
        [("f",), ("i", "h"), ("d", "e")],
    ],
)
def test_start_does_not_change_the_answer(start):
    problem, _ = two_libraries()
    plain = solve(problem, 2)
    given_start = solve(problem, [3, 3, 1]) if start == "solution" else start
    assert isinstance(given_start, Solution) or start != "solution"
    assert bits(solve(problem, 2, start=given_start)) == bits(plain)
    path, warm = solve_path(problem, 3), solve_path(problem, 3, start=given_start)
    assert [bits(s) for s in warm] == [bits(s) for s in path]


def test_start_is_used():
    # Few rows and a common direction: a search that may not branch misses the optimum here.
    rng = np.random.default_rng(22)
    theta = 5 * rng.standard_normal((30, 1)) + rng.standard_normal((30, 60))
    y = theta[:, rng.choice(60, 5, replace=False)] @ rng.choice([-1, 1], 5) + rng.standard_normal(30)
    problem = Problem.from_arrays(theta, y)
    best = solve(problem, 5)
    assert best.optimal
    assert solve(problem, 5, settings=Settings(nodes=1)).objective[0] > 1.01 * best.objective[0]
    warm = solve(problem, 5, start=best, settings=Settings(nodes=1))
    assert warm.support == best.support
    assert warm.objective[0] == best.objective[0]
    longer = solve(problem, 5, start=[[*best.support[0], 0, 1, 2]], settings=Settings(nodes=1))
    assert len(longer.support[0]) <= 5


# Path


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_path_is_what_single_solves_return(ridge):
    problem, _ = two_libraries()
    path = solve_path(problem, 8, ridge=ridge)  # the libraries have 6 terms
    assert len(path) == 9
    for k in range(9):
        single = solve(problem, k, ridge=ridge)
        assert bits(path[k]) == bits(single)
        assert path[k].k == single.k == (k, k, k)
    assert path[0].support == ((), (), ())
    assert np.all(np.diff(path.objectives, axis=0) <= 0)
    assert path.objectives.shape == (9, 3)
    assert [s.k for s in path] == [(k,) * 3 for k in range(9)]


@pytest.mark.parametrize("family", ["many_ties", "duplicates", "few_rows", "zero_columns", "exact_integers"])
def test_path_is_what_single_solves_return_on_awkward_data(family):
    from oracle import FAMILIES

    theta, y = FAMILIES[family](np.random.default_rng(7))
    problem = Problem.from_arrays(theta, y)
    path = solve_path(problem, theta.shape[1] + 1)
    for k, item in enumerate(path):
        assert bits(item) == bits(solve(problem, k))
        assert len(item.support[0]) <= k
        assert verify(problem, item).ok, str(verify(problem, item))


def test_path_of_lorenz_is_what_single_solves_return():
    problem, known = polynomial_problem("lorenz", 3, 1.0)
    path = solve_path(problem, 5)
    assert [bits(s) for s in path] == [bits(solve(problem, k)) for k in range(6)]
    chosen = path.at(dict(zip(known.targets, known.sizes, strict=True)))
    assert {t: set(terms) for t, terms in chosen.terms.items()} == {t: set(terms) for t, terms in known.truth.items()}


def test_path_at_gives_each_equation_its_own_size():
    problem, _ = two_libraries()
    path = solve_path(problem, 4)
    for k in ([1, 4, 0], {"y": 4, "x": 1, "z": 0}):
        chosen = path.at(k)
        assert chosen.k == (1, 4, 0)
        assert bits(chosen) == bits(solve(problem, [1, 4, 0]))
        assert verify(problem, chosen).ok
    assert chosen.nodes.tolist() == [path[1].nodes[0], path[4].nodes[1], path[0].nodes[2]]


def test_penalised_picks_what_the_penalty_picks():
    problem, raw = two_libraries()
    path = solve_path(problem, 6)
    for lam in [0.0, *np.geomspace(1e-3, 1e3, 40)]:
        chosen = path.penalised(lam)
        for row, target in enumerate(problem.target_names):
            theta, y, _ = raw[target]
            least = min(best_supports(theta, y, s).values.min() + lam * s for s in range(7))
            got = chosen.objective[row] + lam * len(chosen.support[row])
            assert got == pytest.approx(least, rel=1e-10)
    assert path.penalised(1e9).support == ((), (), ())
    assert path.penalised(0.0).objective == pytest.approx(path[6].objective, rel=1e-12)


def test_penalised_stays_on_the_lower_hull():
    # One term alone explains little, two together all: size 1 lies above the hull.
    theta = np.array([[1.0, 1.0, 0.0], [1.0, 1.01, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    problem = Problem.from_arrays(theta, [1.0, -1.0, 0.1, 0.1])
    path = solve_path(problem, 3)
    assert path.objectives[1, 0] > 1.9
    assert path.objectives[2, 0] < 0.1
    picked = {len(path.penalised(lam).support[0]) for lam in np.geomspace(1e-6, 1e3, 200)}
    assert picked == {0, 2, 3}


def test_penalised_prefers_fewer_terms_in_a_tie():
    problem = Problem.from_arrays(np.eye(4), [2.0, 1.0, 0.0, 0.0])
    path = solve_path(problem, 4)
    assert path.penalised(0.0).support == ((0, 1),)
    assert path.penalised(1.0).support == ((0,),)  # dropping the second term costs exactly the penalty
    assert path.penalised(4.0).support == ((),)


def test_infinite_penalty_leaves_no_term():
    path = solve_path(Problem.from_arrays(np.eye(4), [2.0, 1.0, 0.0, 0.0]), 2)
    assert path.penalised(math.inf).support == ((),)


def test_penalised_shared_budget():
    problem, _ = two_libraries()
    path = solve_path(problem, Total(6))
    costs = [s.objective[0] + 5.0 * sum(map(len, s.support)) for s in path]
    chosen = path.penalised(5.0)
    assert chosen.objective[0] + 5.0 * sum(map(len, chosen.support)) == min(costs)


# Refit


def test_refit_is_the_least_squares_fit():
    problem, raw = two_libraries()
    fitted = refit(problem, {"x": ["f", "b"], "z": ["g"]}, ridge=0.25)
    assert fitted.support == ((1, 5), (), (6,))
    assert fitted.status == (Status.REFITTED,) * 3
    assert not fitted.optimal
    assert np.all(np.isneginf(fitted.lower_bound))
    assert np.all(np.isnan(fitted.margin))
    assert np.all(np.isposinf(fitted.gap))
    theta, y, _ = raw["x'"]
    columns = theta[:, [1, 5]]
    expected = np.linalg.solve(columns.T @ columns + 0.25 * np.eye(2), columns.T @ y)
    assert fitted.coef[0, [1, 5]] == pytest.approx(expected, rel=1e-10)
    assert verify(problem, fitted).ok


def test_refit_of_a_solution_returns_it():
    problem, _ = two_libraries()
    solution = solve(problem, [2, 3, 1], ridge=0.1)
    again = refit(problem, solution, ridge=0.1)
    assert again.support == solution.support
    assert np.array_equal(again.coef, solution.coef)
    assert np.array_equal(again.objective, solution.objective)
    unbiased = refit(problem, solution)
    assert np.all(problem.rss(unbiased.coef) < problem.rss(solution.coef))


def test_refit_of_one_equation_takes_a_plain_list():
    problem = Problem.from_arrays(np.eye(3), [3.0, 2.0, 1.0], names=["a", "b", "c"])
    for support in (["a", "c"], [["a", "c"]], [0, 2], [(0, 2)], {"y0": ["c", "a"]}):
        assert refit(problem, support).coef.tolist() == [[3.0, 0.0, 1.0]]
    assert refit(problem, []).support == ((),)
    assert refit(problem, [[]]).support == ((),)


def test_refit_leaves_out_dependent_columns():
    theta = np.column_stack([np.arange(1.0, 6.0), 2 * np.arange(1.0, 6.0), np.ones(5), np.zeros(5)])
    problem = Problem.from_arrays(theta, np.array([1.0, 0.0, 2.0, 1.0, 3.0]))
    fitted = refit(problem, [[0, 1, 2, 3]])
    assert fitted.support == ((0, 2),)
    assert fitted.k == (4,)


# What is claimed


def test_margin_of_a_tie_is_zero():
    problem = Problem.from_arrays(np.eye(4), [1.0, 1.0, 1.0, 0.5])
    solution = solve(problem, 2)
    assert solution.support == ((0, 1),)
    assert solution.margin.tolist() == [0.0]
    # Two equal columns (of the stored doubles) never stand together.
    factor = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    duplicate = Problem((Block(factor, 5, ("a", "b"), ("x'",)),))
    for k in (1, 2):
        solution = solve(duplicate, k)
        assert solution.support == ((0,),)
        assert solution.margin.tolist() == [0.0]


def test_margin_without_a_rival_is_infinite():
    problem = Problem.from_arrays(np.eye(3), [3.0, 2.0, 1.0])
    assert solve(problem, 0).margin.tolist() == [math.inf]
    assert solve(problem, 3).margin.tolist() == [math.inf]
    assert solve(problem, 9).margin.tolist() == [math.inf]
    only = Problem.from_arrays([[1.0, 0.0], [2.0, 0.0]], [1.0, 1.0])  # the other column is zero
    assert solve(only, 1).margin.tolist() == [math.inf]


@pytest.mark.parametrize("seed", [16, 18, 41, 44])
def test_margin_counts_pairs_of_nearly_equal_columns(seed):
    rng = np.random.default_rng(seed)
    base, differences = rng.standard_normal((25, 2)), rng.standard_normal((25, 2))
    y = base @ rng.standard_normal(2) + differences @ rng.standard_normal(2) + 0.1 * rng.standard_normal(25)
    for distance in (1e-12, 1e-11, 1e-10):
        problem = Problem.from_arrays(np.hstack([base, base + distance * differences]), y)
        for k in (1, 2, 3):
            solution = solve(problem, k)
            result = verify(problem, solution)
            assert result.optimality == "enumerated"
            assert result.ok, str(result)


def test_margin_is_not_claimed_unless_proved():
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90))
    solution = solve(problem, 9, settings=Settings(nodes=1))
    assert solution.status == (Status.NODE_LIMIT,)
    assert np.isnan(solution.margin).all()


def test_exact_fit_is_said():
    rng = np.random.default_rng(2)
    theta = rng.standard_normal((30, 6))
    y = np.column_stack([theta[:, [1, 4]] @ [0.3, -1.7], theta[:, 0] + 1e-3 * rng.standard_normal(30)])
    solution = solve(Problem.from_arrays(theta, y), 2)
    assert solution.support[0] == (1, 4)
    assert solution.exact_fit.tolist() == [True, False]
    assert solution.optimal
    assert solve(Problem.from_arrays(theta, np.zeros(30)), 2).support == ((),)
    assert solve(Problem.from_arrays(theta, np.zeros(30)), 2).exact_fit.tolist() == [True]


def test_objective_contains_the_constant():
    problem = Problem.from_arrays([[1.0], [0.0]], [2.0, 3.0])
    assert solve(problem, 0).objective.tolist() == [13.0]
    assert solve(problem, 1).objective.tolist() == [9.0]
    assert solve(problem, 1, ridge=1.0).objective.tolist() == [11.0]  # xi = 1: 1 + 9 + 1


@pytest.mark.parametrize("k", [2, Total(4, {"y": 2.0})])
def test_certificate_holds_the_claims(k):
    problem, _ = two_libraries()
    solution = solve(problem, k, ridge=0.1)
    assert len(solution.certificates) == len(solution.status)
    for i, record in enumerate(solution.certificates):
        assert Certificate.from_json(record.to_json()) == record
        plain = json.loads(record.to_json(), parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
        assert plain["fingerprint"] == problem.fingerprint
        assert record.objective == solution.objective[i]
        assert record.lower_bound == solution.lower_bound[i]
        assert record.margin == solution.margin[i] or math.isnan(record.margin)
        assert record.status == "OPTIMAL"
        assert all(type(value) is float for value in (*record.coefficients, *record.ridge, record.gap))
        assert type(record.nodes) is int
        assert type(record.size) is int
    if isinstance(k, Total):
        (record,) = solution.certificates
        assert record.target == "x', y', z''"
        assert record.size == 4
        named = [f"{t}: {name}" for t, terms in solution.terms.items() for name in terms]
        assert list(record.support) == named
        assert len(record.ridge) == 27
    else:
        assert [record.target for record in solution.certificates] == ["x'", "y'", "z''"]
        for record in solution.certificates:
            assert dict(zip(record.support, record.coefficients, strict=True)) == solution.terms[record.target]
            assert record.size == 2


def test_certificate_of_a_shared_budget_says_its_weights():
    """Without the weights nobody could recompute the objective."""
    problem, _ = two_libraries()
    light, heavy = (
        solve(problem, Total(4, weights)).certificates[0] for weights in ([1.0, 1.0, 1.0], [1.0, 50.0, 1.0])
    )
    claims = [json.loads(c.to_json()) for c in (light, heavy)]
    assert "weights" in claims[0]
    assert claims[1]["weights"] == [1.0, 50.0, 1.0]


def test_certificate_of_an_unproved_answer_survives_json():
    problem, _ = two_libraries()
    (record, *_) = refit(problem, [["a"], [], []]).certificates
    again = Certificate.from_json(record.to_json())
    assert again.lower_bound == -math.inf
    assert math.isnan(again.margin)
    assert again.status == "REFITTED"


def test_solution_of_another_problem_is_refused():
    problem, _ = two_libraries(3)
    other, _ = two_libraries(4)
    result = verify(other, solve(problem, 2))
    assert not result.ok
    assert not result.same_problem


# Other backends


@pytest.mark.parametrize("backend", ["enumerate", "scip", "gurobi", "gurobi-bigm"])
@pytest.mark.parametrize("system, degree, duration", [("lorenz", 2, 1.0), ("hopf", 3, 2.0), ("mhd", 2, 0.5)])
def test_backends_agree(backend, system, degree, duration):
    if backend in PACKAGES:
        pytest.importorskip(PACKAGES[backend])
    if (system, backend) == ("mhd", "scip"):
        pytest.skip("SCIP takes half a minute for what Gurobi and enumeration do at once")
    problem, known = polynomial_problem(system, degree, duration)
    k = known.sizes
    native = solve(problem, k)
    # Mixed-integer solvers prove to their own tolerance of about 1e-7.
    other = solve(problem, k, backend=backend, settings=Settings(gap=1e-6, threads=1))
    assert native.optimal
    assert other.optimal
    assert other.support == native.support
    assert other.objective == pytest.approx(native.objective, rel=1e-10)
    assert other.coef == pytest.approx(native.coef, rel=1e-6)
    assert np.all(other.lower_bound <= native.objective * (1 + 1e-9))
    if backend == "enumerate":
        assert other.margin == pytest.approx(native.margin, rel=1e-6)


def test_enumeration_agrees_on_a_cubic_mhd_library():
    problem, known = polynomial_problem("mhd", 3, 0.5)
    assert len(problem.terms) == 84
    native, plain = solve(problem, 2, ridge=1e-6), solve(problem, 2, ridge=1e-6, backend="enumerate")
    assert native.support == plain.support
    assert native.objective == pytest.approx(plain.objective, rel=1e-12)
    assert native.margin == pytest.approx(plain.margin, rel=1e-9)
    assert {t: set(terms) for t, terms in native.terms.items()} == {t: set(v) for t, v in known.truth.items()}


def test_completed_run_of_scip_is_not_called_interrupted():
    pytest.importorskip("pyscipopt")
    problem, known = polynomial_problem("lorenz", 2, 1.0)
    solution = solve(problem, known.sizes, backend="scip")
    assert Status.INTERRUPTED not in solution.status


# Invariance


def test_scaling_by_powers_of_two_changes_no_bit():
    problem, _ = polynomial_problem("hopf", 3, 2.0)
    (block,) = problem.blocks
    rng = np.random.default_rng(0)
    for k in (2, 4):
        plain = solve(problem, k)
        columns = 2.0 ** rng.integers(-60, 61, 10)
        targets = 2.0 ** rng.integers(-60, 61, 2)
        factor = block.factor * np.concatenate([columns, targets])
        scaled = solve(Problem((Block(factor, block.n_samples, block.terms, block.target_names),)), k)
        assert scaled.support == plain.support
        assert np.array_equal(scaled.coef, plain.coef * targets[:, None] / columns)
        assert np.array_equal(scaled.objective, plain.objective * targets**2)
        assert np.array_equal(scaled.lower_bound, plain.lower_bound * targets**2)
        assert np.array_equal(scaled.margin, plain.margin)


def test_order_of_the_columns_does_not_matter():
    problem, _ = polynomial_problem("lorenz", 3, 1.0)
    (block,) = problem.blocks
    plain = solve(problem, 4)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(20)
        theta, targets = block.factor[:, :20][:, order], block.factor[:, 20:]
        names = [problem.names[j] for j in order]
        moved = solve(Problem.from_arrays(theta, targets, names=names, target_names=problem.target_names), 4)
        assert [tuple(sorted(order[list(s)])) for s in moved.support] == list(plain.support)
        assert moved.objective == pytest.approx(plain.objective, rel=1e-10)
        assert moved.margin == pytest.approx(plain.margin, rel=1e-5)
        assert moved.coef[:, np.argsort(order)] == pytest.approx(plain.coef, rel=1e-6)


def test_parts_together_give_the_answer_of_the_whole():
    rng = np.random.default_rng(8)
    theta = rng.standard_normal((120, 12))
    y = theta[:, [2, 5, 9]] @ rng.standard_normal((3, 2)) + 0.5 * rng.standard_normal((120, 2))
    whole = solve_path(Problem.from_arrays(theta, y), 5)
    parts = sum(
        Problem.from_arrays(theta[i], y[i]) for i in (slice(0, 7), slice(7, 60), slice(60, 120))
    )  # the first part has fewer rows than columns
    split = solve_path(parts, 5)
    for a, b in zip(whole, split, strict=True):
        assert a.support == b.support
        assert b.objective == pytest.approx(a.objective, rel=1e-11)
        assert b.margin == pytest.approx(a.margin, rel=1e-8)


def test_weight_of_a_problem_scales_the_objective():
    problem, _ = two_libraries()
    plain, weighted = solve(problem, 2), solve(3.0 * problem, 2)
    assert weighted.support == plain.support
    assert weighted.objective == pytest.approx(3 * plain.objective, rel=1e-12)


# Threads


@pytest.fixture(scope="module")
def mhd():
    return polynomial_problem("mhd", 3, 0.5)[0]


@pytest.mark.parametrize("target", [None, "V1", "B3"])
def test_threads_change_no_bit(mhd, target):
    problem = mhd if target is None else one_equation(mhd, target)
    one = solve(problem, 5, settings=Settings(threads=1))
    assert one.optimal
    assert one.nodes.sum() > 5000  # tens of milliseconds: other threads join in after one
    for threads in (2, 4):
        assert bits(solve(problem, 5, settings=Settings(threads=threads))) == bits(one)


def test_threads_change_no_bit_of_a_path(mhd):
    problem = one_equation(mhd, "B2")
    one, two, four = (solve_path(problem, 5, settings=Settings(threads=n)) for n in (1, 2, 4))
    assert [bits(s) for s in one] == [bits(s) for s in two] == [bits(s) for s in four]
    assert bits(one[5]) == bits(solve(problem, 5))


def test_threads_change_no_bit_where_supports_tie():
    rng = np.random.default_rng(4)
    theta = rng.integers(-1, 2, (30, 60)).astype(float)
    problem = Problem.from_arrays(theta, rng.integers(-2, 3, 30).astype(float))
    answers = {bits(solve(problem, 4, settings=Settings(threads=n))) for n in (1, 2, 4)}
    assert len(answers) == 1


def test_two_python_threads_may_solve_at_once(mhd):
    problems = [one_equation(mhd, target) for target in ("V1", "V2", "B1", "B3")]
    alone = [bits(solve(problem, 5, settings=Settings(threads=1))) for problem in problems]
    with ThreadPoolExecutor(4) as executor:
        for threads in (1, 2):
            together = executor.map(lambda p, n=threads: solve(p, 5, settings=Settings(threads=n)), problems)
            assert [bits(solution) for solution in together] == alone


# Anything a user may pass


NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-100 else 0.0),
)


@st.composite
def regressions(draw):
    n, width, targets = draw(st.integers(1, 8)), draw(st.integers(1, 5)), draw(st.integers(1, 2))
    data = draw(hnp.arrays(np.float64, (n, width + targets), elements=NUMBERS))
    return data[:, :width], data[:, width:]


@settings(max_examples=100, deadline=None)
@given(regressions(), st.integers(0, 6), st.sampled_from([0.0, 1e-3, 1.0]))
def test_claims_hold_for_any_small_arrays(data, k, ridge):
    problem = Problem.from_arrays(*data)
    solution = solve(problem, k, ridge=ridge)
    value = problem.rss(solution.coef) + ridge * np.sum(solution.coef**2, axis=1)
    assert np.all(np.abs(solution.objective - value) <= 1e-9 * value + 16 * solution.floor)
    assert np.all(solution.lower_bound <= solution.objective)
    assert solution.optimal
    assert all(len(support) <= k for support in solution.support)
    result = verify(problem, solution)
    assert result.ok, str(result)
    assert result.optimality == "enumerated"


@settings(max_examples=30, deadline=None)
@given(regressions(), st.integers(0, 6), st.floats(0.01, 100.0))
def test_claims_about_a_shared_budget_hold_for_any_small_arrays(data, k, weight):
    problem = Problem.from_arrays(*data)
    solution = solve(problem, Total(k, [weight] + [1.0] * (len(problem.target_names) - 1)), ridge=0.1)
    assert solution.optimal
    result = verify(problem, solution)
    assert result.ok, str(result)


def test_a_block_with_all_terms_in_another_order():
    """Its ridge and its coefficients are those of its own terms."""
    rng = np.random.default_rng(5)
    theta, other = rng.standard_normal((2, 50, 2))
    y = rng.standard_normal((2, 50))
    p = Problem.from_arrays(theta, y[0], names=["a", "b"], target_names=["x'"])
    q = Problem.from_arrays(other, y[1], names=["b", "a"], target_names=["y'"])
    ridge = np.array([[1.0, 2.0], [30.0, 4.0]])
    joined, alone = Problem.from_blocks([p, q]), solve(q, 2, ridge=[4.0, 30.0])
    for _ in range(2):  # (the second time the equations are known)
        found = solve(joined, 2, ridge=ridge)
        assert np.array_equal(found.coef[1], alone.coef[0][::-1])
        assert found.optimal


@pytest.mark.parametrize("threads", [1, 2])
def test_targets_of_one_library_have_the_bits_of_single_calls(threads):
    """What depends on the library alone is made once for all of them."""
    rng = np.random.default_rng(11)
    theta = rng.standard_normal((90, 40))
    targets = theta[:, :12].reshape(90, 4, 3).sum(axis=2) * [1.0, 1e-5, 1e4, 0.0] + 0.3 * rng.standard_normal((90, 4))
    targets[:, 3] = 0.0
    equations = equations_of(Problem.from_arrays(theta, targets), np.zeros((4, 40)))
    together = native.run(equations, [5] * 4, [[]] * 4, Settings(threads=threads))
    for equation, (whole,) in zip(equations, together, strict=True):
        ((alone,),) = native.run([equation], [5], [[]], Settings(threads=1))
        assert whole.answers == alone.answers
        assert (whole.lower_bound, whole.runner_up, whole.stop) == (alone.lower_bound, alone.runner_up, alone.stop)
        assert threads > 1 or whole.nodes == alone.nodes
