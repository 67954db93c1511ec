"""Proof files under linear constraints on coefficients, read by the independent checker."""

import json
import warnings

import numpy as np
import pytest

from exactsindy import Problem, Settings, Total, check_proof, solve
from exactsindy.constraints import (
    Bounds,
    Equal,
    Fixed,
    Forbid,
    Implies,
    Linear,
    NotBoth,
    Require,
    SameSupport,
    SemiContinuous,
    Sign,
)
from exactsindy.errors import SolverError

A, B = "y0'", "y1'"


def draw(seed, terms=7, equations=2, noise=0.3):
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal((terms + 20, terms))
    truth = rng.standard_normal((terms, equations)) * (rng.random((terms, equations)) < 0.5)
    return Problem.from_arrays(theta, theta @ truth + noise * rng.standard_normal((terms + 20, equations)))


def solved(problem, k, file, **options):
    """Return the solution, and why there is no proof (empty: there is one)."""
    file.unlink(missing_ok=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        solution = solve(problem, k, proof=file, **options)
    return solution, "".join(str(warning.message).partition("because ")[2] for warning in said)


KINDS = {
    "sign": [Sign(A, "theta0", "+"), Sign(A, "theta1", "-")],
    "bounds": [Bounds(A, "theta0", -0.3, 0.2), Bounds(B, "theta1", 0.5, 0.7)],
    "fixed": [Fixed(A, "theta2", 0.7)],
    "fixed at zero": [Fixed(A, "theta2", 0.0)],
    "equal": [Equal((A, "theta0"), (A, "theta1"), ratio=-0.1)],
    "equal between equations": [Equal((A, "theta0"), (B, "theta1"), ratio=0.1)],
    "linear": [Linear({(A, "theta0"): 0.1, (A, "theta3"): 0.3}, "==", 0.2)],
    "inequality": [Linear({(A, "theta0"): 1.0, (B, "theta3"): -2.0}, "<=", -0.4)],
    "largest": [SemiContinuous(A, "theta0", most=0.3)],
    "presence between equations": [SameSupport([A, B])],
    "mixed": [Sign(A, "theta0", "-"), Require(A, "theta1"), Forbid(B, "theta2"), Implies((A, "theta0"), (B, "theta3"))],
    "two rows": [Equal((A, "theta0"), (B, "theta0")), NotBoth((A, "theta4"), (B, "theta4")), Sign(B, "theta0", "+")],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_every_kind_of_constraint(kind, ridge, tmp_path):
    file, proved = tmp_path / "a.proof", 0
    for seed in range(4):
        problem = draw(seed)
        for k in (2, 3, Total(4, weights=[1.0, 0.4])):
            solution, reason = solved(problem, k, file, constraints=KINDS[kind], ridge=ridge)
            if not file.exists():
                assert reason
                continue
            report = check_proof(problem, file, jobs=0)
            assert report.ok, str(report)
            assert reason == ""
            claimed = [part.conditions.objective for part in report.conditions]
            whole = [sum(claimed)] if solution.joint else claimed
            assert whole == pytest.approx(solution.objective.tolist(), rel=1e-13)
            proved += 1
            if not solution.joint:  # the next best is proved, too
                limits = [part.conditions.rivals.limit for part in report.conditions]
                assert limits == pytest.approx(solution.objective * (1.0 + solution.margin), rel=1e-13)
    assert proved >= 8


def test_a_better_point_than_the_true_one_or_a_worse_support_is_refused(tmp_path):
    problem, file = draw(3), tmp_path / "a.proof"
    solved(problem, 2, file, constraints=KINDS["equal between equations"])
    for change in ("objective", "support", "row", "member"):
        document, records = _open(file)
        (entry,) = document["conditions"]
        if change == "objective":
            entry["claim"]["objective"] = (float.fromhex(entry["claim"]["objective"]) * (1 - 1e-9)).hex()
        elif change == "support":
            entry["claim"]["supports"][0] = [5, 6]
        elif change == "row":
            entry["rows"][0]["coefficients"][1][2] = (-0.2).hex()
        else:
            assert entry["members"]
            entry["members"] = []
        forged = tmp_path / "b.proof"
        _seal(forged, document, records)
        assert check_proof(problem, forged, jobs=0).outcome == "false", change


def _open(file):
    data = file.read_bytes()
    length = int.from_bytes(data[-40:-32], "little")
    return json.loads(data[-40 - length : -40]), data[: -40 - length]


def _seal(file, document, records):
    import hashlib

    text = json.dumps(document).encode()
    body = records + text + len(text).to_bytes(8, "little")
    file.write_bytes(body + hashlib.sha256(body).digest())


def test_constraints_on_presence_that_contradict_each_other_are_proved_infeasible(tmp_path):
    problem, file = draw(1), tmp_path / "a.proof"
    both = [Require(A, "theta0"), Require(A, "theta1"), NotBoth((A, "theta0"), (A, "theta1"))]
    solution, reason = solved(problem, 3, file, constraints=both)
    assert reason == ""
    report = check_proof(problem, file, jobs=0)
    assert report.ok, str(report)
    assert "nothing satisfies them" in str(report)
    assert np.isinf(solution.objective[0])
    assert len(report.conditions) == 2  # the other equation is proved
    _, reason = solved(problem, 1, file, constraints=[Fixed(A, "theta0", 1.0), Fixed(A, "theta1", 2.0)])
    assert reason == ""
    assert check_proof(problem, file, jobs=0).ok


def test_what_is_not_proved_says_why(tmp_path):
    problem, file = draw(2), tmp_path / "a.proof"
    impossible = [Fixed(A, "theta0", 1.0), Bounds(A, "theta0", 2.0, 3.0)]
    _, reason = solved(problem, 3, file, constraints=impossible)
    assert "does not follow from presence" in reason
    _, reason = solved(problem, 3, file, constraints=[Sign(A, "theta0", "+")], settings=Settings(nodes=1))
    assert "did not end" in reason
    assert not file.exists()
    with pytest.raises(SolverError, match="least sizes of coefficients"):
        solve(problem, 3, constraints=[SemiContinuous(A, "theta0", least=0.5)], proof=file)
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((30, 5))
    theta[:, 4] = theta[:, 0]
    twice = Problem.from_arrays(theta, theta[:, 0] + 0.1 * rng.standard_normal(30))
    assert solved(twice, 2, file, constraints=[Bounds(A, "theta0", -0.2, 0.1)])[1] == ""
    assert check_proof(twice, file, jobs=0).ok  # the copy takes the place of the bounded term
    narrow = [Bounds(A, "theta0", -0.2, 0.1), Bounds(A, "theta4", -0.2, 0.1)]
    assert solved(twice, 2, file, constraints=narrow)[1] == ""
    assert "left out" in str(check_proof(twice, file, jobs=0))  # both copies together evade the bounds on each


@pytest.mark.parametrize("noise", [0.0, 1e-16])
def test_claims_leave_out_terms_that_depend_on_each_other(noise, tmp_path):
    """Rule 2 excludes supports with both copies; the claim in the file does so, too, and the report says it."""
    rng, file = np.random.default_rng(0), tmp_path / "a.proof"
    theta = rng.standard_normal((30, 6))
    theta[:, 4] = theta[:, 3] + noise * rng.standard_normal(30)
    target = theta[:, 0] - 0.8 * theta[:, 3] + 0.1 * rng.standard_normal(30)
    problem = Problem.from_arrays(theta, target)
    solution, reason = solved(problem, 3, file, constraints=[Bounds(A, "theta0", -0.2, 0.1)])
    assert (solution.status[0].name, reason) == ("OPTIMAL", "")
    report = check_proof(problem, file, jobs=0)
    assert report.ok, str(report)
    assert "supports whose terms depend on each other are left out" in str(report)


def test_nearly_dependent_terms_have_no_multipliers_in_doubles(tmp_path):
    rng, file = np.random.default_rng(0), tmp_path / "a.proof"
    theta = rng.standard_normal((30, 6))
    theta[:, 4] = theta[:, 3] + 1e-12 * rng.standard_normal(30)
    theta[:, 5] = theta[:, 3]
    target = theta[:, 0] + 0.1 * rng.standard_normal(30)
    problem = Problem.from_arrays(theta, target)
    _, reason = solved(problem, 3, file, constraints=[Bounds(A, "theta0", -0.2, 0.1)])
    assert "nearly depend on each other" in reason
    assert not file.exists()
