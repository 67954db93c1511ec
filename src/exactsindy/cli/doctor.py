"""doctor: what is installed, and whether it works."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata
from typing import Any

from exactsindy.cli import options, output

# Extras of the package, and the distributions that they bring.
_EXTRAS = {
    "data": ("narwhals", "pandas", "xarray", "pyarrow", "netCDF4", "h5py", "python-calamine"),
    "report": ("matplotlib", "plotly", "jinja2"),
    "app": ("nicegui",),
    "sympy": ("sympy",),
    "conic": ("clarabel",),
    "differentiation": ("pynumdiff",),
    "pysindy": ("pysindy",),
    "sklearn": ("scikit-learn",),
    "solvers": ("pyscipopt", "gurobipy"),
    "check": ("exactsindy-check",),
}
_CORE = ("numpy", "scipy", "threadpoolctl", "typer", "rich")


def doctor(json: options.Json = False) -> None:
    r"""Show versions, the instruction set and the extras, and test the installation; exit code 1 if it does not work.

    \b
    Example:
      exactsindy doctor
    """
    record = examined()
    output.show(record, json, lambda: "\n".join(_lines(record)))
    output.finish(output.OK if record["self_test"]["ok"] else output.FAILED)


def examined() -> dict[str, Any]:
    """Return what is installed and whether a small discovery works, as plain texts and numbers."""
    from exactsindy import __version__, _native

    return {
        "exactsindy": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "instruction_set": _native.kernel_name(),
        "packages": {name: _version(name) for name in _CORE},
        "extras": {extra: {name: _version(name) for name in names} for extra, names in _EXTRAS.items()},
        "self_test": _self_test(),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _self_test() -> dict[str, Any]:
    """Find the equations of an oscillator in noisy samples, and verify the claims without the solver."""
    import numpy as np

    from exactsindy.certificate import verify
    from exactsindy.discovery import discover
    from exactsindy.errors import ExactSindyError
    from exactsindy.library import Polynomials

    begin = time.perf_counter()
    t = np.arange(0.0, 12.0, 0.05)
    states = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * np.random.default_rng(0).normal(size=(len(t), 2))
    try:
        found = discover(states, t, states=("x", "v"), library=Polynomials(2), k_max=3, seconds=30.0)
        right = [dict(row) for row in found.solution.terms.values()]
        names = [list(row) for row in right]
        checked = verify(found.problem, found.solution)
        ok = names == [["v"], ["x"]] and checked.ok
        said = "an oscillator was found in noisy samples, and its proof verified" if ok else f"found {names}"
    except ExactSindyError as error:
        ok, said = False, str(error)
    return {"ok": bool(ok), "result": said, "seconds": round(time.perf_counter() - begin, 2)}


def _lines(record: dict[str, Any]) -> Any:
    yield f"exactsindy {record['exactsindy']}, Python {record['python']} on {record['system']}"
    yield f"{record['cores']} cores, instruction set {record['instruction_set']}"
    yield ", ".join(f"{name} {version or 'missing'}" for name, version in record["packages"].items())
    yield ""
    for extra, names in record["extras"].items():
        absent = [name for name, version in names.items() if version is None]
        there = ", ".join(f"{name} {version}" for name, version in names.items() if version is not None)
        cure = f"missing: {', '.join(absent)} (pip install 'exactsindy[{extra}]')" if absent else ""
        yield f"  {extra:16}{'; '.join(part for part in (there, cure) if part)}"
    test = record["self_test"]
    yield ""
    yield f"Self-test: {'passed' if test['ok'] else 'FAILED'} in {test['seconds']:.1f} s: {test['result']}."
