"""Ctrl-C ends a call with its best answer, not with an exception somewhere inside it.

The native search looks for Ctrl-C by itself; a call that consists of many short searches would meet it between two of
them. So while `held` is active it is only remembered, and every loop of the solver asks `pressed`.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_state = {"pressed": False}  # of the main thread: signals arrive nowhere else

# The functions of `signal` look for a name of every handler, which fails for functions and takes longer than all else.
_get, _set = _signal.getsignal, _signal.signal


def pressed() -> bool:
    """Whether Ctrl-C was pressed during the call that `held` wraps."""
    return _state["pressed"] and threading.current_thread() is threading.main_thread()


@contextmanager
def held() -> Iterator[None]:
    """Remember Ctrl-C instead of raising; pressed twice, it is raised all the same.

    Does nothing outside the main thread, inside another `held`, or where the program handles the signal itself.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or _get(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _state["pressed"] = False
    _set(signal.SIGINT, _remember)
    try:
        yield
    finally:
        _set(signal.SIGINT, signal.default_int_handler)
        _state["pressed"] = False


def _remember(number: int, frame: FrameType | None) -> None:
    if _state["pressed"]:
        raise KeyboardInterrupt
    _state["pressed"] = True


# Their names outside this room.
ctrl_c_held, ctrl_c_pressed = held, pressed
