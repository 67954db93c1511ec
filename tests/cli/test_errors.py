"""Every mistake a newcomer can make ends in one helpful sentence, not in a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.resources import files

import numpy as np
import pytest
from typer.testing import CliRunner

from exactsindy.cli import app
from slices import first

LYNX = str(files("exactsindy.datasets") / "lynx_hare.csv")


def sentence(*words, code=1):
    """Return the one line on standard error."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.fixture
def table(tmp_path):
    def write(text, name="data.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_missing_file():
    assert sentence("discover", "nowhere.csv") == "Error: 'nowhere.csv': there is no such file."
    assert "there is no such file" in sentence("solve", "nowhere.npz", "--k", 1)
    assert "is no run folder" in sentence("verify", "nowhere")
    assert "there is no such file" in sentence("export", "nowhere.json")


def test_wrong_column():
    shown = sentence("discover", LYNX, "--time", "jahr")
    assert (
        shown == "Error: --time: there is no column 'jahr'. Did you mean 'year' or 'hare'? Known are year, hare, lynx."
    )
    assert "there is no column 'wolf'" in sentence("discover", LYNX, "--time", "year", "--states", "wolf")


def test_text_among_numbers(table):
    rows = "\n".join(f"{i},{i * i}" for i in range(20))
    shown = sentence("discover", table(f"t,x\n{rows}\n20,many\n"))
    assert "line 22: column 'x' holds 'many' among numbers" in shown


def test_too_few_rows(table):
    assert "2 samples are too short" in sentence("discover", table("t,x\n0,1\n1,2\n"))
    assert "has a header but no rows" in sentence("discover", table("t,x\n"))
    assert "no trajectory has 8 samples" in sentence("discover", table("t,x\n0,1\n1,2\n2,3\n3,5\n"), "-q")


def test_unknown_system(tmp_path):
    shown = sentence("systems", "generate", "lorentz", "--out", tmp_path / "a.csv")
    assert shown.startswith("Error: there is no system 'lorentz'. Did you mean 'lorenz'? Known are lorenz, hopf,")
    shown = sentence("systems", "generate", "burger", "--out", tmp_path / "a.csv")
    assert shown.startswith("Error: there is no system 'burger'. Did you mean 'burgers'")
    assert "Known are lorenz, " in sentence("systems", "generate", "qqq", "--out", tmp_path / "a.csv")


def test_wrong_endings(tmp_path):
    assert "ends in .npz" in sentence("systems", "generate", "burgers", "--out", tmp_path / "a.csv")
    assert "ends in .csv" in sentence("systems", "generate", "lorenz", "--out", tmp_path / "a.txt")
    (tmp_path / "a.doc").write_text("t,x", encoding="utf-8")
    assert "unknown ending '.doc'" in sentence("discover", tmp_path / "a.doc")


def test_wrong_choices():
    assert "--rule luck: expected the name of a rule" in sentence(
        "discover", LYNX, "--time", "year", "--rule", "luck", "-q"
    )
    assert "--k 'x=y': expected a number of terms" in sentence("solve", LYNX, "--targets", "hare", "--k", "x=y", "-q")


def test_folder_is_missed_before_the_work_starts(tmp_path):
    shown = sentence("discover", LYNX, "--time", "year", "--report", tmp_path / "no" / "r.html")
    assert "there is no folder" in shown


def test_solve_asks_for_targets(table):
    assert "say which columns are targets, e.g. --targets lynx" in sentence("solve", LYNX, "--k", 1, "-q")
    assert "has no column 'y'; it has year, hare, lynx" in sentence("solve", LYNX, "--targets", "y", "--k", 1, "-q")
    shown = sentence("solve", LYNX, "--targets", "year,hare,lynx", "--k", 1, "-q")
    assert "every column is a target" in shown
    text = table("a,b\nx,1\ny,2\n")
    assert "column 'a' holds text" in sentence("solve", text, "--targets", "b", "--k", 1, "-q")


def test_npz_without_arrays(tmp_path):
    np.savez(tmp_path / "r.npz", A=np.eye(2))
    assert "has no array 'theta'; it has A" in sentence("solve", tmp_path / "r.npz", "--k", 1, "-q")
    (tmp_path / "broken.npz").write_bytes(b"nothing")
    assert "not an npz file of plain arrays" in sentence("solve", tmp_path / "broken.npz", "--k", 1, "-q")


def test_simulate_says_what_it_wants(tmp_path):
    from exactsindy.model import Model

    Model.from_coefficients({"x'": {"x^2": 1.0}}).save(tmp_path / "m.json")
    assert "expected numbers separated by commas" in sentence(
        "simulate", tmp_path / "m.json", "--start", "one", "--until", 1
    )
    assert "expected positive numbers" in sentence("simulate", tmp_path / "m.json", "--start", "1", "--until", "-1")
    done = CliRunner().invoke(app, ["simulate", str(tmp_path / "m.json"), "--start", "1", "--until", "2"])
    assert done.exit_code == 1
    assert "The states ran away" in done.stderr
    assert done.stdout.startswith("t,x\n0,1\n")


def test_changed_run_folder(tmp_path):
    done = CliRunner().invoke(
        app, ["discover", LYNX, "--time", "year", "--degree", "1", "--strong", "-q", "--run", str(tmp_path / "run")]
    )
    assert done.exit_code == 0, done.output
    run = tmp_path / "run"
    about = (run / "run.json").read_text(encoding="utf-8")
    (run / "run.json").write_text(about.replace('"data_sha256": "', '"data_sha256": "0'), encoding="utf-8")
    assert "data.npz was changed since the run" in sentence("verify", run)
    (run / "run.json").write_text(about.replace("exactsindy run 2", "exactsindy run 9"), encoding="utf-8")
    assert "expected exactsindy run 1 or exactsindy run 2" in sentence("verify", run)
    (run / "run.json").write_text("[]", encoding="utf-8")
    assert "holds no JSON object" in sentence("verify", run)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_interrupted_search_prints_the_best_so_far(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "hard.npz", theta=rng.normal(size=(60, 70)), targets=rng.normal(size=60))
    program = "import exactsindy.cli.progress as p; p._EVERY = 0.0\nfrom exactsindy.cli import app\napp()"
    words = ["solve", str(tmp_path / "hard.npz"), "--k", "12", "--seconds", "60"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert "nodes" in process.stderr.readline()  # it is searching
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "interrupted, not proved" in shown
    assert shown.startswith("y0' = ")


def test_proof_that_cannot_be_written(tmp_path, table):
    data = table("a,b,y\n1,0,1\n0,1,2\n1,1,3\n")
    words = ("solve", data, "--targets", "y", "--k", 1)
    assert "there is no folder" in sentence(*words, "--proof", tmp_path / "nowhere" / "a.proof")
    assert "this is a folder; expected the name of a file" in sentence(*words, "--proof", tmp_path)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["data.csv"]


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("moments", first(1, [4, 16]))
def test_ctrl_c_at_any_moment_of_discover(tmp_path, moments):
    """From before the package is loaded to after the answer: one sentence, or an answer that says so."""
    t = 0.01 * np.arange(2000)
    x = np.column_stack([np.cos(t), -np.sin(t), np.cos(1.7 * t), -1.7 * np.sin(1.7 * t)])
    x += 0.05 * np.random.default_rng(0).normal(size=x.shape)
    file = tmp_path / "data.csv"
    np.savetxt(file, np.column_stack([t, x]), delimiter=",", header="t,a,b,c,d", comments="")
    words = [sys.executable, "-m", "exactsindy", "discover", str(file), "--degree", "3", "--threads", "1", "-q"]
    begin = time.monotonic()
    whole = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    duration = time.monotonic() - begin
    assert whole.returncode in (0, 3), whole.stderr
    answers, low, high = 0, 0.0, duration
    planned = list(duration * np.linspace(0.05, 1.05, moments))
    for _ in range(moments + 12):
        if not planned and answers:
            break
        # Where no planned moment met the search, as on a busy machine, the moments between too early and too late do.
        moment = planned.pop(0) if planned else (low + high) / 2
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=300)
        assert "Traceback" not in said or "site" in said, said  # Python itself may still be starting
        if process.returncode in (0, 3):
            assert shown == whole.stdout or "b" in shown  # it had ended
            high = moment
            low = min(low, high / 2)
        else:
            assert process.returncode in (130, -signal.SIGINT, 1), said
            answers += "Interrupted while" in shown
            assert "Interrupted" in shown + said or "site" in said or process.returncode == -signal.SIGINT
            low = moment
            high = max(high, 1.5 * low)
    assert answers
