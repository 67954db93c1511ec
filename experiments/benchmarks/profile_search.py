"""Where the time of a search goes: shares by part, from `perf` (docs/performance.md).

    python benchmarks/profile_search.py [--seconds 10]

Needs Linux `perf`; the native module keeps its symbols, so nothing has to be built for this.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from exactsindy import _native

# Functions of the search by what they do; whatever is not named here is bookkeeping.
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
    from exactsindy.solver import Settings, solve
    from exactsindy_experiments.instances import Instance, prepare

    problem = prepare(Instance("mhd", degree=3, duration=1.0)).problem
    end, nodes = time.perf_counter() + seconds, 0
    begin = time.perf_counter()
    while time.perf_counter() < end:
        nodes += int(solve(problem, 6, settings=Settings(threads=1, seconds=seconds)).nodes.sum())
    print(f"{nodes} nodes, {(time.perf_counter() - begin) / nodes * 1e6:.2f} us each", file=sys.stderr)


def report(lines: list[str]) -> None:
    """Print the share of each part of the samples in the native module."""
    shares = dict.fromkeys(PARTS, 0.0)
    total = 0.0
    for line in lines:
        found = re.match(r"\s*([\d.]+)%\s+(.*)", line)
        if not found:
            continue
        share, symbol = float(found[1]), found[2]
        total += share
        for part, pattern in PARTS.items():
            if re.search(pattern, symbol):
                shares[part] += share
                break
    print("| part | share |\n|---|---|")
    for part, share in sorted(shares.items(), key=lambda item: -item[1]):
        print(f"| {part} | {share / total:.0%} |")
    print(f"| bookkeeping | {1 - sum(shares.values()) / total:.0%} |")


def main() -> None:
    """Run the search under perf and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        search(options.seconds)
        return
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "perf.data")
        command = [sys.executable, __file__, "--inside", "--seconds", str(options.seconds)]
        try:
            subprocess.run(["perf", "record", "-q", "-o", data, *command], check=True)
        except FileNotFoundError:
            raise SystemExit("profile_search needs the Linux tool perf (Debian: linux-perf).") from None
        text = subprocess.run(
            [
                "perf",
                "report",
                "-i",
                data,
                "--stdio",
                "--sort",
                "symbol",
                "--dsos",
                f"{Path(_native.__file__).name},libc.so.6",
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    report(text.splitlines())


if __name__ == "__main__":
    main()
