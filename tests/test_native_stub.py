"""The stub of the native module, which type checkers read, is what nanobind makes of the module."""

import ast
from pathlib import Path

import pytest

from exactsindy import _native


def test_stub_says_what_the_module_holds():
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_native)
    generator.put(_native)
    stub = Path(_native.__file__).parent / "_native.pyi"
    if not stub.exists():  # editable installation: the module is built apart from its source
        stub = Path(__file__).parents[1] / "src/exactsindy/_native.pyi"
    # Parsed, because versions of nanobind lay the text out differently.
    assert ast.dump(ast.parse(stub.read_text())) == ast.dump(ast.parse(generator.get())), "make stub writes it again"
