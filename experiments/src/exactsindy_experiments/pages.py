"""What the pages of all benchmarks share: tables, numbers, means, the machine, files written whole."""

from __future__ import annotations

import io
import math
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from exactsindy._atomic import write_atomically
from exactsindy._optional import optional


def table(head: Sequence[str], lines: Iterable[Sequence[object]], align: str = "") -> str:
    """Return a Markdown table; ``align`` has one letter per column, ``r`` for numbers set to the right.

    Examples
    --------
    >>> print(table(["system", "terms"], [["hopf", 8]], "lr"), end="")
    | system | terms |
    |---|---:|
    | hopf | 8 |
    """
    rule = "".join("|---:" if letter == "r" else "|---" for letter in align.ljust(len(head), "l"))
    return "".join(f"{text}\n" for text in (_line(head), f"{rule}|", *map(_line, lines)))


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def mean(values: Iterable[float | None]) -> float:
    """Return the mean of the values that are not None, nan if there are none."""
    known = [float(value) for value in values if value is not None]
    return statistics.fmean(known) if known else math.nan


def standard_error(values: Iterable[float | None]) -> float:
    """Return the standard error of the mean of the values that are not None, nan for fewer than two."""
    known = [float(value) for value in values if value is not None]
    return statistics.stdev(known) / math.sqrt(len(known)) if len(known) > 1 else math.nan


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, nan if there is nothing."""
    return statistics.geometric_mean(values) if values else math.nan


def number(value: float, form: str = ".2f") -> str:
    """Return a number, or a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:{form}}"


def times(value: float) -> str:
    """Return a ratio with three digits, or a dash where there is none."""
    return number(value, ",.0f" if value >= 100 else ".3g")


def seconds(value: float) -> str:
    """Return a time with its unit: s, ms or us."""
    for unit, name in ((1.0, "s"), (1e-3, "ms")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value / 1e-6:.3g} us"


def minutes(value: float) -> str:
    """Return a long time as minutes and seconds."""
    whole, rest = divmod(round(value), 60)
    return f"{whole} min {rest} s"


def machine(page: Path | None = None) -> str:
    """Return one line about this machine and the versions of the solvers, or that of a page whose rows are kept."""
    if page is not None and page.exists():
        lines = page.read_text(encoding="utf-8").splitlines()
        return next(line.removeprefix("Machine: ") for line in lines if line.startswith("Machine: "))
    versions = [f"Python {platform.python_version()}"]
    for package in ("exactsindy", "numpy", "gurobipy", "pyscipopt"):
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return f"{_processor()}, {os.cpu_count()} cores; {', '.join(versions)}."


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def write_page(path: Path, text: str) -> None:
    """Write a page whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)


def new_figure(**options: Any) -> Any:
    """Return a figure that no screen is needed for; MissingDependency if matplotlib is not installed."""
    figure = optional("matplotlib.figure", "report", "A plot").Figure(**options)
    optional("matplotlib.backends.backend_agg", "report", "A plot").FigureCanvasAgg(figure)
    return figure


def write_figure(figure: Any, path: Path, dpi: int) -> None:
    """Write a figure as PNG, whole or not at all."""
    data = io.BytesIO()
    figure.savefig(data, dpi=dpi, format="png")
    write_atomically(path, data.getvalue())
