"""False claims on top of a true tree: each is refused by its own sentence."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import check_oracle as oracle
import reference_prover as prover
from exactsindy_check import check
from exactsindy_check.bounds import ground
from exactsindy_check.instance import Equation, scaled
from exactsindy_check.node_bounds import dropped_exceeds, node_exceeds
from exactsindy_check.perspective import perspective_exceeds, semidefinite
from exactsindy_check.projection import Projection
from exactsindy_check.scan import pairs_exceed, supports_exceed


def write(folder, numbers, section, records):
    problem, fingerprint = oracle.problem_bytes([(numbers[0], [(numbers[1], numbers[2])])])
    (folder / "problem.npz").write_bytes(problem)
    (folder / "a.proof").write_bytes(prover.seal(records, prover.footer_of(fingerprint, [section])))
    return check(folder / "problem.npz", folder / "a.proof", jobs=0)


def case(**options):
    rng = np.random.default_rng(5)
    numbers = oracle.make("plain", rng, 5)
    section, records = prover.prove(numbers, 2, rng, wild=False, **options)
    return numbers, section, records


def times(text, factor):
    return (float.fromhex(text) * factor).hex()


FALSE = {
    "is above the cut, so nothing is proved": lambda s: s.update(cut=times(s["claim"]["objective"], 1 - 1e-9)),
    "is not the best support": lambda s: s["claim"].update(support=s["second"], objective=s["claim"]["runner_up"]),
    "the objective of": lambda s: s["claim"].update(objective=times(s["claim"]["objective"], 1 + 1e-9)),
    "the lower bound": lambda s: s["claim"].update(lower_bound=times(s["claim"]["objective"], 1 + 1e-9)),
    "no support of 2 terms has the runner-up's": lambda s: s["claim"].update(
        runner_up=times(s["claim"]["runner_up"], 1 - 1e-9)
    ),
    "the runner-up's objective is": lambda s: s["claim"].update(runner_up=times(s["claim"]["runner_up"], 1 + 1e-9)),
    "there is no other support, but the proof stops": lambda s: s["claim"].update(runner_up="inf"),
    "no support is feasible, but the proof stops": lambda s: s["claim"].update(
        support=None, objective=None, lower_bound="inf", runner_up=None
    ),
    "more terms may fit better": lambda s: s["claim"].update(at_most=3),
}


@pytest.mark.parametrize("sentence", FALSE)
def test_false_claims_of_a_section_are_refused(tmp_path, sentence):
    numbers, section, records = case()
    assert write(tmp_path, numbers, section, records).ok
    ranked = [support for _, size, support in prover.truth(numbers, 2) if size == 2]
    changed = {**copy.deepcopy(section), "second": list(ranked[1])}
    FALSE[sentence](changed)
    changed.pop("second")
    report = write(tmp_path, numbers, changed, records)
    assert report.outcome == "false"
    assert any(sentence in one for one in report.sentences), report.sentences


def test_false_pools_are_refused(tmp_path):
    numbers, section, records = case(exactly=True, pool=True)
    assert write(tmp_path, numbers, section, records).ok
    for sentence in ("belongs to the pool but is missing", "pool's limit", "of the pool is"):
        changed = copy.deepcopy(section)
        pool = changed["claim"]["pool"]
        if sentence.startswith("belongs"):
            pool["supports"].pop(1)
            pool["objectives"].pop(1)
        elif sentence.startswith("pool's"):
            pool["limit"] = times(pool["limit"], 1.1)
        else:
            pool["objectives"][0] = times(pool["objectives"][0], 1 + 1e-9)
        report = write(tmp_path, numbers, changed, records)
        assert any(sentence in one for one in report.sentences), report.sentences


def test_a_support_that_is_a_little_worse_is_no_tie(tmp_path):
    a = np.triu(np.ones((3, 3))) * 1.0
    z = np.array([1.0, 1.0, 1.0 + 1e-7])
    numbers = (np.eye(3) * a, z, np.array([0.5]), np.zeros(3))
    rng = np.random.default_rng(0)
    section, records = prover.prove(numbers, 1, rng, wild=False)
    assert write(tmp_path, numbers, section, records).ok
    ranked = prover.truth(numbers, 1)
    changed = copy.deepcopy(section)
    changed["claim"] |= {"support": list(ranked[1][2]), "objective": float(ranked[1][0]).hex(), "runner_up": None}
    report = write(tmp_path, numbers, changed, records)
    assert any("is not the best support" in one for one in report.sentences), report.sentences


def test_files_that_prove_nothing_or_are_not_whole_are_refused(tmp_path):
    numbers, section, records = case()
    assert write(tmp_path, numbers, section, records).ok
    whole = (tmp_path / "a.proof").read_bytes()
    (tmp_path / "a.proof").write_bytes(whole.replace(b'"writer": "reference"', b'"writer": "referenc2"'))
    assert "SHA-256" in check(tmp_path / "problem.npz", tmp_path / "a.proof").sentences[0]
    fingerprint = oracle.problem_bytes([(numbers[0], [(numbers[1], numbers[2])])])[1]
    (tmp_path / "a.proof").write_bytes(prover.seal([], prover.footer_of(fingerprint, [])))
    assert check(tmp_path / "problem.npz", tmp_path / "a.proof").outcome == "false"
    arrays = dict(np.load(tmp_path / "problem.npz"))
    arrays["factor0"] = arrays["factor0"] * (1 + 1e-15)
    np.savez(tmp_path / "problem.npz", **arrays)
    (tmp_path / "a.proof").write_bytes(whole)
    assert "fingerprints differ" in check(tmp_path / "problem.npz", tmp_path / "a.proof").sentences[0]


def test_nothing_exceeds_an_infinite_cut():
    numbers = oracle.make("plain", np.random.default_rng(3), 4)
    base = ground(scaled(Equation(*numbers), 2.0**27, None))
    inside, free = np.array([0]), np.array([1, 2, 3])
    assert not node_exceeds(base, inside, free, 1)
    assert not dropped_exceeds(base, inside, free, 1, [1, 2], 1)
    assert not pairs_exceed(base, inside, free, Projection(base).off(inside, free)).any()
    assert not supports_exceed(base, np.array([[0, 1]])).any()
    assert not perspective_exceeds(base, np.zeros(4), inside, free, 1, np.zeros(4))


def test_delta_must_be_finite_and_not_negative():
    numbers = oracle.make("plain", np.random.default_rng(3), 4)
    base = ground(scaled(Equation(*numbers), 2.0**27, Fraction(1)))
    for bad in (-0.1, np.nan, np.inf):
        assert not semidefinite(base, np.array([0.0, bad, 0.0, 0.0]))
    assert semidefinite(base, np.zeros(4))


def test_a_small_cut_is_not_a_negative_one():
    numbers = oracle.make("plain", np.random.default_rng(3), 4)
    least = oracle.fraction_fit(*numbers, (0, 1, 2, 3))[0]
    base = ground(scaled(Equation(*numbers), 2.0**27, least * 2))
    small = replace(base, numbers=replace(base.numbers, cut=1e-6))
    everything = np.arange(4)
    assert not node_exceeds(small, everything, everything[:0], 0)


def test_nothing_feasible_is_proved_of_the_searched_size_only(tmp_path):
    """With two terms required nothing of one term is feasible; something of three terms is."""
    numbers, section, _ = case()
    section.update(required=[0, 1], k=1, cut="inf")
    section["claim"].update(support=None, objective=None, lower_bound="inf", runner_up=None, at_most=1)
    assert write(tmp_path, numbers, section, []).ok
    section["claim"]["at_most"] = 3
    report = write(tmp_path, numbers, section, [])
    assert report.outcome == "false"
    assert "the proof is about 1 terms only" in report.sentences[0]
