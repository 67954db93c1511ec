"""Forged answers and run folders are found: a slice of `exactsindy bench forgeries`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery import verify_run
from exactsindy_experiments.forgeries import OUTCOMES, Forgery, _answers, _folders, _paths, _pools, report
from exactsindy_experiments.forgery_edits import changed_values, places, value_at, with_value
from exactsindy_experiments.forgery_oracle import still_true
from exactsindy_experiments.forgery_runs import HONEST_RUNS, honest_answers, honest_run


def test_no_forged_answer_is_accepted():
    found = [*_answers(np.random.default_rng(0)), *_paths(np.random.default_rng(1)), *_pools()]
    assert [f"{f.group}: {f.what}" for f in found if f.outcome == OUTCOMES[-1]] == []
    counts = Counter(f.outcome for f in found)
    assert len(found) > 1000
    assert counts["refused"] > 0.7 * len(found)
    assert counts["accepted, still true"] > 0


@pytest.mark.parametrize("name", HONEST_RUNS)
def test_no_forged_run_is_accepted(name, tmp_path):
    run = honest_run(name, tmp_path)
    assert verify_run(run).ok
    found = list(_folders(name, run, 12 if name == "constraints" else 25, np.random.default_rng(7)))
    assert [f.what for f in found if f.outcome == OUTCOMES[-1]] == []
    assert any(f.outcome == "refused" for f in found)


def test_the_oracle_tells_true_from_false():
    answers = {answer.name: answer.solution for answer in honest_answers()}
    assert all(still_true(solution) for solution in answers.values())
    one = answers["one equation"]
    assert still_true(replace(one, lower_bound=0.5 * one.lower_bound))
    assert still_true(replace(one, margin=np.array([np.nan])))
    assert not still_true(replace(one, lower_bound=1.1 * one.objective))
    assert not still_true(replace(one, margin=1.01 * one.margin))
    assert not still_true(replace(one, coef=1.0001 * one.coef))
    worse = es.refit(one.problem, [[3, 4]])
    assert not still_true(replace(worse, k=(2,), status=(es.Status.OPTIMAL,)))
    assert not still_true(replace(answers["infeasible"], constraints=()))


def test_edits_reach_every_entry():
    document = {"a": [1.5, {"b": "x"}], "c": None, "d": True}
    found = list(places(document))
    assert ("a", 1, "b") in found
    assert len(found) == 6
    for place in found:
        for value in changed_values(value_at(document, place)):
            assert with_value(document, place, value) != document or value == value_at(document, place)
    assert document == {"a": [1.5, {"b": "x"}], "c": None, "d": True}


def test_report_counts_and_names_what_was_accepted():
    text = report([Forgery("Pool", "empty", "refused"), Forgery("Pool", "[0].excess = 1", "ACCEPTED THOUGH FALSE")])
    assert "| Pool | 2 | 1 | 0 | 0 | 1 |" in text
    assert text.endswith("- Pool: [0].excess = 1")
