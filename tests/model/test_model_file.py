"""Saving and loading: round trips, damaged files, atomic writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from exactsindy import __version__
from exactsindy.certificate.claims import Certificate
from exactsindy.errors import DataError
from exactsindy.library import Terms, Variables
from exactsindy.model import Equation, Model, model_file

MODELS = {
    "ode": Model.from_coefficients(
        {"x'": {"x": -0.1, "x^2 y": 1 / 3}, "y'": {"sin(2 x)": 1e-300, "x/(1 + y)^2": -2.0}}
    ),
    "control": Model.from_coefficients({"x''": {"x p": 1.0, "cos(3 t)": 2.0}}, controls=("p",)),
    "field": Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xxxx": 0.5}, "v_t": {"u^2 v_xy": 1.0}}),
    "names": Model.from_coefficients({"Länge (m)'": {"Länge (m)^2": 1.0, "q 1": 2.0}, "q 1'": {}}),
    "zero": Model.from_coefficients({"x'": {}}),
}


def certificate(**changes: object) -> Certificate:
    values = {
        "target": "x'", "fingerprint": "ab12", "size": 1, "weights": (1.0,), "ridge": (0.0, 0.0), "support": ("x",),
        "coefficients": (-0.1,), "objective": 0.1, "lower_bound": float("-inf"), "gap": float("inf"), "margin": 0.5,
        "status": "TIME_LIMIT", "nodes": 12, "seconds": 0.25, "version": "0.1.0",
    }  # fmt: skip
    return Certificate(**{**values, **changes})


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    MODELS[name].save(path)
    assert Model.load(path) == MODELS[name]
    assert Model.load(str(path)).equations(None) == MODELS[name].equations(None)


def test_fitted_models_keep_errors_fingerprint_and_certificate(tmp_path: Path) -> None:
    row = MODELS["ode"].rows[0]
    fitted = Equation(row.target, row.terms, row.coefficients, (0.1, 2e-17))
    model = Model(Variables(("x", "y")), (fitted,), "ab12", (certificate(),))
    model.save(tmp_path / "m.json")
    assert Model.load(tmp_path / "m.json") == model
    document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert document["format_version"] == 1
    assert document["package_version"] == __version__
    assert document["problem_fingerprint"] == "ab12"
    assert document["certificates"][0]["lower_bound"] == "-inf"


def test_functions_of_the_user_come_back_through_the_library(tmp_path: Path) -> None:
    library = Terms([("cube", lambda x: x**3)])
    term = library.bind(("x",)).terms[0]
    model = Model(Variables(("x",)), (Equation(MODELS["zero"].rows[0].target, (term,), (2.0,)),))
    model.save(tmp_path / "m.json")
    with pytest.raises(DataError, match=r"the term 'cube' is not understood .* Model.load\(path, library=Terms"):
        Model.load(tmp_path / "m.json")
    np.testing.assert_allclose(Model.load(tmp_path / "m.json", library=library).predict([[2.0]]), [[16.0]])


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    MODELS["ode"].save(path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model_file.os, "replace", fail)
    with pytest.raises(DataError, match=r"save\('.*model.json'\): the file cannot be written: No space left on device"):
        MODELS["field"].save(path)
    monkeypatch.undo()
    assert Model.load(path) == MODELS["ode"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"save\('.*model.json'\): the folder cannot be written to: No such file"):
        MODELS["ode"].save(tmp_path / "no" / "model.json")


def edited(**changes: object) -> dict:
    document = json.loads(json.dumps(model_file._document(Variables(("x",)), (MODELS["ode"].rows[0],), None, ())))
    document["variables"]["states"] = ["x", "y"]
    for key, value in changes.items():
        place, names = document, key.split("__")
        for name in names[:-1]:
            place = place[int(name[1:]) if name[0] == "i" and name[1:].isdigit() else name]
        if value is KeyError:
            del place[names[-1]]
        else:
            place[names[-1]] = value
    return document


def test_the_document_of_the_damage_tests_is_sound(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(edited()), encoding="utf-8")
    assert Model.load(tmp_path / "m.json").target_names == ("x'",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "something"}, "this is not a model written by Model.save"),
        (
            {"format_version": 2},
            "has format version 2, this package reads 1; it was written by exactsindy '" + __version__ + "'",
        ),
        ({"variables": KeyError}, "the file is damaged: the entry 'variables' is missing. Save the model again"),
        ({"variables__states": "xy"}, "the entry 'states' is not a list"),
        ({"variables__states": []}, "expected at least one state name"),
        ({"variables__time": 3}, "the entry 'time' holds 3 where a text belongs"),
        ({"equations": []}, "it has no equations"),
        ({"equations": 7}, "the entry 'equations' is not a list"),
        ({"equations__i0__target": "x"}, r"'x' is not an equation such as x', x'' or u_t"),
        ({"equations__i0__terms": ["x", "q"]}, "the term 'q' is not understood .*unknown name 'q'"),
        ({"equations__i0__terms": ["x"]}, "has 1 terms but 2 coefficients and 1 standard errors"),
        ({"equations__i0__coefficients": [1.0, "2"]}, "the entry 'coefficients' holds '2' where a number belongs"),
        ({"equations__i0__coefficients": [1.0, True]}, "the entry 'coefficients' holds True where a number belongs"),
        ({"equations__i0__coefficients": [1.0, float("nan")]}, "the number NaN is not finite"),
        ({"equations__i0__standard_errors": [1.0]}, "expected one of each per term"),
        ({"certificates": [{"target": "x'"}]}, "the file is damaged: the entry 'objective' is missing"),
        ({"certificates": [json.loads(certificate().to_json())]}, "a certificate belongs to another problem"),
        ({"problem_fingerprint": 5}, "the entry 'problem_fingerprint' holds 5 where a text belongs"),
    ],
)
def test_damaged_documents(changes: dict, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(edited(**changes)), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        Model.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is damaged: it is not JSON"),
        (b"[1, 2]", "this is not a model written by Model.save"),
        (b"\xff\xfe\x00", "the file cannot be read: it is not text"),
        (b"[" * 100_000, "the file is damaged: it is nested more than 32 deep"),
    ],
)
def test_files_that_are_no_models(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        Model.load(path)
    with pytest.raises(DataError, match="there is no such file"):
        Model.load(tmp_path / "other.json")


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    MODELS["ode"].save(path)
    text = path.read_bytes().rstrip()
    for length in range(0, len(text), 7):
        path.write_bytes(text[:length])
        with pytest.raises(DataError):
            Model.load(path)
