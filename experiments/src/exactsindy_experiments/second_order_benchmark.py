"""Equations for x'' from positions alone: how often their terms are right, by noise."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from exactsindy import Polynomials, Terms, discover
from exactsindy._types import Array
from exactsindy.errors import ExactSindyError
from exactsindy.library import Library
from exactsindy_experiments.pages import table
from exactsindy_experiments.results import Table

#: Noise as a share of the standard deviation of the position.
NOISES = (0.0, 0.005, 0.01, 0.02)
#: What is asked for: equations for x'', or nothing, so that the order is chosen, too.
ASKED = ("x''", "open")
SAMPLES, DURATION = 1000, 25.0

_HEAD = """# Second order from positions

`exactsindy bench second-order` writes this page. Only the position is given: {samples} samples over {duration:g} units
of time, noise as a share of its standard deviation. Each draw has a start and noise of its own. *Right* is exactly the
terms of the law. With `targets="x''"` the order is given; *open* is the default call, which chooses the order as well.
The pendulum is searched in a library that names sin(x) and x', and with nothing given: then functions are tried by
`library="auto"`. None of these systems was used to choose rules or thresholds. The rules of the open call were changed
after draws 0 to 19 of the driven Duffing oscillator (18, 18, 14 and 17 of 20 were right), on other systems; its rows
and those of the pendulum with nothing given are draws from 20 on, made after that. The other rows are older.
"""


@dataclass(frozen=True)
class Law:
    """An acceleration of position, velocity and time, its terms, and the library (None: the default) and input."""

    acceleration: Callable[[float, float, float], float]
    terms: frozenset[str]
    library: Library | None = None
    push: Callable[[Array], Array] | None = None


def _pendulum(x: float, v: float, t: float) -> float:
    return -4.0 * math.sin(x) - 0.15 * v


LAWS = {
    "damped pendulum": Law(
        _pendulum, frozenset({"sin(x)", "x'"}), Polynomials(3) + Terms(["sin(x)", "cos(x)", "x' abs(x')"])
    ),
    "damped pendulum, default library": Law(_pendulum, frozenset({"sin(x)", "x'"})),
    "quadratic drag": Law(lambda x, v, t: -2.5 * x - 0.25 * v * abs(v), frozenset({"x", "x' abs(x')"})),
    "driven Duffing": Law(
        lambda x, v, t: x - x**3 - 0.2 * v + 0.3 * math.cos(1.2 * t),
        frozenset({"x", "x^3", "x'", "u"}),
        push=lambda t: np.cos(1.2 * t),
    ),
}


@dataclass(frozen=True)
class SecondOrderRow:
    """One call: what was asked, whether the terms are right, the printed confidence (None: withheld), CPU seconds."""

    law: str
    asked: str
    noise: float
    draw: int
    right: bool
    confidence: float | None
    equations: str
    seconds: float

    @property
    def key(self) -> tuple[str, str, float, int]:
        """What identifies the row."""
        return self.law, self.asked, self.noise, self.draw


def position(law: Law, noise: float, draw: int) -> tuple[Array, Array]:
    """Return times and noisy positions of a draw."""
    from scipy.integrate import solve_ivp

    rng = np.random.default_rng([draw, 2])
    t = np.linspace(0.0, DURATION, SAMPLES)
    start = [float(rng.choice([-1.0, 1.0]) * rng.uniform(1.2, 2.0)), float(rng.uniform(-1.0, 1.0))]
    run = solve_ivp(
        lambda time, s: [s[1], law.acceleration(s[0], s[1], time)],
        (0.0, DURATION),
        start,
        t_eval=t,
        rtol=1e-10,
        atol=1e-12,
    )
    x = run.y[0]
    return t, x + noise * x.std() * rng.normal(size=SAMPLES)


def measure(name: str, asked: str, noise: float, draw: int, seconds: float) -> SecondOrderRow:
    """Find the law of one draw."""
    law = LAWS[name]
    t, x = position(law, noise, draw)
    controls = None if law.push is None else {"u": law.push(t)}
    targets = None if asked == "open" else asked
    begin = time.process_time()
    try:
        found = discover(
            x, t, states=("x",), controls=controls, targets=targets, library=law.library, seconds=seconds, threads=1
        )
    except ExactSindyError as error:
        return SecondOrderRow(name, asked, noise, draw, False, None, f"error: {error}", time.process_time() - begin)
    terms = {row.name: frozenset(term.name for term in row.terms) for row in found.model.rows}
    right = terms == {"x''": law.terms}
    confidence = next(iter(found.confidence.values()))
    text = "; ".join(found.model.equations(3))
    return SecondOrderRow(name, asked, noise, draw, right, confidence, text, time.process_time() - begin)


def rows_of(folder: Path) -> Table[SecondOrderRow]:
    """Open the rows of a folder."""
    return Table(folder / "second_order.csv", SecondOrderRow)


def campaign(folder: Path, draws: int, seconds: float) -> Iterator[SecondOrderRow]:
    """Measure what is not yet in the folder, and yield it."""
    rows = rows_of(folder)
    for asked in ASKED:
        for name in LAWS:
            for noise in NOISES:
                for draw in range(draws):
                    if rows.find((name, asked, noise, draw)) is None:
                        row = measure(name, asked, noise, draw, seconds)
                        rows.append(row)
                        yield row


def page(rows: Sequence[SecondOrderRow]) -> str:
    """Return the page."""
    lines = []
    for asked in ASKED:
        for name in LAWS:
            own = [row for row in rows if row.law == name and row.asked == asked]
            if not own:
                continue
            cells = [_share([row for row in own if row.noise == noise]) for noise in NOISES]
            label = "`targets=\"x''\"`" if asked == "x''" else "open"
            lines.append((name, label, *cells, f"{np.mean([row.seconds for row in own]):.1f}"))
    head = ("law", "order", *(f"{100 * noise:g} %" for noise in NOISES), "cpu s")
    sure = [row for row in rows if row.confidence is not None and row.confidence >= 0.9]
    wrong = sum(not row.right for row in sure)
    summary = f"Right: {sum(row.right for row in rows)} of {len(rows)}."
    summary += f" Printed with a confidence of 90 % or more: {len(sure)}, of which {wrong} wrong."
    text = _HEAD.format(samples=SAMPLES, duration=DURATION)
    return f"{text}\n{table(head, lines, 'llrrrrr')}\n{summary}\n"


def _share(rows: Sequence[SecondOrderRow]) -> str:
    return f"{sum(row.right for row in rows)} of {len(rows)}" if rows else "-"
