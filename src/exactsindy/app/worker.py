"""The process that searches for the page: ``python -m exactsindy.app.worker FOLDER``.

It reads ``question.json`` in a folder, writes one JSON line per step of the search to standard output, and the answer
as a run folder. A line "stop" on standard input is the same as Ctrl-C: the best answer so far is kept. The process ends
when standard input is closed, so that it never outlives the server.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from exactsindy.app.question import Question
from exactsindy.constraints import parse_constraint
from exactsindy.data import load
from exactsindy.discovery import discover
from exactsindy.errors import ExactSindyError
from exactsindy.solver import Progress, Settings

#: File that says what is asked, and folder of the answer, both in the folder that is given.
QUESTION, RUN = "question.json", "run"
# Seconds between two lines about the same phase: the eye follows no more.
_BETWEEN = 0.2


class Reporter:
    """Writes progress as lines of JSON; at most a few a second."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._last, self._phase = out, 0.0, ""

    def tick(self, now: Progress) -> None:
        """Report how far the search is; called by it."""
        phase = now.phase or self._phase
        if phase == self._phase and time.monotonic() - self._last < _BETWEEN:
            return
        self._last, self._phase = time.monotonic(), phase
        equations = {
            name: {
                "terms": list(now.terms.get(name, ())),
                "found": _finite(now.incumbent[name]),
                "bound": _finite(now.lower_bound.get(name)),
            }
            for name in now.incumbent
        }
        self.write({"phase": phase, "nodes": now.nodes, "seconds": round(now.seconds, 2), "equations": equations})

    def write(self, record: Mapping[str, Any]) -> None:
        """Write one line."""
        self._out.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        self._out.flush()


def _finite(value: float | None) -> float | None:
    return None if value is None or not abs(value) < float("inf") else float(value)


def work(folder: Path, report: Reporter) -> None:
    """Answer the question in a folder."""
    asked = json.loads((folder / QUESTION).read_text(encoding="utf-8"))
    question = Question.of_record(asked["question"])
    arguments = dict(asked["load"])
    data = load(folder / asked["file"], **arguments)
    targets = question.targets(data)
    if targets is not None:
        data = load(folder / asked["file"], targets=targets, **arguments)
    found = discover(
        data,
        library=question.library(data),
        form="map" if question.is_map else "auto",
        constraints=[parse_constraint(text) for text in question.constraints],
        seconds=question.seconds,
        settings=Settings(progress=report.tick),
    )
    found.save(folder / RUN, about={"constraints": list(question.constraints), "file": asked["title"]})


def _listen() -> None:
    """Turn "stop" into Ctrl-C, and end with the server."""
    for line in sys.stdin:
        if line.strip() == "stop":
            _thread.interrupt_main()
    os._exit(1)


def main() -> None:
    """Work on the question in the folder that the command line names."""
    report = Reporter(sys.stdout)
    threading.Thread(target=_listen, daemon=True).start()
    try:
        work(Path(sys.argv[1]), report)
    except ExactSindyError as error:
        report.write({"error": str(error)})
    except KeyboardInterrupt as error:
        report.write({"error": str(error) or "Stopped before there was an answer."})
    except MemoryError:
        report.write({"error": "There is not enough memory for this; take fewer data or a smaller library."})
    else:
        report.write({"done": True})
    sys.stdout.flush()
    os._exit(0)  # the thread that listens would wait for more


if __name__ == "__main__":
    main()
