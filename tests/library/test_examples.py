from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import exactsindy.data
import exactsindy.differentiation
import exactsindy.library

MODULES = [
    f"{room.__name__}.{module.name}"
    for room in (exactsindy.data, exactsindy.differentiation, exactsindy.library)
    for module in pkgutil.iter_modules(room.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs={"np": np}).failed == 0
