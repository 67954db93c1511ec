"""Worker processes: requests on their input, answers on their output, one JSON line each.

A process of its own can be stopped at any time, cannot take its caller down, may run another Python, and has its number
of BLAS threads set before NumPy is loaded. A worker is started with this file and the name (or the path, for a Python
that lacks this package) of a module that has a function ``answer(request) -> answer`` of JSON objects. So this file
imports the standard library only.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import runpy
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

Request = TypeVar("Request")
Json = dict[str, Any]

#: Variables that set the number of threads of the linear algebra libraries.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread() -> dict[str, str]:
    """Return this environment with one thread for linear algebra."""
    return {**os.environ, **dict.fromkeys(THREADS, "1")}


def command(module: str | Path, python: str | Path = sys.executable) -> list[str]:
    """Return how a worker for a module is started; a path runs without this package."""
    if isinstance(module, str):
        return [str(python), "-m", __name__, module]
    # -P: the folder of the script holds modules of other names that must not hide installed ones.
    return [str(python), "-P", __file__, str(module)]


class Worker:
    """A running worker process and the thread that reads its answers."""

    def __init__(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        # Its own session: Ctrl-C reaches the caller only, which then ends the worker.
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,
        )
        self.ended = False
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, request: Json, patience: float | None = None) -> Json:
        """Return the answer; TimeoutError if it does not come in time, ConnectionError if the process ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=patience)
        except queue.Empty:
            raise TimeoutError from None
        except OSError:
            line = ""
        if not line:
            code = self._process.wait()
            self.stop()
            raise ConnectionError(f"the process ended with code {code}")
        answer: Json = json.loads(line)
        return answer

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.ended = True
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._answers.put(line)
        self._answers.put("")


def run_bundles(
    bundles: Iterable[Sequence[Request]],
    workers: int,
    ask: Callable[[Worker, Request], object],
    take: Callable[[Request, Any], None],
    *,
    command: Sequence[str],
) -> None:
    """Run bundles of requests; those of a bundle follow one another in one process and share its caches.

    Parameters
    ----------
    bundles
        Requests that belong together, such as one trial of one system.
    workers
        Number of processes, each with one thread.
    ask
        Lets a worker answer a request; what a worker that ended left is its answer too.
    take
        Receives each answer as soon as it is there, one call at a time.
    command
        How a worker is started.
    """
    shift = _Shift(deque(bundles), ask, tuple(command))
    count = min(workers, len(shift.waiting))
    for _ in range(count):
        threading.Thread(target=shift.serve, daemon=True).start()
    try:
        while count:
            result = shift.results.get()
            if result is None:
                count -= 1
            elif isinstance(result, BaseException):
                raise result
            else:
                take(*result)
    finally:
        shift.end()


class _Shift(Generic[Request]):
    """What the threads share, each of which looks after one worker process."""

    def __init__(
        self, waiting: deque[Sequence[Request]], ask: Callable[[Worker, Request], object], command: Sequence[str]
    ) -> None:
        self.waiting, self.ask, self.command = waiting, ask, command
        self.results: queue.SimpleQueue[tuple[Request, object] | BaseException | None] = queue.SimpleQueue()
        self._lock, self._over = threading.Lock(), False
        self._workers: set[Worker] = set()

    def serve(self) -> None:
        """Let one worker process run bundles until there are none left; None among the results says so."""
        worker: Worker | None = None
        try:
            while bundle := self._next():
                for request in bundle:
                    worker = self._ready(worker)
                    if worker is None:
                        return
                    self.results.put((request, self.ask(worker, request)))
        except BaseException as error:
            self.results.put(error)
        finally:
            if worker is not None:
                worker.stop()
            self.results.put(None)

    def end(self) -> None:
        """Stop every worker at once, whatever it does."""
        with self._lock:
            self._over = True
            workers = list(self._workers)
        for worker in workers:
            worker.stop()

    def _next(self) -> Sequence[Request]:
        with self._lock:
            return self.waiting.popleft() if self.waiting and not self._over else ()

    def _ready(self, worker: Worker | None) -> Worker | None:
        """Return the worker, a new one if there is none or it ended; None when all is over."""
        with self._lock:
            if self._over:
                return None
            if worker is None or worker.ended:
                worker = Worker(self.command, one_thread())
                self._workers.add(worker)
            return worker


def main(module: str) -> None:
    """Answer requests until the input ends."""
    # Libraries print; the channel to the caller is a copy of the output that they do not know.
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    loaded = runpy.run_path(module) if module.endswith(".py") else vars(importlib.import_module(module))
    answer: Callable[[Json], Json] = loaded["answer"]
    for line in sys.stdin:
        channel.write(json.dumps(answer(json.loads(line))) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
