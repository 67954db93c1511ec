"""Which number of terms each rule picks, on problems whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

import exactsindy as es
from exactsindy._limits import until
from exactsindy.errors import SolverError
from exactsindy.selection import Folds, effective_rows, effective_samples, growth_ratio, inclusion, shared_path
from exactsindy.selection.folds import leave_one_out
from exactsindy.selection.growth import log_gains, ratios

ONE = es.Settings(threads=1)
NAMES = ["x'", "y'", "z'"]


def rows(n=600, noise=0.3, seed=0):
    """Return a library and three targets: two terms, one term, nothing."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(n, 10))
    clean = np.column_stack([2 * theta[:, 3] - theta[:, 7], theta[:, 1], 0 * theta[:, 0]])
    return theta, clean + noise * rng.normal(size=(n, 3))


def problem_of(theta, targets):
    return es.Problem.from_arrays(theta, targets, target_names=NAMES)


@pytest.fixture(scope="module")
def folds():
    theta, targets = rows()
    return [problem_of(theta[i : i + 60], targets[i : i + 60]) for i in range(0, 600, 60)]


@pytest.fixture(scope="module")
def validation():
    return problem_of(*rows(300, seed=1))


@pytest.mark.parametrize(
    "by",
    [
        "auto",
        es.selection.GrowthRatio(),
        es.selection.BIC(),
        es.selection.BIC(rows="folds"),
        es.selection.EBIC(),
        es.selection.CrossValidation(),
        es.selection.Stability(),
    ],
    ids=lambda by: by if isinstance(by, str) else type(by).__name__,
)
def test_rules_find_the_terms_and_that_noise_has_none(folds, by):
    chosen = es.select(folds, k_max=6, rule=by, settings=ONE)
    assert chosen.solution.support == ((3, 7), (1,), ())
    assert chosen.solution.optimal
    assert es.verify(chosen.solution.problem, chosen.solution).ok
    together = es.select(folds, k_max=es.Total(6), rule=by, settings=ONE)
    assert together.solution.support == ((3, 7), (1,), ())
    assert [choice.k for choice in together.choices] == [3]


def test_aicc_is_that_of_the_published_code_or_of_its_text(folds, validation):
    whole = sum(folds)
    path = es.solve_path(whole, 4)
    coded = es.select(whole, k_max=4, rule=es.selection.AICc(validation))
    written = es.select(whole, k_max=4, rule=es.selection.AICc(validation, count="own"))
    m = 300
    for result, count in ((coded, lambda k: 3 * k), (written, lambda k: k)):
        for k in range(1, 5):
            rss = validation.rss(path[k].coef)
            terms = count(k)
            expected = 2 * terms + m * np.log(rss / m) + 2 * (terms + 1) * (terms + 2) / (m - terms - 2)
            found = [row.value for row in result.table if row.k == k]
            assert np.allclose(found, expected)
        best = [min((row for row in result.table if row.equation == n and row.k), key=lambda r: r.value) for n in NAMES]
        assert [row.k for row in best] == [len(support) for support in result.solution.support]
    joint = es.select(whole, k_max=es.Total(4), rule=es.selection.AICc(validation))
    k3 = next(row for row in joint.table if row.k == 3)
    rss = validation.rss(es.solve(whole, es.Total(3)).coef).sum()
    assert k3.value == pytest.approx(6 + 900 * np.log(rss / 900) + 2 * 4 * 5 / (900 - 5))


def test_ridge_is_chosen_and_coefficients_scored_without_it(folds, validation):
    chosen = es.select(folds, k_max=3, ridge=[0.0, 1e6], rule=es.selection.AICc(validation, unbias=False))
    assert [choice.ridge for choice in chosen.choices][:2] == [0.0, 0.0]
    assert {row.ridge for row in chosen.table} == {0.0, 1e6}
    assert np.all(chosen.solution.ridge[:2] == 0.0)


def test_each_equation_comes_from_the_better_variant():
    theta, targets = rows()
    rng = np.random.default_rng(5)
    worse_first = targets + np.array([3.0, 0.0, 0.0]) * rng.normal(size=targets.shape)
    worse_second = targets + np.array([0.0, 3.0, 0.0]) * rng.normal(size=targets.shape)
    problems = {"a": problem_of(theta, worse_first), "b": problem_of(theta, worse_second)}
    chosen = es.select(problems, k_max=5)
    assert [choice.variant for choice in chosen.choices][:2] == ["b", "a"]
    assert chosen.solution.support[:2] == ((3, 7), (1,))
    assert chosen.solution.problem.target_names == tuple(NAMES)
    assert es.verify(chosen.solution.problem, chosen.solution).ok
    for k, solution in enumerate(chosen.path):
        assert solution.objective[0] == es.solve(problems["b"], k).objective[0]
        assert solution.objective[1] == es.solve(problems["a"], k).objective[1]


def test_growth_ratio_sees_weak_terms_after_a_dominant_one():
    rng = np.random.default_rng(2)
    theta = rng.normal(size=(4000, 12))
    y = 100 * theta[:, 0] + theta[:, 1:4].sum(axis=1) + 0.1 * rng.normal(size=4000)
    path = es.solve_path(es.Problem.from_arrays(theta, y), 8)
    q = ratios(log_gains(path)[:, 0], 4000)
    assert growth_ratio(path) == [4]
    weak = 100 * theta[:, 0] + 0.05 * theta[:, 1:4].sum(axis=1) + 0.1 * rng.normal(size=4000)
    assert growth_ratio(es.solve_path(es.Problem.from_arrays(theta, weak), 8)) == [4]
    assert np.argmax(q) == 3


def test_exact_fits_do_not_confuse_the_ratio():
    theta = np.random.default_rng(3).normal(size=(200, 8))
    path = es.solve_path(es.Problem.from_arrays(theta, theta[:, 2] + theta[:, 5]), 6)
    assert growth_ratio(path) == [2]


def test_confidence_grows_with_the_ratio_and_low_ones_are_not_identified(folds):
    noisy = [problem_of(*rows(60, noise=8.0, seed=s)) for s in range(10)]
    clear, doubtful = es.select(folds, k_max=6), es.select(noisy, k_max=6)
    assert clear.confidence["x'"] > 0.9
    for choice in doubtful.choices:
        if choice.k:
            assert choice.confidence < clear.confidence["x'"]
            assert choice.identified == (choice.confidence >= 0.5)
    assert "confidence" in str(clear)
    words = [choice.words() for choice in doubtful.choices if not choice.identified]
    assert all("not identified (confidence" in text for text in words)


def test_inclusion_tells_stable_terms_from_others(folds):
    shares = inclusion(folds, es.solve(sum(folds), {"x": 3, "y": 1, "z": 1}), count=20)
    assert shares["x'"]["theta3"] == shares["x'"]["theta7"] == 1.0
    assert sum(shares["x'"].values()) == pytest.approx(3.0)
    assert max(list(shares["x'"].values())[2:]) < 0.95
    assert es.select(folds[:4], k_max=3).inclusion == {}


def test_leaving_one_out_leaves_the_others(folds):
    for i, rest in enumerate(leave_one_out(folds)):
        others = sum(fold for j, fold in enumerate(folds) if j != i)
        for a, b in zip(rest.blocks, others.blocks, strict=True):
            assert np.allclose(a.factor.T @ a.factor, b.factor.T @ b.factor)


def test_effective_rows_and_samples():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=6000)
    smooth = np.convolve(noise, np.bartlett(21), "same")
    independent = effective_samples(noise)
    assert independent > 5500
    worth = effective_samples(smooth)
    rho = np.correlate(np.bartlett(21), np.bartlett(21), "full")
    exact = 6000 / np.sum((rho / rho.max()) ** 2)
    assert worth == pytest.approx(exact, rel=0.2)
    folds = [es.Problem.from_arrays(np.ones((120, 1)), part) for part in smooth.reshape(50, 120)]
    assert effective_rows(folds, [[0.0]])[0] == pytest.approx(exact, rel=0.5)


def test_effective_rows_enter_the_criterion(folds):
    whole = sum(folds)
    by = es.selection.BIC(rows={"x": 30.0, "y": 30.0, "z": 30.0})
    row = next(r for r in es.select(whole, k_max=2, rule=by).table if r.k == 2 and r.equation == "x'")
    rss = es.solve(whole, 2).objective[0]
    assert row.value == pytest.approx(30 * np.log(rss / 600) + 2 * np.log(30))


def test_time_is_shared_by_the_equations():
    theta, targets = rows()
    problem = problem_of(theta, targets)
    fair, plain = shared_path(problem, 4, settings=es.Settings(seconds=30.0)), es.solve_path(problem, 4)
    assert np.allclose(fair.objectives, plain.objectives, rtol=1e-14)
    assert all(es.verify(problem, solution).ok for solution in fair)
    assert [s.support for s in fair] == [s.support for s in plain]
    limited = shared_path(problem, 4, settings=es.Settings(nodes=1, threads=1))
    assert all(len(limited[k].support[2]) > 0 for k in range(1, 5))


def test_equations_that_are_left_when_time_is_over_get_a_greedy_choice():
    theta, targets = rows()
    problem, asked = problem_of(theta, targets), []

    def over():
        asked.append(None)
        return len(asked) > 1  # after the first equation

    with until(over):
        path = shared_path(problem, 4, settings=es.Settings(seconds=30.0))
    assert [solution.status[0] for solution in path] == [es.Status.OPTIMAL] * 5
    assert set(path[2].terms["y'"]) >= {problem.names[1]}
    assert all(es.verify(problem, solution).ok for solution in path), "objectives and bounds are those of all rows"


def test_rules_have_names(folds):
    for name, rule in es.selection.RULES.items():
        assert es.select(folds, k_max=3, rule=name).rule == rule()


def test_the_whole_regression_is_summed_once(folds):
    parts = Folds(tuple(folds))
    assert parts.whole is parts.whole
    assert es.select(parts, k_max=3).solution.problem is parts.whole
    assert Folds((folds[0],)).whole is folds[0]


def test_messages(folds):
    whole = sum(folds)
    cases = [
        (
            lambda: es.select(whole, k_max=3, rule="bics"),
            r"rule='bics': expected the name of a rule.*Did you mean 'bic'",
        ),
        (
            lambda: es.select(whole, k_max=3, rule="zzz"),
            r"rule='zzz': .* such as BIC\(\)\. Known are auto, growth",
        ),
        (lambda: es.select(whole, k_max=3, rule=es.selection.BIC), r"expected one of auto.*or a rule: GrowthRatio\(\)"),
        (lambda: es.select(5, k_max=3), r"problems: got int; expected a Problem, a list of folds"),
        (lambda: es.select({}, k_max=3), r"select: got 0 variants and 1 ridges"),
        (
            lambda: es.select(whole, k_max=3, rule=es.selection.CrossValidation()),
            r"CrossValidation: needs the data in parts",
        ),
        (lambda: es.select(whole, k_max=3, rule=es.selection.Stability()), r"Stability: needs the data in parts"),
        (
            lambda: es.select(whole, k_max=3, rule=es.selection.BIC(rows="folds")),
            r"BIC\(rows='folds'\): pass the folds",
        ),
        (
            lambda: es.select(whole, k_max=3, rule=es.selection.BIC(rows={"x": 3.0})),
            r"no number of rows for the equation y'",
        ),
        (lambda: es.selection.BIC(rows="many"), r"BIC\(rows='many'\): expected a number"),
        (lambda: es.selection.AICc(count="some"), r"AICc\(count='some'\): expected 'all'"),
        (lambda: es.selection.Stability(threshold=2.0), r"Stability\(threshold=2.0\): expected a share"),
        (lambda: es.selection.Stability(count=0), r"Stability\(count=0\): expected an integer"),
        (lambda: effective_rows(folds[:1], whole), r"expected at least two folds"),
        (lambda: effective_samples([1.0, np.nan, 2.0]), r"expected at least 3 finite numbers"),
    ]
    for call, message in cases:
        with pytest.raises(SolverError, match=message):
            call()
    other = es.Problem.from_arrays(np.eye(3), np.ones(3))
    with pytest.raises(SolverError, match=r"variant 'b' has the equations y0', the first one x', y', z'"):
        es.select({"a": whole, "b": other}, k_max=2)


def test_a_library_of_one_term_is_chosen_or_not():
    t = np.arange(0.0, 5.0, 0.02)
    found = es.discover(np.exp(-t), time=t, states=("x",), library=es.Terms(["x"]))
    assert found.model.equations(3) == ["x' = -x"]
    assert math.isnan(found.selection.confidence["x'"])
