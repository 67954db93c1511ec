"""Every notebook runs from top to bottom, and its answers are those that its text promises."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("marimo", reason="the notebooks need marimo, which is part of the extra test")
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
NOTEBOOKS = Path(__file__).parent.parent / "examples" / "notebooks"
# marimo and what it stands on may warn about themselves.
pytestmark = pytest.mark.filterwarnings("default")


def run(name):
    spec = importlib.util.spec_from_file_location(f"notebook_{name}", NOTEBOOKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.app.run()


def test_every_notebook_is_tested_and_listed():
    assert {file.stem for file in NOTEBOOKS.glob("*.py")} == {"first_steps", "what_if"}
    listed = (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8")
    assert all(f"`notebooks/{file.name}`" in listed for file in NOTEBOOKS.glob("*.py"))


def test_first_steps():
    outputs, names = run("first_steps")
    assert names["found"].model.equations(1) == ["angle' = rate", "rate' = -4 angle - 0.2 rate"]
    assert any(getattr(output, "_repr_html_", str)().startswith("<div><p style") for output in outputs)
    assert list(names["run"].columns) == ["angle", "rate"]
    assert len(names["rivals"]) > 4


def test_what_if():
    _, names = run("what_if")
    assert list(names["solution"].terms["y'"]) == ["x", "y", "x z"]
    assert "x z" not in names["without"].terms["y'"]
    assert names["without"].optimal
    assert names["worse"] > 1.5
