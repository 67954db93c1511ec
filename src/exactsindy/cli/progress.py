"""Live progress: a table on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from exactsindy.solver import Progress

# Seconds between two lines where there is no terminal.
_EVERY = 5.0


@contextmanager
def progress(what: str, seconds: float | None, *, quiet: bool = False) -> Iterator[Callable[[Progress], None] | None]:
    """Yield a function for ``Settings.progress`` that shows how far a search is; on standard error."""
    if quiet:
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(what, seconds)
        return
    from rich.live import Live

    board = _Board(what, seconds)
    with Live(get_renderable=board.render, console=console, refresh_per_second=8, transient=True):
        yield board.update


class _Lines:
    """One plain line every few seconds."""

    def __init__(self, what: str, seconds: float | None) -> None:
        self.what, self.limit = what, seconds
        self.begin = self.last = time.monotonic()
        self.phase = ""  # the last one told: a search within it has none of its own

    def __call__(self, state: Progress) -> None:
        self.phase = state.phase or self.phase
        now = time.monotonic()
        if now - self.last < _EVERY:
            return
        self.last = now
        from exactsindy.cli.output import note

        left = "" if self.limit is None else f", {max(self.limit - (now - self.begin), 0):.0f} s left"
        doing = f"{self.phase}, " if self.phase else ""
        if state.phase or not state.incumbent:
            note(f"{self.what}: {now - self.begin:.0f} s, {doing}{state.nodes:,} nodes{left}")
            return
        worst = max((gap(state, target) for target in state.incumbent), default=math.nan)
        note(f"{self.what}: {now - self.begin:.0f} s, {doing}{searched(state)}, largest gap {percent(worst)}{left}")


class _Board:
    """The equations being solved with best objective, proved bound and gap."""

    def __init__(self, what: str, seconds: float | None) -> None:
        self.what, self.limit = what, seconds
        self.begin = time.monotonic()
        self.state: Progress | None = None
        self.phase = ""  # the last one told: a search within it has none of its own

    def update(self, state: Progress) -> None:
        self.state = state
        self.phase = state.phase or self.phase

    def render(self) -> Any:
        from rich.spinner import Spinner
        from rich.table import Table

        spent = time.monotonic() - self.begin
        head = f"{self.what}  {spent:.1f} s"
        if self.limit is not None:
            head += f", {max(self.limit - spent, 0):.0f} s left"
        state = self.state
        if self.phase:
            head += f"  {self.phase}"
        if state is None or not state.incumbent:
            return Spinner("dots", f"{head}  (Ctrl-C keeps the best so far)" if self.phase else head)
        rate = state.nodes / state.seconds if state.seconds > 0 else 0.0
        table = Table(title=f"{head}  {state.nodes:,} nodes, {rate:,.0f} per second  (Ctrl-C keeps the best so far)")
        table.add_column("equation")
        for column in ("terms", "best objective", "proved bound", "gap"):
            table.add_column(column, justify="right")
        table.add_column("best terms so far")
        for target, value in state.incumbent.items():
            terms = state.terms.get(target, ())
            bound = f"{state.lower_bound[target]:.6g}"
            size = str(len(terms)) if terms else "-"
            table.add_row(target, size, f"{value:.6g}", bound, percent(gap(state, target)), ", ".join(terms))
        return table


def searched(state: Progress) -> str:
    """Return which equations a search is about, and how many terms the best supports so far have."""
    sizes = {target: len(state.terms.get(target, ())) for target in state.incumbent}
    names = [f"{target} with {size} terms" if size else target for target, size in sizes.items()]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{shown}: {state.nodes:,} nodes"


def gap(state: Progress, target: str) -> float:
    """Return (objective - bound) / objective of an equation being solved."""
    best, bound = state.incumbent[target], state.lower_bound[target]
    return (best - bound) / best if best > 0 and math.isfinite(bound) else math.inf if best > 0 else 0.0


def percent(value: float) -> str:
    """Return a gap for people."""
    return "not known" if not math.isfinite(value) else f"{100 * max(value, 0.0):.3g} %"
