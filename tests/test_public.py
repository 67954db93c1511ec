"""The public names: they resolve, they are documented, their examples run, importing them costs nothing."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys

import pytest

import exactsindy

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(exactsindy.__path__, "exactsindy.")
    if not module.name.endswith("_native")
)


def run_python(code):
    """Run code in a fresh interpreter; return what it printed as JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", exactsindy.__all__)
def test_public_name_resolves_and_is_documented(name):
    value = getattr(exactsindy, name)
    documentation = inspect.getdoc(value)
    assert documentation
    assert documentation != inspect.getdoc(type(value))
    assert not documentation.startswith(f"{name}(")  # what a dataclass writes when nobody else does
    assert name in dir(exactsindy)


@pytest.mark.parametrize("name", [name for name in exactsindy.__all__ if inspect.isfunction(getattr(exactsindy, name))])
def test_public_function_has_an_example(name):
    assert ">>>" in inspect.getdoc(getattr(exactsindy, name))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'exactsindy' has no attribute 'solv'"):
        exactsindy.solv  # noqa: B018


def test_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert exactsindy.__version__ == version("exactsindy")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").startswith("exactsindy"):
            raise
        pytest.skip(f"needs {error.name}")
    results = doctest.testmod(module)
    assert results.failed == 0


# Loaded only where data are read piece by piece or on a cluster.
CHUNKED = {"dask", "distributed", "zarr", "pyarrow", "joblib"}

IMPORT = """
import json, os, signal, sys, threading, warnings
import numpy
before = set(sys.modules)
state = lambda: [
    len(warnings.filters), str(numpy.geterr()), str(signal.getsignal(signal.SIGINT)), threading.active_count(),
    sorted(os.environ), os.getcwd(), sys.path, str(numpy.get_printoptions())
]
earlier = state()
import exactsindy
print(json.dumps({"new": sorted(set(sys.modules) - before), "same": earlier == state()}))
"""


def test_importing_has_no_side_effect():
    loaded = run_python(IMPORT)
    assert loaded["same"]
    assert [name for name in loaded["new"] if name.startswith("exactsindy")] == ["exactsindy", "exactsindy._lazy"]
    heavy = {"scipy", "typer", "rich", "pandas", "matplotlib", "xarray", "sympy", "pysindy", "gurobipy", "pyscipopt"}
    heavy |= CHUNKED
    assert heavy.isdisjoint(name.split(".")[0] for name in loaded["new"])


def test_solving_needs_numpy_only():
    loaded = run_python(
        "import json, sys, numpy as np, exactsindy as es\n"
        "problem = es.Problem.from_arrays(np.eye(3), [3.0, 2.0, 1.0])\n"
        "solution = es.solve(problem, 1)\n"
        "es.solve_path(problem, 2), es.solve_pool(problem, 1, count=2), es.refit(problem, [[0]])\n"
        "ok = es.verify(problem, solution).ok\n"
        "print(json.dumps({'ok': ok, 'loaded': sorted({name.split('.')[0] for name in sys.modules})}))"
    )
    assert loaded["ok"]
    assert CHUNKED.isdisjoint(loaded["loaded"])
    assert {"scipy", "pandas", "matplotlib", "xarray", "sympy", "pysindy", "gurobipy", "pyscipopt"}.isdisjoint(
        loaded["loaded"]
    )


def test_small_data_load_nothing_of_dask():
    loaded = run_python(
        "import json, sys, numpy as np, exactsindy as es\n"
        "t = np.arange(0.0, 10.0, 0.05)\n"
        "es.discover(np.column_stack([np.cos(t), -np.sin(t)]), t, states=('x', 'v'), seconds=None)\n"
        "print(json.dumps({'loaded': sorted({name.split('.')[0] for name in sys.modules})}))"
    )
    assert {"dask", "distributed", "zarr"}.isdisjoint(loaded["loaded"])
