"""Building the regression (data to Problem), simulation and import beside PySINDy and NumPy.

Every measurement runs in a process of its own on one thread: CPU seconds of the call (the least of three), peak
memory of the process beyond imports, data included. Both sides of a case see the same data, windows of the same size
and the same terms.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from exactsindy_experiments import workers
from exactsindy_experiments.pages import table
from exactsindy_experiments.pipeline_cases import CASES, PEER

IMPORTS = {
    "import numpy": "import numpy",
    "import exactsindy": "import exactsindy",
    "import exactsindy, every public name used": "import exactsindy as e; [getattr(e, n) for n in e.__all__]",
}
#: ``import exactsindy`` is to take at most so many times ``import numpy``.
IMPORT_GOAL = 1.5
Say = Callable[[str], None]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Measure one side of a case in a worker process."""
    import resource  # not on Windows

    warnings.simplefilter("ignore")
    name, side = request["case"], request["side"]
    try:
        if side == PEER:
            import pysindy  # type: ignore[import-untyped]  # noqa: F401
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        nbytes, run = CASES[name].prepare(side, request["size"])
        seconds = []
        for _ in range(1 if side == PEER and name == "weak_pde" else 3):
            start = time.process_time()
            run()
            seconds.append(time.process_time() - start)
    except Exception as error:  # a side that fails is a line of the table
        return {"error": f"{type(error).__name__}: {error}"}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": min(seconds), "megabytes": (peak - before) / 1024, "data": nbytes / 2**20}


def measure(name: str, side: str, size: int) -> dict[str, Any]:
    """Return seconds and megabytes of one side, or its error, from a fresh process."""
    worker = workers.Worker(workers.command(__name__), workers.one_thread())
    try:
        return worker.ask({"case": name, "side": side, "size": size})
    except ConnectionError as error:
        return {"error": str(error)}
    finally:
        worker.stop()


def compare(name: str, size: int, say: Say) -> list[list[object]]:
    """Measure all sides of a case; return the rows of the page."""
    case = CASES[name]
    goal = f">= {case.goal:g}x" if case.goal else ""
    say(f"{case.title}; n = {size}{'; goal ' + goal if goal else ''}")
    sides = {side: measure(name, side, size) for side in case.sides}
    peer = sides.get(PEER, {}).get("seconds", 0.0)
    lines: list[list[object]] = []
    for side, row in sides.items():
        if "error" in row:
            say(f"    {side}: failed: {row['error']}")
            lines.append([case.title, size, side, "failed", "", "", "", ""])
            continue
        ratio = peer / row["seconds"] if side != PEER else 0.0
        text = f"{ratio:{'.0f' if ratio >= 10 else '.2g'}}x" if ratio else ""
        memory = f"{row['megabytes']:.0f} MB for {row['data']:.0f} MB of data"
        say(f"    {side}: {row['seconds']:.4f} s CPU{', ' + text if text else ''}, {memory}")
        cells = [f"{row['seconds']:.4f}", text, goal if side != PEER else ""]
        lines.append([case.title, size, side, *cells, f"{row['megabytes']:.0f}", f"{row['data']:.1f}"])
    return lines


def _import_seconds(statement: str, repeats: int) -> float:
    """Return the least CPU seconds of a statement in fresh processes, the start of Python left out.

    Byte code is kept, as after any installation, whatever the environment says: both sides are compiled once.
    """
    code = f"import time; s = time.process_time(); {statement}; print(time.process_time() - s)"
    command = [sys.executable, "-c", code]
    with tempfile.TemporaryDirectory() as cache:
        settings = {**workers.one_thread(), "PYTHONPYCACHEPREFIX": cache}
        settings.pop("PYTHONDONTWRITEBYTECODE", None)
        runs = [
            subprocess.run(command, env=settings, capture_output=True, text=True, check=True) for _ in range(repeats)
        ]
    return min(float(run.stdout) for run in runs)


def imports(repeats: int, say: Say) -> list[list[object]]:
    """Measure imports; return the rows of the page."""
    say(f"imports; goal for import exactsindy <= {IMPORT_GOAL:g}x import numpy")
    seconds = {name: _import_seconds(code, repeats) for name, code in IMPORTS.items()}
    least = seconds["import numpy"]
    for name, value in seconds.items():
        say(f"    {name}: {value:.3f} s CPU, {value / least:.2f}x")
    return [[name, f"{value:.3f}", f"{value / least:.2f}x"] for name, value in seconds.items()]


def page(lines: list[list[object]], import_lines: list[list[object]]) -> str:
    """Return the results as Markdown."""
    versions = []
    for package in ("numpy", "scipy", "pysindy"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    head = ["case", "n", "side", "CPU s", "ratio", "goal", "peak MB", "data MB"]
    return (
        "# From data to problem, simulation, import\n\n"
        f"Made by `exactsindy bench pipeline`. Python {platform.python_version()}, {', '.join(versions)}; one thread, "
        f"{os.cpu_count()} cores. Every figure comes from a process of its own: CPU seconds, the least of three calls "
        "(one for PySINDy's weak form of fields); peak memory beyond imports, data included. Ratios are those of one "
        f"run: PySINDy's time over ours.\n\n{table(head, lines, 'lrlrrrrr')}\n"
        f"Imports: CPU seconds in fresh processes, without the start of Python. Goal: `import exactsindy` at most "
        f"{IMPORT_GOAL:g}x `import numpy`; its modules load on first use, which the last row pays for all of them.\n\n"
        + table(["statement", "CPU s", "against NumPy"], import_lines, "lrr")
    )
