from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import exactsindy.forms

MODULES = [f"exactsindy.forms.{module.name}" for module in pkgutil.iter_modules(exactsindy.forms.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs={"np": np}).failed == 0
