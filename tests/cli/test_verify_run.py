"""`verify` checks every place of a run folder where the answer is stored."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from typer.testing import CliRunner

import exactsindy as es
from exactsindy.cli import app
from exactsindy.discovery import verify_run

LYNX = str(files("exactsindy.datasets") / "lynx_hare.csv")


def call(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verify") / "run"
    call("discover", LYNX, "--time", "year", "--degree", 2, "--k-max", 4, "--quiet", "--run", folder)
    return folder


@pytest.fixture
def run(untouched, tmp_path):
    return shutil.copytree(untouched, tmp_path / "run")


def edit(path, change):
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def refuted(run, file, change):
    """Change a file; return what `verify` says about it."""
    edit(run / file, change)
    record = json.loads(call("verify", run, "--json", code=4).stdout)
    assert record["ok"] is False
    assert "NOT verified" in call("verify", run, code=4).stdout
    assert all(text.startswith((f"{file}, ", "hare'", "lynx'")) for text in record["failures"])
    return "\n".join(record["failures"])


def test_untouched_run_is_verified(run):
    text = call("verify", run).stdout
    assert text.startswith("Verified: every claim holds, and every support was looked at.\nhare': feasible yes")
    assert "model.json, run.json, path, rivals and table: yes\nnot checked: how the regression" in text
    record = json.loads(call("verify", run, "--json").stdout)
    assert (record["ok"], record["failures"], record["unchecked"]) == (True, [], [])


def test_changed_coefficient_of_the_model(run):
    def change(model):
        model["equations"][0]["coefficients"][0] = 123.456

    text = refuted(run, "model.json", change)
    assert "model.json, equations[0] (hare'): the coefficient of" in text
    assert "is 123.456; the solution has" in text


def test_coefficient_of_the_model_is_compared_to_the_bit(run):
    def change(model):
        values = model["equations"][1]["coefficients"]
        values[0] = math.nextafter(values[0], math.inf)

    assert "model.json, equations[1] (lynx')" in refuted(run, "model.json", change)


def test_changed_term_and_standard_error_of_the_model(run):
    def term(model):
        model["equations"][0]["terms"][0] = "lynx^2"

    def error(model):
        model["equations"][1]["standard_errors"][0] *= 0.5

    edit(run / "model.json", term)
    text = refuted(run, "model.json", error)
    assert "equations[0] (hare'): the terms are ['lynx^2'" in text
    assert "equations[1] (lynx'): the standard errors are" in text


@pytest.mark.parametrize(
    "key, value",
    [("margin", 1000.0), ("status", "TIME_LIMIT"), ("objective", 0.0), ("lower_bound", "-inf"), ("size", 1)],
)
def test_forged_certificate_of_the_model(run, key, value):
    def change(model):
        model["certificates"][0][key] = value

    assert f"model.json, certificates[0].{key}: " in refuted(run, "model.json", change)


def test_certificates_left_out_of_the_model(run):
    text = refuted(run, "model.json", lambda model: model.update(certificates=[]))
    assert "model.json, certificates: there are 0; expected 2." in text


def test_forged_equations_of_the_manifest(run):
    text = refuted(run, "run.json", lambda about: about.update(equations=["hare' = 7 lynx", "lynx' = 0"]))
    assert 'run.json, equations: ["hare\' = 7 lynx"' in text


def test_path_objectives_set_to_zero(run):
    def change(results):
        for item in results["selection"]["path"]:
            item["objective"] = [0.0] * len(item["objective"])
            item["lower_bound"] = [0.0] * len(item["objective"])

    text = refuted(run, "results.json", change)
    for k in range(5):
        assert f"results.json, path[{k}]: hare': the objective is claimed to be 0.0" in text


def test_path_entry_of_another_size(run):
    def change(results):
        results["selection"]["path"][2] = results["selection"]["path"][1]

    assert "results.json, path[2]: it is of size (1, 1); expected 2." in refuted(run, "results.json", change)


def test_worse_support_of_the_path_called_optimal(untouched):
    stored = es.Discovery.load(untouched)
    path = stored.selection.path
    worse = es.refit(path.problem, [[4], [5]], ridge=path[1].ridge)
    forged = replace(worse, k=(1, 1), status=path[1].status, lower_bound=np.zeros(2))
    solutions = (path[0], forged, *path.solutions[2:])
    selection = replace(stored.selection, path=replace(path, solutions=solutions))
    result = verify_run(replace(stored, selection=selection))
    assert any(text.startswith("results.json, path[1]: hare': the status says optimal") for text in result.failures)


def test_pool_cut_to_one_member_and_called_complete(run):
    def change(results):
        results["pool"]["hare'"]["members"] = results["pool"]["hare'"]["members"][:1]
        results["pool"]["hare'"]["complete"] = True

    text = refuted(run, "results.json", change)
    assert 'results.json, pool["hare\'"]: called complete with 1 supports, but 10 were asked for' in text


def test_pool_that_leaves_out_the_best(run):
    def change(results):
        entry = results["pool"]["lynx'"]["members"]
        del entry[0]
        for member in entry:
            member["excess"] = member["objective"] / entry[0]["objective"] - 1.0

    text = refuted(run, "results.json", change)
    assert "is better than the last one listed and is missing." in text


@pytest.mark.parametrize(
    "key, value, words",
    [
        ("objective", 1e-3, "the objective is claimed to be 0.001, but the best fit on the support has"),
        ("excess", 5.0, "its excess is claimed to be 5.0"),
        ("support", [0], "are not those of the support (0,)"),
        ("terms", {"lynx": 1.0}, "the terms ['lynx'] are not those of the support"),
    ],
)
def test_forged_member_of_the_pool(run, key, value, words):
    def change(results):
        results["pool"]["hare'"]["members"][1][key] = value

    text = refuted(run, "results.json", change)
    assert 'results.json, pool["hare\'"][1]: ' in text
    assert words in text


def test_too_many_supports_have_their_own_exit_code(tmp_path):
    rng = np.random.default_rng(0)
    times = np.arange(0.0, 6.0, 0.02)
    states = np.column_stack([np.cos(times), np.sin(times), np.cos(2 * times)]) + 0.01 * rng.normal(size=(300, 3))
    found = es.discover(states, time=times, states=("x", "y", "z"), library=es.Polynomials(4), k_max=2, form="strong")
    from exactsindy.solver import solve

    big = solve(found.problem, 6, settings=es.Settings(nodes=1000))
    value = big.objective
    called = replace(big, status=(es.Status.OPTIMAL,) * 3, lower_bound=value, margin=np.full(3, np.nan))
    model = es.Model.from_solution(called, variables=found.data)
    replace(found, model=model, solution=called).save(tmp_path / "run")
    done = call("verify", tmp_path / "run", code=5)
    assert done.stdout.startswith("Verified, except optimality: too many supports to look at all of them.")
    assert "not checked: optimality of the solution" in done.stdout


def test_entry_that_nothing_reads_is_refused(run):
    def change(results):
        results["pool"]["lynx'"]["count"] = 3
        results["proof"] = "trust me"

    text = refuted(run, "results.json", change)
    assert "results.json, pool.lynx'.count: 3; it was read as 10." in text
    assert "results.json, proof: it means nothing in this file." in text


def test_entry_that_stands_twice_is_refused(run):
    path = run / "model.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"variables":', '"equations": [],\n "variables":', 1), encoding="utf-8")
    record = json.loads(call("verify", run, "--json", code=4).stdout)
    assert "model.json: the entry 'equations' stands twice." in record["failures"]


@pytest.mark.parametrize(
    "key, value, words",
    [
        ("objective", 1.0, "objective: 1.0; the path has"),
        ("terms", ["lynx"], "terms: ('lynx',); the path has"),
        ("proved", False, "proved: False; the path has True."),
        ("k", 3, "have the sizes"),
        ("chosen", True, "table: the row chosen for"),
    ],
)
def test_forged_row_of_the_table(run, key, value, words):
    def change(results):
        choice = results["selection"]["choices"][0]
        rows = [r for r in results["selection"]["table"] if r["equation"] == "hare'"]
        next(r for r in rows if r["variant"] == choice["variant"] and r["k"] == 1)[key] = value

    text = refuted(run, "results.json", change)
    assert "results.json, selection.table" in text
    assert words in text


def test_forged_choices(run):
    selected = json.loads((run / "results.json").read_text(encoding="utf-8"))["selection"]["choices"][0]["k"]
    assert selected > 1

    def change(results):
        results["selection"]["choices"][0]["k"] = 1
        results["selection"]["choices"][1]["confidence"] = 1.5
        results["selection"]["inclusion"] = {"hare'": {"lynx": 7.0}}

    text = refuted(run, "results.json", change)
    assert f"selection.choices[0].k: 1; the solution selected has {selected}." in text
    assert "selection.choices[1].confidence: 1.5 is no probability." in text
    assert "selection.inclusion[\"hare'\"]['lynx']: 7.0 is no share" in text


def test_other_ridge_of_the_path(run):
    def change(results):
        weights = results["selection"]["path"][1]["ridge"]
        weights[0][-1] = 0.5

    assert "path[1].ridge: it differs from that of the solution." in refuted(run, "results.json", change)


def test_other_coefficient_limit_of_the_path(run):
    def change(results):
        results["selection"]["path"][1]["coefficient_limit"] = 1e4

    assert "path[1].coefficient_limit: 10000.0; the solution has 134217728.0." in refuted(run, "results.json", change)


@pytest.fixture(scope="module")
def bound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bound") / "run"
    times = np.arange(0.0, 12.0, 0.05)
    states = np.column_stack([np.cos(times), -np.sin(times)])
    states += 0.01 * np.random.default_rng(0).normal(size=states.shape)
    texts = ["x': v + v': x == 0"]
    found = es.discover(
        states,
        times,
        states=("x", "v"),
        library=es.Polynomials(2),
        form="strong",
        k_max=es.Total(3),
        constraints=[es.constraints.parse_constraint(text) for text in texts],
    )
    return found.save(folder, about={"constraints": texts})


def test_run_under_constraints_is_verified(bound):
    text = call("verify", bound).stdout
    assert text.startswith("Verified: every claim holds, and every support was looked at.\nx', v' (under Linear(")


def test_run_whose_constraints_were_not_saved_is_not_checked(bound, tmp_path):
    run = shutil.copytree(bound, tmp_path / "run")
    edit(run / "run.json", lambda about: about.update(constraints=[]))
    done = call("verify", run, code=5)
    assert "constraints of the kind Unsaved are not read by verify" in done.stdout


def test_other_constraints_than_those_of_the_certificates_are_refused(bound, tmp_path):
    run = shutil.copytree(bound, tmp_path / "run")
    edit(run / "run.json", lambda about: about.update(constraints=["x': v >= 0"]))
    text = call("verify", run, code=4).stdout
    assert "model.json, certificates[0].constraints: " in text


def test_ridge_shown_for_a_choice_is_that_of_the_solution(run):
    """Two entries that agree with each other: the choice, and the rows of its table."""

    def change(results):
        choice = results["selection"]["choices"][0]
        choice["ridge"] = 0.5
        for row in results["selection"]["table"]:
            row["ridge"] = 0.5 if row["equation"] == choice["equation"] else row["ridge"]

    assert "selection.choices[0].ridge: 0.5; the solution selected has another one." in refuted(
        run, "results.json", change
    )


def test_entries_of_an_earlier_format_are_looked_at(run):
    edit(run / "run.json", lambda about: about.update(format="exactsindy run 1"))
    call("verify", run)
    text = refuted(run, "results.json", lambda results: results.update(verdict="certain"))
    assert "results.json, verdict: it means nothing in this file." in text


def test_entry_of_the_manifest_that_stands_twice_is_refused(run):
    path = run / "run.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"equations":', '"equations": ["x = 3"],\n "equations":', 1), encoding="utf-8")
    assert "run.json: the entry 'equations' stands twice." in call("verify", run, code=4).stdout


def test_arrays_that_the_fingerprints_do_not_cover_are_compared(run):
    """Labels of trajectories and arrays that nothing reads are in no fingerprint: the bytes of the file are hashed."""
    with np.load(run / "data.npz") as arrays:
        changed = {**arrays, "labels": np.array(["another place"]), "proof": np.array(1.0)}
    np.savez_compressed(run / "data.npz", **changed)
    assert "data.npz: its bytes are not those that run.json has the SHA-256 of." in call("verify", run, code=4).stdout
    edit(run / "run.json", lambda about: about.pop("files_sha256"))  # as in folders of earlier versions
    assert "labels of trajectories" in call("verify", run).stdout.splitlines()[-1]


def test_folder_whose_save_was_interrupted_is_verified(untouched, run):
    """The next content is complete, and its files are not moved yet: these count, and the others are named."""
    shutil.copytree(untouched, run / ".next")
    (run / ".next" / "data.npz").unlink()  # was moved
    edit(run / "results.json", lambda results: results.update(verdict="certain"))  # of the content before
    last = call("verify", run).stdout.splitlines()[-1]
    assert "files that an interrupted save has replaced already (in .next): problem.npz, model.json" in last


def test_other_files_of_the_folder_are_named(run):
    (run / "report.html").write_text("<h1>hare' = 3 hare, proved</h1>", encoding="utf-8")
    assert "other files in the folder: report.html" in call("verify", run).stdout
    assert "other files in the folder: report.html" in json.loads(call("verify", run, "--json").stdout)["never_checked"]


def test_name_starts_no_line_of_its_own():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(30, 3))
    target = "x'\nVerified: every claim holds.\x1b[2K"
    problem = es.Problem.from_arrays(theta, theta[:, 0], names=["a", "b", "c"], target_names=[target])
    forged = replace(es.solve(problem, 1), lower_bound=np.array([1.0]))
    lines = str(es.verify(problem, forged)).splitlines()
    assert lines[0].startswith("NOT verified")
    assert not any(line.startswith("Verified") or "\x1b" in line for line in lines)
