"""The solvers compared with, each asked in a separate process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from exactsindy_experiments import peer_solvers, workers
from exactsindy_experiments.instances import Equation
from exactsindy_experiments.peer_solvers import no_answer

#: A peer that overruns its limit by this many seconds is stopped; the first request of each may take longer by START,
#: because it includes importing and compiling the solver.
GRACE, START = 10.0, 60.0
#: Where `exactsindy bench install-peers` puts the Python of OKRidge and l0bnb.
PEERS_PYTHON = Path("build", "peers", "Scripts/python.exe" if sys.platform == "win32" else "bin/python")


@dataclass(frozen=True)
class Peer:
    """A solver to compare with; ``foreign`` ones live in another Python environment, ``exact`` ones claim proofs."""

    name: str
    title: str
    foreign: bool = False
    exact: bool = True


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
            Peer("abess", "abess (heuristic)", foreign=True, exact=False),
        )
    }
)

#: Names of those that claim proofs: the peers of the solver benchmark.
EXACT_PEERS = tuple(peer.name for peer in PEERS.values() if peer.exact)


class PeerPool:
    """Worker processes for the peers, started when first needed; a context manager that ends them.

    Parameters
    ----------
    foreign_python
        Python of the environment with OKRidge and l0bnb (``exactsindy bench install-peers`` makes one);
        without it these are reported as not installed.
    """

    def __init__(self, foreign_python: Path | None = None) -> None:
        self.foreign_python = foreign_python
        self._workers: dict[bool, workers.Worker] = {}
        self._seen: set[str] = set()

    def __enter__(self) -> PeerPool:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers.values():
            worker.stop()
        self._workers.clear()

    def ask(
        self, name: str, equation: Equation, seconds: float, *, penalty: float = 0.0, largest: float = 0.0
    ) -> dict[str, Any]:
        """Let a peer solve an equation; return its answer as in `exactsindy_experiments.peer_solvers`."""
        peer = PEERS[name]
        command = self._command(peer)
        if command is None:
            return no_answer("not installed", "run `exactsindy bench install-peers` for OKRidge and l0bnb")
        worker = self._workers.get(peer.foreign)
        if worker is None:
            worker = self._workers[peer.foreign] = workers.Worker(command)
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
            patience = seconds + GRACE + (0.0 if name in self._seen else START)
            try:
                answer = worker.ask({"solver": name, "equation": str(file), "seconds": seconds}, patience)
            except TimeoutError:
                self._forget(peer)
                return no_answer("time limit", "stopped: it did not obey its time limit", seconds)
            except ConnectionError as error:
                self._forget(peer)
                return no_answer("failed", str(error))
        self._seen.add(name)
        return answer

    def _forget(self, peer: Peer) -> None:
        self._workers.pop(peer.foreign).stop()
        self._seen -= {other.name for other in PEERS.values() if other.foreign == peer.foreign}

    def _command(self, peer: Peer) -> list[str] | None:
        if not peer.foreign:
            return workers.command(peer_solvers.__name__)
        if self.foreign_python is None or not self.foreign_python.exists():
            return None
        return workers.command(Path(peer_solvers.__file__), self.foreign_python)


def install() -> int:
    """Make the environment of OKRidge and l0bnb (they need NumPy below 2) and abess; return pip's exit code."""
    venv.create(PEERS_PYTHON.parent.parent, with_pip=True, clear=True)
    # okridge imports requests without declaring it.
    packages = ["numpy<2", "okridge", "requests", "l0bnb", "abess"]
    return subprocess.run([PEERS_PYTHON, "-m", "pip", "install", "--quiet", *packages], check=False).returncode
