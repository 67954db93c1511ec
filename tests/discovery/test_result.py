"""What a discovery says of itself, and that it survives a run folder."""

from __future__ import annotations

import json

import matplotlib
import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import DataError, ProblemError, SolverError
from exactsindy.selection import TRAJECTORY_FIT

matplotlib.use("Agg")

T = np.arange(0.0, 20.0, 0.02)
CIRCLE = np.column_stack([np.cos(T), -np.sin(T)]) + 0.01 * np.random.default_rng(0).normal(size=(len(T), 2))
STATES = ("x", "v")


@pytest.fixture(scope="module")
def found():
    return es.discover(CIRCLE, T, states=STATES, degree=2)


def test_the_answer_in_a_few_names(found):
    assert [text.split(" = ")[0] for text in found.equations] == ["x'", "v'"]
    assert found.equations == found.model.equations()
    assert found.identified
    assert set(found.confidence) == {"x'", "v'"}
    assert min(found.confidence.values()) > 0.9
    assert all(words.startswith("confidence ") for words in found.verdict.values())
    assert found.rivals["x'"][0].support == found.solution.support[0]
    assert len(found.rivals["x'"]) > 1


def test_other_terms_than_those_selected_are_not_identified(found):
    other = found.at(rival={"v'": 2})
    assert other.confidence["v'"] is None
    assert other.confidence["x'"] == found.confidence["x'"]
    assert not other.identified
    assert other.verdict["v'"] == "not the terms that were selected"
    assert found.at(rival=1).identified


def test_a_doubtful_choice_is_not_identified():
    noise = np.random.default_rng(0).normal(size=(60, 2)).cumsum(axis=0)
    doubtful = es.discover(noise, 0.1, degree=2)
    assert not doubtful.identified
    assert all(confidence is None or confidence < 0.5 for confidence in doubtful.confidence.values())
    assert all(words.startswith("not identified") for words in doubtful.verdict.values())


def test_rules_without_a_probability_have_no_confidence():
    found = es.discover(CIRCLE, T, states=STATES, degree=1, rule="bic")
    assert set(found.confidence.values()) == {None}
    assert found.selection.rule == es.selection.BIC()


def test_a_shared_budget_has_one_confidence():
    found = es.discover(CIRCLE, T, states=STATES, degree=2, k_max=es.Total(4))
    assert list(found.confidence) == ["x', v'"]
    assert found.rivals == {}
    assert found.at(k=1).confidence == {"x', v'": None}


def test_the_model_is_at_hand(found):
    np.testing.assert_array_equal(found.predict(CIRCLE), found.model.predict(CIRCLE))
    run = found.simulate([1.0, 0.0], T[:50])
    np.testing.assert_array_equal(run.x, found.model.simulate([1.0, 0.0], T[:50]).x)
    assert [panel.get_ylabel() for panel in found.plot()] == ["x", "v"]


def test_the_dictionary_is_plain(found):
    answer = found.to_dict()
    assert json.loads(json.dumps(answer)) == answer
    assert answer["identified"] is True
    assert answer["coefficients"]["x'"] == found.solution.terms["x'"]
    assert answer["confidence"] == found.confidence


def test_what_is_said_about_a_run_is_kept_when_it_is_saved_again(found, tmp_path):
    stored = es.Discovery.load(found.save(tmp_path / "first", about={"file": "circle.csv"}))
    assert stored.about["file"] == "circle.csv"
    again = es.Discovery.load(stored.save(tmp_path / "second"))
    assert again.about["file"] == "circle.csv"
    assert again.warnings == found.warnings
    assert str(again) == str(found)
    assert again.to_dict() == found.to_dict()


def test_run_folders_of_the_first_format_are_read(found, tmp_path):
    folder = found.save(tmp_path)
    about, results = (json.loads((folder / name).read_text("utf-8")) for name in ("run.json", "results.json"))
    about["format"] = "exactsindy run 1"
    about["warnings"] = [{"kind": item["kind"], "message": item["message"]} for item in about["warnings"]]
    selection = results["selection"]
    for item in (*selection["choices"], *selection["table"]):
        item["preparation"] = item.pop("variant")
    selection["choices"][0]["preparation"] = "most likely orbit"
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    old = es.Discovery.load(folder)
    assert old.selection.choices[0].variant == TRAJECTORY_FIT
    assert old.selection.choices[1] == found.selection.choices[1]
    assert [notice.message for notice in old.warnings] == [notice.message for notice in found.warnings]
    about["format"] = "exactsindy run 99"
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(DataError, match=r"format 'exactsindy run 99'.*again, or read the folder with the version"):
        es.Discovery.load(folder)


def test_degree_is_short_for_a_library(found):
    assert found.problem.names == es.discover(CIRCLE, T, states=STATES, library=es.Polynomials(2)).problem.names
    with pytest.raises(ProblemError, match=r"discover\(library=.*degree=2\): two libraries; give one"):
        es.discover(CIRCLE, T, library=es.Polynomials(2), degree=2)


def test_degree_of_a_field():
    x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 60)
    u = np.sin(x[:, None] - t) + 0.3 * np.cos(2 * (x[:, None] - t))
    u += 0.01 * np.random.default_rng(0).normal(size=u.shape)
    data = es.Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    found = es.discover(data, degree=1)
    assert set(found.problem.names) == {"u", *(f"{factor}u_{'x' * k}" for factor in ("", "u ") for k in range(1, 5))}
    assert set(found.solution.terms["u_t"]) == {"u_x"}


def test_rules_by_name_are_the_same_everywhere():
    with pytest.raises(SolverError, match=r"rule='bics'.*Did you mean 'bic'"):
        es.discover(CIRCLE, T, rule="bics")
