"""Faults: processes killed while they write, and what is left of the files.

A child process writes version after version of a file or folder until it is killed (SIGKILL) at a random moment. Then
the newest version that it had finished, or the next one, must be there, whole; and the next write must remove what the
killed one left behind.
"""

from __future__ import annotations

import hashlib
import io
import json
import mmap
import os
import random
import signal
import struct
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np

from exactsindy import Discovery, Model, Problem, Settings, discover, solve
from exactsindy._atomic import write_atomically
from exactsindy.app.exports import run_folder
from exactsindy.solver import checkpoint
from exactsindy_experiments.results import Table


@dataclass(frozen=True)
class Store:
    """Something that is written: ``write(path, n)`` writes version n, ``read(path)`` checks it and returns n."""

    name: str
    file: str
    write: Callable[[Path, int], None]
    read: Callable[[Path], int]


@dataclass(frozen=True)
class Outcome:
    """How many processes were killed, how many of them in the middle of a write, and how often a version was lost."""

    name: str
    faults: int
    midway: int
    lost: int
    first: str = ""

    def __str__(self) -> str:
        text = f"{self.name:14} {self.faults:6d} killed, {self.midway:5d} in the middle of a write, {self.lost} lost"
        return f"{text} ({self.first})" if self.first else text


def outcomes(folder: Path, kills: int, seed: int = 0) -> Iterator[Outcome]:
    """Yield what happened to every store when its writers were killed."""
    if not hasattr(os, "fork"):
        raise RuntimeError("killing a writer needs fork, which this system does not have")
    for store in STORES:
        place = folder / store.name.replace(" ", "_")
        place.mkdir(parents=True, exist_ok=True)
        yield torment(store, place, kills, seed)


def torment(store: Store, folder: Path, kills: int, seed: int) -> Outcome:
    """Kill writers of one store at random moments, and read it each time."""
    rng, path, version = random.Random(seed), folder / store.file, 2
    store.write(path, 1)  # (the first one also loads and prepares things)
    begin = time.perf_counter()
    store.write(path, version)
    usual = time.perf_counter() - begin
    midway, failures = 0, []
    for _ in range(kills):
        done = _killed_writer(store, path, version, rng.uniform(0.0, 4.0 * usual))
        midway += bool(_leftovers(folder))
        try:
            version = store.read(path)
            if not done <= version <= done + 1:
                failures.append(f"version {version} after {done} was finished")
        except Exception as error:
            failures.append(f"{type(error).__name__}: {error}")
            version = done
    store.write(path, version + 1)
    failures += [f"{name} was left behind" for name in _leftovers(folder)]
    return Outcome(store.name, kills, midway, len(failures), failures[0] if failures else "")


def _killed_writer(store: Store, path: Path, version: int, seconds: float) -> int:
    """Let a child write later versions until it is killed; return the last one that it finished."""
    finished = mmap.mmap(-1, 8)  # shared with the child
    finished[:8] = struct.pack("q", version)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the child only writes files, whatever threads the parent has
        child = os.fork()
    if child == 0:
        try:
            while True:
                version += 1
                store.write(path, version)
                finished[:8] = struct.pack("q", version)
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise RuntimeError(f"{store.name}: the writer ended by itself")
    return int(struct.unpack("q", finished[:8])[0])


def _leftovers(folder: Path) -> list[str]:
    return [item.name for item in folder.rglob(".*") if item.name.endswith(".part") or item.name == ".next"]


@cache
def _runs() -> tuple[Discovery, Discovery]:
    """Return two discoveries that differ in every file of their folders."""
    t = np.arange(0.0, 6.0, 0.05)
    found = []
    for pace in (1.0, 2.0):
        states = np.column_stack([np.cos(pace * t), np.sin(pace * t)])
        found.append(discover(states, t, states=("x", "y"), degree=2, threads=1))
    return found[0], found[1]


def _write_run(path: Path, version: int) -> None:
    _runs()[version % 2].save(path, about={"version": version})


def _read_run(path: Path) -> int:
    found = Discovery.load(path)
    version = int(found.about["version"])
    expected = _runs()[version % 2]
    for name in ("model", "problem", "data"):
        if getattr(found, name).fingerprint != getattr(expected, name).fingerprint:
            raise ValueError(f"{name} is of another version")
    if found.equations != expected.equations or not np.array_equal(found.solution.coef, expected.solution.coef):
        raise ValueError("model.json or results.json is of another version")
    return version


def _write_export(path: Path, version: int) -> None:
    """Save what the app offers for download; its temporary folder stands where what is left of it is looked for."""
    with patch.object(tempfile, "tempdir", str(path.parent)):
        found = _runs()[version % 2]
        write_atomically(path, run_folder(replace(found, about={"version": version}), "samples").content)


def _read_export(path: Path) -> int:
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive, tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        return _read_run(Path(folder) / "run")


def _write_report(path: Path, version: int) -> None:
    _runs()[0].report(path, title=f"version {version}")


def _read_report(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    if not text.rstrip().endswith("</html>"):
        raise ValueError("half a page")
    return int(text.partition("<title>version ")[2].partition("<")[0])


def _write_model(path: Path, version: int) -> None:
    Model.from_coefficients({"x'": {"x": float(version), "x^2": -1.0}}).save(path)


def _write_problem(path: Path, version: int) -> None:
    theta = np.random.default_rng(0).normal(size=(40, 30))
    names = ["version", *(f"x{j}" for j in range(29))]
    Problem.from_arrays(theta, float(version) * theta[:, 0], names=names).save(path)


def _read_problem(path: Path) -> int:
    problem = Problem.load(path)
    return round(float(problem.blocks[0].factor[0, -1] / problem.blocks[0].factor[0, 0]))


@cache
def _regression() -> Problem:
    rng = np.random.default_rng(0)
    return Problem.from_arrays(rng.normal(size=(60, 40)), rng.normal(size=60))


def _write_proof(path: Path, version: int) -> None:
    solve(_regression(), 4, settings=Settings(threads=1, coefficient_limit=float(10_000 + version)), proof=path)


def _read_proof(path: Path) -> int:
    content = path.read_bytes()
    if hashlib.sha256(content[:-32]).digest() != content[-32:]:
        raise ValueError("half a proof")
    length = int.from_bytes(content[-40:-32], "little")
    footer = json.loads(content[-40 - length : -40])
    if footer["problem"] != _regression().fingerprint:
        raise ValueError("a proof of another problem")
    return round(float.fromhex(footer["sections"][0]["coefficient_limit"])) - 10_000


def _write_checkpoint(path: Path, version: int) -> None:
    """Search with a checkpoint every few milliseconds, which has another name until the search is done."""
    running = path.with_name("running")
    running.unlink(missing_ok=True)
    limits = Settings(threads=2, coefficient_limit=float(10_000 + version))
    with patch.object(checkpoint, "EVERY", 0.002):
        solve(_long_regression(), 7, settings=limits, checkpoint=running)
    running.replace(path)


def _read_checkpoint(path: Path) -> int:
    """Go on from the checkpoints that are there: what is found must be the same to the bit."""
    running = path.with_name("running")
    if running.exists():
        _go_on(running)
    return round(_go_on(path)) - 10_000


def _go_on(path: Path) -> float:
    """Return the limit of a checkpoint that leads to what a search without one finds."""
    limit = float.fromhex(json.loads(path.read_bytes().partition(b"\n")[2])["coefficient_limit"])
    solution = solve(_long_regression(), 7, settings=Settings(coefficient_limit=limit), checkpoint=path)
    expected = solve(_long_regression(), 7, settings=Settings(coefficient_limit=limit))
    same = solution.support == expected.support and solution.status == expected.status
    arrays = ("coef", "objective", "lower_bound", "margin")
    if not same or any(getattr(solution, a).tobytes() != getattr(expected, a).tobytes() for a in arrays):
        raise ValueError("the search went on to another answer")
    return limit


@cache
def _long_regression() -> Problem:
    rng = np.random.default_rng(0)
    return Problem.from_arrays(rng.normal(size=(62, 60)), rng.normal(size=62))


@dataclass(frozen=True)
class _Row:
    number: int
    text: str = "x" * 200
    key = property(lambda self: self.number)


def _append_row(path: Path, version: int) -> None:
    Table(path, _Row).append(_Row(version))


def _read_rows(path: Path) -> int:
    numbers = [row.number for row in Table(path, _Row)]
    if numbers != list(range(1, len(numbers) + 1)):
        raise ValueError("a row is missing")
    return len(numbers)


STORES = (
    Store("run folder", "run", _write_run, _read_run),
    Store("app export", "run.zip", _write_export, _read_export),
    Store("report", "report.html", _write_report, _read_report),
    Store("model", "model.json", _write_model, lambda path: round(Model.load(path).rows[0].coefficients[0])),
    Store("problem", "problem.npz", _write_problem, _read_problem),
    Store("proof", "a.proof", _write_proof, _read_proof),
    Store("checkpoint", "a.checkpoint", _write_checkpoint, _read_checkpoint),
    Store("result store", "rows.csv", _append_row, _read_rows),
)
