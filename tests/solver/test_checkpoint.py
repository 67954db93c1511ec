"""Checkpoints: searches that are stopped, killed or damaged, and what a later call makes of them."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from exactsindy import Problem, Settings, Total, check_proof, solve, solve_path, solve_pool
from exactsindy.errors import SolverError
from exactsindy.solver import checkpoint as checkpoints


def draw(seed=0, terms=50, rows=52, equations=1):
    rng = np.random.default_rng(seed)
    return Problem.from_arrays(rng.standard_normal((rows, terms)), rng.standard_normal((rows, equations)))


def said(solution):
    """Return all that is claimed, to the bit."""
    arrays = (solution.coef, solution.objective, solution.lower_bound, solution.margin)
    return solution.support, solution.status, [array.tobytes() for array in arrays]


def in_steps(call, nodes, **limits):
    """Return what the last of many calls says, each of which may look at a few nodes only, and how many there were."""
    for step in range(1, 2000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # (no proof yet)
            answer = call(Settings(nodes=nodes, **limits))
        if answer.optimal:
            return answer, step
    raise AssertionError("the search does not come to its end")


@pytest.mark.parametrize("threads", [1, 3])
def test_a_search_in_many_steps_says_the_same_to_the_bit(threads, tmp_path):
    problem, file = draw(equations=2), tmp_path / "a.checkpoint"
    whole = solve(problem, 7)
    last, steps = in_steps(lambda limits: solve(problem, 7, settings=limits, checkpoint=file), 2000, threads=threads)
    assert steps > 3
    assert said(last) == said(whole)
    again = solve(problem, 7, checkpoint=file)  # all is known
    assert said(again) == said(whole)
    assert again.nodes.sum() == last.nodes.sum()


@pytest.mark.parametrize("seed", range(2))
def test_the_proof_of_a_search_in_many_steps_is_accepted(seed, tmp_path):
    problem, file, proof = draw(seed, terms=40, rows=42), tmp_path / "a.checkpoint", tmp_path / "a.proof"
    _, steps = in_steps(
        lambda limits: solve(problem, 7, settings=limits, proof=proof, checkpoint=file), 800, threads=1 + seed % 2
    )
    assert steps > 2
    report = check_proof(problem, proof, jobs=0)
    assert report.ok, str(report)
    proof.unlink()
    solve(problem, 7, proof=proof, checkpoint=file)
    assert check_proof(problem, proof, jobs=0).ok
    assert sorted(os.listdir(tmp_path)) == ["a.checkpoint", "a.checkpoint.records", "a.proof"]


def test_paths_and_pools_go_on(tmp_path):
    problem = draw(3, terms=40, rows=36)
    whole, path = solve_path(problem, 6), None
    for _ in range(200):
        path = solve_path(problem, 6, settings=Settings(nodes=3000), checkpoint=tmp_path / "path")
        if all(solution.optimal for solution in path):
            break
    assert [said(one) for one in path] == [said(one) for one in whole]
    whole, pool = solve_pool(problem, 5, within=0.05), None
    steps = 0
    while pool is None or not all(pool.complete.values()):
        pool = solve_pool(problem, 5, within=0.05, settings=Settings(nodes=1000), checkpoint=tmp_path / "pool")
        steps += 1
    assert steps > 1
    assert pool.members == whole.members


@pytest.mark.parametrize("family", ["copies", "whole numbers", "exact fit"])
def test_dependent_terms_ties_and_exact_fits(family, tmp_path):
    rng = np.random.default_rng(5)
    theta = rng.standard_normal((40, 16))
    y = rng.standard_normal(40)
    if family == "copies":
        theta[:, 5], theta[:, 9] = theta[:, 0], theta[:, 1] - theta[:, 2]
    elif family == "whole numbers":
        theta, y = rng.integers(-1, 2, (40, 16)).astype(float), rng.integers(-1, 2, 40).astype(float)
    else:
        y = theta[:, [1, 4, 8]] @ np.array([1.0, 2.0, -1.0])
    problem = Problem.from_arrays(theta, y)
    for threads in (1, 2):
        file = tmp_path / f"{threads}"
        last, _ = in_steps(lambda limits, file=file: solve(problem, 6, settings=limits, checkpoint=file), 60)
        assert said(last) == said(solve(problem, 6))


SCRIPT = """
import sys, numpy as np
from exactsindy import Problem, Settings, solve
from exactsindy.solver import checkpoint
checkpoint.EVERY = 0.002
proof = sys.argv[3] or None
print("begin", flush=True)
solve(Problem.load(sys.argv[1]), int(sys.argv[4]), settings=Settings(threads=2), checkpoint=sys.argv[2], proof=proof)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize(("terms", "k", "proof"), [(80, 8, ""), (50, 6, "a.proof")])
def test_a_killed_search_goes_on(terms, k, proof, tmp_path):
    problem, file, rng = draw(1, terms, terms + 2), tmp_path / "a.checkpoint", random.Random(4)
    proof = str(tmp_path / proof) if proof else ""
    problem.save(tmp_path / "problem.npz")
    stored = kills = 0
    while kills < 3 or (not stored and kills < 20):  # (a busy machine may take long to come to the first checkpoint)
        arguments = [sys.executable, "-c", SCRIPT, str(tmp_path / "problem.npz"), str(file), proof, str(k)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.3))
            child.send_signal(signal.SIGKILL)
        kills += 1
        stored = len(json.loads(file.read_bytes().partition(b"\n")[2])["searches"]) if file.exists() else 0
    assert stored
    solution = solve(problem, k, checkpoint=file, proof=proof or None)
    assert said(solution) == said(solve(problem, k))
    if proof:
        assert check_proof(problem, proof, jobs=0).ok
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_checkpoints_of_other_calls_are_refused_by_one_sentence(tmp_path):
    problem, file = draw(terms=8), tmp_path / "a.checkpoint"
    solve(problem, 2, checkpoint=file)
    others = {
        "problem": lambda: solve(draw(1, terms=8), 2, checkpoint=file),
        "k": lambda: solve(problem, 3, checkpoint=file),
        "ridge": lambda: solve(problem, 2, ridge=0.1, checkpoint=file),
        "coefficient_limit": lambda: solve(problem, 2, settings=Settings(coefficient_limit=9.0), checkpoint=file),
        "proof": lambda: solve(problem, 2, proof=tmp_path / "a.proof", checkpoint=file),
        "kind": lambda: solve_path(problem, 2, checkpoint=file),
    }
    before = file.read_bytes()
    for what, call in others.items():
        with pytest.raises(SolverError, match=f"checkpoint of another call .it differs in {what}"):
            call()
    assert file.read_bytes() == before
    for options in ({"constraints": ["theta0 > 0 in y0'"]}, {"backend": "enumerate"}):
        with pytest.raises(SolverError, match=r"no checkpoints are kept under constraints, for Total"):
            solve(problem, 2, checkpoint=file, **options)
    with pytest.raises(SolverError, match=r"no checkpoints are kept"):
        solve_path(problem, Total(2), checkpoint=file)
    with pytest.raises(SolverError, match=r"checkpoint=3: expected the name of a file"):
        solve(problem, 2, checkpoint=3)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(SolverError, match="this file is no checkpoint"):
        solve(problem, 2, checkpoint=tmp_path / "text")


def _sealed(document):
    text = json.dumps(document).encode()
    return b"exactsindy checkpoint 1 " + hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def test_damaged_checkpoints_end_in_one_sentence(tmp_path):
    problem, file = draw(terms=40, rows=36), tmp_path / "a.checkpoint"
    solve(problem, 6, checkpoint=file, settings=Settings(nodes=5000))
    good, rng = file.read_bytes(), random.Random(0)
    document = json.loads(good.partition(b"\n")[2])
    for _ in range(30):
        at = rng.randrange(len(good))
        file.write_bytes(good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1 :])
        with pytest.raises(SolverError, match=r"damaged|no checkpoint"):
            solve(problem, 6, checkpoint=file)
    ((section, numbers),) = document["searches"].items()
    refused = 0
    for _ in range(200):  # with the right SHA-256: an answer or one sentence, never a crash
        changed = list(numbers)
        for _ in range(rng.randrange(1, 3)):
            changed[rng.randrange(len(changed))] = rng.choice([-1, 0, 1, 5, 39, 40, 2**40])
        changed = changed[: rng.choice([len(changed), rng.randrange(len(changed))])]
        file.write_bytes(_sealed({**document, "searches": {section: changed}}))
        try:
            solve(problem, 6, checkpoint=file, settings=Settings(nodes=500))
        except SolverError as error:
            refused += "damaged" in str(error)
    assert refused > 50


def test_a_full_disk_does_not_end_the_search(tmp_path, monkeypatch):
    problem, file = draw(), tmp_path / "a.checkpoint"
    solve(problem, 5, checkpoint=file, settings=Settings(nodes=100))
    before = file.read_bytes()

    def full(path, content):
        raise checkpoints.DataError("save: the file cannot be written: No space left on device.")

    kept = checkpoints.Checkpoint.of
    monkeypatch.setattr(checkpoints.Checkpoint, "of", lambda *a, **k: (kept(*a, **k), stop())[0])

    def stop():
        monkeypatch.setattr(checkpoints, "write_atomically", full)

    with pytest.warns(UserWarning, match="no checkpoint was written"):
        solution = solve(problem, 5, checkpoint=file)
    assert said(solution) == said(solve(problem, 5))
    assert json.loads(file.read_bytes().partition(b"\n")[2]) == json.loads(before.partition(b"\n")[2])
