"""Constraints through the search without constraints: against brute force, enumeration and the joint search."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from constrained_cases import KINDS, Case, constraint
from constrained_oracle import Oracle
from exactsindy.constraints import Row, compile_rules
from exactsindy.solver import constrained_search
from exactsindy.solver.backends import native
from exactsindy.solver.backends.component import Component
from exactsindy.solver.coefficient_sizes import stretch
from exactsindy.solver.combining import combinations
from exactsindy.solver.equations import equations_of
from exactsindy.solver.presence import Counts, decided
from exactsindy.solver.relaxation import Relaxation

C = es.constraints


@pytest.fixture
def layers(monkeypatch):
    """No trial of the joint search: the relaxation comes first. Counts what it answers."""
    monkeypatch.setattr(constrained_search, "TRIAL", 0)
    answered, original = [], constrained_search._by_relaxation

    def watched(*arguments):
        outcome = original(*arguments)
        answered.append(outcome is not None)
        return outcome

    monkeypatch.setattr(constrained_search, "_by_relaxation", watched)
    return answered


def joint_only(monkeypatch):
    monkeypatch.setattr(constrained_search, "TRIAL", 10**15)
    monkeypatch.setattr(constrained_search, "SMALL", 10**9)


@pytest.mark.parametrize("kind", KINDS)
def test_one_kind_against_brute_force(kind, layers):
    for seed in range(25):
        Case([11, seed, KINDS.index(kind)], [kind]).check()
    assert kind == "SameSupport" or sum(layers) > len(layers) / 2 > 0


@pytest.mark.parametrize("batch", range(12))
def test_mixtures_against_brute_force(batch, layers):
    for seed in range(50):
        rng = np.random.default_rng([12, batch, seed])
        Case([12, batch, seed], [str(kind) for kind in rng.choice(KINDS, size=int(rng.integers(1, 5)))]).check()
    assert sum(layers) > len(layers) / 2


@pytest.mark.campaign
@pytest.mark.parametrize("batch", range(100))
def test_many_mixtures_against_brute_force(batch, layers):
    for seed in range(120):
        rng = np.random.default_rng([13, batch, seed])
        Case([13, batch, seed], [str(kind) for kind in rng.choice(KINDS, size=int(rng.integers(1, 5)))]).check()


@pytest.mark.parametrize("batch", range(4))
def test_pools_against_brute_force(batch, layers):
    checked = 0
    for seed in range(60):
        rng = np.random.default_rng([14, batch, seed])
        case = Case([14, batch, seed], [str(kind) for kind in rng.choice(KINDS, size=int(rng.integers(1, 4)))])
        if case.total:
            continue
        asked = {"count": int(rng.integers(1, 6))} if rng.random() < 0.5 else {"within": float(rng.choice([0.1, 1.0]))}
        try:
            pool = es.solve_pool(case.problem, case.size, constraints=case.constraints, ridge=case.ridge, **asked)
        except es.errors.ConstraintError:
            continue
        if len(pool.members) > 1:
            continue  # (the oracle takes the equations together)
        expected = case.exactly(case.size)
        limit = expected[0][0] * (1 + asked.get("within", np.inf)) * (1 + 1e-9) if expected else 0.0
        values = [item[0] for item in expected if item[0] <= limit][: asked.get("count")]
        ((name, members),) = pool.members.items()
        assert pool.complete[name]
        np.testing.assert_allclose([m.objective for m in members], values, rtol=1e-7, atol=1e-10)
        checked += 1
    assert checked > 10


def test_paths_against_brute_force(layers):
    for seed in range(40):
        rng = np.random.default_rng([15, seed])
        case = Case([15, seed], [str(kind) for kind in rng.choice(KINDS, size=int(rng.integers(1, 4)))])
        largest = es.Total(3, case.k.weights) if case.total else 3
        try:
            path = es.solve_path(case.problem, largest, constraints=case.constraints, ridge=case.ridge)
        except es.errors.ConstraintError:
            continue
        for size, solution in enumerate(path):
            expected = case.best(size)
            assert bool(expected) == (es.Status.INFEASIBLE not in solution.status)
            if expected:
                assert solution.optimal
                assert np.isclose(solution.objective.sum(), expected[0][0], rtol=1e-7, atol=1e-10)


HOSTILE = {
    "gauss": lambda x, rng: x,
    "ties": lambda x, rng: np.sign(np.round(x)),
    "duplicates": lambda x, rng: np.column_stack([x[:, :-2], x[:, 0], x[:, 1] + 1e-7 * rng.normal(size=len(x))]),
    "zero column": lambda x, rng: x * (np.arange(x.shape[1]) != 2),
    "dependent": lambda x, rng: np.column_stack([x[:, :2], x[:, 0] - x[:, 1], x[:, 3:]]),
    "few rows": lambda x, rng: x[: x.shape[1] - 2],
}


def hostile(kind, seed, width):
    """Return a problem of one to three equations, constraints, sizes and a ridge."""
    rng = np.random.default_rng([16, seed, *map(ord, kind)])
    count = int(rng.integers(1, 4))
    terms, equations = [f"t{j}" for j in range(width)], ["x'", "y'", "z'"][:count]
    parts = []
    for equation in equations:
        theta = HOSTILE[kind](rng.normal(size=(width + int(rng.integers(2, 12)), width)), rng)
        truth = rng.normal(size=width) * (rng.random(width) < 0.4)
        y = theta @ truth + 0.4 * rng.normal(size=len(theta))
        parts.append(es.Problem.from_arrays(theta, y, names=terms, target_names=[equation]))
    kinds = [str(k) for k in rng.choice([k for k in KINDS if count > 1 or k != "SameSupport"], size=2)]
    constraints = [constraint(k, rng, list(itertools.product(equations, terms))) for k in kinds]
    size = int(rng.integers(1, 4))
    k = es.Total(size + 1, rng.choice([1.0, 2.5, 0.3], size=count).tolist()) if rng.random() < 0.5 else size
    return es.Problem.from_blocks(parts), constraints, k, float(rng.choice([0.0, 0.0, 0.3]))


def agree(monkeypatch, problem, constraints, k, ridge):
    """Solve by the layers and by the joint search alone, and compare what both say."""
    try:
        ours = es.solve(problem, k, ridge=ridge, constraints=constraints)
    except es.errors.ConstraintError:
        return
    with monkeypatch.context() as patch:
        joint_only(patch)
        joint = es.solve(problem, k, ridge=ridge, constraints=constraints)
    assert ours.status == joint.status
    if ours.optimal:
        np.testing.assert_allclose(ours.objective.sum(), joint.objective.sum(), rtol=1e-9)
        assert ours.lower_bound.sum() <= joint.objective.sum() * (1 + 1e-12)
        # Where columns depend on each other the joint search counts rivals that are not admissible.
        unsure = np.isnan(ours.margin) | np.isnan(joint.margin) | (ours.margin > joint.margin)
        assert np.all(unsure | np.isclose(ours.margin, joint.margin, rtol=1e-6, atol=1e-7))


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_columns_against_the_joint_search(kind, layers, monkeypatch):
    for seed in range(40):
        agree(monkeypatch, *hostile(kind, seed, 6))


def test_larger_problems_against_the_joint_search(layers, monkeypatch):
    for seed in range(25):
        agree(monkeypatch, *hostile("gauss", 1000 + seed, 14))
    assert sum(layers) > len(layers) / 2


def test_required_and_forbidden_terms_and_limits_of_the_native_search():
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = rng.normal(size=(20, 8)) if rng.random() < 0.7 else rng.integers(-1, 2, size=(20, 8)).astype(float)
        y = theta[:, 3] - theta[:, 5] + rng.normal(size=20)
        (equation,) = equations_of(es.Problem.from_arrays(theta, y), np.zeros((1, 8)))

        def value(support, theta=theta, y=y):
            columns = theta[:, list(support)]
            return float(np.sum((y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]) ** 2))

        for required, forbidden in [((), ()), ((0,), (4,)), ((0, 7), ()), ((), (3, 5)), ((1, 2, 3), (0, 7))]:
            asked = replace(equation, required=required, forbidden=forbidden)
            every = [s for n in range(6) for s in itertools.combinations(range(8), n) if set(required) <= set(s)]
            every = [s for s in every if not set(forbidden) & set(s)]
            ranked = sorted((value(s), len(s), s) for s in every)
            for k in range(6):
                (outcome,) = native.run([asked], [k], [[]], es.Settings())[0]
                inside = [item for item in ranked if item[1] <= k]
                if not inside:
                    assert outcome.infeasible
                    continue
                assert np.isclose(outcome.objective, inside[0][0], rtol=1e-9)
                assert set(required) <= set(outcome.answers[0].support)
                same = [item for item in inside if item[1] == len(outcome.answers[0].support)]
                if len(same) > 1:
                    assert np.isclose(outcome.runner_up, same[1][0], rtol=1e-9)
                limit = inside[min(15, len(inside) - 1)][0] * (1 + 1e-9)
                pools = native.run([asked], [k], [[]], es.Settings(), pool=True, limits=[[limit] * (k + 1)])[0]
                members = sorted(a.support for pool in pools for a in pool.answers)
                assert members == sorted(item[2] for item in inside if item[0] <= limit)
                assert all(pool.complete for pool in pools)


def test_pool_that_overflows_keeps_the_best():
    rng = np.random.default_rng(1)
    problem = es.Problem.from_arrays(rng.normal(size=(30, 12)), rng.normal(size=30))
    (equation,) = equations_of(problem, np.zeros((1, 12)))
    whole, few = (
        native.run([equation], [4], [[]], es.Settings(), pool=True, limits=[[-1, -1, -1, -1, 1e9]], capacity=n)[0][4]
        for n in (10_000, 20)
    )
    assert (len(whole.answers), whole.complete, few.complete) == (495, True, False)
    assert few.answers == whole.answers[:20]


def component_of(problem, constraints):
    rules = compile_rules(problem, constraints)
    equations = equations_of(problem, np.zeros((len(problem.target_names), len(problem.terms))))
    return Component(rules, tuple(equations), tuple(range(len(equations))), (1.0,) * len(equations))


def small(width=5, seed=0):
    rng = np.random.default_rng(seed)
    terms = [f"t{j}" for j in range(width)]
    theta = rng.normal(size=(20, width))
    return es.Problem.from_arrays(theta, theta[:, 0] + rng.normal(size=20), names=terms, target_names=["y"])


def test_presence_is_decided_before_the_search():
    chain = [C.Require("y", "t0"), C.Implies(("y", "t0"), ("y", "t1")), C.NotBoth(("y", "t1"), ("y", "t2"))]
    component = component_of(small(), [*chain, C.Bounds("y", "t3", 1, 2), C.AtMost(1, [("y", "t3"), ("y", "t4")])])
    presence = decided(component, [(tuple(range(5)), 4)])
    assert (presence.required, presence.absent, presence.rows) == ({0, 1, 3}, {2, 4}, ())
    assert decided(component, [(tuple(range(5)), 2)]) is None
    open_row = decided(component_of(small(), [C.NotBoth(("y", "t1"), ("y", "t2"))]), [(tuple(range(5)), 3)])
    assert len(open_row.rows) == 1


def test_counts_of_presence_rows():
    counts = Counts.of([Row((3, 5), (1.0, -1.0), 0.0, 0), Row((3, 7), (1.0, 1.0), 1.0, 1)], [3, 5, 7, 9])
    assert counts.sums([(), (3,), (3, 5, 7), (9,)]).tolist() == [[0, 0], [1, 1], [0, 2], [0, 0]]
    assert counts.hold([(), (3,), (3, 5, 7), (3, 5)]).tolist() == [True, False, False, True]


def test_rises_by_one_condition_are_below_the_constrained_fit():
    looked = 0
    for seed in range(60):
        rng = np.random.default_rng([17, seed])
        kinds = [
            str(k)
            for k in rng.choice(["Equal", "Linear ==", "Linear <=", "Bounds", "Sign"], size=int(rng.integers(1, 4)))
        ]
        case = Case([17, seed], kinds)
        try:
            component = component_of(case.problem, case.constraints)
        except es.errors.ConstraintError:
            continue
        presence = decided(component, [])
        relaxation = Relaxation.of(component, presence, [3] * case.count, None, 2.0**27)
        pools = relaxation.pools(1e9, None, es.Settings(), 10_000)
        found = combinations(relaxation, pools, 1e9, None, 10_000)
        looked += len(found.supports)
        for value, support, (answer, _) in zip(
            found.values,
            found.supports,
            component.fits([tuple(sorted(s)) for s in found.supports], 2.0**27),
            strict=True,
        ):
            plain = sum(es.refit(case.problem, split(support, case)).objective) if seed < 5 else 0.0
            assert value >= plain * (1 - 1e-9)
            assert answer is None or answer.objective >= value * (1 - 1e-9)
            if len(case.constraints) == 1 and answer is not None and len(answer.support) == len(support):
                assert np.isclose(answer.objective, value, rtol=1e-6)
    assert looked > 1000


def split(support, case):
    return [[v % case.width for v in support if v // case.width == e] for e in range(case.count)]


def lorenz(degree, noise=0.05):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(300, 3)) * [15, 20, 25]
    dx = np.array([10 * (x[:, 1] - x[:, 0]), 28 * x[:, 0] - x[:, 1] - x[:, 0] * x[:, 2], x[:, 0] * x[:, 1] - x[:, 2]]).T
    dx += noise * dx.std(axis=0) * rng.normal(size=dx.shape)
    features = es.Polynomials(degree).bind(("x", "y", "z"))
    names = ["x'", "y'", "z'"]
    return es.Problem.from_arrays(features.evaluate(x), dx, names=features.terms, target_names=names)


BINDING = [
    [C.Sign("x'", "x", "+"), C.Sign("y'", "x", "-")],
    [C.Equal(("x'", "y"), ("y'", "x")), C.Sign("z'", "z", "+")],
    [C.SameSupport(["x'", "y'"])],
    [C.Hierarchy()],
]


@pytest.mark.parametrize("constraints", BINDING, ids=lambda c: type(c[0]).__name__)
@pytest.mark.parametrize("limit", [{"seconds": 0.2}, {"nodes": 300}], ids=["seconds", "nodes"])
def test_limits_hold_over_all_layers(constraints, limit):
    problem = lorenz(5)
    es.solve(lorenz(1), 1, constraints=[C.Sign("x'", "x", "-")])  # loads what is needed
    begin = time.monotonic()
    solution = es.solve(problem, es.Total(9), constraints=constraints, settings=es.Settings(**limit))
    assert time.monotonic() - begin < 3.0
    assert solution.lower_bound[0] <= solution.objective[0]
    if np.isfinite(solution.objective[0]):
        assert es.verify(problem, solution).failures == ()


def test_status_names_the_limit_that_was_given():
    solution = es.solve(lorenz(5), es.Total(9), constraints=BINDING[1], settings=es.Settings(seconds=0.05))
    assert solution.optimal or solution.status == (es.Status.TIME_LIMIT,)


def test_progress_shows_feasible_supports_only():
    seen = []
    problem, constraints = lorenz(4), [C.Equal(("x'", "y"), ("y'", "x"))]
    solution = es.solve(
        problem, es.Total(7), constraints=constraints, settings=es.Settings(progress=seen.append, seconds=2)
    )
    for now in seen:
        (value,), (bound,) = now.incumbent.values(), now.lower_bound.values()
        assert value >= solution.lower_bound[0] * (1 - 1e-9)
        assert bound <= solution.objective[0] * (1 + 1e-9)


def test_irrelevant_constraints_cost_no_nodes():
    rng = np.random.default_rng(3)
    theta = rng.normal(size=(300, 150))
    y = theta[:, [3, 40, 77]] @ [1.0, -2.0, 1.5] + rng.normal(size=300)
    problem = es.Problem.from_arrays(theta, y, names=[f"t{j}" for j in range(150)], target_names=["y"])
    plain = es.solve(problem, 3)
    for extra in (C.Forbid("y", "t9"), C.Sign("y", "t3", "+"), C.NotBoth(("y", "t3"), ("y", "t9"))):
        solution = es.solve(problem, 3, constraints=[extra])
        assert solution.optimal
        assert solution.support == plain.support
        assert solution.nodes[0] <= 2 * plain.nodes[0] + 10
        assert np.isclose(solution.margin[0], plain.margin[0], rtol=1e-9)


@pytest.mark.parametrize("seed", [1, 2])
def test_threads_change_no_bit_of_the_joint_search(seed):
    rng, width = np.random.default_rng(seed), 24
    theta, targets = rng.normal(size=(40, width)), rng.normal(size=(40, 2))
    problem = es.Problem.from_arrays(theta, targets, target_names=["x'", "y'"])
    rows = [
        C.Linear(
            {(t, int(j)): float(rng.normal()) for t in ("x'", "y'") for j in rng.choice(width, 12, False)}, "==", 1
        )
        for _ in range(3)
    ]
    component = component_of(problem, rows)
    budgets = [(tuple(equation.variables.tolist()), 3) for equation in component.equations]
    found = [component.solve(budgets, es.Settings(threads=n)) for n in (1, 2, 4)]
    assert found[0].nodes > 3000  # other threads join in after some 2,000
    assert {(o.answers, o.lower_bound, o.runner_up, o.stop) for o in found} == {
        (found[0].answers, found[0].lower_bound, found[0].runner_up, None)
    }


@pytest.mark.parametrize(
    ("number", "kinds"),
    [(1569, ["Forbid", "Exactly", "Sign"]), (11455, ["Require", "SemiContinuous", "AtMost", "Require"])],
)
def test_required_terms_that_exceed_the_coefficient_limit_are_infeasible(number, kinds):
    """A shared budget had an "answer" without terms and with an infinite objective."""
    Case([977, number], kinds, limit=5.0, alike=100.0).check()


def unlike(seed):
    """Two equations whose targets differ in size with columns that resemble each other: limits count."""
    rng = np.random.default_rng([19, seed])
    thetas = [t + 5 * t[:, :1] for t in (rng.normal(size=(9, 4)) for _ in range(2))]
    targets = [rng.normal(size=9), float(rng.choice([3.0, 10.0])) * rng.normal(size=9)]
    names = list(itertools.product(["x'", "y'"], "abcd"))
    problem = es.Problem.from_blocks(
        es.Problem.from_arrays(t, y, names=list("abcd"), target_names=[e])
        for t, y, e in zip(thetas, targets, ["x'", "y'"], strict=True)
    )
    pair = names[int(rng.integers(4))], names[4 + int(rng.integers(4))]
    size, limit = int(rng.integers(1, 4)), float(rng.choice([1.2, 1.5, 2.0, 4.0]))
    return problem, Oracle(thetas, targets, names, [1.0, 1.0], 0.0, limit), pair, size, limit


@pytest.mark.parametrize("trial", [0, constrained_search.TRIAL])
@pytest.mark.parametrize("more", ["nothing", "absent", "sign"])
def test_limits_of_equations_bound_together(more, trial, monkeypatch):
    """Rows bind the limits of coefficients of their equations, whether their terms may be present or not."""
    monkeypatch.setattr(constrained_search, "TRIAL", trial)
    excluded = 0
    for seed in range(80):
        problem, oracle, (first, second), size, limit = unlike(seed)
        extra = {"nothing": [], "absent": [C.AtMost(0, [first, second])], "sign": [C.Sign(*first, "+")]}[more]
        constraints = [C.Equal(first, second), *extra]
        solution = es.solve(problem, size, constraints=constraints, settings=es.Settings(coefficient_limit=limit))
        value = oracle.best(constraints, sizes=[size, size])[0][0]
        assert solution.optimal
        assert solution.objective.sum() == pytest.approx(value, rel=1e-7)
        assert es.verify(problem, solution).ok
        excluded += replace(oracle, limit=2.0**27).best(constraints, sizes=[size, size])[0][0] < value * (1 - 1e-9)
    assert excluded > 10


def test_pools_hold_every_part_of_a_joint_support_that_counts():
    """Or they say that supports were passed over."""
    looked = 0
    for seed in range(40):
        problem, _, pair, _, limit = unlike(seed)
        component = component_of(problem, [C.Equal(*pair)])
        relaxation = Relaxation.of(component, decided(component, []), [3, 3], None, limit)
        own = [[c for n in range(4) for c in itertools.combinations(range(s, s + 4), n)] for s in (0, 4)]
        supports = [a + b for a, b in itertools.product(*own)]
        values = [np.inf if answer is None else answer.objective for answer, _ in component.fits(supports, limit)]
        cut = 1.05 * min(values)
        pools = relaxation.pools(cut, None, es.Settings(coefficient_limit=limit), 10_000)
        if any(outcome.dependent for sizes in pools for outcome in sizes):
            continue
        held = [{a.support for outcome in sizes for a in outcome.answers} | {()} for sizes in pools]
        for support, value in zip(supports, values, strict=True):
            if value <= cut:
                assert tuple(v for v in support if v < 4) in held[0]
                assert tuple(v - 4 for v in support if v >= 4) in held[1]
                looked += 1
    assert looked > 200


def test_too_different_targets_are_left_to_the_joint_search():
    rng = np.random.default_rng(3)
    theta, y = rng.normal(size=(12, 4)), rng.normal(size=(12, 2)) * [1e-6, 1.0]
    problem = es.Problem.from_arrays(theta, y, names=list("abcd"), target_names=["x'", "y'"])
    component = component_of(problem, [C.Equal(("x'", "a"), ("y'", "a"))])
    assert stretch(component) == pytest.approx(np.linalg.norm(y) / np.linalg.norm(y[:, 0]))
    assert Relaxation.of(component, decided(component, []), [2, 2], None, 2.0**27) is None
    assert es.solve(problem, 2, constraints=[C.Equal(("x'", "a"), ("y'", "a"))]).optimal
