"""Load the public names of a package on first use, as its stub file lists them.

The stub is the one list of names: type checkers read it, and so does this module. Written here, because it is shorter
than the configuration of a package that does it.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that has an ``__init__.pyi`` made of ``from a import b as b``."""
    namespace = sys.modules[package].__dict__
    stub = Path(namespace["__file__"]).with_suffix(".pyi")
    homes = {
        alias.asname or alias.name: f"{node.module}"
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(homes[name]), name)
        namespace[name] = value
        return value

    return get, lambda: [*sorted(homes), *(["__version__"] if "__version__" in namespace else [])]
