"""Long loops over rows ask here whether to go on, so that a time limit or Ctrl-C also ends what is no search.

Forms have no argument for a time limit, and users write forms of their own. So whoever limits a call says here when it
is over, for everything that runs inside; without that, work goes on to its end. What a part of the time cuts short
without ending it is noted here as well, so that whoever limits a call can say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("exactsindy_is_over", default=None)
_note: ContextVar[Callable[[], None] | None] = ContextVar("exactsindy_note", default=None)


class OutOfTime(Exception):
    """The limit of `until` came: what was being made is not complete."""


@contextmanager
def until(over: Callable[[], bool]) -> Iterator[None]:
    """End what runs inside, by `OutOfTime`, once ``over()`` is true; the innermost limit counts."""
    token = _is_over.set(over)
    try:
        yield
    finally:
        _is_over.reset(token)


def is_over() -> bool:
    """Return True if the limit has come; False where there is none."""
    over = _is_over.get()
    return over is not None and over()


def go_on() -> None:
    """Raise `OutOfTime` if the limit has come."""
    if is_over():
        raise OutOfTime


@contextmanager
def noting(note: Callable[[], None]) -> Iterator[None]:
    """Call ``note()`` where something inside is left out or shortened because its part of the time is over."""
    token = _note.set(note)
    try:
        yield
    finally:
        _note.reset(token)


def cut_short() -> None:
    """Say that something is left out or shortened because its part of the time is over."""
    note = _note.get()
    if note is not None:
        note()


def passed(deadline: float) -> bool:
    """Return True if a moment (of `time.monotonic`) has passed; who asks leaves something out then: it is noted."""
    over = time.monotonic() > deadline
    if over:
        cut_short()
    return over
