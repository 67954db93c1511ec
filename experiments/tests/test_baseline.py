"""The stored answers of the first edition: a slice is solved again; `exactsindy bench baseline` compares all."""

from pathlib import Path

import numpy as np
import pytest

from exactsindy_experiments import baseline

STORED = Path(__file__).parents[2] / "docs" / "benchmarks" / "baseline.npz"


def test_a_changed_answer_is_found():
    problem = baseline._problem(baseline._factor(3))
    answers = baseline.answers_of(problem, 3)
    changed = {**answers, "solve": {**answers["solve"], "nodes": [-1]}}
    assert baseline.differences(answers, answers, "p") == []
    assert len(baseline.differences(answers, changed, "p")) >= 1


@pytest.mark.parametrize("seed", range(0, baseline.PROBLEMS, 40))
def test_supports_are_those_of_the_first_edition(seed):
    import json

    with np.load(STORED, allow_pickle=False) as stored:
        before = json.loads(str(stored["answers"]))[f"p{seed:03d}"]
        now = json.loads(json.dumps(baseline.answers_of(baseline._problem(stored[f"p{seed:03d}"]), seed)))
    assert set(now) == set(before)
    for verb in ("solve", "total", "ridge", "refit"):
        assert now[verb]["support"] == before[verb]["support"]
        assert now[verb]["status"] == before[verb]["status"]
