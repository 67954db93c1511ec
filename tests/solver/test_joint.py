"""One budget for all equations, against all joint supports."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from exactsindy.certificate import verify
from exactsindy.constraints import Require
from exactsindy.errors import ProblemError, SolverError
from exactsindy.problem import Problem
from exactsindy.solver import Settings, Status, Total, refit, solve, solve_path


def fit_value(theta, y, support, weight, ridge):
    """weight * RSS + ridge * |xi|^2 of the best coefficients on a support, by plain least squares."""
    columns = np.vstack([math.sqrt(weight) * theta[:, support], np.diag(np.sqrt(ridge[list(support)]))])
    target = np.concatenate([math.sqrt(weight) * y, np.zeros(len(support))])
    xi = np.linalg.lstsq(columns, target, rcond=None)[0] if support else np.zeros(0)
    return float(np.sum((target - columns @ xi) ** 2))


def all_values(theta, y, weight, ridge):
    """Every support of an equation with its value."""
    supports = [s for n in range(theta.shape[1] + 1) for s in itertools.combinations(range(theta.shape[1]), n)]
    return supports, np.array([fit_value(theta, y, s, weight, ridge) for s in supports])


class Case:
    """Random equations with their own libraries, weights and ridge; all joint supports by brute force."""

    def __init__(self, seed, count=None):
        rng = np.random.default_rng(seed)
        count = count or int(rng.integers(2, 4))
        widths = rng.integers(1, 6 if count == 2 else 5, count)
        self.ridge_value = float(rng.choice([0.0, 0.4]))
        self.weights = rng.uniform(0.1, 5.0, count)
        rows = rng.integers(6, 20, count)
        parts, self.tables = [], []
        for j, (width, n) in enumerate(zip(widths, rows, strict=True)):
            theta = rng.standard_normal((n, width))
            y = theta @ (rng.standard_normal(width) * rng.integers(0, 2, width)) + rng.standard_normal(n)
            names = [f"t{i}" for i in rng.permutation(6)[:width]]
            parts.append(Problem.from_arrays(theta, y, names=names, target_names=[f"s{j}'"]))
            self.tables.append(all_values(theta, y, self.weights[j], np.full(width, self.ridge_value)))
        self.problem = Problem.from_blocks(parts)
        self.width = int(widths.sum())
        self.values = reduce(np.add.outer, [values for _, values in self.tables])
        self.sizes = reduce(np.add.outer, [[len(s) for s in supports] for supports, _ in self.tables])

    def total(self, k):
        return Total(k, tuple(self.weights))

    def best(self, k):
        """(value, supports per equation as indices into problem.terms) of the best joint support."""
        masked = np.where(self.sizes <= k, self.values, np.inf)
        at = np.unravel_index(np.argmin(masked), masked.shape)
        supports = []
        for block, (listed, _), i in zip(self.problem.blocks, self.tables, at, strict=True):
            supports.append(tuple(sorted(int(c) for c in self.problem.columns(block)[list(listed[i])])))
        return float(masked[at]), tuple(supports)

    def margin(self, k):
        """Next-best joint support with as many terms as the best, relative."""
        masked = np.where(self.sizes <= k, self.values, np.inf)
        at = np.unravel_index(np.argmin(masked), masked.shape)
        same = np.where(self.sizes == self.sizes[at], self.values, np.inf)
        best = same[at]
        same[at] = np.inf
        return float(same.min() / best - 1)


SEEDS = range(30)


@pytest.mark.parametrize("seed", SEEDS)
def test_total_is_the_best_joint_support(seed):
    case = Case(seed)
    for k in range(case.width + 2):
        solution = solve(case.problem, case.total(k), ridge=case.ridge_value)
        value, supports = case.best(k)
        assert solution.status == (Status.OPTIMAL,)
        assert solution.objective.shape == (1,)
        assert solution.objective[0] == pytest.approx(value, rel=1e-10)
        assert solution.support == supports
        assert solution.lower_bound[0] <= solution.objective[0]
        assert solution.gap[0] <= 1e-9
        terms = case.weights * case.problem.rss(solution.coef)
        penalty = case.ridge_value * np.sum(solution.coef**2)
        assert solution.objective[0] == pytest.approx(terms.sum() + penalty, rel=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_margin_of_total_is_that_of_all_joint_supports(seed):
    case = Case(seed)
    for k in range(case.width + 1):
        solution = solve(case.problem, case.total(k), ridge=case.ridge_value)
        if not math.isnan(solution.margin[0]):
            assert solution.margin[0] == pytest.approx(case.margin(k), rel=1e-7)
        result = verify(case.problem, solution)
        assert result.ok, str(result)


def test_margin_of_total_is_proved():
    """A completed search says how far the next joint support is."""
    unproved = [
        (seed, k)
        for seed in SEEDS
        for case in [Case(seed)]
        for k in range(case.width + 1)
        if math.isnan(solve(case.problem, case.total(k), ridge=case.ridge_value).margin[0])
    ]
    assert unproved == []


@pytest.mark.parametrize("seed", range(8))
def test_path_of_total_is_what_single_solves_return(seed):
    case = Case(seed)
    path = solve_path(case.problem, case.total(case.width + 1), ridge=case.ridge_value)
    assert len(path) == case.width + 2
    for k, item in enumerate(path):
        single = solve(case.problem, case.total(k), ridge=case.ridge_value)
        assert item.k == case.total(k)
        assert item.support == single.support
        assert np.array_equal(item.coef, single.coef)
        assert np.array_equal(item.objective, single.objective)
        assert item.optimal
        # More sizes are known here, so more may be proved, but nothing else.
        if not math.isnan(item.margin[0]):
            assert item.margin[0] == pytest.approx(case.margin(k), rel=1e-7)
    assert np.all(np.diff(path.objectives[:, 0]) <= 0)


def test_budget_larger_than_everything_uses_every_useful_term():
    case = Case(3)
    full = solve(case.problem, case.total(1000), ridge=case.ridge_value)
    assert full.optimal
    assert full.support == tuple(tuple(sorted(case.problem.columns(b))) for b in case.problem.blocks)
    assert np.array_equal(full.coef, solve(case.problem, case.total(case.width), ridge=case.ridge_value).coef)
    assert full.margin.tolist() == [math.inf]


def test_no_budget_leaves_no_term():
    case = Case(4)
    empty = solve(case.problem, Total(0))
    assert empty.support == ((),) * len(case.problem.target_names)
    assert empty.objective[0] == pytest.approx(case.problem.rss(np.zeros_like(empty.coef)).sum(), rel=1e-12)


def test_weights_as_sequence_mapping_and_default():
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((40, 5))
    targets = theta @ rng.standard_normal((5, 3)) + 0.1 * rng.standard_normal((40, 3))
    problem = Problem.from_arrays(theta, targets, target_names=["x'", "y'", "z'"])
    listed = solve(problem, Total(5, [2.0, 1.0, 0.5]))
    for weights in ({"x'": 2.0, "z": 0.5}, {"x": 2, "y": 1, "z": 0.5}, np.array([2.0, 1.0, 0.5])):
        same = solve(problem, Total(5, weights))
        assert same.support == listed.support
        assert same.objective[0] == listed.objective[0]
        assert verify(problem, same).ok
    assert solve(problem, Total(5)).objective[0] == solve(problem, Total(5, [1, 1, 1])).objective[0]


def test_weights_decide_where_the_terms_go():
    rng = np.random.default_rng(1)
    theta = rng.standard_normal((50, 4))
    y = theta @ np.array([[2.0, 2.1], [1.5, 1.4], [0.0, 0.0], [0.0, 0.0]]) + 0.1 * rng.standard_normal((50, 2))
    problem = Problem.from_arrays(theta, y)
    assert solve(problem, Total(2, [100.0, 1.0])).support == ((0, 1), ())
    assert solve(problem, Total(2, [1.0, 100.0])).support == ((), (0, 1))


def test_budget_may_differ_from_equal_sizes():
    rng = np.random.default_rng(2)
    theta = rng.standard_normal((60, 6))
    y = np.column_stack([theta[:, 0], theta[:, :4] @ [1.0, 2.0, 3.0, 4.0], theta[:, 5]])
    problem = Problem.from_arrays(theta, y + 0.01 * rng.standard_normal((60, 3)))
    solution = solve(problem, Total(6))
    assert solution.support == ((0,), (0, 1, 2, 3), (5,))
    again = refit(problem, solution)
    assert np.array_equal(again.coef, solution.coef)
    assert again.objective.sum() == pytest.approx(solution.objective[0], rel=1e-12)


def test_tie_between_equations_goes_to_the_fewest_terms():
    # y0' needs its term; y1' is already zero: a larger budget buys nothing.
    problem = Problem.from_arrays(np.eye(3), np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    assert solve(problem, Total(4)).support == ((0,), ())


def test_tie_between_equations_has_no_margin():
    tie = solve(Problem.from_arrays(np.eye(3), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])), Total(1))
    assert tie.margin.tolist() == [0.0]
    assert sum(map(len, tie.support)) == 1


def test_enumeration_agrees_on_total():
    for seed in range(6):
        case = Case(seed)
        for k in (1, case.width // 2, case.width):
            native = solve(case.problem, case.total(k), ridge=case.ridge_value)
            plain = solve(case.problem, case.total(k), ridge=case.ridge_value, backend="enumerate")
            assert plain.support == native.support
            assert plain.objective[0] == pytest.approx(native.objective[0], rel=1e-12)
            assert plain.optimal


def test_start_does_not_change_the_answer_of_total():
    case = Case(7)
    plain = solve(case.problem, case.total(4))
    start = [list(case.problem.columns(block)[:1]) for block in case.problem.blocks]
    warm = solve(case.problem, case.total(4), start=start)
    assert warm.support == plain.support
    assert np.array_equal(warm.coef, plain.coef)


def test_threads_do_not_change_the_answer_of_total():
    rng = np.random.default_rng(3)
    problem = Problem.from_arrays(rng.standard_normal((100, 40)), rng.standard_normal((100, 3)))
    one, two, four = (solve(problem, Total(9), settings=Settings(threads=n)) for n in (1, 2, 4))
    for other in (two, four):
        assert other.support == one.support
        assert np.array_equal(other.coef, one.coef)
        assert np.array_equal(other.objective, one.objective)
        assert np.array_equal(other.lower_bound, one.lower_bound)
        assert np.array_equal(other.margin, one.margin, equal_nan=True)


# Refused


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return Problem.from_arrays(rng.standard_normal((20, 4)), rng.standard_normal((20, 2)), target_names=["x'", "y'"])


@pytest.mark.parametrize("call", [solve, solve_path])
@pytest.mark.parametrize("k", [-1, 2.0, "3", None, True])
def test_budget_must_be_a_count(problem, call, k):
    text = rf"Total\(k\)={k!r}: expected a number of terms \(an integer >= 0\)\."
    with pytest.raises(SolverError, match=text.replace("'", "['\"]")):
        call(problem, Total(k))


@pytest.mark.parametrize("call", [solve, solve_path])
@pytest.mark.parametrize(
    "weights, text",
    [
        ([1.0], r"Total\(weights\) has shape \(1,\): expected 2 weights, one per equation\."),
        ([[1.0, 2.0]], r"Total\(weights\) has shape \(1, 2\): expected 2 weights, one per equation\."),
        ([1.0, 0.0], r"Total\(weights\): expected positive finite numbers\."),
        ([1.0, -2.0], r"Total\(weights\): expected positive finite numbers\."),
        ([1.0, math.nan], r"Total\(weights\): expected positive finite numbers\."),
        ({"x": math.inf}, r"Total\(weights\): expected positive finite numbers\."),
        (["heavy", "light"], r"Total\(weights\)"),
        ({"x": "heavy"}, r"Total\(weights\)"),
    ],
)
def test_weights_must_be_one_positive_number_per_equation(problem, call, weights, text):
    with pytest.raises(SolverError, match=text):
        call(problem, Total(2, weights))


def test_weight_of_an_unknown_equation_is_refused(problem):
    with pytest.raises(ProblemError, match=r"there is no target 'w'\. Known are x', y'\."):
        solve(problem, Total(2, {"w": 1.0}))


@pytest.mark.parametrize("backend", ["scip", "gurobi", "enumerate"])
def test_other_backends_take_total(problem, backend):
    expected, solution = solve(problem, Total(3, [2.0, 1.0])), solve(problem, Total(3, [2.0, 1.0]), backend=backend)
    assert solution.support == expected.support
    assert solution.objective == pytest.approx(expected.objective, rel=1e-9)
    assert solution.lower_bound[0] <= expected.objective[0] * (1 + 1e-9)


def test_big_m_takes_no_total(problem):
    with pytest.raises(SolverError, match=r"backend='gurobi-bigm' takes no constraints and no Total: use native"):
        solve(problem, Total(2), backend="gurobi-bigm")


def test_path_of_total_has_no_sizes_per_equation(problem):
    path = solve_path(problem, Total(3))
    with pytest.raises(SolverError, match="Total"):
        path.at([1, 2])


def capped(case, k, caps):
    """(value, joint margin) of the best joint support of at most k terms within the caps, by brute force."""
    allowed = reduce(
        np.logical_and.outer,
        [[len(s) <= cap for s in supports] for (supports, _), cap in zip(case.tables, caps, strict=True)],
    )
    masked = np.where((case.sizes <= k) & allowed, case.values, np.inf)
    at = np.unravel_index(np.argmin(masked), masked.shape)
    rivals = np.where((case.sizes == case.sizes[at]) & allowed, case.values, np.inf)
    rivals[at] = np.inf
    return float(masked[at]), float(rivals.min() / masked[at] - 1)


@pytest.mark.parametrize("seed", range(15))
def test_caps_hold_beside_the_shared_budget(seed):
    case = Case(seed)
    caps = [int(c) for c in np.random.default_rng(seed).integers(0, 3, len(case.tables))]
    for k in range(case.width + 2):
        total = Total(k, tuple(case.weights), caps=caps)
        solution = solve(case.problem, total, ridge=case.ridge_value)
        value, margin = capped(case, k, caps)
        assert solution.status == (Status.OPTIMAL,)
        assert solution.objective[0] == pytest.approx(value, rel=1e-10)
        assert all(len(s) <= cap for s, cap in zip(solution.support, caps, strict=True))
        if not math.isnan(solution.margin[0]):
            assert solution.margin[0] == pytest.approx(margin, rel=1e-7)
        result = verify(case.problem, solution)
        assert result.ok, str(result)
        assert solution.certificates[0].caps == tuple(min(k, cap) for cap in caps)
        assert solution.certificates[0] == type(solution.certificates[0]).from_json(solution.certificates[0].to_json())


def test_caps_by_name_and_for_all():
    case = Case(3, count=2)
    by_name = solve(case.problem, Total(3, caps={"s1": 1}))
    assert by_name.objective == solve(case.problem, Total(3, caps=[3, 1])).objective
    assert verify(case.problem, by_name).ok
    for_all = solve(case.problem, Total(3, caps=1))
    assert for_all.support == solve(case.problem, 1).support
    assert verify(case.problem, for_all).ok
    assert "all together k <= 3, each <= 1, 1 |" in str(for_all)
    path = solve_path(case.problem, Total(3, caps=1))
    assert path[3].objective == for_all.objective
    assert solve(case.problem, Total(3, caps=1), backend="enumerate").support == for_all.support


def test_verify_sees_a_broken_cap():
    case = Case(3, count=2)
    free = solve(case.problem, Total(3))
    caps = [len(s) for s in free.support]
    caps[int(np.argmax(caps))] -= 1
    claimed = replace(free, k=Total(3, caps=caps))
    assert "whose cap is" in str(verify(case.problem, claimed))


@pytest.mark.parametrize(
    "caps, message",
    [
        ([1], "Total(caps) has 1 entries, but the problem has 2 equations"),
        ([1, -1], "Total(caps)[1]=-1: expected a number of terms (an integer >= 0)."),
        ({"s0": 1, "s0'": 2}, "Total(caps) names the equation s0' twice"),
    ],
)
def test_bad_caps(caps, message):
    with pytest.raises(SolverError) as error:
        solve(Case(0, count=2).problem, Total(3, caps=caps))
    assert message in str(error.value)


def test_caps_and_constraints_hold_together():
    rng = np.random.default_rng(3)
    for _ in range(20):
        theta = rng.standard_normal((30, 4))
        problem = Problem.from_arrays(
            theta, rng.standard_normal((30, 2)), names=list("abcd"), target_names=["x'", "y'"]
        )
        solution = solve(problem, Total(4, caps=(1, 3)), constraints=[Require("y'", "b")])
        least = min(
            refit(problem, [list(first), list(second)]).objective.sum()
            for first in itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(2))
            for second in itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(4))
            if 1 in second
        )
        assert solution.optimal
        assert abs(solution.objective[0] / least - 1) < 1e-12
        assert len(solution.support[0]) <= 1
        assert len(solution.support[1]) <= 3
        assert verify(problem, solution).ok
