"""PySINDy's MIOSR (Gurobi) and ours: ``python benchmarks/pysindy_miosr.py > docs/benchmarks/miosr.md``.

Needs ``exactsindy[pysindy,solvers]``. Problems with more than 100 coefficients are refused by Gurobi's free licence.
"""

import argparse
import warnings

import numpy as np

import exactsindy as es
from exactsindy_experiments.optimizer_benchmark import markdown, measure, summary, tasks

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pysindy as ps

OURS, THEIRS, EQUAL = "es.MIOSR", "ps.MIOSR", "ps.MIOSR with MIPGap=1e-9"


class Tight(ps.MIOSR):
    """PySINDy's MIOSR with a gap that means a proof: Gurobi's default is 1e-4 of an objective without y'y."""

    def _make_model(self, *args, **kwargs):
        model, variables = super()._make_model(*args, **kwargs)
        model.params.MIPGap = 1e-9
        return model, variables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="regression_timeout of both (PySINDy's default: 10)"
    )
    options = parser.parse_args()
    warm_up = np.eye(3)  # loads Gurobi and our core before anything is timed
    for optimizer in (ps.MIOSR(), es.MIOSR()):
        optimizer.fit(warm_up, warm_up)
    outcomes = []
    for task in tasks():
        outcomes += measure(task, {THEIRS: ps.MIOSR, EQUAL: Tight, OURS: es.MIOSR}, seconds=options.seconds)
    print("# PySINDy's MIOSR and ours\n")
    print(
        f"The same library matrix for both, default options, regression_timeout={options.seconds:g}; seconds of `fit`,"
    )
    print(
        "the least of three fits (fewer where they take seconds). Reprinted by `python benchmarks/pysindy_miosr.py`.\n"
    )
    print(summary(outcomes, OURS) + "\n")
    print(markdown(outcomes, OURS))


if __name__ == "__main__":
    main()
