"""The command: ``python -m exactsindy_check problem.npz file.proof``."""

from __future__ import annotations

import argparse
import sys
from time import monotonic

from exactsindy_check.checking import Progress, Report, check

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
    report = check(options.problem, options.proof, jobs=options.jobs, progress=None if options.quiet else shown())
    print(describe(report))
    return CODES[report.outcome]


def shown(every: float = 1.0) -> Progress:
    """Return a progress function that writes a line to standard error about once per second."""
    begin = monotonic()
    last = [begin]

    def show(done: int, total: int) -> None:
        now = monotonic()
        if now - last[0] >= every:
            last[0] = now
            sys.stderr.write(f"{done} of {total} leaves, {now - begin:.0f} s\n")
            sys.stderr.flush()

    return show


def describe(report: Report) -> str:
    """Return a report as text: a line per section, then the sentences, then the outcome."""
    lines = []
    for section in report.sections:
        proved = section.proved
        best = (
            "no support" if proved.support is None else f"terms {list(proved.support)}, objective {proved.objective!r}"
        )
        size = f"{'exactly' if section.exactly else 'at most'} {section.k} terms"
        lines.append(
            f"{section.target}: {size}, {section.leaves} leaves, {proved.survivors} supports at or below "
            f"{section.cut!r}; best: {best}; next best: {proved.runner_up!r}"
        )
    lines += report.sentences
    lines.append(f"{report.outcome} ({report.seconds:.1f} s)")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
