"""Runs resume after a kill, and failing cases are rows like others."""

import os
import signal
import subprocess
import sys
import time

import pytest

from exactsindy.errors import DataError
from exactsindy_experiments.paper import Case, Outcome, Result, evaluate, experiments_list, find_study, run
from exactsindy_experiments.paper import running as running_module
from exactsindy_experiments.paper.evaluate import run_case
from exactsindy_experiments.paper.running import ask_worker, run_bundles
from exactsindy_experiments.results import Table
from exactsindy_experiments.workers import run_bundles as run_by_workers

RUN = """
import sys
from exactsindy_experiments.paper import run
run("differential-small", systems=["hopf"], trials=2, algorithms=["exact"], protocols=["published"],
    values=[1.0, 1.29, 1.65, 2.14, 2.74, 3.53], workers=2, store=sys.argv[1])
"""
# The process that writes the rows kills itself after the third.
KILLED = """
import os, signal
from exactsindy_experiments.paper import running

run_all = running.run_bundles
taken = []


def run_until_killed(bundles, workers, take):
    def take_and_count(case, outcome):
        take(case, outcome)
        taken.append(case)
        if len(taken) == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    return run_all(bundles, workers, take_and_count)


running.run_bundles = run_until_killed
"""
CASES = [Case("weak", "roessler", "published", "exact", 3, 50.0, 0.01, trial) for trial in range(1, 6)]


def rows(path):
    return dict(Table(path, Result))


def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "r.csv"
    killed = subprocess.run([sys.executable, "-c", KILLED + RUN, str(path)], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    before = rows(path)
    assert 3 <= len(before) < 12
    subprocess.run([sys.executable, "-c", RUN, str(path)], check=True, timeout=120)
    after = rows(path)
    assert len(after) == 12
    # What was there was not run again: its time was not measured anew.
    assert {key: after[key] for key in before} == before
    assert not any(outcome.error for outcome in after.values())


def test_nothing_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(
        running_module, "run_bundles", lambda bundles, workers, take: [take(c, Outcome()) for b in bundles for c in b]
    )
    options = {"systems": ["lorenz"], "trials": [3, 5], "algorithms": ["exact", "ssr"], "store": tmp_path / "r.csv"}
    assert run("differential", **options) == 2 * 12 * 3
    assert run("differential", **options) == 0


def test_failed_cases_are_run_again_only_if_asked(tmp_path, monkeypatch):
    outcomes = iter([Outcome(error="ValueError: no"), Outcome(tpr=1.0)])
    monkeypatch.setattr(
        running_module, "run_bundles", lambda b, w, take: [take(c, next(outcomes)) for g in b for c in g]
    )
    options = {"systems": ["hopf"], "trials": 1, "algorithms": ["ssr"], "values": [2.0], "store": tmp_path / "r.csv"}
    seen = []
    assert run("differential", **options, progress=seen.append) == 1
    assert "ValueError: no" in str(seen[0])
    assert run("differential", **options) == 0
    assert run("differential", **options, retry=True) == 1


def test_what_a_case_raises_is_its_outcome():
    def broken(case):
        raise ZeroDivisionError("there it goes")

    assert run_case(CASES[0], broken) == Outcome(error="ZeroDivisionError: there it goes")


def test_a_worker_that_dies_takes_only_its_case_with_it(tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(
        "import sys, os, json\n"
        "for line in sys.stdin:\n"
        "    trial = json.loads(line)['trial']\n"
        "    if trial == 3: os._exit(9)\n"
        "    print(json.dumps({'tpr': float(trial), 'choice': os.environ['OPENBLAS_NUM_THREADS']}), flush=True)\n"
    )
    found = {}
    take, command = lambda case, outcome: found.update({case.trial: outcome}), [sys.executable, str(script)]
    run_by_workers([CASES[:4], CASES[4:]], 2, ask_worker, take, command=command)
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert found[3].error == "the worker process ended with code 9 during this case"
    assert found[4] == Outcome(tpr=4.0, choice="1")


def test_an_error_of_the_receiver_ends_the_run(monkeypatch):
    monkeypatch.setattr(evaluate, "run_case", lambda case: Outcome())

    def take(case, outcome):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        run_bundles([CASES[:1]], 0, take)


def test_workers_are_stopped_at_once_when_a_run_breaks_off(tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(
        "import sys, os, json, time\n"
        "for line in sys.stdin:\n"
        "    trial = json.loads(line)['trial']\n"
        f"    open({str(tmp_path)!r} + f'/{{trial}}.pid', 'w').write(str(os.getpid()))\n"
        "    if trial == 5: time.sleep(600)\n"
        "    print('{}', flush=True)\n"
    )

    def take(case, outcome):
        while not (tmp_path / "5.pid").exists() or not (tmp_path / "5.pid").read_text():
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_by_workers([CASES[:1], CASES[4:]], 2, ask_worker, take, command=[sys.executable, str(script)])
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "5.pid").read_text()), 0)


def test_cases_of_a_study():
    study = find_study("weak")
    cases = study.cases(trials=[1, 2], systems=["roessler"], algorithms=["exact", "ssr"], values=[0.04])
    assert [(c.trial, c.protocol, c.algorithm) for c in cases[:3]] == [
        (1, "published", "exact"),
        (1, "published", "ssr"),
        (1, "ours", "exact"),
    ]
    assert len(cases) == 6
    assert {round(c.noise, 4) for c in cases} == {0.0415}
    constraint = find_study("constraint").cases(trials=[1], algorithms=["exact"], protocols=["published"])
    assert len(constraint) == 100
    one = find_study("constraint").cases(trials=[1], algorithms=["exact"], values=[11], fixed=[0.1])
    assert [(c.duration, c.noise, c.protocol) for c in one] == [(10.0, 0.1, "published"), (10.0, 0.1, "ours")]
    assert len(experiments_list()) == 6


@pytest.mark.parametrize("study", experiments_list(), ids=lambda study: study.name)
def test_quick_is_a_small_part_of_an_experiment(study, tmp_path, monkeypatch):
    def stand_in(bundles, workers, take):
        for case in (case for bundle in bundles for case in bundle):
            take(case, Outcome(seconds=1.0))

    monkeypatch.setattr(running_module, "run_bundles", stand_in)
    assert 2 <= run(study.name, quick=True, store=tmp_path / "r.csv") <= 24
    assert {case for case, _ in Table(tmp_path / "r.csv", Result)} <= set(study.cases(trials=[1]))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"experiment": "weka"}, "experiment: there is no experiment 'weka'. Did you mean 'weak'?"),
        ({"experiment": "?"}, "Known are differential, differential-small"),
        ({"systems": ["lorentz"]}, "systems: weak has no system 'lorentz'; expected some of van_der_pol"),
        ({"algorithms": ["lasso"]}, "algorithms: weak has no 'lasso'; expected some of exact, stlsq"),
        ({"protocols": ["theirs"]}, "protocols: weak has no 'theirs'; expected some of published, ours"),
    ],
)
def test_unknown_names(options, message, tmp_path):
    with pytest.raises(DataError, match=message.replace("?", "[?]").replace("(", "[(]")):
        run(**{"experiment": "weak", "store": tmp_path / "r.csv", **options})
