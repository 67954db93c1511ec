"""A room imports only from rooms above it, and only what their `__init__` offers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "exactsindy"
# From the top of the house to the bottom; certificates are read by the solver, never the other way round.
ORDER = [
    "errors",
    "_types",
    "_lazy",
    "_files",
    "_records",
    "_atomic",
    "_optional",
    "_labelled",
    "_limits",
    "_cluster",
    "data",
    "datasets",
    "differentiation",
    "library",
    "problem",
    "chunked",
    "forms",
    "trajectory_fit",
    "constraints",
    "certificate",
    "solver",
    "selection",
    "streaming",
    "model",
    "plots",
    "report",
    "discovery",
    "systems",
    "interop",
    "app",
    "xarray",  # import exactsindy.xarray: the accessor
    "cli",
    "__main__",  # the front door: python -m exactsindy
]
# What any room may take from the package itself.
SHARED = {"__version__", "_native"}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path):
    """Every module a file imports, at any depth of its code, as (line, dotted name)."""
    package = ["exactsindy", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def is_inside(parts):
    """Return True if an imported name is a module of a room, or lies in one."""
    return any(SOURCE.joinpath(*parts[1:end]).with_suffix(".py").is_file() for end in range(3, len(parts) + 1))


def violations(path):
    own = room_of(path)
    for line, name in imports(path):
        parts = name.split(".")
        if parts[0] == "pysindy" and own != "interop":
            yield f"{path.name}:{line} imports pysindy"
        if parts[0] != "exactsindy" or (len(parts) > 1 and parts[1] in SHARED):
            continue
        room = parts[1] if len(parts) > 1 else "the whole package"
        if room not in ORDER:
            yield f"{path.name}:{line} imports {room}, which is no room"
        elif room != own and ORDER.index(room) > ORDER.index(own):
            yield f"{path.name}:{line} imports {room}, which is below {own}"
        elif own == "solver" and room == "certificate" and parts[2:] != ["Certificate"]:
            yield f"{path.name}:{line} imports {name}: the solver may take only the record Certificate from there"
        elif room != own and is_inside(parts):
            yield f"{path.name}:{line} imports {name}, past the __init__ of {room}"


def test_every_file_is_in_a_known_room():
    assert {room_of(path) for path in FILES} <= set(ORDER)
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_room_imports_only_from_rooms_above(path):
    assert list(violations(path)) == []


@pytest.mark.parametrize(
    "text, found",
    [
        ("from exactsindy.solver import solve", ["imports solver, which is below problem"]),
        ("import exactsindy.solver.settings", ["imports solver, which is below problem"]),
        ("def f():\n    from ..solver import solve", ["imports solver, which is below problem"]),
        ("import exactsindy as es", ["imports the whole package, which is no room"]),
        ("from exactsindy import solve", ["imports solve, which is no room"]),
        ("if True:\n    import pysindy.optimizers", ["imports pysindy"]),
        ("from exactsindy import __version__, _native\nfrom .block import Block\nfrom exactsindy import errors", []),
    ],
)
def test_the_check_sees_every_kind_of_import(text, found, tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    path = tmp_path / "problem" / "trial.py"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert [line.split(" ", 1)[1] for line in violations(path)] == found


def test_solver_takes_only_the_record_from_the_verifier(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    path = tmp_path / "solver" / "trial.py"
    path.parent.mkdir()
    path.write_text("from exactsindy.certificate import Certificate, verify", encoding="utf-8")
    (found,) = violations(path)
    assert found.endswith(
        "imports exactsindy.certificate.verify: the solver may take only the record Certificate from there"
    )
