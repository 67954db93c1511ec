"""Every command does what it says, in text and in JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from typer.testing import CliRunner

import exactsindy as es
from exactsindy.cli import app

LYNX = str(files("exactsindy.datasets") / "lynx_hare.csv")


def call(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    done = call(
        *("discover", LYNX, "--time", "year", "--degree", 2, "--k-max", 4, "--quiet"),
        *("--run", folder / "run", "--save", folder / "model.json"),
    )
    assert "-term combination of the 6 candidates fits hare' better" in done.stdout
    return folder


def test_discover_for_machines_agrees_with_the_saved_model(run):
    again = call("discover", LYNX, "--time", "year", "--degree", 2, "--k-max", 4, "--quiet", "--json")
    found = json.loads(again.stdout)
    model = es.Model.load(run / "model.json")
    assert found["equations"] == model.equations(None)
    assert found["certificates"][0]["status"] == "OPTIMAL"
    assert len(found["data_sha256"]) == 64


def test_discover_says_where_files_went(tmp_path):
    done = call(
        *("discover", LYNX, "--time", "year", "--degree", 1, "--k-max", 2, "--strong", "-q"),
        *("--report", tmp_path / "r.html", "--run", tmp_path / "run"),
    )
    assert f"Report: {tmp_path / 'r.html'}" in done.stderr
    assert (tmp_path / "r.html").is_file()
    about = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert about["file"] == "lynx_hare.csv"
    assert about["arguments"]["form"] == "strong"
    assert set(about["versions"]) == {"exactsindy", "numpy", "python", "machine"}


def test_discover_writes_a_proof_that_check_accepts(tmp_path):
    words = ("discover", LYNX, "--time", "year", "--degree", 2, "--k-max", 3, "-q", "--proof", tmp_path / "p")
    assert f"Proof: {tmp_path / 'p' / 'solution.proof'}" in call(*words).stderr
    assert "Proved" in call("check", tmp_path / "p" / "solution.proof", "-q").stdout
    bound = call(*words, "--constraint", "hare': hare <= 0.1")
    assert "Proof:" in bound.stderr
    shown = call("check", tmp_path / "p" / "solution.proof", "-q").stdout
    assert "Proved" in shown
    assert "conditions on coefficients" in shown


def test_verify_and_report_need_the_run_folder_only(run):
    assert call("verify", run / "run").stdout.startswith("Verified: every claim holds")
    assert json.loads(call("verify", run / "run", "--json").stdout)["ok"] is True
    assert call("report", run / "run").stdout.strip() == str(run / "run" / "report.html")
    assert "lynx_hare.csv" in (run / "run" / "report.html").read_text(encoding="utf-8")


def test_verify_refutes_a_run_whose_claims_were_changed(run, tmp_path):
    for file in (run / "run").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    results["solution"]["objective"][0] *= 0.5
    results["solution"]["lower_bound"][0] *= 0.5
    (tmp_path / "results.json").write_text(json.dumps(results), encoding="utf-8")
    assert "NOT verified" in call("verify", tmp_path, code=4).stdout


def test_simulate_prints_a_table(run, tmp_path):
    done = call("simulate", run / "model.json", "--start", "30,4", "--until", 2, "--step", 0.5)
    lines = done.stdout.splitlines()
    assert lines[0] == "t,hare,lynx"
    assert lines[1] == "0,30,4"
    assert len(lines) == 6
    call("simulate", run / "model.json", "--start", "30,4", "--until", 2, "--out", tmp_path / "s.csv")
    assert len((tmp_path / "s.csv").read_text(encoding="utf-8").splitlines()) == 102


@pytest.mark.parametrize(
    "kind, start",
    [("text", "hare' = "), ("latex", r"\begin{aligned}"), ("python", "# Written by"), ("mathml", "<math")],
)
def test_export(run, kind, start):
    assert call("export", run / "model.json", "--to", kind).stdout.startswith(start)


def test_export_to_sympy(run):
    pytest.importorskip("sympy")
    assert call("export", run / "model.json", "--to", "sympy").stdout.startswith("Eq(hare', ")


@pytest.fixture
def regression(tmp_path):
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(50, 6))
    y = 2 * theta[:, 1] - theta[:, 4] + 0.01 * rng.normal(size=50)
    np.savez(tmp_path / "r.npz", theta=theta, targets=y, names=np.array(list("abcdef")), target_names=np.array(["y"]))
    rows = np.column_stack([theta, y])
    np.savetxt(tmp_path / "r.csv", rows, delimiter=",", header="a,b,c,d,e,f,y", comments="", fmt="%.17g")
    return tmp_path


def test_solve_reads_arrays_tables_and_saved_problems(regression):
    from_arrays = json.loads(call("solve", regression / "r.npz", "--k", 2, "-q", "--json").stdout)
    from_table = json.loads(call("solve", regression / "r.csv", "--k", "y=2", "--targets", "y", "-q", "--json").stdout)
    assert from_arrays[0]["support"] == from_table[0]["support"] == ["b", "e"]
    assert from_arrays[0]["objective"] == pytest.approx(from_table[0]["objective"], rel=1e-12)
    es.Problem.from_arrays(np.eye(3), [3.0, 2.0, 1.0]).save(regression / "p.npz")
    assert "k <= 1 | proved optimal" in call("solve", regression / "p.npz", "--k", 1, "-q").stdout


def test_path_and_pool(regression):
    sizes = json.loads(call("path", regression / "r.npz", "--k-max", 3, "-q", "--json").stdout)
    assert [len(size[0]["support"]) for size in sizes] == [0, 1, 2, 3]
    rivals = json.loads(call("pool", regression / "r.npz", "--k", 2, "--count", 4, "-q", "--json").stdout)
    assert len(rivals["y"]["members"]) == 4
    assert rivals["y"]["complete"] is True
    assert "y: 10 supports, complete" in call("pool", regression / "r.npz", "--k", 2, "-q").stdout


@pytest.mark.parametrize("words", [("solve", "--k", 2), ("path", "--k-max", 2), ("pool", "--k", 2, "--count", 3)])
def test_proof_files_are_written_with_their_problem_and_checked(words, regression, tmp_path):
    file = tmp_path / "a.proof"
    verb, *asked = words
    done = call(verb, regression / "r.npz", *asked, "--proof", file, "-q")
    assert done.stderr == f"Proof: {file}, about the problem in {tmp_path / 'a.problem.npz'}\n"
    assert "Proved" in call("check", file, "-q").stdout
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.problem.npz", "a.proof", "r.csv", "r.npz"]


def test_no_proof_of_a_search_that_did_not_end(tmp_path):
    rng = np.random.default_rng(0)
    es.Problem.from_arrays(rng.standard_normal((150, 140)), rng.standard_normal(150)).save(tmp_path / "hard.npz")
    (tmp_path / "a.proof").write_text("an earlier one")
    asked = ("--k", 12, "--seconds", 0.2, "--proof", tmp_path / "a.proof", "-q")
    done = call("solve", tmp_path / "hard.npz", *asked, code=3)
    assert "no proof was written, because the search for y0' did not end. Allow more time or nodes." in done.stderr
    assert "Proof:" not in done.stderr
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.proof", "hard.npz"]


def test_a_limit_before_the_proof_is_exit_code_3(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "hard.npz", theta=rng.normal(size=(60, 70)), targets=rng.normal(size=60))
    done = call("solve", tmp_path / "hard.npz", "--k", 12, "--seconds", 0.1, "-q", code=3)
    assert "time limit, not proved" in done.stdout


def test_systems_are_listed_and_generate_data(tmp_path):
    assert "x' = -10 x + 10 y" in call("systems").stdout
    assert json.loads(call("systems", "--json").stdout)["burgers"]["u_t"] == {"u u_x": -1.0, "u_xx": 0.1}
    file = tmp_path / "vdp.csv"
    call("systems", "generate", "Van der Pol", "--samples", 50, "--noise", 0.01, "--out", file)
    assert es.load(file, time="t").n_samples == 50


def test_fields_are_generated_and_read_back(tmp_path):
    done = call("systems", "generate", "burgers", "--noise", 0.05, "--out", tmp_path / "b.npz")
    assert "--dims x,t --periodic x" in done.stderr
    found = call(
        *("discover", tmp_path / "b.npz", "--dims", "x,t", "--periodic", "x", "--degree", 2, "--order", 2),
        *("--k-max", 3, "-q", "--json"),
    )
    assert set(json.loads(found.stdout)["coefficients"]["u_t"]) == {"u u_x", "u_xx"}


def test_progress_in_a_pipe_is_lines_on_standard_error(tmp_path, monkeypatch):
    monkeypatch.setattr("exactsindy.cli.progress._EVERY", 0.0)
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "hard.npz", theta=rng.normal(size=(60, 70)), targets=rng.normal(size=60))
    done = call("solve", tmp_path / "hard.npz", "--k", 12, "--seconds", 0.6, "--json", code=3)
    assert json.loads(done.stdout)[0]["status"] == "TIME_LIMIT"
    assert "nodes, largest gap" in done.stderr


def test_constraints_are_kept_and_verified(tmp_path):
    pytest.importorskip("exactsindy.constraints")
    done = call(
        *("discover", LYNX, "--time", "year", "--degree", 2, "--k-max", 2, "--strong", "-q", "--json"),
        *("--constraint", "hare': hare == 0.5", "--run", tmp_path / "run"),
    )
    assert json.loads(done.stdout)["coefficients"]["hare'"]["hare"] == pytest.approx(0.5, abs=1e-9)
    assert call("verify", tmp_path / "run").stdout.startswith("Verified")
    call("report", tmp_path / "run")


def test_constraints_that_bind_equations_need_one_budget(tmp_path):
    words = ("discover", LYNX, "--time", "year", "--degree", 1, "--strong", "-q")
    bound = ("--constraint", "hare': lynx == lynx': hare")
    assert "give them one budget" in call(*words, "--k-max", 2, *bound, code=1).stderr
    done = call(*words, "--total", 4, *bound, "--run", tmp_path / "run", "--report", tmp_path / "r.html")
    assert "All equations together" in done.stdout
    assert call("verify", tmp_path / "run").stdout.startswith("Verified")


def test_the_package_is_the_command_line():
    told = subprocess.run([sys.executable, "-m", "exactsindy", "--version"], capture_output=True, text=True, check=True)
    assert es.__version__ in told.stdout


def test_the_rules_offered_are_those_of_the_package():
    from exactsindy.cli.discover_command import RULES
    from exactsindy.selection import RULES as known

    assert ("auto", *known) == RULES


def test_check_takes_a_folder_that_is_being_replaced_as_complete(tmp_path):
    problem = es.Problem.from_arrays(np.eye(3), [3.0, 2.0, 1.0])
    (tmp_path / ".next").mkdir()
    es.solve(problem, 1, proof=tmp_path / ".next" / "solution.proof")
    problem.save(tmp_path / ".next" / "problem.npz")
    (tmp_path / "solution.proof").write_text("the old one")
    assert "Proved" in call("check", tmp_path / "solution.proof", "-q").stdout


def test_second_order_of_every_state(tmp_path):
    t = np.arange(0.0, 12.0, 0.03)
    table = np.column_stack([t, np.exp(-0.1 * t) * np.cos(2 * t)])
    np.savetxt(tmp_path / "p.csv", table, delimiter=",", header="t,angle", comments="")
    words = ("discover", tmp_path / "p.csv", "--time", "t", "-q", "--json")
    for more in (("--second-order",), ("--targets", "angle''"), ()):  # by default the order is chosen
        (equation,) = json.loads(call(*words, *more).stdout)["equations"]
        assert equation.startswith("angle'' = ")
        assert "angle'" in equation.split("=")[1]
    done = call(*words, "--second-order", "--targets", "angle'", code=1)
    assert "--targets angle' --second-order: two orders; give one of them." in done.output
