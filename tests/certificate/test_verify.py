"""Verification accepts honest solutions and finds every kind of false claim."""

from __future__ import annotations

import ast
import itertools
import math
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import exactsindy.certificate
from exactsindy.certificate import verify, verify_all
from exactsindy.errors import ProblemError
from exactsindy.problem import Block, Problem
from exactsindy.solver import refit, solve, solve_path
from exactsindy.solver.settings import Status, Total
from oracle import FAMILIES, exact_best, exact_supports


@dataclass(frozen=True)
class Claims:
    """A solution as `verify` sees it."""

    coef: np.ndarray
    support: tuple
    objective: np.ndarray
    lower_bound: np.ndarray
    gap: np.ndarray
    margin: np.ndarray
    status: tuple
    problem: Problem
    ridge: np.ndarray
    k: object
    constraints: tuple = ()


def fit(factor, z, ridge, support, weight=1.0):
    """Least squares with ridge by an augmented QR, in doubles."""
    coef = np.zeros(factor.shape[1])
    if support:
        columns = np.vstack([math.sqrt(weight) * factor, np.diag(np.sqrt(ridge))])[:, list(support)]
        norms = np.linalg.norm(columns, axis=0)
        target = np.append(math.sqrt(weight) * z, np.zeros(len(ridge)))
        coef[list(support)] = np.linalg.lstsq(columns / norms, target, rcond=1e-15)[0] / norms
    return coef


def equation(problem, j):
    block, column = problem.locate(j)
    z, rest = block.target(column)
    return block.theta_factor, z, Fraction(float(rest @ rest)), problem.columns(block)


def honest(problem, k, ridge=0.0):
    """The true optimum of each equation, from the exact oracle."""
    count, width = len(problem.target_names), len(problem.names)
    weights = np.broadcast_to(np.asarray(ridge, dtype=float), (count, width)).copy()
    coef, supports, values, margins = np.zeros((count, width)), [], [], []
    for j in range(count):
        factor, z, rest, columns = equation(problem, j)
        best = exact_best(factor, z, k[j], weights[j, columns])
        coef[j, columns] = fit(factor, z, weights[j, columns], best.support)
        supports.append(tuple(int(columns[i]) for i in best.support))
        values.append(float(best.value + rest))
        if best.rival is None:
            margins.append(math.inf)
        else:
            tie = best.rival == best.value
            known = best.value + rest
            margins.append(0.0 if tie else float((best.rival + rest) / known - 1) if known else math.inf)
    values = np.array(values)
    return Claims(
        coef,
        tuple(supports),
        values,
        values.copy(),
        np.zeros(count),
        np.array(margins),
        (Status.OPTIMAL,) * count,
        problem,
        weights,
        tuple(k),
    )


def honest_total(problem, total, weights, ridge=0.0):
    """The true joint optimum, from all combinations of supports."""
    count, width = len(problem.target_names), len(problem.names)
    ridges = np.broadcast_to(np.asarray(ridge, dtype=float), (count, width)).copy()
    tables = []
    for j in range(count):
        factor, z, rest, columns = equation(problem, j)
        w = Fraction(float(weights[j]))
        # w (RSS + (ridge / w) xi^2): powers of two as weights keep the ridge exact.
        values = exact_supports(factor, z, min(total.k, len(columns)), ridges[j, columns] / weights[j])
        tables.append([(w * (value + rest), support) for support, value in values.items()])
    joint = [
        (sum(v for v, _ in combination), tuple(s for _, s in combination))
        for combination in itertools.product(*tables)
        if sum(len(s) for _, s in combination) <= total.k
    ]
    value, supports = min(joint, key=lambda item: (item[0], sum(map(len, item[1])), item[1]))
    size = sum(map(len, supports))
    rival = min(v for v, s in joint if sum(map(len, s)) == size and s != supports)
    coef, named = np.zeros((count, width)), []
    for j, support in enumerate(supports):
        factor, z, _, columns = equation(problem, j)
        coef[j, columns] = fit(factor, z, ridges[j, columns], support, weights[j])
        named.append(tuple(int(columns[i]) for i in support))
    objective = np.array([float(value)])
    margin = np.array([float(rival / value - 1)])
    return Claims(
        coef,
        tuple(named),
        objective,
        objective.copy(),
        np.zeros(1),
        margin,
        (Status.OPTIMAL,),
        problem,
        ridges,
        total,
    )


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(7)
    theta = rng.standard_normal((40, 8)) * 10.0 ** rng.uniform(-3, 3, 8)
    scaled = theta / np.linalg.norm(theta, axis=0)
    targets = scaled[:, [[0, 2, 5], [1, 2, 7]]].sum(axis=2) + 0.02 * rng.standard_normal((40, 2))
    return Problem.from_arrays(theta, targets, target_names=["x'", "y'"])


@pytest.fixture(scope="module")
def claims(problem):
    return honest(problem, (3, 2))


def two_blocks(seed=3):
    """Two equations with different rows and libraries that share the term b."""
    rng = np.random.default_rng(seed)
    first = Problem.from_arrays(
        rng.standard_normal((20, 4)), rng.standard_normal(20), names=list("abcd"), target_names=["x'"]
    )
    second = Problem.from_arrays(
        rng.standard_normal((15, 3)), rng.standard_normal(15), names=list("ebf"), target_names=["y'"]
    )
    return Problem((*first.blocks, *second.blocks))


def test_honest_solution_passes(problem, claims):
    result = verify(problem, claims)
    assert result.ok
    assert result.failures == ()
    assert (result.feasible, result.objective, result.stationary, result.optimality) == (
        True,
        True,
        True,
        "enumerated",
    )
    for check in result.checks:
        assert check.optimal is True
        assert check.margin is True
        assert check.objective_error < 1e-13
        assert check.gradient < 1e-14


def test_text_of_an_honest_solution(problem, claims):
    text = str(verify(problem, claims))
    assert text.startswith("Verified: every claim holds, and every support was looked at.\nx': feasible yes;")
    assert "optimal yes (enumerated); margin yes" in text
    assert "y': feasible yes" in text


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("relative_ridge", [0.0, 1e-3])
def test_honest_solutions_of_every_family_pass(family, relative_ridge):
    theta, y = FAMILIES[family](np.random.default_rng(11))
    problem = Problem.from_arrays(theta, y)
    ridge = relative_ridge * problem.column_norms**2
    for k in (0, 1, 3):
        result = verify(problem, honest(problem, (k,), ridge))
        assert result.ok, f"k={k}\n{result}"
        assert result.optimality == "enumerated"


def change(array, index, value):
    changed = np.array(array, dtype=float)
    changed[index] = value
    return changed


def test_wrong_coefficient_is_found(problem, claims):
    j, i = 0, claims.support[0][1]
    coef = change(claims.coef, (j, i), claims.coef[j, i] * (1 + 1e-6))
    result = verify(problem, replace(claims, coef=coef))
    assert not result.ok
    assert not result.stationary
    assert "x': the coefficients are not the least-squares fit on their support" in result.failures[0]
    assert result.checks[1].ok


def test_sign_of_a_coefficient_is_found(problem, claims):
    i = claims.support[1][0]
    result = verify(problem, replace(claims, coef=change(claims.coef, (1, i), -claims.coef[1, i])))
    assert (result.objective, result.stationary) == (False, False)
    assert "y': the objective is claimed to be" in result.failures[0]


@pytest.mark.parametrize("factor", [1 + 1e-7, 1 - 1e-7, 0.0, -1.0, math.inf, math.nan])
def test_wrong_objective_is_found(problem, claims, factor):
    objective = change(claims.objective, 0, claims.objective[0] * factor)
    result = verify(problem, replace(claims, objective=objective))
    assert not result.ok
    assert not result.objective
    assert "but the coefficients give" in result.failures[0]


def suboptimal(problem, claims, bound):
    """The second-best support of x', with everything else right."""
    factor, z, rest, _ = equation(problem, 0)
    values = exact_supports(factor, z, 3)
    second = sorted((v, s) for s, v in values.items() if len(s) == 3)[1][1]
    coef = claims.coef.copy()
    coef[0] = fit(factor, z, np.zeros(len(z)), second)
    objective = change(claims.objective, 0, float(values[second] + rest))
    lower = change(claims.lower_bound, 0, objective[0] if bound is None else bound)
    gap = change(claims.gap, 0, (objective[0] - lower[0]) / objective[0])
    support = (second, claims.support[1])
    return replace(claims, coef=coef, objective=objective, lower_bound=lower, support=support, gap=gap)


def test_suboptimal_support_is_found(problem, claims):
    result = verify(problem, suboptimal(problem, claims, None))
    assert (result.feasible, result.objective, result.stationary) == (True, True, True)
    assert result.checks[0].optimal is False
    assert "x': the lower bound is" in result.failures[0]
    assert "but a support has the objective" in result.failures[0]


def test_suboptimal_support_called_optimal_is_found(problem, claims):
    false = suboptimal(problem, claims, claims.objective[0])
    result = verify(problem, replace(false, gap=np.zeros(2)))
    assert any("the gap is claimed to be 0" in text for text in result.failures)
    assert any("the status says optimal at" in text for text in result.failures)


def test_unfinished_solution_with_a_true_bound_passes(problem, claims):
    stopped = suboptimal(problem, claims, 0.5 * claims.objective[0])
    status = (Status.TIME_LIMIT, Status.OPTIMAL)
    result = verify(problem, replace(stopped, status=status, margin=change(claims.margin, 0, math.nan)))
    assert result.ok
    assert result.unchecked == ()
    assert result.checks[0].optimal is False
    assert result.checks[0].margin is None
    assert "x': feasible yes" in str(result)
    assert "optimal not claimed (enumerated: a better support exists)" in str(result.checks[0])


@pytest.mark.parametrize("bound", [0.0, -math.inf])
def test_no_claimed_gap_excuses_a_better_support(bound):
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(60, 8))
    problem = Problem.from_arrays(theta, 2 * theta[:, 3] - theta[:, 5] + 0.1 * rng.normal(size=60))
    bad = refit(problem, [[0, 1]])
    forged = replace(bad, k=(2,), status=(Status.OPTIMAL,), lower_bound=np.array([bound]), margin=np.array([math.nan]))
    assert forged.gap[0] >= 1.0
    result = verify(problem, forged)
    assert not result.ok
    assert result.checks[0].optimal is False
    assert "y0': the status says optimal at" in result.failures[0]
    assert "optimal NO (enumerated)" in str(result)


def test_optimum_found_with_a_coarse_gap_passes_if_it_is_the_optimum(problem, claims):
    coarse = replace(claims, lower_bound=0.9 * claims.lower_bound, gap=np.full(2, 0.1))
    assert verify(problem, coarse).ok


@pytest.mark.parametrize("status", [Status.TOLERANCE, Status.REFITTED])
def test_optimality_is_not_reported_where_a_better_support_is_known(problem, claims, status):
    stopped = suboptimal(problem, claims, -math.inf)
    margin = change(claims.margin, 0, math.nan)
    result = verify(problem, replace(stopped, status=(status, Status.OPTIMAL), margin=margin))
    assert result.ok
    assert result.checks[0].optimal is False
    assert "optimal yes" not in str(result.checks[0])


def test_infeasible_without_constraints_is_found(problem, claims):
    result = verify(problem, replace(claims, status=(Status.INFEASIBLE, Status.OPTIMAL)))
    assert not result.ok
    assert result.failures == (
        "x': infeasible is claimed, but there are no constraints: the empty support is always there.",
    )
    assert "x': infeasible NO" in str(result)


def test_false_objective_is_no_optimum(problem, claims):
    false = suboptimal(problem, claims, claims.objective[0])
    result = verify(problem, replace(false, objective=claims.objective))
    assert result.checks[0].objective is False
    assert result.checks[0].optimal is False


def test_unknown_bound_passes(problem, claims):
    unknown = replace(
        claims,
        lower_bound=change(claims.lower_bound, 0, -math.inf),
        gap=change(claims.gap, 0, math.inf),
        status=(Status.INTERRUPTED, Status.OPTIMAL),
    )
    assert verify(problem, unknown).ok


def test_too_many_terms_are_found(problem, claims):
    result = verify(problem, replace(claims, k=(2, 2)))
    assert not result.feasible
    assert result.failures[0] == "x': 3 terms are claimed where k = 2 are allowed."


def test_coefficient_off_the_support_is_found(problem, claims):
    i = next(i for i in range(8) if i not in claims.support[1])
    result = verify(problem, replace(claims, coef=change(claims.coef, (1, i), 1e-300)))
    assert result.failures[0] == f"y': terms [{i}] have coefficients in y' but are not in its support."


@pytest.mark.parametrize("support", [(5, 2, 0), (0, 2, 2), (0, 2, 99)])
def test_malformed_support_is_found(problem, claims, support):
    result = verify(problem, replace(claims, support=(support, claims.support[1])))
    assert not result.feasible
    assert f"{support} is no increasing list of terms of the library of x'." in result.failures[0]


def test_coefficients_that_are_no_numbers_are_found(problem, claims):
    result = verify(problem, replace(claims, coef=change(claims.coef, (0, claims.support[0][0]), math.nan)))
    assert not result.ok
    assert "x': not all coefficients are finite numbers." in result.failures


def test_bound_above_the_objective_is_found(problem, claims):
    bound = change(claims.lower_bound, 1, claims.objective[1] * (1 + 1e-6))
    result = verify(problem, replace(claims, lower_bound=bound))
    assert not result.checks[1].bound
    assert "y': the lower bound" in result.failures[0]
    assert "exceeds the objective" in result.failures[0]


def test_undefined_bound_is_found(problem, claims):
    assert not verify(problem, replace(claims, lower_bound=change(claims.lower_bound, 0, math.nan))).ok


@pytest.mark.parametrize("factor", [0.99, 1.01, 0.0, math.inf])
def test_wrong_margin_is_found(problem, claims, factor):
    result = verify(problem, replace(claims, margin=change(claims.margin, 0, claims.margin[0] * factor)))
    assert result.checks[0].margin is False
    assert "x': the margin is claimed to be" in result.failures[0]
    assert "but the next-best support gives" in result.failures[0]


def test_margin_where_there_is_no_rival():
    problem = Problem.from_arrays([[1.0], [2.0]], [1.0, 1.0])
    right = honest(problem, (1,))
    assert right.margin[0] == math.inf
    assert verify(problem, right).ok
    result = verify(problem, replace(right, margin=np.array([0.5])))
    assert result.failures == ("y0': the margin is claimed to be 0.5, but there is no rival.",)


@pytest.mark.parametrize("family", ["duplicates", "zero_columns"])
def test_dependent_support_is_found(family):
    problem = Problem.from_arrays(*FAMILIES[family](np.random.default_rng(1)))
    right = honest(problem, (2,))
    added = {"duplicates": (0, 2), "zero_columns": (0, 4)}[family]
    result = verify(problem, replace(right, support=(added,), coef=np.zeros_like(right.coef)))
    assert not result.feasible
    assert f"columns {added} of y0' are dependent: fewer terms do the same." in result.failures[0]


def test_dependence_begins_at_the_stated_distance():
    for distance, independent in ((2.0**-44, False), (2.0**-43, True)):
        factor = np.array([[1.0, 1.0, 1.0], [0.0, distance, 0.5 * distance], [0.0, 0.0, 0.5]])
        problem = Problem((Block(factor, 3, ("a", "b"), ("x'",)),))
        coef = np.array([[0.5, 0.5]])
        value = np.array([0.25])
        result = verify(
            problem,
            Claims(
                coef,
                ((0, 1),),
                value,
                value,
                np.zeros(1),
                np.array([math.nan]),
                (Status.OPTIMAL,),
                problem,
                np.zeros((1, 2)),
                (2,),
            ),
        )
        assert result.feasible is independent
        assert result.stationary


def test_other_problem_is_found(problem, claims):
    other = 2.0 * problem
    result = verify(problem, replace(claims, problem=other))
    assert not result.ok
    assert result.failures == ("the solution was found for another problem (the fingerprints differ).",)
    assert str(result).startswith("NOT verified: a claim does not hold for these data.\n  - the solution was found")


def test_shapes_that_do_not_fit_are_refused(problem, claims):
    with pytest.raises(ProblemError, match=r"solution.coef has shape \(1, 8\), .*expected \(2, 8\). Was it found"):
        verify(problem, replace(claims, coef=claims.coef[:1]))
    with pytest.raises(ProblemError, match=r"solution\.objective has 1 entries: expected 2"):
        verify(problem, replace(claims, objective=claims.objective[:1]))
    with pytest.raises(ProblemError, match=r"solution\.k has 3 entries: expected 2"):
        verify(problem, replace(claims, k=(3, 2, 1)))


def test_large_library_is_not_enumerated():
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((80, 60))
    problem = Problem.from_arrays(theta, theta[:, :5].sum(axis=1) + rng.standard_normal(80))
    factor, z, _, _ = equation(problem, 0)
    coef = fit(factor, z, np.zeros(60), (0, 1, 2, 3, 4))
    value = problem.rss([coef])
    claims = Claims(
        coef[None],
        ((0, 1, 2, 3, 4),),
        value,
        value,
        np.zeros(1),
        np.array([0.1]),
        (Status.OPTIMAL,),
        problem,
        np.zeros((1, 60)),
        (5,),
    )
    result = verify(problem, claims)
    assert result.ok
    assert result.optimality == "not checked"
    assert result.unchecked == ("optimality", "the margin")
    assert result.checks[0].optimal is None
    assert str(result).startswith(
        "Verified, except optimality and the margin: too many supports to look at all of them."
    )
    unknown = np.array([math.nan])
    stopped = replace(claims, status=(Status.TIME_LIMIT,), lower_bound=0.9 * value, gap=np.full(1, 0.1), margin=unknown)
    assert verify(problem, stopped).unchecked == ("the lower bound",)
    given = replace(
        claims,
        status=(Status.REFITTED,),
        lower_bound=np.array([-math.inf]),
        gap=np.full(1, math.inf),
        margin=unknown,
    )
    assert verify(problem, given).unchecked == ()
    assert str(verify(problem, given)).startswith("Verified: every claim holds; nothing is claimed about other")


def test_several_blocks_with_ridge_per_term():
    problem = two_blocks()
    ridge = np.linspace(0.1, 0.6, 12).reshape(2, 6)
    right = honest(problem, (2, 1), ridge)
    assert verify(problem, right).ok
    result = verify(problem, replace(right, ridge=ridge * 1.001))
    assert not result.ok


def test_term_of_another_block_is_found():
    problem = two_blocks()
    right = honest(problem, (2, 1))
    e = problem.names.index("e")
    coef = right.coef.copy()
    coef[0] = 0.0
    coef[0, e] = 1.0
    result = verify(problem, replace(right, coef=coef, support=((e,), right.support[1])))
    assert not result.feasible
    assert "is no increasing list of terms of the library of x'" in result.failures[0]


@pytest.mark.parametrize("given", ["none", "sequence", "mapping"])
@pytest.mark.parametrize("ridge", [0.0, 0.25])
def test_shared_budget(given, ridge):
    problem = two_blocks(5)
    weights = [1.0, 1.0] if given == "none" else [4.0, 0.5]
    named = {"none": None, "sequence": weights, "mapping": {"y": 0.5, "x'": 4.0}}[given]
    right = honest_total(problem, Total(3, named), weights, ridge)
    result = verify(problem, right)
    assert result.ok, str(result)
    assert result.optimality == "enumerated"
    assert result.checks[0].margin is True
    assert result.checks[0].target == "x', y'"


def test_false_claims_about_a_shared_budget_are_found():
    problem = two_blocks(5)
    right = honest_total(problem, Total(3, [4.0, 0.5]), [4.0, 0.5])
    wrong_weights = replace(right, k=Total(3, [4.0, 1.0]))
    assert not verify(problem, wrong_weights).objective
    assert "3 terms are claimed where k = 2" in verify(problem, replace(right, k=Total(2, [4.0, 0.5]))).failures[0]
    margin = verify(problem, replace(right, margin=right.margin * 1.1))
    assert margin.checks[0].margin is False
    small = honest_total(problem, Total(2, [4.0, 0.5]), [4.0, 0.5])
    lazy = verify(problem, replace(small, k=Total(3, [4.0, 0.5])))
    assert lazy.checks[0].optimal is False


def test_verification_shares_no_code_with_the_solvers():
    folder = Path(exactsindy.certificate.__file__).parent
    imported = {
        node.module
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert any(name.startswith("exactsindy.certificate") for name in imported)
    assert not [name for name in imported if name.startswith(("exactsindy.solver", "exactsindy._native"))]


def test_verification_loads_no_native_code(tmp_path):
    """A stored problem and plain numbers are checked without the native module, constraints included."""
    problem = Problem.from_arrays(np.eye(3), np.array([3.0, 2.0, 1.0]), names=["a", "b", "c"], target_names=["x'"])
    problem.save(tmp_path / "problem.npz")
    script = f"""
import sys
from types import SimpleNamespace
import numpy as np
from exactsindy.certificate import verify
from exactsindy.constraints import Forbid, Sign
from exactsindy.problem import Problem

problem = Problem.load({str(tmp_path / "problem.npz")!r})
claims = dict(coef=np.array([[3.0, 0, 0]]), support=((0,),), objective=[5.0], lower_bound=[5.0], gap=[0.0],
              status=("OPTIMAL",), problem=problem, ridge=np.zeros((1, 3)), k=(1,))
for constraints, margin in ((), 1.0), (("x': b <= 1",), 1.2), ((Sign("x'", "b", "+"), Forbid("x'", "c")), 1.0):
    check = verify(problem, SimpleNamespace(**claims, constraints=constraints, margin=[margin]))
    assert check.ok and check.optimality == "enumerated", str(check)
loaded = ("exactsindy._native", "exactsindy.solver", "exactsindy.constraints.compile")
assert not [name for name in sys.modules if name.startswith(loaded)]
print("checked")
"""
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert output.stdout.strip() == "checked", output.stderr


def test_a_path_is_checked_at_once_with_the_same_findings():
    rng = np.random.default_rng(3)
    problem = Problem.from_arrays(rng.normal(size=(40, 9)), rng.normal(size=(40, 2)))
    path = solve_path(problem, 4)
    together = verify_all(problem, path.solutions)
    assert [str(check) for check in together] == [str(verify(problem, solution)) for solution in path]
    assert all(check.optimality == "enumerated" for check in together)


def test_a_better_stored_support_refutes_an_optimum_that_cannot_be_enumerated():
    rng = np.random.default_rng(4)
    theta = rng.normal(size=(200, 80))
    problem = Problem.from_arrays(theta, theta[:, :5].sum(axis=1) + 0.1 * rng.normal(size=200))
    best, worse = refit(problem, [[0, 1, 2, 3, 4]]), refit(problem, [[0, 1, 2, 3, 60]])
    forged = replace(worse, status=(Status.OPTIMAL,), lower_bound=worse.objective)
    assert verify(problem, forged).ok  # alone it cannot be refuted: there are too many supports
    first, second = verify_all(problem, [forged, best])
    assert "the support ((0, 1, 2, 3, 4),) stored beside it has the objective" in first.failures[0]
    assert second.ok
    larger = refit(problem, [[0, 1, 2, 3, 4, 5]])  # more terms prove nothing about fewer
    assert verify_all(problem, [forged, larger])[0].ok


def test_optimum_under_constraints_that_nothing_satisfies_is_not_confirmed():
    """Where enumeration finds no feasible support, an optimum is not confirmed."""
    problem = Problem.from_arrays(np.eye(3), np.array([3.0, 2.0, 1.0]), names=["a", "b", "c"], target_names=["x'"])
    solution = solve(problem, 1, constraints=["x': b <= 1"])
    barred = replace(solution, constraints=("x': a + b >= 10", "x': a + b <= 9"))
    check = verify(problem, barred).checks[0]
    assert not check.ok
    assert check.optimal is None
    assert check.reason == "enumeration found no support that satisfies the constraints"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": (-1, 2)}, "solution.k holds -1: expected a number of terms"),
        ({"k": (2.7, 2)}, "solution.k holds 2.7: expected a number of terms"),
        ({"k": ("2", 2)}, "solution.k holds '2': expected a number of terms"),
        ({"support": (("a",), (0,))}, r"solution.support holds \('a',\): expected numbers of terms"),
        ({"support": (3, (0,))}, "solution.support holds 3: expected numbers of terms"),
    ],
)
def test_sizes_and_supports_that_are_no_numbers_are_refused(changed, message):
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(30, 4))
    problem = Problem.from_arrays(theta, theta[:, :2])
    with pytest.raises(ProblemError, match=message):
        verify(problem, replace(solve(problem, 2), **changed))
