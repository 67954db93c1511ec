"""How often the default finds exactly the true terms, against tuned STLSQ and SSR; run with --help.

Rows go to selection.csv as they are measured; run again to go on after an interruption.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from exactsindy.library import Polynomials
from exactsindy_experiments.field_tuning import compared_fields, field_examples, tuning_paths
from exactsindy_experiments.sampling_tuning import fit_power, row_examples
from exactsindy_experiments.selection_benchmark import run_selection, selection_table
from exactsindy_experiments.selection_cases import (
    NOISES,
    RANDOM_PER_HALF,
    SAMPLES,
    SEEDS,
    field_cases,
    half_cases,
    named_cases,
)
from exactsindy_experiments.selection_conditions import condition_cases
from exactsindy_experiments.selection_plot import plot_reliability
from exactsindy_experiments.selection_report import selection_report
from exactsindy_experiments.selection_tuning import compared_orbits, examples, fit_confidence, fit_weights, shares_right
from exactsindy_experiments.solver_report import machine

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["random", "named", "fields", "conditions", "all"], default="all")
    parser.add_argument("--samples", type=int, nargs="+", default=list(SAMPLES), help="lengths of the random data sets")
    parser.add_argument("--systems", type=int, default=RANDOM_PER_HALF, help="random systems of a half")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="seeds of the named systems and fields")
    parser.add_argument("--only", nargs="+", help="only these systems")
    parser.add_argument("--no-baselines", action="store_true", help="leave STLSQ and SSR out")
    parser.add_argument(
        "--tune",
        choices=["rows", "orbits", "gamma", "fields", "field-orbits", "sampling"],
        help="fit on the tuning half: the weights of selection/evidence.py, then those of orbit_evidence.py; gamma of "
        "large libraries; the weights for fields, then for orbits of fields; the power of discover/sampling.py",
    )
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks")
    parser.add_argument("--report-only", action="store_true", help="measure nothing, write page and plot again")
    options = parser.parse_args()
    samples, seeds = tuple(options.samples), SEEDS[: options.seeds]
    if options.tune == "fields":
        weights, none = fit_weights(field_examples(tuning_paths(0, say=say)))
        say(f"MODE_WEIGHTS = {_tuple(weights)}\nMODE_NONE = {none:.3f}")
        return 0
    if options.tune == "field-orbits":
        compared = list(compared_fields(0, say=say))
        _say_shares(compared, "trust", (0.0, 0.1, 0.2, 0.4, 0.7, 1.0))
        say(f"MODE_WEIGHTS = {_tuple(fit_confidence([e for one in compared for e in one.examples()]))}")
        return 0
    if options.tune == "gamma":
        cases = half_cases("tuning", (350,), (0.002, 0.01, 0.05), options.systems)
        degrees = {2: 7, 3: 5, 4: 4, 5: 3}  # 36 to 84 monomials
        compared = list(compared_orbits(cases, library=lambda states: Polynomials(degrees.get(states, 3)), say=say))
        _say_shares(compared, "gamma", (0.0, 0.5, 1.0, 1.5))
        return 0
    if options.tune == "sampling":
        found = row_examples([case for case in condition_cases("tuning") if "per period" in case.system], say=say)
        say(f"power {fit_power(found):.2f} ({len(found)} equations)")
        return 0
    if options.tune:
        cases = half_cases("tuning", samples, NOISES, options.systems)
        if options.tune == "rows":
            weights, none = fit_weights(examples(cases, say=say))
            say(f"WEIGHTS = {_tuple(weights)}\nNONE = {none:.3f}")
        else:
            found = [example for one in compared_orbits(cases, say=say) for example in one.examples()]
            say(f"WEIGHTS = {_tuple(fit_confidence(found))}")
        return 0
    parts = {
        "random": half_cases("reporting", samples, NOISES, options.systems),
        "named": named_cases(seeds),
        "fields": field_cases(seeds),
        "conditions": condition_cases(),
    }
    chosen = list(parts) if options.part == "all" else [options.part]
    try:
        for name in chosen if not options.report_only else []:
            cases = [c for c in parts[name] if not options.only or c.system.split(": ")[-1] in options.only]
            baselines = name == "random" and not options.no_baselines
            run_selection(cases, options.output, baselines=baselines, say=say)
    except KeyboardInterrupt:
        say(f"\nInterrupted. What was measured is in {options.output}; run the same command again to go on.")
        return 130
    rows = list(selection_table(options.output))
    part = options.output / "selection.md.part"
    part.write_text(selection_report(rows, machine()))
    part.replace(options.output / "selection.md")
    plot_reliability(rows, options.output / "selection_reliability.png")
    say(f"Wrote selection.csv, selection.md and selection_reliability.png to {options.output}.")
    return 0


def _say_shares(compared, name, values) -> None:
    shares = shares_right(compared, lambda rule, value: replace(rule, **{name: value}), values)
    count = sum(len(one.comparison.rivals) for one in compared)
    say(f"{count} open equations; right by {name}: " + ", ".join(f"{v:g}: {s:.3f}" for v, s in shares.items()))


def _tuple(weights) -> str:
    return f"({', '.join(f'{w:.3f}' for w in weights)})"


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
