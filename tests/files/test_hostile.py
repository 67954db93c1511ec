"""Every reader ends in an answer or one sentence, whatever the file holds."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import tempfile
import time
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import exactsindy as es
from exactsindy import _files
from exactsindy._atomic import scratch_folder, write_atomically
from exactsindy._files import read_arrays, read_json
from exactsindy.errors import DataError, ExactSindyError
from files_hostile import NPZ, SMALL, packed, pipe

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")


def said(function, *arguments, **options):
    """Return the sentence of a package error, which is one line."""
    begin = time.monotonic()
    with pytest.raises(ExactSindyError) as caught:
        function(*arguments, **options)
    assert time.monotonic() - begin < 30  # (importing xarray alone takes seconds on a busy machine)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", NPZ)
def test_npz_files(name, tmp_path):
    content, sentence = NPZ[name]
    file = tmp_path / "x.npz"
    file.write_bytes(content)
    for reader in (read_arrays, es.load, es.Problem.load):
        assert sentence in said(reader, file)


def test_every_flipped_byte_of_a_problem_is_noticed_or_harmless(tmp_path):
    file, problem = tmp_path / "p.npz", es.Problem.from_arrays(np.eye(4, 3), np.arange(4.0))
    problem.save(file)
    whole = file.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        with suppress(DataError):
            assert es.Problem.load(file).fingerprint == problem.fingerprint


def test_large_arrays_need_as_many_bytes(tmp_path, monkeypatch):
    file = tmp_path / "x.npz"
    np.savez_compressed(file, x=np.random.default_rng(0).normal(size=5000))
    monkeypatch.setattr(_files, "MOST_BYTES", 30_000)
    assert "the file has 3" in said(read_arrays, file)
    np.savez_compressed(file, x=np.arange(5000.0))
    assert "it unpacks to 40.1 kB; at most 30 kB are read" in said(read_arrays, file)


def test_memory_that_is_not_there(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    (tmp_path / "x.npz").write_bytes(packed({"x.npy": SMALL}))
    monkeypatch.setattr(np.lib.format, "read_array", fail)
    assert said(read_arrays, tmp_path / "x.npz") == "x.npz: there is not enough memory for its arrays."


def test_arrays_of_all_plain_kinds_come_back(tmp_path):
    arrays = {
        "a": np.arange(3),
        "b": np.array("text"),
        "c": np.zeros((0, 4)),
        "d": np.array([True]),
        "e": 1j * np.eye(2),
    }
    np.savez(tmp_path / "x.npz", **arrays, t=np.array(["2020-01-01"], "M8[s]"))
    again = read_arrays(tmp_path / "x.npz")
    assert all(np.array_equal(again[name], array) for name, array in arrays.items())


@needs_pipes
@pytest.mark.parametrize("name", ["x.csv", "x.npz", "x.parquet", "x.nc"])
def test_pipes_are_refused_at_once(name, tmp_path):
    assert "this is a pipe, a device or a socket; copy what it holds into a file" in said(
        es.load, pipe(tmp_path / name)
    )
    assert "this is a pipe" in said(write_atomically, tmp_path / name, "text")


@needs_pipes
def test_devices_and_folders_are_refused(tmp_path):
    assert "this is a pipe, a device" in said(es.Model.load, "/dev/zero")
    assert "this is a folder; expected a file" in said(es.Model.load, tmp_path)
    assert "this is a folder; expected a file" in said(es.Problem.load, tmp_path)
    assert "this is a folder; expected the name of a file" in said(write_atomically, tmp_path, "text")
    assert "this is a pipe, a device" in said(write_atomically, "/dev/null", "text")
    assert "there is no such file" in said(es.load, tmp_path / "x.csv" / "y.csv")
    assert "cannot be read: embedded null" in said(es.load, "a\0.csv")
    assert "load('3'): got int; expected the path of a file" in said(es.load, 3)


@needs_pipes
def test_pipes_are_no_proofs(tmp_path):
    pytest.importorskip("exactsindy_check")
    problem = es.Problem.from_arrays(np.eye(4, 3), np.arange(4.0))
    assert "this is a pipe" in said(es.check_proof, problem, pipe(tmp_path / "x.proof"))
    assert "this is a pipe" in said(es.check_proof, tmp_path / "x.proof", tmp_path / "nowhere.proof")
    assert "got int; expected the path of a file" in said(es.check_proof, problem, 3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[" * 200_000, "it is nested more than 32 deep"),
        ("[" * 40 + "]" * 40, "it is nested more than 32 deep"),
        ('{"a":' * 200_000, "it is nested more than 32 deep"),
        ("1" + "0" * 400, "the integer 10000000000000000000 ... 00000000000000000000 has more than 64 bits"),
        ("1" * 100_000, "has more than 64 bits"),
        ("1e999", "the number 1e999 is not finite"),
        ("NaN", "the number NaN is not finite"),
        ('"\\ud800', "it is not JSON"),
        ("", "it is not JSON"),
    ],
)
def test_json(text, sentence, tmp_path):
    (tmp_path / "x.json").write_text(text)
    assert sentence in said(read_json, tmp_path / "x.json")


def test_json_that_is_fine(tmp_path):
    value = {"a": [1, -1.5e300, "inf", None, True], "b": {"c": [[]]}}
    (tmp_path / "x.json").write_text(json.dumps(value))
    assert read_json(tmp_path / "x.json") == value


@pytest.mark.parametrize("start", [b"", b"\xff\xfe", b"\xff\xfe\0\0", b"\xef\xbb\xbf", b"t,x\n1,2\n"])
def test_binary_csv(start, tmp_path):
    (tmp_path / "x.csv").write_bytes(start + np.random.default_rng(1).bytes(4001))
    assert "x.csv" in said(es.load, tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.parquet", b"PAR1 nothing PAR1", "this is not a Parquet file that can be read"),
        ("x.parquet", b"", "this is not a Parquet file that can be read"),
        ("x.nc", b"CDF\x01" + bytes(range(200)), "this is not a NetCDF file that can be read"),
        ("x.nc", b"\x89HDF\r\n\x1a\n" + bytes(500), "this is not a NetCDF file that can be read"),
        ("x.nc", b"", "this is not a NetCDF file that can be read"),
    ],
)
def test_foreign_formats(name, content, sentence, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("netCDF4")
    (tmp_path / name).write_bytes(content)
    assert sentence in said(es.load, tmp_path / name)


def test_a_parquet_file_of_repetitions_is_refused_before_memory_is_taken(tmp_path):
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table({"x": arrow.array(np.zeros(5 * 10**7, dtype=bool))}), tmp_path / "x.parquet")
    assert "unpack to 400 MB, more than 200 times as much" in said(es.load, tmp_path / "x.parquet")


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    write_atomically(tmp_path / "x.txt", "old")

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert said(write_atomically, tmp_path / "x.txt", "new").endswith("cannot be written: No space left on device.")
    assert (tmp_path / "x.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["x.txt"]


@contextmanager
def nobody():
    """Let a process of root write only where nobody may."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@needs_pipes
def test_a_folder_that_is_read_only(tmp_path):
    answer, problem = found(), es.Problem.from_arrays(np.eye(4, 3), np.arange(4.0))
    answer.report(tmp_path / "report.html")  # (another user may not import what is loaded when it is needed)
    es.solve(problem, 1, proof=tmp_path / "a.proof", checkpoint=tmp_path / "a.checkpoint")
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    try:
        with nobody():
            assert "the folder cannot be written to: Permission denied" in said(write_atomically, folder / "x", "new")
            assert "it cannot be made or written to: Permission denied" in said(answer.save, folder / "run")
            assert "cannot be written" in said(answer.report, folder / "report.html")
            assert "Permission denied" in said(es.solve, problem, 1, proof=folder / "a.proof")
            assert "Permission denied" in said(es.solve, problem, 1, checkpoint=folder / "a.checkpoint")
        assert not list(folder.iterdir())
    finally:
        folder.chmod(0o755)
        folder.rmdir()


@contextmanager
def files_of_at_most(size):
    """Let every longer file fail, as a full disk does; the signal that comes with it is ignored by Python."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_files_that_cannot_grow_leave_the_old_ones(tmp_path):
    answer = found()
    rng = np.random.default_rng(0)
    problem = es.Problem.from_arrays(rng.normal(size=(60, 40)), rng.normal(size=60))
    answer.save(tmp_path / "run")
    es.solve(problem, 2, proof=tmp_path / "a.proof")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with files_of_at_most(600):
        sentences = [
            said(answer.save, tmp_path / "run"),
            said(answer.report, tmp_path / "report.html"),
            said(problem.save, tmp_path / "problem.npz"),
            said(es.solve, problem, 5, proof=tmp_path / "a.proof"),
            said(es.solve, problem, 5, checkpoint=tmp_path / "a.checkpoint", proof=tmp_path / "b.proof"),
        ]
    assert all("File too large" in sentence for sentence in sentences), sentences
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    kept = {path: content for path, content in after.items() if not path.name.startswith("a.checkpoint")}
    assert kept == before


def test_text_that_is_no_text_can_be_saved_in_json(tmp_path):
    name = b"\xff.csv".decode("utf-8", "surrogateescape")  # what the command line makes of such a file name
    write_atomically(tmp_path / "x.json", json.dumps({"file": name}, ensure_ascii=False))
    assert read_json(tmp_path / "x.json") == {"file": name}


def found():
    t = np.arange(0.0, 5.0, 0.05)
    return es.discover(np.exp(-t), t, states=("x",), degree=1, threads=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return found().save(tmp_path_factory.mktemp("runs") / "run")


def edited(run, folder, name, place, value):
    """Copy a run with one entry of a JSON file changed."""
    shutil.copytree(run, folder)
    record = json.loads((folder / name).read_text())
    *way, last = place
    entry = record
    for step in way:
        entry = entry[step]
    entry[last] = value
    (folder / name).write_text(json.dumps(record))
    return folder


@pytest.mark.parametrize(
    ("name", "place", "value", "sentence"),
    [
        ("results.json", ("solution", "ridge", 0, 0), "nan", "the entry 'ridge' holds 'nan' where a number belongs"),
        ("results.json", ("solution", "ridge", 0, 0), -1, "the entry 'ridge' is -1.0: expected a finite number >= 0"),
        ("results.json", ("solution", "values", 0, 0), 10**400, "has more than 64 bits"),
        ("results.json", ("solution", "support", 0), [-1], "'support' holds -1 where an integer >= 0 below 2 belongs"),
        ("results.json", ("solution", "support", 0), [1, 0], "support and values do not belong together"),
        ("results.json", ("solution", "objective"), [1.0, 2.0], "it is not one of 1 equations and 2 terms"),
        ("results.json", ("solution", "status"), ["SURE"], "'SURE' is missing or unknown"),
        ("results.json", ("solution", "k"), {"k": 1, "weights": "x"}, "Total(weights)"),
        ("results.json", ("solution", "coefficient_limit"), "nan", "'coefficient_limit' holds 'nan' where a number"),
        ("results.json", ("pool", "x'", "members", 0, "terms"), 3, "'terms' holds 3 where named entries belong"),
        ("results.json", ("selection",), [], "the entry 'selection' holds [] where named entries belong"),
        ("results.json", ("selection", "choices"), [], "there are 0 choices for 1 equations"),
        ("results.json", ("selection", "choices", 0, "confidence"), [1], "the entry 'confidence' holds [1] where"),
        ("run.json", ("warnings",), [{"kind": 1}], "the entry 'kind' holds 1 where a text belongs"),
        ("run.json", ("arguments",), 7, "the entry 'arguments' holds 7 where named entries belong"),
        ("run.json", ("constraints",), "x", "the entry 'constraints' is not a list"),
        ("run.json", ("constraints",), ["(" * 40_000], "cannot read the constraint"),
        ("run.json", ("format",), ["x" * 10_000], "run.json has the format"),
        ("model.json", ("equations", 0, "coefficients", 0), 10**400, "has more than 64 bits"),
        ("model.json", ("equations", 0, "terms", 0), "(" * 3000 + "x" + ")" * 3000, "nested more than 50 deep"),
        ("model.json", ("equations",), [3], "the entry 'equations' holds 3 where named entries belong"),
        ("model.json", ("variables",), [], "the entry 'variables' holds [] where named entries belong"),
    ],
)
def test_run_folders(name, place, value, sentence, run, tmp_path):
    assert sentence in said(es.Discovery.load, edited(run, tmp_path / "run", name, place, value))


@needs_pipes
@pytest.mark.parametrize("name", ["run.json", "results.json", "model.json", "data.npz", "problem.npz"])
def test_files_of_a_run_folder_that_are_no_files(name, run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    (folder / name).unlink()
    assert "no such file" in said(es.Discovery.load, folder) or name == "run.json"
    pipe(folder / name)
    assert "this is a pipe" in said(es.Discovery.load, folder)
    (folder / name).unlink()
    (folder / name).write_bytes(zlib.compress(b"x" * 1000))
    assert name in said(es.Discovery.load, folder)


def test_an_old_run_is_replaced_as_a_whole_and_other_files_stay(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    (folder / "notes.txt").write_text("mine")
    (folder / ".next.0123456789ab.part").mkdir()
    (folder / ".next.0123456789ab.part" / "data.npz").write_text("half")
    (folder / ".other.part").write_text("not ours")
    es.Discovery.load(folder).save(folder, about={"again": 1})
    assert es.Discovery.load(folder).about["again"] == 1
    assert sorted(os.listdir(folder)) == sorted([*os.listdir(run), "notes.txt", ".other.part"])


def test_a_run_that_was_complete_but_not_moved_counts(run, tmp_path):
    folder, other = shutil.copytree(run, tmp_path / "run"), found().save(tmp_path / "other", about={"which": "new"})
    shutil.copytree(other, folder / ".next")
    (folder / ".next" / "data.npz").rename(folder / "data.npz")
    assert es.Discovery.load(folder).about["which"] == "new"
    es.Discovery.load(folder).save(folder, about={"which": "newest"})
    assert es.Discovery.load(folder).about["which"] == "newest"
    assert not (folder / ".next").exists()


def test_model_with_many_states_is_read_in_linear_time(tmp_path):
    es.Model.from_coefficients({"x'": {"x": 1.0}}).save(tmp_path / "m.json")
    record = json.loads((tmp_path / "m.json").read_text())
    record["variables"]["states"] = [f"x{i}" for i in range(50_000)]
    (tmp_path / "m.json").write_text(json.dumps(record))
    assert "unknown name 'x'" in said(es.Model.load, tmp_path / "m.json")


@needs_pipes
def test_temporary_folders_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    child = os.fork()
    if child == 0:
        with scratch_folder() as place:
            (place / "half.npz").write_bytes(b"x" * 1000)
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    assert (left / "half.npz").exists()
    (tmp_path / "mine.part").write_text("kept")
    with scratch_folder() as first, scratch_folder() as second:  # (the first one is in use, and stays)
        assert {path.name for path in tmp_path.iterdir()} == {"mine.part", first.name, second.name}
        assert first.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine.part"]


def test_no_place_for_temporary_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="no temporary folder can be made in"), scratch_folder():
        pass
