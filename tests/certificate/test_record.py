"""The certificate: plain claims that survive JSON."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError, replace

import pytest

from exactsindy.certificate.claims import Certificate

CERTIFICATE = Certificate(
    target="x'",
    fingerprint="ab" * 32,
    size=2,
    weights=(1.0,),
    ridge=(0.0, 1e-5, 0.1),
    support=("x", "x y"),
    coefficients=(-10.0, 0.1 + 0.2),
    objective=1.5e-7,
    lower_bound=1.4999999999999999e-7,
    gap=1e-16,
    margin=0.25,
    status="OPTIMAL",
    nodes=12,
    seconds=0.003,
    version="0.1.0",
)


def test_json_keeps_every_bit():
    assert Certificate.from_json(CERTIFICATE.to_json()) == CERTIFICATE


def test_json_is_strict_and_flat():
    text = replace(CERTIFICATE, margin=math.nan, lower_bound=-math.inf, gap=math.inf).to_json()

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    fields = json.loads(text, parse_constant=refuse)
    assert fields["margin"] == "nan"
    assert fields["lower_bound"] == "-inf"
    assert fields["support"] == ["x", "x y"]


@pytest.mark.parametrize("field, value", [("lower_bound", -math.inf), ("gap", math.inf), ("margin", math.inf)])
def test_infinite_claims_come_back(field, value):
    again = Certificate.from_json(replace(CERTIFICATE, **{field: value}).to_json())
    assert getattr(again, field) == value


def test_undefined_margin_comes_back():
    assert math.isnan(Certificate.from_json(replace(CERTIFICATE, margin=math.nan).to_json()).margin)


def test_types_after_reading():
    again = Certificate.from_json(replace(CERTIFICATE, objective=0.0, margin=0.0).to_json())
    assert isinstance(again.support, tuple)
    assert isinstance(again.coefficients, tuple)
    assert isinstance(again.ridge, tuple)
    assert isinstance(again.objective, float)


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        CERTIFICATE.objective = 0.0


def test_unknown_field_is_refused():
    fields = json.loads(CERTIFICATE.to_json()) | {"proved": True}
    with pytest.raises(TypeError, match="proved"):
        Certificate.from_json(json.dumps(fields))
