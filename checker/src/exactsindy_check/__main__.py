"""The command: ``python -m exactsindy_check problem.npz file.proof``."""

from __future__ import annotations

import argparse
import os
import sys

# The products are small: with several threads they wait for each other, up to 30 times the work on a busy machine.
for _name in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_name}_NUM_THREADS", "1")

from exactsindy_check.checking import check, progress_lines  # noqa: E402 - NumPy reads these variables when it loads

CODES = {"proved": 0, "false": 4, "unreadable": 1, "not checked": 5}


def main(arguments: list[str] | None = None) -> int:
    """Check a proof file, print what it proves, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="exactsindy_check",
        description="Check a proof file of exactsindy against the problem it is about.",
        epilog="Exit codes: 0 proved, 4 false, 1 unreadable, 5 not checked.",
    )
    parser.add_argument("problem", help="the npz file of the problem")
    parser.add_argument("proof", help="the proof file")
    parser.add_argument("--jobs", type=int, default=None, help="number of processes (default: as many as cores)")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    options = parser.parse_args(arguments)
    report = check(
        options.problem, options.proof, jobs=options.jobs, progress=None if options.quiet else progress_lines()
    )
    print(report)
    return CODES[report.outcome]


if __name__ == "__main__":
    sys.exit(main())
