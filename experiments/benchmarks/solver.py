"""Compares the solver with Gurobi, SCIP, OKRidge, l0bnb and plain enumeration; run with --help.

Rows go to solver.csv and path.csv as they are measured; run again to go on after an interruption.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from exactsindy_experiments.presets import PRESETS
from exactsindy_experiments.runner import path_table, run, run_paths, solver_table
from exactsindy_experiments.solver_plot import plot
from exactsindy_experiments.solver_report import machine, report

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--preset", choices=sorted(PRESETS), default="standard")
    choice.add_argument("--quick", action="store_const", const="quick", dest="preset", help="under two minutes")
    parser.add_argument("--seconds", type=float, help="time limit per solve instead of the preset's")
    parser.add_argument("--output", type=Path, help="folder (default docs/benchmarks; build/benchmarks for others)")
    parser.add_argument("--peers-python", type=Path, default=ROOT / "build" / "peers" / "bin" / "python")
    parser.add_argument("--report-only", action="store_true", help="measure nothing, write page and plot again")
    options = parser.parse_args()
    preset = PRESETS[options.preset]()
    if options.seconds:
        preset = preset.with_seconds(options.seconds)
    documented = options.preset == "standard" and not options.seconds
    default = ROOT / "docs" / "benchmarks" if documented else ROOT / "build" / "benchmarks" / options.preset
    folder = options.output or default
    try:
        if not options.report_only:
            run(preset, folder, foreign_python=options.peers_python, say=say)
            run_paths(preset, folder, say=say)
    except KeyboardInterrupt:
        say(f"\nInterrupted. What was measured is in {folder}; run the same command again to go on.")
        return 130
    rows, paths = list(solver_table(folder)), list(path_table(folder))
    part = folder / "solver.md.part"
    part.write_text(report(rows, paths, machine()))
    part.replace(folder / "solver.md")
    plot(rows, folder / "solver.png")
    say(f"Wrote solver.csv, path.csv, solver.md and solver.png to {folder}.")
    return 0


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
