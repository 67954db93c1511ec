"""The examples in the docstrings of the room."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import exactsindy.model

NAMES = sorted(info.name for info in pkgutil.iter_modules(exactsindy.model.__path__))


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name: str) -> None:
    module = importlib.import_module(f"exactsindy.model.{name}")
    assert doctest.testmod(module).failed == 0
