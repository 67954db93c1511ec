"""The names of this room: lazy, documented, and clear about a missing package."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

import exactsindy as es
from exactsindy import interop

MISSING = """
import json, sys
sys.modules[{package!r}] = None
import exactsindy as es
try:
    es.{name}
except es.errors.MissingDependency as error:
    print(json.dumps(str(error)))
"""


@pytest.mark.parametrize("name", dir(interop))
def test_public_name(name):
    assert name in dir(es)
    assert name not in es.__all__  # a star import must not need optional packages
    assert getattr(es, name) is getattr(interop, name)
    assert ">>>" in inspect.getdoc(getattr(es, name))


def test_unknown_name():
    with pytest.raises(AttributeError, match=r"module 'exactsindy\.interop' has no attribute 'MIOS'"):
        interop.MIOS  # noqa: B018


@pytest.mark.parametrize(
    "package, name, message",
    [
        (
            "pysindy",
            "MIOSR",
            "MIOSR, an optimizer for PySINDy, needs the package pysindy: pip install exactsindy[pysindy]",
        ),
        (
            "sklearn",
            "ExactSparseRegressor",
            "ExactSparseRegressor, a scikit-learn estimator, needs the package sklearn: pip install "
            "exactsindy[sklearn]",
        ),
        ("pysindy", "from_pysindy(0)", "from_pysindy needs the package pysindy: pip install exactsindy[pysindy]"),
    ],
)
def test_missing_package_names_its_extra(package, name, message):
    code = MISSING.format(package=package, name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == message
