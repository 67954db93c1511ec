"""The measurements of the scaling study: each in a process of its own, kept in a file as soon as it is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from exactsindy_experiments.scale_cases import Measured

#: What is measured, short things first: case and arguments.
PLAN: tuple[tuple[str, tuple[Any, ...]], ...] = (
    *(("dgemm", (terms,)) for terms in (20, 56, 165)),
    *(("short", (degree,)) for degree in (3, 5, 8)),
    ("stream", ()),
    *(("rows", (1e6, degree)) for degree in (1, 3, 5, 8)),
    *(("rows", (n, 5)) for n in (1e4, 1e5, 1e7)),
    ("field", (64, "strong")),
    *(("field", (times, "weak")) for times in (500, 5000)),
    *(("workers", (count,)) for count in (1, 2)),
    *(("solve", (5, k)) for k in (1, 2, 3, 4, 5, 6)),
    ("field", (50_000, "weak")),
    ("rows", (1e8, 3)),
    ("rows", (1e8, 5)),
    ("rows", (1e9, 3)),
)


def measure(name: str, arguments: tuple[Any, ...]) -> Measured:
    """Return one measurement, made in a process with one thread for linear algebra."""
    if name == "workers":
        program = (
            f"from exactsindy_experiments.scale_workers import run\nif __name__ == '__main__': run(*{arguments!r})"
        )
    else:
        program = f"from exactsindy_experiments.scale_cases import run; run({name!r}, *{arguments!r})"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{name}{arguments}: {done.stderr[-2000:]}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def run_all(path: Path, say: Callable[[str], None], longest: float) -> None:
    """Measure what the file does not hold yet; rows beyond ``longest`` are left out."""
    done: list[str] = []
    if path.exists():
        done = [json.loads(line)["case"] for line in path.read_text(encoding="utf-8").splitlines()]
    counts: dict[str, int] = {}
    for name, arguments in PLAN:
        case = f"{name}{list(arguments)}"
        counts[case] = counts.get(case, 0) + 1
        if done.count(case) >= counts[case] or (name == "rows" and arguments[0] > longest):
            continue
        say(case)
        measured = measure(name, arguments)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"case": case, "measured": asdict(measured)}) + "\n")
