"""The JSON that programs read is what the documentation says it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "discovery.schema.json").read_text(encoding="utf-8"))


def check(found):
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(record)
    return record


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"])


def test_trajectories_and_fields(oscillator, burgers):
    assert check(oscillator)["labels"]["x'"].startswith(("identified", "likely"))
    assert check(burgers)["headlines"]["u_t"]


def test_other_supports_and_withheld_confidence(oscillator):
    assert check(oscillator.at(rival={"x'": 2}))["confidence"]["x'"] is None
    first, *others = oscillator.selection.choices
    doubtful = replace(first, confidence=float("nan"), withheld="a state that is not measured seems to act")
    shown = replace(oscillator, selection=replace(oscillator.selection, choices=(doubtful, *others)), residuals={})
    record = check(shown)
    assert record["headlines"]["x'"].startswith("Not identified: a state that is not measured")
    assert record["residuals"] == {"x'": None, "v'": None}


def test_a_difference_would_be_seen(oscillator):
    record = oscillator.to_dict()
    del record["headlines"]
    with pytest.raises(jsonschema.ValidationError, match="'headlines' is a required property"):
        jsonschema.Draft202012Validator(SCHEMA).validate(record)
