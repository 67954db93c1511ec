"""Proof files around records: closed, moved into place, and read by the independent checker."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

import check_oracle
import exactsindy as es
import reference_prover
from exactsindy.errors import DataError
from exactsindy.problem import Block, Problem
from exactsindy.solver.backends import native
from exactsindy.solver.equations import equations_of
from exactsindy.solver.proof_file import ProofSection, cut_above, finish_proof, proof_records

pytest.importorskip("exactsindy_check")


def everything(free, slots):
    """Return the steps that look at every support: branch on each term down to the last two."""
    if slots <= 2:
        return bytes([1])
    if len(free) <= slots:
        return bytes([2])
    child = everything(free[1:], slots - 1)
    return reference_prover.varint(8 + free[0]) + child + everything(free[1:], slots)


def problem_of(numbers, rows):
    a, z, rest, _ = numbers
    d = len(z)
    factor = np.zeros((d + 1, d + 1))
    factor[:d, :d], factor[:d, d], factor[d:, d] = a, z, rest
    return Problem((Block(factor, rows, [f"t{j}" for j in range(d)], ["x'"]),))


def write_sections(path, problem, settings, ridge, k, *, pool=False):
    """Solve every equation and write a proof file by enumeration."""
    equations = equations_of(problem, np.broadcast_to(ridge, (len(problem.target_names), len(problem.terms))))
    options = {"pool": True, "within": 0.5, "keep": 10} if pool else {}
    outcomes = [o for (o,) in native.run(equations, [k] * len(equations), [[]] * len(equations), settings, **options)]
    sections = []
    with proof_records(path) as records:
        body = reference_prover.MAGIC
        for number, (equation, outcome) in enumerate(zip(equations, outcomes, strict=True)):
            best = outcome.answers[0] if outcome.answers else None
            size = k if pool or best is None else len(best.support) if best.objective <= equation.constant else k
            last = outcome.answers[-1].objective if pool and outcome.answers else outcome.runner_up
            norm = float(np.linalg.norm(np.concatenate([equation.z, equation.rest])))
            cut = cut_above(last, norm) if math.isfinite(last) else last
            limit = cut if pool else None
            section = ProofSection(
                number,
                number,
                equation,
                size,
                settings.coefficient_limit,
                cut,
                outcome,
                exactly=pool,
                at_most=k,
                pool_limit=limit,
            )
            used = [int(j) for j in np.flatnonzero(equation.factor.any(axis=0))]
            steps = everything(used, size)
            body += reference_prover.varint(number + 1) + b"\0" + reference_prover.varint(len(steps)) + steps
            sections.append(section)
        records.write_bytes(body)
        finish_proof(records, path, problem, sections)
    return outcomes


@pytest.mark.parametrize("kind", check_oracle.KINDS)
@pytest.mark.parametrize("pool", [False, True])
def test_answers_of_the_search_are_proved(tmp_path, kind, pool):
    rng = np.random.default_rng(5)
    for k in (1, 2, 3):
        for _ in range(4):
            numbers = check_oracle.make(kind, rng, 7)
            problem = problem_of(numbers, 100)
            outcomes = write_sections(tmp_path / "a.proof", problem, es.Settings(threads=1), numbers[3], k, pool=pool)
            if not outcomes[0].answers:
                continue
            report = es.check_proof(problem, tmp_path / "a.proof")
            assert report.ok, (k, report.sentences)


def test_several_equations_and_other_limits(tmp_path):
    rng = np.random.default_rng(6)
    theta = rng.normal(size=(40, 9))
    targets = theta[:, [1, 4]] @ rng.normal(size=(2, 3)) + 0.1 * rng.normal(size=(40, 3))
    problem = Problem.from_arrays(theta, targets)
    write_sections(tmp_path / "a.proof", problem, es.Settings(coefficient_limit=1.5), 0.0, 3)
    report = es.check_proof(problem, tmp_path / "a.proof")
    assert report.ok
    assert [section.target for section in report.sections] == list(problem.target_names)
    told = "y0', at most 3 terms (only coefficients up to 1.5 |y| / |a_j|): best is theta"
    assert str(report).splitlines()[0].startswith(told)
    other = Problem.from_arrays(theta, targets + 1e-9)
    assert es.check_proof(other, tmp_path / "a.proof").outcome == "false"


def test_several_processes_say_the_same(tmp_path):
    rng = np.random.default_rng(7)
    theta = rng.normal(size=(60, 16))
    problem = Problem.from_arrays(theta, theta[:, 2] + 0.5 * rng.normal(size=60))
    write_sections(tmp_path / "a.proof", problem, es.Settings(), 0.0, 4)
    seen = []
    one = es.check_proof(problem, tmp_path / "a.proof", jobs=0)
    two = es.check_proof(problem, tmp_path / "a.proof", jobs=2, progress=lambda done, total: seen.append((done, total)))
    assert one.ok
    assert two.sections == one.sections
    assert seen[-1][0] == seen[-1][1] == one.sections[0].leaves


def test_nothing_is_left_behind(tmp_path):
    with pytest.raises(ZeroDivisionError), proof_records(tmp_path / "a.proof"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="the folder cannot be written to"), proof_records(tmp_path / "no" / "a.proof"):
        pass


def test_the_command(tmp_path, capsys):
    from typer.testing import CliRunner

    from exactsindy.cli import app

    rng = np.random.default_rng(8)
    theta = rng.normal(size=(30, 6))
    problem = Problem.from_arrays(theta, theta[:, 2] + 0.5 * rng.normal(size=30))
    write_sections(tmp_path / "a.proof", problem, es.Settings(), 0.0, 2)
    problem.save(tmp_path / "problem.npz")
    run = CliRunner()
    done = run.invoke(app, ["check", str(tmp_path / "a.proof")])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1].startswith("Proved (")
    record = json.loads(run.invoke(app, ["check", str(tmp_path / "a.proof"), "--json", "--quiet"]).stdout)
    assert record["outcome"] == "proved"
    assert record["proved"][0]["terms"] == list(es.solve(problem, 2).terms["y0'"])
    Problem.from_arrays(theta, theta[:, 1]).save(tmp_path / "other.npz")
    wrong = run.invoke(app, ["check", str(tmp_path / "a.proof"), "--problem", str(tmp_path / "other.npz")])
    assert wrong.exit_code == 4
    assert "another problem" in wrong.stdout
    missing = run.invoke(app, ["check", str(tmp_path / "a.proof"), "--problem", "nowhere.npz"])
    assert missing.exit_code == 1
    assert "--problem 'nowhere.npz': there is no such file" in " ".join(missing.output.split())
    (tmp_path / "b.proof").write_bytes((tmp_path / "a.proof").read_bytes()[:-1])
    damaged = run.invoke(app, ["check", str(tmp_path / "b.proof")])
    assert damaged.exit_code == 1
    assert "b.proof: the file is" in damaged.output.replace("\n", " ")
    (tmp_path / "c.proof").write_bytes((tmp_path / "a.proof").read_bytes().replace(b"proof 1\n", b"proof 9\n"))
    assert run.invoke(app, ["check", str(tmp_path / "c.proof")]).exit_code == 5


def test_the_checker_imports_nothing_of_the_package():
    import subprocess
    import sys

    import exactsindy_check

    code = "import exactsindy_check, sys; print([m for m in sys.modules if m.split('.')[0] in ('exactsindy', 'scipy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert set(itertools.chain(exactsindy_check.__all__)) == {"Report", "SectionReport", "check", "progress_lines"}
