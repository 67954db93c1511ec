"""Commands of other distributions: the experiments are one, and nothing here needs it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from exactsindy.cli import plugins

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "src" / "exactsindy").rglob("*.py*"), *(ROOT / "tests").rglob("*.py")])


def application(monkeypatch, entries=()):
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group == "exactsindy.commands" else ())
    app = typer.Typer()
    plugins.add_commands(app)
    return app


@pytest.mark.parametrize("words", [["bench"], ["bench", "solver", "--quick"], ["reproduce"], ["reproduce", "list"]])
def test_without_the_experiments_their_commands_say_how_to_get_them(monkeypatch, words):
    done = CliRunner().invoke(application(monkeypatch), words)
    assert done.exit_code == 1
    assert " ".join(done.stderr.split()) == (
        f"Error: {words[0]}: the experiments are a distribution of their own; install it with "
        "`pip install exactsindy-experiments`, or `pip install ./experiments` in a checkout."
    )
    assert done.stdout == ""


def test_the_commands_of_an_installed_distribution_are_added(monkeypatch):
    class Entry:
        name = "bench"

        @staticmethod
        def load():
            return lambda times: print("measured", times)

    done = CliRunner().invoke(application(monkeypatch, [Entry]), ["bench", "3"])
    assert (done.exit_code, done.stdout) == (0, "measured 3\n")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_imports_the_experiments(path):
    if path.suffix not in (".py", ".pyi"):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not any(name.startswith("exactsindy_experiments") for name in names), f"line {node.lineno}"
