"""Interrupts and missing memory while files are written: the old content or the new, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import exactsindy as es

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and limits of Unix")

_START = """
import os, signal, sys, time
import numpy as np, exactsindy as es
from pathlib import Path
folder = Path(sys.argv[1])
t = np.arange(0.0, 5.0, 0.05)
found = es.discover(np.exp(-t), t, states=("x",), degree=1, threads=1)
rng = np.random.default_rng(0)
problem = es.Problem.from_arrays(rng.normal(size=(60, 40)), rng.normal(size=60))
"""

_WRITER = """
def write(version):
    found.save(folder / "run", about={"version": version})
    problem.save(folder / "problem.npz")
    solution = es.solve(problem, 4, proof=folder / "a.proof", checkpoint=folder / "a.checkpoint")
    if solution.optimal:
        (folder / "a.checkpoint").unlink(missing_ok=True)

write(0)
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("ready", flush=True)
version, interrupts, end = 0, 0, time.monotonic() + 1.5
while time.monotonic() < end:
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        version += 1
        write(version)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        interrupts += 1
print(version, interrupts, flush=True)
sys.stdin.readline()
"""


def leftovers(folder):
    return [path.name for path in folder.rglob("*") if path.name.endswith(".part") or path.name == ".next"]


def test_a_storm_of_interrupts_leaves_whole_files(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", _START + _WRITER, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        rng, end = np.random.default_rng(1), time.monotonic() + 2.0
        while time.monotonic() < end:
            time.sleep(rng.uniform(0.002, 0.08))
            child.send_signal(signal.SIGINT)
        said, complaints = child.communicate("end\n")
        assert child.returncode == 0, complaints
    versions, interrupts = map(int, said.split())
    assert versions > 1
    assert interrupts > 1
    stored = es.Discovery.load(tmp_path / "run")
    assert 0 <= stored.about["version"] <= versions
    problem = es.Problem.load(tmp_path / "problem.npz")
    assert es.check_proof(problem, tmp_path / "a.proof", jobs=0).ok
    stored.save(tmp_path / "run")
    problem.save(tmp_path / "problem.npz")
    es.solve(problem, 4, proof=tmp_path / "a.proof", checkpoint=tmp_path / "a.checkpoint")
    assert not leftovers(tmp_path)


_WITHOUT_MEMORY = """
import resource
from exactsindy.errors import ExactSindyError
limits = es.Settings(threads=1)
es.solve(problem, 4, settings=limits, proof=folder / "a.proof", checkpoint=folder / "old.checkpoint")
es.solve(problem, 6, settings=es.Settings(threads=1, nodes=3000), checkpoint=folder / "a.checkpoint")
before = (folder / "a.proof").read_bytes()
expected = es.solve(problem, 6, settings=limits)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
ended = []
for extra in (1 << 16, 1 << 20, 4 << 20, 16 << 20):
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, -1))
    try:
        es.solve(problem, 6, settings=limits, checkpoint=folder / "a.checkpoint")
        found.save(folder / "run", about={"version": extra})
        es.solve(problem, 5, settings=limits, proof=folder / "a.proof")
        ended.append("done")
    except (MemoryError, ExactSindyError) as error:
        ended.append(type(error).__name__)
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    assert "done" in ended or (folder / "a.proof").read_bytes() == before
solution = es.solve(problem, 6, settings=limits, checkpoint=folder / "a.checkpoint")
for name in ("coef", "objective", "lower_bound", "margin"):
    assert getattr(solution, name).tobytes() == getattr(expected, name).tobytes(), name
found.save(folder / "run")
assert es.check_proof(problem, folder / "a.proof", jobs=0).ok
print(*ended)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="how much memory is in use is not known here")
def test_missing_memory_loses_nothing(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", _START + _WITHOUT_MEMORY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= {"done", "MemoryError", "SolverError", "DataError", "ProblemError"}
    assert not leftovers(tmp_path)
    assert es.Discovery.load(tmp_path / "run").equations
