"""Worker processes, each with one thread, and a queue of bundles."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from queue import SimpleQueue

from exactsindy_experiments.paper.records import Case, Outcome
from exactsindy_experiments.paper.worker import run_case

#: Variables that set the number of threads of the linear algebra libraries.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_COMMAND = (sys.executable, "-m", "exactsindy_experiments.paper.worker")

Take = Callable[[Case, Outcome], None]


def run_bundles(
    bundles: Iterable[Sequence[Case]], workers: int, take: Take, *, command: Sequence[str] = _COMMAND
) -> None:
    """Run bundles of cases; the cases of a bundle follow one another in one process and share its caches.

    Parameters
    ----------
    bundles
        Cases that belong together, such as one trial of one system.
    workers
        Number of processes; 0 runs everything in this one.
    take
        Receives each outcome as soon as it is there, one call at a time.
    command
        How a worker is started.
    """
    queue = deque(bundles)
    if workers == 0:
        for bundle in queue:
            for case in bundle:
                take(case, run_case(case))
        return
    shift = _Shift(queue, tuple(command))
    count = min(workers, len(queue))
    for _ in range(count):
        threading.Thread(target=shift.serve, daemon=True).start()
    try:
        while count:
            found = shift.results.get()
            if found is None:
                count -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                take(*found)
    finally:
        shift.end()


class _Shift:
    """What the threads share, each of which looks after one worker process."""

    def __init__(self, queue: deque[Sequence[Case]], command: Sequence[str]) -> None:
        self.queue, self.command = queue, command
        self.results: SimpleQueue[tuple[Case, Outcome] | BaseException | None] = SimpleQueue()
        self._lock, self._over = threading.Lock(), False
        self._workers: set[_Worker] = set()

    def serve(self) -> None:
        """Let one worker process run bundles until there are none left; None among the results says so."""
        worker: _Worker | None = None
        try:
            while bundle := self._next():
                for case in bundle:
                    worker = self._ready(worker)
                    if worker is None:
                        return
                    self.results.put((case, worker.ask(case)))
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

    def _next(self) -> Sequence[Case]:
        with self._lock:
            return self.queue.popleft() if self.queue and not self._over else ()

    def _ready(self, worker: _Worker | None) -> _Worker | None:
        """Return the worker, a new one if there is none or it died; none when all is over."""
        with self._lock:
            if self._over:
                return None
            if worker is None or worker.ended:
                worker = _Worker(self.command)
                self._workers.add(worker)
            return worker


class _Worker:
    """A running worker process; it ends when this process does, because its input closes."""

    def __init__(self, command: Sequence[str]) -> None:
        environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
        self.ended = False
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def ask(self, case: Case) -> Outcome:
        """Return the outcome of a case; if the process dies over it, that is the outcome."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(asdict(case)) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            self.ended = True
            code = self._process.wait()
            self.stop()
            return Outcome(error=f"the worker process ended with code {code} during this case")
        return Outcome(**json.loads(line))

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue
