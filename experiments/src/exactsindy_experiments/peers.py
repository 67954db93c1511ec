"""The solvers compared with, each asked in a separate process."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from exactsindy_experiments.instances import Equation

#: A peer that overruns its limit by this many seconds is stopped.
GRACE = 10.0
_START = 60.0


@dataclass(frozen=True)
class Peer:
    """A solver to compare with; ``foreign`` ones live in another Python environment."""

    name: str
    title: str
    foreign: bool = False


PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        peer.name: peer
        for peer in (
            Peer("gurobi published", "Gurobi, as published"),
            Peer("gurobi sos1", "Gurobi, scaled, gap 1e-9"),
            Peer("scip", "SCIP"),
            Peer("enumeration", "plain enumeration"),
            Peer("okridge", "OKRidge", foreign=True),
            Peer("l0bnb", "l0bnb", foreign=True),
        )
    }
)


class PeerPool:
    """Worker processes for the peers, started when first needed; a context manager that ends them.

    Parameters
    ----------
    foreign_python
        Python of the environment with OKRidge and l0bnb (``benchmarks/install_peers.py`` makes one); without
        it these are reported as not installed.
    """

    def __init__(self, foreign_python: Path | None = None) -> None:
        self.foreign_python = foreign_python
        self._workers: dict[bool, _Worker] = {}

    def __enter__(self) -> PeerPool:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers.values():
            worker.stop()
        self._workers.clear()

    def ask(
        self, name: str, equation: Equation, seconds: float, *, penalty: float = 0.0, largest: float = 0.0
    ) -> dict[str, Any]:
        """Let a peer solve an equation; return its answer as in `exactsindy_experiments.worker`."""
        peer = PEERS[name]
        command = self._command(peer)
        if command is None:
            return _no_answer("not installed", "run benchmarks/install_peers.py for OKRidge and l0bnb")
        worker = self._workers.get(peer.foreign)
        fresh = worker is None
        if worker is None:
            worker = self._workers[peer.foreign] = _Worker(command)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "equation.npz")
            np.savez(
                file,
                theta_factor=equation.theta_factor,
                z=equation.z,
                rest_square=equation.rest_square,
                ridge=np.full(len(equation.z), equation.ridge),
                size=equation.size,
                penalty=penalty,
                largest=largest,
            )
            # The first request of each solver includes importing and compiling it.
            patience = seconds + GRACE + (_START if fresh or name not in worker.seen else 0.0)
            try:
                answer = worker.ask({"solver": name, "equation": str(file), "seconds": seconds}, patience)
            except TimeoutError:
                self._forget(peer)
                return _no_answer("time limit", "stopped: it did not obey its time limit", seconds)
            except ConnectionError as error:
                self._forget(peer)
                return _no_answer("failed", str(error))
        worker.seen.add(name)
        return answer

    def _forget(self, peer: Peer) -> None:
        self._workers.pop(peer.foreign).stop()

    def _command(self, peer: Peer) -> list[str] | None:
        if not peer.foreign:
            return [sys.executable, "-m", "exactsindy_experiments.worker"]
        if self.foreign_python is None or not self.foreign_python.exists():
            return None
        # -P: the folder of the script holds modules of other names that must not hide installed ones.
        return [str(self.foreign_python), "-P", str(Path(__file__).with_name("worker.py"))]


class _Worker:
    """A running worker process and the thread that reads its answers."""

    def __init__(self, command: list[str]) -> None:
        # Its own session: Ctrl-C reaches the benchmark only, which then ends the worker.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._answers: queue.Queue[str] = queue.Queue()
        self.seen: set[str] = set()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, request: dict[str, Any], patience: float) -> dict[str, Any]:
        """Return the answer; TimeoutError if it does not come, ConnectionError if the process died."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        try:
            line = self._answers.get(timeout=patience)
        except queue.Empty:
            raise TimeoutError from None
        if not line:
            raise ConnectionError(f"the process ended with code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._answers.put(line)
        self._answers.put("")


def _no_answer(status: str, note: str, seconds: float = float("nan")) -> dict[str, Any]:
    return {
        "support": [],
        "status": status,
        "seconds": seconds,
        "lower_bound": float("-inf"),
        "nodes": -1,
        "note": note,
    }
