"""doctor: what it shows, and that a broken installation is seen."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from exactsindy.cli import app, doctor


def test_a_sound_installation():
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0, done.output
    for shown in ("exactsindy ", "instruction set", "numpy ", "Self-test: passed", "  data "):
        assert shown in done.output


def test_a_broken_one(monkeypatch):
    monkeypatch.setattr(doctor, "_self_test", lambda: {"ok": False, "result": "nothing was found", "seconds": 0.1})
    monkeypatch.setitem(doctor._EXTRAS, "data", ("no-such-distribution",))
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert done.exit_code == 1
    assert json.loads(done.output)["extras"]["data"] == {"no-such-distribution": None}
    done = CliRunner().invoke(app, ["doctor"])
    assert "Self-test: FAILED" in done.output
    assert "missing: no-such-distribution (pip install 'exactsindy[data]')" in done.output
