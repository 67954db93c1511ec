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

from exactsindy.experiments.paper.records import Case, Outcome
from exactsindy.experiments.paper.worker import run_case

#: Variables that set the number of threads of the linear algebra libraries.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_COMMAND = (sys.executable, "-m", "exactsindy.experiments.paper.worker")

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
    lock, stop = threading.Lock(), threading.Event()
    results: SimpleQueue[tuple[Case, Outcome] | BaseException | None] = SimpleQueue()
    count = min(workers, len(queue))
    for _ in range(count):
        threading.Thread(target=_serve, args=(queue, lock, stop, results, command), daemon=True).start()
    try:
        while count:
            found = results.get()
            if found is None:
                count -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                take(*found)
    finally:
        stop.set()


def _serve(
    queue: deque[Sequence[Case]],
    lock: threading.Lock,
    stop: threading.Event,
    results: SimpleQueue[tuple[Case, Outcome] | BaseException | None],
    command: Sequence[str],
) -> None:
    """Let one worker process run bundles until there are none left."""
    worker: _Worker | None = None
    try:
        while not stop.is_set():
            with lock:
                bundle = queue.popleft() if queue else ()
            if not bundle:
                break
            for case in bundle:
                if stop.is_set():
                    break
                worker = worker or _Worker(command)
                results.put((case, worker.ask(case)))
                if worker.ended:
                    worker = None
    except BaseException as error:
        results.put(error)
    finally:
        if worker is not None:
            worker.stop()
        results.put(None)


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
