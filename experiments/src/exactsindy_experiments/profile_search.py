"""Where the time of a search goes: shares by part, from Linux `perf`.

The native module keeps its symbols, so nothing has to be built for this.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from exactsindy import _native
from exactsindy.errors import MissingDependency
from exactsindy.solver import Settings, solve
from exactsindy_experiments.instances import Instance, prepare
from exactsindy_experiments.pages import table

#: Functions of the search by what they do; whatever is not named here is bookkeeping.
PARTS = {
    "backward steps": r"exclude",
    "pair scans": r"\bscan\b|scan_pairs|scan_last",
    "norms and certified bounds (dot products)": r"\bdot\b|\baxpy\b|certified|Certifier::bound",
    "ranking terms by the cost of dropping them": r"rank_terms",
    "moving the chosen term to the end": r"swap_to_last|swap_ranges",
    "forward steps and copies": r"\binclude\b|include_last|memcpy|memmove",
    "canonical fits in double-double": r"dot2|axpy2|Refitter",
}


def search(seconds: float) -> None:
    """Solve MHD, degree 3, 1 s of data, k = 6 on one thread, again and again."""
    problem = prepare(Instance("mhd", degree=3, duration=1.0)).problem
    begin, nodes = time.perf_counter(), 0
    while (spent := time.perf_counter() - begin) < seconds or not nodes:
        nodes += int(solve(problem, 6, settings=Settings(threads=1, seconds=seconds)).nodes.sum())
    print(f"{nodes} nodes, {spent / nodes * 1e6:.2f} us each", file=sys.stderr)


def profile(seconds: float) -> str:
    """Run the search under perf and return the table of shares."""
    call = f"from {__name__} import search; search({seconds})"
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "perf.data")
        try:
            subprocess.run(["perf", "record", "-q", "-o", data, sys.executable, "-c", call], check=True)
        except FileNotFoundError:
            raise MissingDependency("bench profile needs the Linux tool perf (Debian: linux-perf).") from None
        modules = f"{Path(str(_native.__file__)).name},libc.so.6"
        command = ["perf", "report", "-i", data, "--stdio", "--sort", "symbol", "--dsos", modules]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return shares(text)


def shares(text: str) -> str:
    """Return the share of each part of the samples that `perf report` lists."""
    found = dict.fromkeys(PARTS, 0.0)
    total = 0.0
    for line in text.splitlines():
        match = re.match(r"\s*([\d.]+)%\s+(.*)", line)
        if not match:
            continue
        share, symbol = float(match[1]), match[2]
        total += share
        part = next((part for part, pattern in PARTS.items() if re.search(pattern, symbol)), None)
        if part is not None:
            found[part] += share
    lines = [[part, f"{share / total:.0%}"] for part, share in sorted(found.items(), key=lambda item: -item[1])]
    return table(["part", "share"], [*lines, ["bookkeeping", f"{1 - sum(found.values()) / total:.0%}"]])
