"""Compares constrained solves with Gurobi on the Duffing experiment and on joint Lorenz and MHD problems."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

from exactsindy_experiments.constraint_benchmark import measure, page
from exactsindy_experiments.constraint_cases import duffing_cases, joint_cases
from exactsindy_experiments.solver_report import machine

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks" / "constraints.md")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of Gurobi per problem")
    options = parser.parse_args()
    rows = []
    for case in itertools.chain(duffing_cases(), joint_cases()):
        rows.append(measure(case, seconds=options.seconds))
        row = rows[-1]
        print(f"{row.name}: {1e3 * row.native:.3f} ms against {1e3 * row.peer:.1f} ms, same {row.same}", flush=True)
    part = options.output.with_suffix(".part")
    part.write_text(page(rows, machine()), encoding="utf-8")
    part.replace(options.output)
    print(f"Wrote {options.output}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
