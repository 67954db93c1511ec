"""Proofs of hostile problems, given to the independent checker."""

import numpy as np
import pytest

from exactsindy.certificate import check_proof
from exactsindy.constraints import Fixed, NotBoth
from exactsindy.solver import Total, solve
from exactsindy_experiments import proof_campaign
from exactsindy_experiments.torture_instances import Task, draw


def test_a_slice_of_the_campaign_is_accepted(tmp_path):
    said = [report.outcome for _, report in proof_campaign.random_proofs(60, 3, tmp_path)]
    assert len(said) > 40
    assert set(said) <= {"proved", "not checked"}
    assert said.count("proved") > 40


@pytest.mark.parametrize("index", [38, 88])
def test_supports_that_doubles_cannot_solve_for_are_decided_exactly(index, tmp_path):
    one = draw(Task("chain", 20, index))
    solve(one.problem, one.size, ridge=one.ridge, proof=tmp_path / "a.proof")
    assert check_proof(one.problem, tmp_path / "a.proof", jobs=0).ok


def test_pairs_that_only_a_tiny_ridge_tells_apart_are_not_lost(tmp_path):
    one = draw(Task("ridge_tiny", 23, 119))
    weights = np.array(one.weights)[:, None]
    solve(one.problem, Total(one.size, weights=one.weights), ridge=one.ridge * weights, proof=tmp_path / "a.proof")
    assert check_proof(one.problem, tmp_path / "a.proof", jobs=0).ok


def test_supports_that_fit_by_huge_coefficients_only_do_not_spoil_a_proof(tmp_path):
    """Whole numbers of low rank: some listed supports depend on each other but for the rounding of the factor."""
    one, file = draw(Task("integer_data", 6, 2)), tmp_path / "a.proof"
    chosen = [Fixed("y0'", "t8", -4.554375447471509), NotBoth(("y0'", "t11"), ("y0'", "t2"))]
    solution = solve(one.problem, one.size, constraints=chosen, proof=file)
    assert solution.support == ((1, 5, 7, 8, 12),)
    report = check_proof(one.problem, file, jobs=0)
    assert report.ok, str(report)
