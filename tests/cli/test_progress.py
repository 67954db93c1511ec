"""Progress: what a terminal shows, what a pipe gets."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from exactsindy.cli import progress
from exactsindy.solver import Progress

STATE = Progress({"x'": 4.0, "y'": 2.0}, {"x'": 3.0, "y'": -math.inf}, 5000, 2.0, {"x'": ("x", "x y")})


def rendered(board):
    console = Console(file=io.StringIO(), width=110)
    console.print(board.render())
    return console.file.getvalue()


def test_board_shows_objective_bound_gap_and_speed():
    board = progress._Board("Solving", 60.0)
    assert "Solving" in rendered(board)
    board.update(STATE)
    text = rendered(board)
    for shown in ("x'", "4", "3", "25 %", "not known", "x, x y", "5,000 nodes, 2,500 per second", "s left", "Ctrl-C"):
        assert shown in text


def test_a_terminal_gets_a_board_and_a_pipe_gets_lines(monkeypatch):
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    with progress.progress("Solving", None) as tick:
        tick(STATE)
        assert tick.__self__.state is STATE
    monkeypatch.setattr("rich.console.Console.is_terminal", False)
    with progress.progress("Solving", None) as tick:
        assert isinstance(tick, progress._Lines)
    with progress.progress("Solving", None, quiet=True) as tick:
        assert tick is None


@pytest.mark.parametrize("value, text", [(0.0, "0 %"), (-1e-17, "0 %"), (1.0, "100 %"), (math.inf, "not known")])
def test_gaps_for_people(value, text):
    assert progress.percent(value) == text
