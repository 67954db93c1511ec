"""Proof files under constraints on the presence of terms, read by the independent checker."""

import hashlib
import json
import warnings
from itertools import combinations

import numpy as np
import pytest

from exactsindy import Problem, Settings, check_proof, solve, solve_path, solve_pool
from exactsindy.constraints import (
    AtLeast,
    AtMost,
    Bounds,
    Exactly,
    Forbid,
    Implies,
    MaxCorrelation,
    NotBoth,
    Require,
    SameSupport,
    SemiContinuous,
    WholeGroup,
)
from exactsindy.errors import SolverError
from oracle import FAMILIES

Y = "y0'"


def rules(rng, names):
    """Return one list of constraints for every kind, on random terms."""
    a, b, c, d = ((Y, str(name)) for name in rng.choice(names, size=4, replace=False))
    return {
        "forbid": [Forbid(*a)],
        "require": [Require(*a)],
        "require two": [Require(*a), Require(*b)],
        "implies": [Implies(a, b), Implies(b, c)],
        "not both": [NotBoth(a, b), NotBoth(c, d)],
        "at most": [AtMost(1, [a, b, c, d])],
        "at least": [AtLeast(2, [a, b, c])],
        "exactly": [Exactly(1, [a, b, c]), Forbid(*d)],
        "whole group": [WholeGroup([a, b])],
        "uncorrelated": [MaxCorrelation(0.3)],
        "two terms": [Exactly(2, Y)],
    }


def solved(problem, k, file, **options):
    """Return the solution, and why there is no proof (empty: there is one)."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        solution = solve(problem, k, proof=file, **options)
    return solution, "".join(str(warning.message).partition("because ")[2] for warning in said)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_kind_of_constraint_on_every_family(family, tmp_path):
    proofs = 0
    for k in (1, 2, 3, 4):
        rng = np.random.default_rng([k, 9])
        problem = Problem.from_arrays(*FAMILIES[family](rng))
        for n, (kind, constraints) in enumerate(rules(rng, problem.names).items()):
            file = tmp_path / f"{k}.{n}.proof"
            solution, reason = solved(problem, k, file, constraints=constraints)
            if reason:
                assert not file.exists()
                assert reason.startswith(("that nothing satisfies the const", "the terms found for y0' depend")), kind
                continue
            report = check_proof(problem, file, jobs=0)
            assert report.ok, (kind, str(report))
            if np.isinf(solution.objective[0]):
                assert "nothing satisfies them" in str(report), kind
                continue
            value = pytest.approx(solution.objective[0], rel=1e-12, abs=1e-300)
            assert report.sections[0].proved.objective == value, kind
            proofs += 1
    assert proofs >= (0 if family == "all_zero" else 10)


def test_the_optimum_is_that_of_enumeration(tmp_path):
    for seed in range(5):
        theta, y = FAMILIES["gaussian"](np.random.default_rng(seed))
        problem, file = Problem.from_arrays(theta, y), tmp_path / "a.proof"
        solve(problem, 3, constraints=[AtMost(1, [(Y, 1), (Y, 4), (Y, 6)]), Forbid(Y, 0)], proof=file)
        (section,) = check_proof(problem, file, jobs=0).sections
        values = [
            np.linalg.norm(y - theta[:, terms] @ np.linalg.lstsq(theta[:, terms], y, rcond=None)[0]) ** 2
            for size in range(4)
            for terms in map(list, combinations(range(1, theta.shape[1]), size))
            if len({1, 4, 6} & set(terms)) <= 1
        ]
        assert section.proved.objective == pytest.approx(min(values), rel=1e-9)


def test_the_next_best_is_that_of_enumeration(tmp_path):
    rng = np.random.default_rng(1)
    theta = rng.standard_normal((40, 9))
    y = theta[:, [1, 4, 6]].sum(axis=1) + rng.standard_normal(40)
    problem, file = Problem.from_arrays(theta, y), tmp_path / "a.proof"
    solution, reason = solved(problem, 3, file, constraints=[AtMost(1, [(Y, 1), (Y, 4), (Y, 6)]), Forbid(Y, 0)])
    assert reason == ""
    values = sorted(
        np.linalg.norm(y - theta[:, terms] @ np.linalg.lstsq(theta[:, terms], y, rcond=None)[0]) ** 2
        for terms in map(list, combinations(range(1, 9), 3))
        if len({1, 4, 6} & set(terms)) <= 1
    )
    (section,) = check_proof(problem, file, jobs=0).sections
    assert section.proved.runner_up == pytest.approx(values[1], rel=1e-9)
    assert solution.margin[0] == pytest.approx(values[1] / values[0] - 1.0, rel=1e-6)

    def lower(changed):
        changed["claim"]["runner_up"] = float(values[1] * 1.01).hex()

    assert "no support of 3 terms has the runner-up's objective" in str(
        check_proof(problem, tampered(file, lower), jobs=0)
    )


def tampered(file, change):
    """Return a copy of a proof with another footer."""
    content = file.read_bytes()
    length = int.from_bytes(content[-40:-32], "little")
    footer = json.loads(content[-40 - length : -40])
    change(footer["sections"][0])
    new = json.dumps(footer).encode()
    body = content[: -40 - length] + new + len(new).to_bytes(8, "little")
    copy = file.with_name("changed.proof")
    copy.write_bytes(body + hashlib.sha256(body).digest())
    return copy


def test_the_checker_needs_the_rows(tmp_path):
    theta, y = FAMILIES["gaussian"](np.random.default_rng(0))
    problem, file = Problem.from_arrays(theta, y), tmp_path / "a.proof"
    solve(problem, 3, constraints=[NotBoth((Y, 1), (Y, 4))], proof=file)
    assert check_proof(problem, tampered(file, lambda section: None), jobs=0).ok
    report = check_proof(problem, tampered(file, lambda section: section.update(rows=[])), jobs=0)
    assert report.outcome == "false"
    assert "is not the best support" in str(report)


def test_several_equations_with_ridge_and_one_that_nothing_is_asked_of(tmp_path):
    rng = np.random.default_rng(3)
    theta = rng.standard_normal((60, 25))
    problem, file = Problem.from_arrays(theta, rng.standard_normal((60, 3))), tmp_path / "a.proof"
    wanted = [Require("y0'", 3), Implies(("y0'", 4), ("y0'", 5)), AtMost(1, {"y2'": list(range(12))})]
    solution, reason = solved(problem, [4, 3, 5], file, constraints=wanted, ridge=0.5)
    assert reason == ""
    report = check_proof(problem, file, jobs=0)
    assert report.ok, str(report)
    assert [s.proved.objective for s in report.sections] == pytest.approx(solution.objective.tolist(), rel=1e-12)
    assert solution.support == solve(problem, [4, 3, 5], constraints=wanted, ridge=0.5).support


def test_a_warning_says_why_there_is_no_proof(tmp_path):
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((90, 80))
    theta[:, 1] = theta[:, 0]
    problem, file = Problem.from_arrays(theta, rng.standard_normal(90)), tmp_path / "a.proof"
    nothing = [AtLeast(3, [(Y, 3), (Y, 4), (Y, 5)])]
    assert solved(problem, 2, file, constraints=nothing)[1] == ""
    assert "nothing satisfies them" in str(check_proof(problem, file, jobs=0))
    file.unlink()
    both = [Require(Y, 0), Require(Y, 1)]
    assert solved(problem, 2, file, constraints=both)[1].startswith("the terms found for y0' depend on each other")
    late = solved(problem, 6, file, constraints=[AtMost(1, [(Y, 3), (Y, 4)])], settings=Settings(nodes=10))
    assert late[1] == "the search for y0' did not end. Allow more time or nodes."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", ["gaussian", "near_duplicates", "few_rows", "exact_integers", "many_ties"])
def test_paths_and_pools_are_proved(family, tmp_path):
    proved = {"path": 0, "pool": 0}
    for seed in range(3):
        rng = np.random.default_rng([seed, 11])
        problem = Problem.from_arrays(*FAMILIES[family](rng))
        for n, (kind, constraints) in enumerate(rules(rng, problem.names).items()):
            file = tmp_path / f"{seed}.{n}.proof"
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                path = solve_path(problem, 3, constraints=constraints, proof=file)
            assert file.exists() != bool(said), kind
            if file.exists():
                report = check_proof(problem, file, jobs=0)
                assert report.ok, (kind, str(report))
                feasible = np.isfinite(path.objectives[:, 0])
                assert (len(report.sections), len(report.conditions)) == (feasible.sum(), (~feasible).sum())
                proved["path"] += 1
            for asked in ({"count": 4}, {"within": 0.3}, {"count": 100_000}):
                file.unlink(missing_ok=True)
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    pool = solve_pool(problem, 2, constraints=constraints, proof=file, **asked)
                assert file.exists() != bool(said), kind
                if file.exists():
                    report = check_proof(problem, file, jobs=0)
                    assert report.ok, (kind, asked, str(report))
                    assert report.sections[0].proved.pool >= len(pool[Y])
                    proved["pool"] += 1
    assert min(proved.values()) > 10


def test_pools_and_paths_under_other_constraints_are_proved(tmp_path):
    rng = np.random.default_rng(3)
    problem = Problem.from_arrays(rng.standard_normal((20, 6)), rng.standard_normal((20, 2)))
    for constraint in (Bounds("y0'", 1, 0.0, 1.0), SameSupport(), NotBoth(("y0'", 1), ("y1'", 2))):
        for asked in ({"count": 4}, {"within": 0.2}):
            pool = solve_pool(problem, 2, constraints=[constraint], proof=tmp_path / "a.proof", **asked)
            report = check_proof(problem, tmp_path / "a.proof", jobs=0)
            assert report.ok, str(report)
            members = [len(part.conditions.rivals.members) + 1 for part in report.conditions]
            assert members == [len(own) for own in pool.members.values()]
    with pytest.raises(SolverError, match="least sizes of coefficients"):
        solve_pool(problem, 2, count=2, constraints=[SemiContinuous("y0'", 1, least=0.5)], proof=tmp_path / "b.proof")
    path = solve_path(problem, 2, constraints=[Bounds("y0'", 1, 0.0, 0.1)], proof=tmp_path / "a.proof")
    report = check_proof(problem, tmp_path / "a.proof", jobs=0)
    assert report.ok, str(report)
    claimed = [part.conditions.objective for part in report.conditions]
    assert claimed == [x for solution in path for x in solution.objective.tolist()]
