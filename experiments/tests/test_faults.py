"""Writers killed at random moments lose nothing that was finished; a few of what `exactsindy bench faults` does."""

from __future__ import annotations

import os
import signal
import time

import pytest

from exactsindy_experiments.faults import STORES, Store, _read_run, _write_run, torment

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
def test_nothing_is_lost(store, tmp_path):
    outcome = torment(store, tmp_path, kills=6 if store.name == "report" else 25, seed=1)
    assert outcome.lost == 0, outcome.first


def test_the_harness_finds_a_writer_that_is_not_atomic(tmp_path):
    def write(path, version):
        with path.open("wb") as file:
            file.write(bytes(2_000_000))
            file.flush()
            file.write(version.to_bytes(8, "big"))

    def read(path):
        content = path.read_bytes()
        assert len(content) == 2_000_008
        return int.from_bytes(content[-8:], "big")

    assert torment(Store("plain", "plain.bin", write, read), tmp_path, kills=60, seed=0).lost > 0


def test_a_reader_sees_the_old_run_or_the_new_one(tmp_path):
    _write_run(tmp_path / "run", 1)
    child = os.fork()
    if child == 0:
        try:
            for version in range(2, 10_000):
                _write_run(tmp_path / "run", version)
        finally:
            os._exit(1)
    try:
        versions, end = [], time.monotonic() + 2.0
        while time.monotonic() < end:
            versions.append(_read_run(tmp_path / "run"))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert versions == sorted(versions)
    assert len(set(versions)) > 3
