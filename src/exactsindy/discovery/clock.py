"""The limits of one call of `discover`: the time that is left, Ctrl-C, the phase, and what was cut short."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from exactsindy._limits import OutOfTime, noting, until
from exactsindy.data import Notice
from exactsindy.errors import SolverError
from exactsindy.solver import LEAST, Deadline, Progress, ctrl_c_pressed


@dataclass
class Clock(Deadline):
    """A deadline that knows the phase of the call, tells the progress function about it, and keeps what was cut."""

    phase: str = "reading the data"
    cut: list[str] = field(default_factory=list)  # what was left out or shortened
    interrupted_in: str | None = None  # the phase in which Ctrl-C was pressed
    asked: float | None = None  # the time limit of the call, where fractions are those of a part of it

    def begin(self, phase: str) -> None:
        """Enter a phase: a few words that go on from "while", e.g. "smoothing the states"."""
        self.is_over()
        self.phase = phase
        if self.limits.progress is not None:
            self.limits.progress(Progress({}, {}, self.nodes, self.elapsed, phase=phase))

    def is_over(self) -> bool:
        """Return True if the time limit has passed or Ctrl-C was pressed."""
        return self._interrupted() or self.expired

    @contextmanager
    def within(self, fraction: float = 1.0) -> Iterator[None]:
        """End what runs inside by `OutOfTime` once this fraction of the time limit has passed, or at Ctrl-C."""
        seconds = self.limits.seconds
        last = None if seconds is None else time.monotonic() - self.elapsed + fraction * seconds
        with until(lambda: self._interrupted() or (last is not None and time.monotonic() >= last)):
            yield

    def begin_again(self) -> None:
        """Let fractions be those of the time that is left: what comes now is planned as if the call began here."""
        if self.limits.seconds is not None:
            self.asked = self.asked or self.limits.seconds
            self.limits = replace(self.limits, seconds=max(self.left(), LEAST))
            self._begin = time.monotonic()

    @contextmanager
    def optional(self, what: str, fraction: float = 1.0) -> Iterator[None]:
        """Do something that an answer can do without: if it does not end in time it is noted as cut.

        It is also noted if it ends in time because something inside was left out or shortened.
        """

        def note() -> None:
            if what not in self.cut:
                self.cut.append(what)

        with contextlib.suppress(OutOfTime):
            with noting(note), self.within(fraction):
                yield
            return
        note()

    def no_answer(self) -> BaseException:
        """Return what to raise where there is no answer yet."""
        if self._interrupted():
            return KeyboardInterrupt(f"Interrupted while {self.interrupted_in}, before there was an answer.")
        cure = "Allow more, or ask for less: fewer states or samples, targets=[...], a lower degree."
        text = f"the time limit came while {self.phase}, before there was an answer."
        return SolverError(f"discover(seconds={self._seconds():g}): {text} {cure}")

    def notices(self) -> tuple[Notice, ...]:
        """Return what was cut, for the reader of the answer."""
        what = "; ".join(dict.fromkeys(self.cut))
        if self._interrupted():
            text = f"Interrupted while {self.interrupted_in}: this is the best answer so far."
            return (Notice("interrupted", f"{text} Cut short or left out: {what}." if what else text),)
        if not what:
            return ()
        text = f"The time limit of {self._seconds():g} s came first: cut short or left out: {what}."
        return (Notice("limit", f"{text} Allow more `seconds` for it."),)

    def _seconds(self) -> float:
        """Return the time limit of the whole call."""
        return self.asked or self.limits.seconds or math.inf

    def _interrupted(self) -> bool:
        if self.interrupted_in is None and ctrl_c_pressed():
            self.interrupted_in = self.phase
        return self.interrupted_in is not None
