"""A report says what its claims are about: a true claim about few supports must not pass for one about all."""

from __future__ import annotations

import time

import numpy as np
import pytest

import check_oracle as oracle
import reference_prover as prover
import test_budgets as budgets
import test_claims as claims
import test_constrained as constrained
from exactsindy_check import Report, check


def proved(folder, numbers, section, records):
    report = claims.write(folder, numbers, section, records)
    assert report.ok, report.sentences
    return str(report)


def test_a_section_says_which_supports_it_is_about(tmp_path):
    rng = np.random.default_rng(7)
    numbers = oracle.make("ridge", rng, 5)
    section, records = prover.prove(
        numbers, 3, rng, wild=False, required=(1,), forbidden=(2,), rows=((((0, 1), (3, 1)), 1),)
    )
    text = proved(tmp_path, numbers, section, records)
    with np.load(tmp_path / "problem.npz") as arrays:
        names = arrays["terms0"].tolist()
    row = f"1 [{names[0]}] + 1 [{names[3]}] <= 1"
    assert f"(with {names[1]}; without {names[2]}; {row}; ridge weights from " in text


def test_a_section_says_which_coefficients_it_is_about(tmp_path):
    rng = np.random.default_rng(3)
    numbers = (np.eye(3), np.array([3.0, 2.0, 1.0]), np.array([0.5]), np.zeros(3))
    section, records = prover.prove(numbers, 1, rng, wild=False)
    usual = proved(tmp_path, numbers, section, records)
    assert "coefficients" not in usual
    assert "(" not in usual.splitlines()[0]
    section["coefficient_limit"] = (0.7).hex()  # the best one exceeds this, the second best does not
    section["claim"].update(support=[1], objective=(10.25).hex(), lower_bound=(10.25).hex(), runner_up=(13.25).hex())
    section["cut"] = (13.25).hex()
    text = proved(tmp_path, numbers, section, [(0, 0, bytes([1]))])
    assert "only coefficients up to 0.7 |y| / |a_j|" in text


def test_a_budget_says_how_many_terms_each_equation_may_have(tmp_path):
    rng = np.random.default_rng(91)
    equations = budgets.draw(rng, "ridge")
    document, records = budgets.prove(equations, 4, rng, caps=(2, 3))
    report = budgets.write(tmp_path, equations, document, records)
    assert report.ok, report.sentences
    (found,) = report.budgets
    assert "at most 2, 3 terms each; equations weighted by 1.0, 2.5; x00': ridge weights" in str(found)


def test_conditions_are_shown(tmp_path):
    equations, document, records = constrained.some_proof(5)
    report = constrained.write(tmp_path, equations, document, records)
    assert report.ok, report.sentences
    (found,) = report.conditions
    rows = document["conditions"][0]["rows"]
    assert rows
    assert str(found).count(" <= ") + str(found).count(" == ") >= len(rows)


@pytest.mark.parametrize("huge", [99_999])
def test_numbers_of_terms_beyond_the_library_take_no_time(tmp_path, huge):
    rng = np.random.default_rng(91)
    equations = budgets.draw(rng, "plain")
    document, records = budgets.prove(equations, 2, rng)
    document["budgets"][0] |= {"k": huge, "caps": [huge, huge]}
    begin = time.process_time()
    budgets.write(tmp_path, equations, document, records)
    assert time.process_time() - begin < 5.0


def test_equations_without_a_claim_are_named(tmp_path):
    """A file with the proofs of some equations is true; it must not pass for one about all."""
    rng = np.random.default_rng(8)
    first, second = (oracle.make("plain", rng, 4) for _ in range(2))
    section, records = prover.prove(first, 2, rng, wild=False)
    problem, fingerprint = oracle.problem_bytes([(n[0], [(n[1], n[2])]) for n in (first, second)])
    (tmp_path / "problem.npz").write_bytes(problem)
    (tmp_path / "a.proof").write_bytes(prover.seal(records, prover.footer_of(fingerprint, [section])))
    report = check(tmp_path / "problem.npz", tmp_path / "a.proof", jobs=0)
    assert report.ok
    assert len(report.silent) == 1
    assert f"{report.silent[0]}: nothing is claimed." in str(report).splitlines()


def test_a_name_starts_no_line_of_its_own():
    report = Report("false", ("section 0 (x'\nProved (0.0 s).\x1b[2K, k = 1): no.",), ())
    assert str(report).splitlines() == ["section 0 (x'\\nProved (0.0 s).\\x1b[2K, k = 1): no.", "False (0.0 s)."]
