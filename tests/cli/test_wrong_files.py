"""What people name by mistake: a folder, a report instead of a model, an option of another kind of law."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import exactsindy as es
from exactsindy.cli import app

T = np.arange(0.0, 8.0, 0.05)
CSV = "t,x,v\n" + "".join(f"{t:.2f},{np.cos(t):.6f},{-np.sin(t):.6f}\n" for t in T)
QUICK = ("--degree", "1", "--k-max", "2", "--threads", "1", "--quiet")


def call(*words, code=1):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


def error(*words):
    """Return the one sentence that a command ends with."""
    said = call(*words).stderr
    assert said.count("\n") == 1
    return said.removeprefix("Error: ").rstrip("\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("files")
    (place / "data.csv").write_text(CSV, encoding="utf-8")
    (place / "report.html").write_text("<!doctype html>", encoding="utf-8")
    call("discover", place / "data.csv", *QUICK, "--run", place / "run", "--save", place / "model.json", code=0)
    return place


@pytest.mark.parametrize("command", ["export", "simulate"])
def test_what_is_no_model_is_called_so(folder, command):
    more = ("--start", "1,0", "--until", "1") if command == "simulate" else ()
    said = error(command, folder / "report.html", *more)
    assert said.endswith("this is no saved model; `exactsindy discover --save` makes one.")


def test_a_run_folder_has_a_model(folder):
    assert call("export", folder / "run", code=0).stdout == call("export", folder / "model.json", code=0).stdout
    words = ("--start", "v=0,x=1", "--until", "1", "--step", "0.5")
    assert call("simulate", folder / "run", *words, code=0).stdout.startswith("t,x,v\n0,1,0\n")


def test_a_start_of_too_few_numbers(folder):
    said = error("simulate", folder / "model.json", "--start", "1", "--until", "1")
    assert said == "--start 1: expected 2 numbers, for x, v, e.g. x=1.0,v=1.0."
    said = error("simulate", folder / "model.json", "--start", "x=1,v=a", "--until", "1")
    assert said.startswith("--start 'x=1,v=a': expected numbers by name")


def test_check_names_the_file_that_is_missing(folder):
    assert error("check", folder / "nowhere.proof").endswith("nowhere.proof': there is no such file.")
    said = error("check", folder / "model.json")
    assert "there is no model.json.problem.npz or problem.npz beside it; name the saved problem with --problem" in said
    assert error("check", folder / "model.json", "--problem", "no.npz") == "--problem 'no.npz': there is no such file."


def test_a_folder_without_parquet_files_is_refused(folder):
    said = error("discover", folder / "run", "--time", "t")
    assert "this is a folder without Parquet files; name a file, e.g. " in said


def test_what_is_left_of_a_mixed_folder_is_said(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"t": T, "x": np.cos(T), "v": -np.sin(T)}).to_parquet(tmp_path / "one.parquet")
    (tmp_path / "data.csv").write_text(CSV, encoding="utf-8")
    done = call("discover", tmp_path, "--time", "t", *QUICK, code=0)
    assert "1 Parquet file is read as one data set, 1 other file is not." in done.stderr


def test_options_that_exclude_each_other(folder):
    said = error("discover", folder / "data.csv", *QUICK, "--map", "--second-order")
    assert said == "--map and --second-order: a map has no derivatives; leave one of them out."


def test_a_folder_where_a_file_is_written(folder):
    said = error("discover", folder / "data.csv", *QUICK, "--report", folder)
    assert said == f"{str(folder)!r}: this is a folder; expected the name of a file."


def test_one_equals_sign_is_two(folder):
    words = ("discover", folder / "data.csv", *QUICK, "--constraint")
    assert call(*words, "x': v = 1", code=0).stdout == call(*words, "x': v == 1", code=0).stdout
    assert "expected one of ==, <=, >= once" in error(*words, "x': v = 1 = 2")
    assert es.constraints.parse_constraint("x': v = 1") == es.constraints.parse_constraint("x': v == 1")
