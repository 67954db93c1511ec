"""Proof files of the search, read by the independent checker: every family, every verb, and what must be refused."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from exactsindy import Problem, Settings, Total, check_proof, solve, solve_path, solve_pool
from exactsindy.constraints import Forbid
from exactsindy.errors import DataError, SolverError
from oracle import FAMILIES


def problem_of(family: str, seed: int) -> Problem:
    theta, y = FAMILIES[family](np.random.default_rng(seed))
    return Problem.from_arrays(theta, y)


def proved(problem, file):
    report = check_proof(problem, file, jobs=0)
    assert report.ok, str(report)
    return report


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4])
def test_solutions_of_every_family_are_proved(family, k, tmp_path):
    problem, file = problem_of(family, k), tmp_path / "a.proof"
    solution = solve(problem, k, proof=file)
    assert solution.optimal
    (best, *_) = proved(problem, file).sections
    nothing = 2.0**-120 * float(np.square(problem.blocks[0].factor[:, -1]).sum())  # counts as an exact fit
    assert best.proved.objective == pytest.approx(solution.objective[0], rel=1e-12, abs=nothing)


@pytest.mark.parametrize("family", ["gaussian", "near_duplicates", "few_rows", "exact_integers", "many_ties"])
def test_paths_and_pools_are_proved(family, tmp_path):
    problem, file = problem_of(family, 7), tmp_path / "a.proof"
    path = solve_path(problem, 4, proof=file)
    report = proved(problem, file)
    assert min(s.proved.objective for s in report.sections) == pytest.approx(path[4].objective[0], rel=1e-12)
    for asked in ({"within": 0.3}, {"count": 5}):
        pool = solve_pool(problem, 3, proof=file, **asked)
        (section,) = proved(problem, file).sections
        assert section.proved.pool >= len(pool[problem.target_names[0]])


def two_equations(family, seed):
    rng = np.random.default_rng(seed)
    theta, y = FAMILIES[family](rng)
    return Problem.from_arrays(theta, np.column_stack([y, 3 * rng.permutation(y) + theta[:, 0]]))


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_shared_budgets_of_every_family_are_proved(family, tmp_path):
    problem, file = two_equations(family, 5), tmp_path / "a.proof"
    for budget in (Total(3), Total(4, weights=[1.0, 2.5], caps=[1, 4])):
        solution = solve(problem, budget, ridge=0.01, proof=file)
        (joint,) = proved(problem, file).budgets
        assert [tuple(support) for support in joint.budget.supports] == list(solution.support)
        assert joint.budget.objective == solution.objective[0]
        assert (joint.budget.runner_up is None) == np.isnan(solution.margin[0])
        assert solution.support == solve(problem, budget, ridge=0.01).support


def test_a_path_of_shared_budgets_is_proved(tmp_path):
    problem, file = two_equations("gaussian", 6), tmp_path / "a.proof"
    path = solve_path(problem, Total(4), proof=file)
    report = proved(problem, file)
    assert [joint.budget.objective for joint in report.budgets] == path.objectives[:, 0].tolist()
    assert [joint.budget.k for joint in report.budgets] == [0, 1, 2, 3, 4]
    rng = np.random.default_rng(0)
    large = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal((90, 2)))
    with pytest.warns(UserWarning, match="no proof was written, because the search did not end"):
        solve(large, Total(12), proof=tmp_path / "b.proof", settings=Settings(nodes=10))
    assert not (tmp_path / "b.proof").exists()


def test_ridge_and_several_equations_and_threads(tmp_path):
    rng = np.random.default_rng(3)
    theta = rng.standard_normal((60, 40))
    problem, file = Problem.from_arrays(theta, rng.standard_normal((60, 2))), tmp_path / "a.proof"
    for threads in (1, 3):
        solution = solve(problem, [4, 6], ridge=0.5, proof=file, settings=Settings(threads=threads))
        assert solution.nodes.sum() > 1000  # long enough for other threads to join in
        assert len(proved(problem, file).sections) == 2


def test_a_proof_changes_no_bit_of_the_answer(tmp_path):
    for family in ("gaussian", "dependent_sums", "vandermonde"):
        problem = problem_of(family, 1)
        plain, written = solve(problem, 4), solve(problem, 4, proof=tmp_path / "a.proof")
        assert plain.support == written.support
        assert (plain.coef == written.coef).all()
        assert (plain.objective, plain.margin) == (written.objective, written.margin)


def test_a_proof_of_another_problem_is_refused(tmp_path):
    one, other = problem_of("gaussian", 1), problem_of("gaussian", 2)
    solve(one, 3, proof=tmp_path / "a.proof")
    report = check_proof(other, tmp_path / "a.proof", jobs=0)
    assert not report.ok
    assert "another problem" in report.sentences[0] or "fingerprint" in report.sentences[0]


def test_a_search_that_did_not_end_has_no_proof(tmp_path):
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90))
    with pytest.warns(UserWarning, match="no proof was written, because the search for y0' did not end"):
        solve(problem, 6, proof=tmp_path / "a.proof", settings=Settings(nodes=10))
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_proof_file_says_so(tmp_path):
    problem, file = problem_of("gaussian", 1), tmp_path / "a.proof"
    for k in (3, Total(3)):
        with pytest.raises(SolverError, match="proof files are not written for backend='enumerate'"):
            solve(problem, k, proof=file, backend="enumerate")


@pytest.mark.parametrize("constraints", [(), [Forbid("y0'", "theta1")]])
def test_what_cannot_be_a_proof_file_is_refused(constraints, tmp_path):
    problem = problem_of("gaussian", 1)
    cases = {
        tmp_path: "this is a folder; expected the name of a file",
        tmp_path / "nowhere" / "a.proof": "the folder cannot be written to: there is no such folder",
        3: "proof=3: expected the name of a file",
    }
    for file, sentence in cases.items():
        with pytest.raises(DataError, match=sentence):
            solve(problem, 3, constraints=constraints, proof=file)
    assert list(tmp_path.iterdir()) == []


def test_perspective_bounds_are_proved_and_change_no_answer(tmp_path):
    rng = np.random.default_rng(1)
    theta = rng.standard_normal((140, 70))
    problem, file = (
        Problem.from_arrays(theta, theta[:, :6].sum(axis=1) + 4 * rng.standard_normal(140)),
        tmp_path / "a.proof",
    )
    solution = solve(problem, 7, proof=file, settings=Settings(threads=1))
    assert b'"delta": [' in file.read_bytes()  # or the test shows nothing
    proved(problem, file)
    rivals = solve_pool(problem, 7, count=2)[problem.target_names[0]]
    assert rivals[0].support == solution.support[0]
    assert rivals[1].objective == pytest.approx(solution.objective[0] * (1 + solution.margin[0]), rel=1e-12)


def test_check_proof_uses_one_thread_for_products_and_gives_them_back(tmp_path):
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    problem, file, seen = problem_of("gaussian", 1), tmp_path / "a.proof", set()
    solve(problem, 3, proof=file)
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()  # (a library without threads has one)
        assert check_proof(problem, file, jobs=0, progress=lambda done, total: seen.update(threads())).ok
        assert threads() == before
    assert seen == {1}
