"""A user's type checker sees the public names: a typed program passes, and no signature says Any."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import exactsindy as es
from public_names import public_names

pytest.importorskip("mypy")
CONSUMER = Path(__file__).parent / "consumer.py"
# Parts of a type that belong to NumPy, and functions that users write.
FOREIGN = re.compile(r"tuple\[Any, \.\.\.\]|dtype\[Any\]|dtype\[\w+ \| Any\]|def \(\*Any, \*\*Any\) -> Any")

# SymPy and pandas have no types, and xarray need not be installed; `simulate` and `score` hand their arguments on to
# other methods; a JSON document holds anything.
FRAMES = tuple(f"es.{name}.{to}" for name in ("Path", "Pool", "Simulation") for to in ("to_pandas", "to_xarray"))
ALLOWED = (
    "es.Model.to_sympy",
    "es.Discovery.simulate",
    "es.Discovery.score",
    "es.Discovery.to_dict",
    "es.Discovery",
    *FRAMES,
)


def members(name):
    """Return the public methods and properties of a class, as a user writes them."""
    value = es
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    if not inspect.isclass(value) or name.startswith("es.errors"):
        return []
    return [f"{name}.{key}" for key, item in vars(value).items() if not key.startswith("_") and callable(item)]


def check(cache, *files):
    """Return what mypy says about files that import the package as it is installed."""
    package = Path(es.__file__).parents[1]
    installed = {} if package.name == "site-packages" else {"MYPYPATH": str(package)}
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "--no-pretty"]
    done = subprocess.run(
        [*command, "--cache-dir", str(cache), *map(str, files)],
        capture_output=True,
        text=True,
        env={**os.environ, **installed},
    )
    return done.stdout + done.stderr


def test_a_typed_program_passes_and_no_signature_says_any(tmp_path, request):
    shown = [item for name in public_names() for item in (name, *members(name))]
    reveals = tmp_path / "reveals.py"
    reveals.write_text("import exactsindy as es\n" + "".join(f"reveal_type({item})\n" for item in shown))
    said = check(request.config.cache.mkdir("mypy"), CONSUMER, reveals)
    errors = [line for line in said.splitlines() if ": error:" in line]
    assert not errors, "\n".join(errors)
    notes = re.findall(r'reveals\.py:(\d+): note: Revealed type is "(.*)"', said)
    assert len(notes) == len(shown)
    vague = {shown[int(line) - 2]: text for line, text in notes if "Any" in FOREIGN.sub("", text)}
    for allowed in ALLOWED:
        vague.pop(allowed)
    assert not vague, "\n".join(f"{name}: {text}" for name, text in vague.items())


def test_the_program_uses_every_public_name():
    used = {ast.unparse(node) for node in ast.walk(ast.parse(CONSUMER.read_text())) if isinstance(node, ast.Attribute)}
    assert not [name for name in public_names() if name not in used]
