"""Enumeration against the oracles; SCIP and Gurobi against enumeration."""

from __future__ import annotations

import builtins
import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from exactsindy.errors import MissingDependency, SolverError
from exactsindy.problem import Problem
from exactsindy.solver.backends import enumeration, gurobi, scip
from exactsindy.solver.backends.rational import ExactEquation
from exactsindy.solver.backends.scaling import ellipsoid_bounds, greedy, scaled_equation
from exactsindy.solver.equations import Equation
from exactsindy.solver.settings import Settings, Status
from exactsindy.solver.solving import solve
from oracle import FAMILIES, best_supports, exact_best, exact_reduced, exact_supports

MIXED_INTEGER = [scip.solve_equation, gurobi.solve_equation]


def equation(theta, y):
    """Return (theta_factor, z, rest_square) of a regression."""
    problem = Problem.from_arrays(theta, y)
    block, j = problem.locate(0)
    z, rest = block.target(j)
    return block.theta_factor, z, float(np.linalg.norm(rest)) ** 2


def record(factor, z, rest_square, ridge):
    """Return the record that backends take; its constant is ``rest_square`` where that is the square of a double."""
    names = tuple(f"c{j}" for j in range(len(z)))
    rest = np.array([math.sqrt(rest_square)])
    return Equation("x'", np.ascontiguousarray(factor), z, rest, ridge, np.arange(len(z)), names)


@dataclass(frozen=True)
class Result:
    """An outcome as tests read it: coefficients of all terms, and how the search ended."""

    support: tuple
    coef: np.ndarray
    objective: float
    lower_bound: float
    margin: float
    stop: Status | None
    nodes: int


def run(solve, factor, z, rest_square, ridge, size, settings, **options):
    outcome = solve(record(factor, z, rest_square, ridge), size, settings, **options)
    (answer,) = outcome.answers
    coef = np.zeros(len(z))
    coef[list(answer.support)] = answer.coef
    return Result(
        answer.support, coef, answer.objective, outcome.lower_bound, outcome.margin, outcome.stop, outcome.nodes
    )


def generated(family, seed):
    theta, y = FAMILIES[family](np.random.default_rng(seed))
    return theta, y, *equation(theta, y)


@pytest.fixture(scope="module")
def lorenz():
    """Quadratic library (10 terms) of a noisy Lorenz trajectory, and the exact right-hand side of y'."""

    def flow(t, u):
        x, y, z = u
        return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]

    times = np.linspace(0, 4, 400)
    states = solve_ivp(flow, (0, 4), [-8.0, 8.0, 27.0], t_eval=times, rtol=1e-9, atol=1e-9).y
    rng = np.random.default_rng(0)
    x, y, z = states + 0.01 * rng.standard_normal(states.shape)
    theta = np.column_stack([np.ones_like(x), x, y, z, x * x, x * y, x * z, y * y, y * z, z * z])
    target = np.array(flow(0, states))[1] + 0.5 * rng.standard_normal(len(times))
    return equation(theta, target)


# Exact arithmetic


@pytest.mark.parametrize("family", ["near_duplicates", "many_ties", "badly_scaled", "few_rows", "zero_columns"])
@pytest.mark.parametrize("ridge", [0.0, 2.5])
def test_exact_values_agree_with_the_rational_oracle(family, ridge):
    _, _, factor, z, _ = generated(family, 4)
    weights = np.full(len(z), ridge)
    exact = ExactEquation(factor, z, weights)
    values = exact_supports(factor, z, 3, weights)
    for support, value in values.items():
        assert exact.admissible(support)
        assert exact.value(support) == value
    for support in [(0, 1, 2), (0, 2, 4), (1, 4, 5), (0, 1, 2, 3, 4, 5)]:
        assert exact.reduced(support) == exact_reduced(factor, support, weights)


def test_exact_coefficients_solve_the_normal_equations():
    _, _, factor, z, _ = generated("gaussian", 1)
    ridge = np.linspace(0.0, 1.0, len(z))
    support = (0, 3, 7)
    chosen = factor[:, support]
    expected = np.linalg.solve(chosen.T @ chosen + np.diag(ridge[list(support)]), chosen.T @ z)
    assert ExactEquation(factor, z, ridge).coefficients(support) == pytest.approx(expected, rel=1e-12)


# Enumeration


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("relative_ridge", [0.0, 1e-4])
def test_enumeration_is_exact(family, relative_ridge):
    _, _, factor, z, rest = generated(family, 2)
    ridge = relative_ridge * np.sum(factor**2, axis=0)
    for size in (0, 1, 2, 4):
        result = run(enumeration.solve_equation, factor, z, rest, ridge, size, Settings())
        best = exact_best(factor, z, size, ridge)
        value = best.value + Fraction(rest)
        assert result.support == best.support
        assert result.objective == result.lower_bound == float(value)
        assert result.stop is None
        assert result.margin == pytest.approx(true_margin(best, rest), rel=1e-12, abs=1e-15)
        assert set(np.flatnonzero(result.coef)) <= set(result.support)


def true_margin(best, rest):
    value = best.value + Fraction(rest)
    if best.rival is None:
        return math.inf
    if best.rival == best.value:
        return 0.0
    return float((best.rival + Fraction(rest)) / value - 1) if value else math.inf


@pytest.mark.parametrize("family", FAMILIES)
def test_enumeration_agrees_with_the_raw_data(family):
    theta, y, factor, z, rest = generated(family, 3)
    for size in (1, 3):
        result = run(enumeration.solve_equation, factor, z, rest, np.zeros(len(z)), size, Settings())
        least = min(best_supports(theta, y, s).values.min() for s in range(size + 1))
        spread = np.linalg.norm(y) + np.abs(result.coef) @ np.linalg.norm(theta, axis=0)
        assert math.sqrt(result.objective) == pytest.approx(math.sqrt(least), rel=1e-12, abs=1e-14 * spread)


def test_the_two_oracles_agree():
    theta, y = FAMILIES["many_ties"](np.random.default_rng(8))
    exact = exact_supports(theta, y, 3, 0.5)
    table = best_supports(theta, y, 3, 0.5)
    assert table.admissible.sum() == sum(len(support) == 3 for support in exact)
    for support, value, admissible in zip(table.supports, table.values, table.admissible, strict=True):
        kept = tuple(support.tolist()) if admissible else exact_reduced(theta, support.tolist(), 0.5)
        assert value == pytest.approx(float(exact[kept]), rel=1e-12)


def test_oracle_gives_an_inadmissible_support_the_value_of_the_smaller_one():
    theta, y = FAMILIES["duplicates"](np.random.default_rng(0))
    table = best_supports(theta, y, 2)
    position = table.supports.tolist().index([0, 2])
    assert not table.admissible[position]
    assert table.values[position] == best_supports(theta, y, 1).values[0]


@pytest.mark.parametrize("power, admissible", [(-44, False), (-43, True)])
def test_dependence_begins_at_the_stated_distance(power, admissible):
    # 2^-44 = 5.7e-14 and 2^-43 = 1.1e-13 lie on either side of 1e-13; the target asks for a small coefficient.
    factor = np.array([[1.0, 1.0], [0.0, 2.0**power]])
    z = np.array([1.0, 2.0**-20])
    result = run(enumeration.solve_equation, factor, z, 0.0, np.zeros(2), 2, Settings())
    assert len(result.support) == (2 if admissible else 1)
    assert result.objective == pytest.approx(0.0 if admissible else 2.0**-40, rel=1e-6)


@pytest.mark.parametrize("power, admissible", [(-26, True), (-28, False)])
def test_coefficients_beyond_their_limit_do_not_count(power, admissible):
    # The pair fits exactly with coefficients of about 2^-power |y|.
    factor = np.array([[1.0, 1.0], [0.0, 2.0**power]])
    z = np.array([0.0, 1.0])
    result = run(enumeration.solve_equation, factor, z, 0.0, np.zeros(2), 2, Settings())
    assert result.support == ((0, 1) if admissible else (1,))
    wide = Settings(coefficient_limit=2.0**30)
    assert run(enumeration.solve_equation, factor, z, 0.0, np.zeros(2), 2, wide).support == (0, 1)
    problem = Problem.from_arrays(factor, z)
    assert [solve(problem, 2, settings=s).support[0] for s in (Settings(), wide)] == [result.support, (0, 1)]


def test_zero_column_stays_out_whatever_its_ridge():
    factor = np.array([[0.0, 1.0], [0.0, 1.0]])
    for ridge in (np.zeros(2), np.array([1.0, 0.0])):
        result = run(enumeration.solve_equation, factor, np.ones(2), 0.0, ridge, 2, Settings())
        assert result.support == (1,)
        assert result.objective == 0.0


def test_ties_go_to_the_smaller_then_the_first_support():
    result = run(enumeration.solve_equation, np.eye(4), np.ones(4), 0.0, np.zeros(4), 2, Settings())
    assert (result.support, result.margin) == ((0, 1), 0.0)
    result = run(enumeration.solve_equation, np.eye(3), np.array([0.0, 2.0, 0]), 1.0, np.zeros(3), 2, Settings())
    assert (result.support, result.margin) == ((1,), 4.0)


def test_constant_counts_in_objective_and_margin():
    bare = run(enumeration.solve_equation, np.eye(2), np.array([2.0, 1.0]), 0.0, np.zeros(2), 1, Settings())
    full = run(enumeration.solve_equation, np.eye(2), np.array([2.0, 1.0]), 1.0, np.zeros(2), 1, Settings())
    assert (bare.objective, bare.margin) == (1.0, 3.0)
    assert (full.objective, full.margin) == (2.0, 1.5)


def test_enumeration_counts_every_support():
    _, _, factor, z, rest = generated("gaussian", 0)
    result = run(enumeration.solve_equation, factor, z, rest, np.zeros(9), 4, Settings())
    assert result.nodes == sum(math.comb(9, s) for s in range(5))


def test_enumeration_refuses_too_many_supports():
    message = r"refuses 7\.9e\+07 supports \(100 terms, size <= 5\): at most 5e\+07\. Use backend='native'"
    with pytest.raises(SolverError, match=message):
        run(enumeration.solve_equation, np.eye(100), np.ones(100), 0.0, np.zeros(100), 5, Settings())


def test_enumeration_obeys_the_time_limit():
    rng = np.random.default_rng(0)
    factor, z, rest = equation(rng.standard_normal((120, 60)), rng.standard_normal(120))
    started = time.perf_counter()
    result = run(enumeration.solve_equation, factor, z, rest, np.zeros(60), 5, Settings(seconds=0.2))
    assert time.perf_counter() - started < 2.0
    assert result.stop is Status.TIME_LIMIT
    assert result.lower_bound == rest < result.objective
    assert math.isnan(result.margin)
    fitted = np.sum((z - factor @ result.coef) ** 2) + rest
    assert result.objective == pytest.approx(fitted, rel=1e-12)


def test_enumeration_obeys_the_node_limit():
    _, _, factor, z, rest = generated("gaussian", 0)
    result = run(enumeration.solve_equation, factor, z, rest, np.zeros(9), 4, Settings(nodes=20))
    assert result.stop is Status.NODE_LIMIT
    assert result.nodes < 100
    assert len(result.support) <= 4


# Mixed-integer solvers


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("backend", ["scip", "sos1", "bigm"])
def test_solvers_agree_on_lorenz(lorenz, backend, size, ridge):
    weights = np.full(10, ridge)
    expected = run(enumeration.solve_equation, *lorenz, weights, size, Settings())
    if backend == "scip":
        result = run(scip.solve_equation, *lorenz, weights, size, Settings())
    else:
        result = run(gurobi.solve_equation, *lorenz, weights, size, Settings(threads=1), formulation=backend)
    assert result.support == expected.support
    assert result.objective == expected.objective
    assert result.coef == pytest.approx(expected.coef, rel=1e-14)
    assert result.stop is None
    assert result.lower_bound <= result.objective
    assert result.lower_bound == pytest.approx(expected.objective, rel=1e-6)
    assert math.isnan(result.margin)


def test_enumeration_finds_lorenz(lorenz):
    result = run(enumeration.solve_equation, *lorenz, np.zeros(10), 3, Settings())
    assert result.support == (1, 2, 6)
    assert result.coef[[1, 2, 6]] == pytest.approx([28, -1, -1], abs=0.5)
    assert result.margin > 0.1


@pytest.mark.parametrize("solve", MIXED_INTEGER)
@pytest.mark.parametrize("family", ["zero_target", "zero_columns", "all_zero", "orthogonal_ties", "badly_scaled"])
def test_solvers_on_awkward_data(solve, family):
    _, _, factor, z, rest = generated(family, 5)
    expected = run(enumeration.solve_equation, factor, z, rest, np.zeros(len(z)), 2, Settings())
    result = run(solve, factor, z, rest, np.zeros(len(z)), 2, Settings(threads=1))
    assert result.objective == pytest.approx(expected.objective, rel=1e-9)
    assert len(result.support) == len(expected.support)
    assert result.stop is None


@pytest.mark.parametrize("solve", MIXED_INTEGER)
def test_solvers_obey_the_time_limit(solve):
    rng = np.random.default_rng(1)
    factor, z, rest = equation(rng.standard_normal((60, 50)), rng.standard_normal(60))
    started = time.perf_counter()
    result = run(solve, factor, z, rest, np.zeros(50), 12, Settings(seconds=0.5, threads=1))
    assert time.perf_counter() - started < 5.0
    assert result.stop is Status.TIME_LIMIT
    assert rest <= result.lower_bound < result.objective
    assert len(result.support) <= 12


@pytest.mark.parametrize("solve", MIXED_INTEGER)
def test_solvers_obey_the_node_limit(solve):
    rng = np.random.default_rng(1)
    factor, z, rest = equation(rng.standard_normal((40, 30)), rng.standard_normal(40))
    result = run(solve, factor, z, rest, np.zeros(30), 8, Settings(nodes=1, threads=1))
    assert result.stop is Status.NODE_LIMIT
    assert rest <= result.lower_bound < result.objective


@pytest.mark.parametrize("solve", MIXED_INTEGER)
def test_solvers_print_nothing(solve, lorenz, capfd):
    run(solve, *lorenz, np.zeros(10), 3, Settings(threads=1))
    assert capfd.readouterr() == ("", "")


def test_given_bounds_are_used(lorenz):
    settings = Settings(threads=1)
    free = run(gurobi.solve_equation, *lorenz, np.zeros(10), 3, settings, formulation="bigm", bounds=np.full(10, 100.0))
    assert free.support == (1, 2, 6)
    tight = run(gurobi.solve_equation, *lorenz, np.zeros(10), 3, settings, formulation="bigm", bounds=np.full(10, 1e-3))
    assert tight.support != (1, 2, 6)


def test_computed_bounds_hold_for_the_optimum(lorenz):
    factor, z, rest = lorenz
    scaled = scaled_equation(record(factor, z, rest, np.zeros(10)), 3)
    best = run(enumeration.solve_equation, factor, z, rest, np.zeros(10), 3, Settings())
    assert np.all(np.abs(best.coef) <= ellipsoid_bounds(scaled, 3) * scaled.unit)


def test_scaled_equation_keeps_the_objective(lorenz):
    factor, z, rest = lorenz
    ridge = np.linspace(0.1, 1.0, 10)
    scaled = scaled_equation(record(factor, z, rest, ridge), 3)
    xi = np.linspace(-1.0, 2.0, 10)
    x = xi / scaled.unit
    problem = scaled.problem
    value = np.sum((problem.target - problem.matrix @ x) ** 2) + problem.constant
    assert value * scaled.square == pytest.approx(np.sum((z - factor @ xi) ** 2) + rest + ridge @ xi**2, rel=1e-12)
    support, least = greedy(problem.matrix, problem.target, 3)
    assert len(support) == 3
    assert 0.25 <= least + problem.constant <= 4.0


def test_dependent_columns_have_no_bounds():
    _, _, factor, z, rest = generated("duplicates", 0)
    with pytest.raises(SolverError, match=r"the library's columns are linearly dependent.*Give `bounds`"):
        run(gurobi.solve_equation, factor, z, rest, np.zeros(8), 2, Settings(), formulation="bigm")


def test_wrong_options_are_refused(lorenz):
    settings = Settings()
    with pytest.raises(SolverError, match="formulation='sos': expected 'sos1' or 'bigm'"):
        run(gurobi.solve_equation, *lorenz, np.zeros(10), 3, settings, formulation="sos")
    with pytest.raises(SolverError, match="bounds: only formulation='bigm' takes them, not 'sos1'"):
        run(gurobi.solve_equation, *lorenz, np.zeros(10), 3, settings, bounds=np.ones(10))
    with pytest.raises(SolverError, match="bounds: expected one positive number per term"):
        run(gurobi.solve_equation, *lorenz, np.zeros(10), 3, settings, formulation="bigm", bounds=np.zeros(10))


def test_licence_limit_names_the_cure():
    import gurobipy

    if gurobipy.gurobi.version()[0] < 11:
        pytest.skip("older packages have other limits")
    message = r"Gurobi's licence refuses 300 terms \(600 variables\).*about 100 terms.*backend='native'"
    with pytest.raises(SolverError, match=message):
        run(gurobi.solve_equation, np.eye(300), np.ones(300), 0.0, np.zeros(300), 3, Settings(seconds=1))


def test_scip_failures_are_ours(lorenz, monkeypatch):
    import pyscipopt

    class Broken(pyscipopt.Model):
        def optimize(self):
            raise Exception("SCIP: error in LP solver!")

    monkeypatch.setattr(pyscipopt, "Model", Broken)
    with pytest.raises(SolverError, match=r"SCIP failed: SCIP: error in LP solver!. Try backend='native'\."):
        run(scip.solve_equation, *lorenz, np.zeros(10), 3, Settings())


def test_scip_without_an_answer(lorenz, monkeypatch):
    import pyscipopt

    class Lost(pyscipopt.Model):
        def getStatus(self):
            return "inforunbd"

    monkeypatch.setattr(pyscipopt, "Model", Lost)
    with pytest.raises(SolverError, match="SCIP stopped with status 'inforunbd' and no answer"):
        run(scip.solve_equation, *lorenz, np.zeros(10), 3, Settings())


def test_gurobi_failures_are_ours(lorenz, monkeypatch):
    import gurobipy

    def refuse(*args, **named):
        raise gurobipy.GurobiError(10009, "HostID mismatch")

    monkeypatch.setattr(gurobi, "write_model", refuse)
    with pytest.raises(SolverError, match=r"Gurobi found no valid licence \(HostID mismatch\)\. Install one"):
        run(gurobi.solve_equation, *lorenz, np.zeros(10), 3, Settings())


@pytest.mark.parametrize("solve, package", [(scip.solve_equation, "pyscipopt"), (gurobi.solve_equation, "gurobipy")])
def test_missing_package_names_the_cure(solve, package, monkeypatch):
    original = builtins.__import__

    def refuse(name, *rest, **named):
        if name == package:
            raise ImportError(name)
        return original(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    message = rf"The {package} package is not installed.*pip install exactsindy\[solvers\]"
    with pytest.raises(MissingDependency, match=message):
        run(solve, np.eye(2), np.ones(2), 0.0, np.zeros(2), 1, Settings())
