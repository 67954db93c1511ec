"""What people type and what they have: pipes, help, files that are not quite tables."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from exactsindy.cli import app

T = np.arange(0.0, 8.0, 0.05)
STATES = np.column_stack([np.cos(T), -np.sin(T)]) + 0.01 * np.random.default_rng(0).normal(size=(len(T), 2))
CSV = "t,x,v\n" + "".join(f"{t:.2f},{x:.6f},{v:.6f}\n" for t, (x, v) in zip(T, STATES, strict=True))
QUICK = ("--degree", "1", "--k-max", "2", "--threads", "1", "--quiet")


def run(*words, **more):
    return CliRunner().invoke(app, [str(word) for word in words], **more)


@pytest.mark.parametrize("content", [CSV.encode(), gzip.compress(CSV.encode())], ids=["text", "gzip"])
def test_standard_input(content):
    done = run("discover", "-", *QUICK, input=content)
    assert done.exit_code == 0, done.output
    assert re.match(r"(Identified|Likely), [^:]*: x' = [\d.]+ v\.", done.stdout)


def test_empty_standard_input():
    done = run("discover", "-", input=b"")
    assert (done.exit_code, done.stderr) == (1, "Error: -: standard input is empty; pipe a table into it.\n")


def test_helps_have_no_stray_marks():
    commands = get_command(app).commands
    for name in commands:
        done = run(name, "--help")
        assert done.exit_code == 0
        assert "\\b" not in done.output, name
        assert "<bool>" not in done.output, name
    assert "<bool>" not in run("--help").output
    shown = run("discover", "--help").output
    assert "x[k-1]" in shown.replace("│", "").replace("\n", " ")
    assert "exactsindy discover lorenz.csv" in shown
    assert "--split-gaps" in shown


def test_decimal_commas_and_units(tmp_path):
    file = tmp_path / "messung.csv"
    lines = CSV.replace(",", ";").replace(".", ",").splitlines()
    file.write_text("\n".join([lines[0], "s;m;m/s", *lines[1:]]), encoding="latin-1")
    done = run("discover", file, *QUICK)
    assert done.exit_code == 0, done.output
    assert "was read as a number with a decimal comma. Pass --decimal . if that is wrong." in done.stdout
    assert "line 2 was taken for units (s, m, m/s) and left out" in done.stdout


def test_messages_name_options(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("when,x\n" + "".join(f"{i},{i % 7}\n" for i in range(30)))
    assert "name the time column, --time when if it is 'when', which grows" in run("discover", file).stderr
    file.write_text("t,x\n" + "".join(f"{i},{'' if i == 9 else i % 7}\n" for i in range(30)))
    assert "Pass --split-gaps to cut the trajectory there" in run("discover", file).stderr
    done = run("discover", file, "--split-gaps", *QUICK)
    assert "gaps=" not in done.output
    assert "Pass --split-gaps" not in done.output


def test_json_carries_what_programs_need(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(CSV)
    record = json.loads(run("discover", file, *QUICK, "--json").stdout)
    assert set(record["standard_errors"]["x'"]) == set(record["coefficients"]["x'"])
    assert isinstance(record["identified"], bool)
    assert record["headlines"]["x'"].startswith(("Identified", "Likely"))
    assert record["rivals"]["x'"][0]["excess"] == 0
    assert 0.005 < record["noise"]["x"] < 0.02
    assert all({"code", "equation", "message"} == set(item) for item in record["warnings"])


def test_the_many_options_of_discover_are_grouped():
    shown = run("discover", "--help").output
    titles = ["The data", "The law: equations", "The search", "What comes out"]
    places = [shown.index(title) for title in titles]
    assert places == sorted(places)
    within = dict(zip(titles, (shown[a:b] for a, b in zip(places, [*places[1:], None], strict=True)), strict=True))
    for title, option in zip(titles, ("--split-gaps", "--library", "--seconds", "--report"), strict=True):
        assert option in within[title]
    known = [parameter.opts[0] for parameter in get_command(app).commands["discover"].params]
    assert all(option in shown[places[0] :] for option in known if option.startswith("--"))  # none is left outside
