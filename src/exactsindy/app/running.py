"""A search in a process of its own: the page stays awake, a stop keeps the best answer, a fault ends nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exactsindy.app.columns import Columns
from exactsindy.app.files import Source
from exactsindy.app.question import Question
from exactsindy.app.worker import QUESTION, RUN
from exactsindy.discovery import Discovery
from exactsindy.errors import ExactSindyError

# Seconds beyond the time limit after which a process that has not answered is ended: reading files, starting Python and
# writing the answer are not under that limit.
_GRACE = 60.0


@dataclass(frozen=True)
class EquationProgress:
    """The best support of an equation so far, and how far from it the proved bound is (None: not known)."""

    name: str
    terms: tuple[str, ...]
    gap: float | None


@dataclass(frozen=True)
class RunView:
    """How far a search is: phases so far, the equations in the last; ``problem`` if it ended without an answer."""

    phases: tuple[str, ...] = ()
    equations: tuple[EquationProgress, ...] = ()
    nodes: int = 0
    seconds: float = 0.0
    stopping: bool = False
    finished: bool = False
    problem: str = ""


@dataclass(eq=False)
class Run:
    """A search under way. `view` is read by the page; `answer` is there once it is finished without a problem."""

    folder: Path
    limit: float
    view: RunView = field(default_factory=RunView)
    answer: Discovery | None = None
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)
    _began: float = field(default_factory=time.monotonic, repr=False)

    def stop(self) -> None:
        """Ask for the best answer so far; a second time ends the search without one."""
        if self._process is None or self.view.finished:
            return
        if self.view.stopping:
            self._process.kill()
        else:
            self.view = replace(self.view, stopping=True)
            self._send("stop\n")

    def kill(self) -> None:
        """End the search without an answer."""
        if self._process is not None:
            self._process.kill()

    def _send(self, text: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text)
            self._process.stdin.flush()
        except OSError:  # it has just ended
            pass

    def _follow(self) -> None:
        """Read what the process reports until it ends."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        timer = threading.Timer(self.limit + _GRACE, process.kill)
        timer.start()
        problem = "The search ended without an answer."
        try:
            for line in process.stdout:
                record = json.loads(line)
                if "error" in record:
                    problem = str(record["error"])
                elif "done" in record:
                    self.answer = Discovery.load(self.folder / RUN)
                else:
                    self.view = advanced(self.view, record)
        except (ExactSindyError, ValueError) as error:
            problem = str(error)
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        seconds = time.monotonic() - self._began
        problem = "" if self.answer is not None else problem
        self.view = replace(self.view, finished=True, problem=problem, seconds=seconds)


def start(folder: Path, source: Source, columns: Columns, question: Question) -> Run:
    """Start a search in a folder of its own, which must hold the data file, and return it."""
    asked = {
        "file": source.path.name,
        "title": source.title,
        "load": columns.arguments(),
        "question": question.record(),
    }
    (folder / QUESTION).write_text(json.dumps(asked, ensure_ascii=False), encoding="utf-8")
    run = Run(folder, question.seconds)
    run._process = subprocess.Popen(
        [sys.executable, "-m", "exactsindy.app.worker", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C in the terminal of the server is not for the search
    )
    threading.Thread(target=run._follow, daemon=True).start()
    return run


def advanced(view: RunView, record: Mapping[str, Any]) -> RunView:
    """Return the view after one more report."""
    phase = str(record["phase"])
    phases = view.phases if not phase or phase in view.phases[-1:] else (*view.phases, phase)
    equations = tuple(_equation(name, entry) for name, entry in record["equations"].items())
    known = {equation.name: equation for equation in view.equations} if phases == view.phases else {}
    known.update({equation.name: equation for equation in equations})
    return replace(
        view, phases=phases, equations=tuple(known.values()), nodes=record["nodes"], seconds=record["seconds"]
    )


def _equation(name: str, entry: Mapping[str, Any]) -> EquationProgress:
    found, bound = entry["found"], entry["bound"]
    gap = None if found is None or bound is None or not found > 0 else max(0.0, 1 - bound / found)
    return EquationProgress(name, tuple(entry["terms"]), gap)
