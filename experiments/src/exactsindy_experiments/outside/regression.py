"""The regressions of the Lorenz draws, solved by exact and heuristic packages told the true number of terms."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from exactsindy.data import Trajectories
from exactsindy.problem import Problem
from exactsindy_experiments.instances import Equation, equation
from exactsindy_experiments.outside.lorenz_data import LIBRARY, STATES, STEP, TRUTH, LorenzCase, samples
from exactsindy_experiments.pages import table
from exactsindy_experiments.peers import PEERS, PeerPool
from exactsindy_experiments.results import Table
from exactsindy_experiments.selection_baselines import prepared_rows
from exactsindy_experiments.solver_benchmark import native, penalty_of_size

OURS = "exactsindy"
SOLVERS = (OURS, "gurobi sos1", "okridge", "l0bnb", "abess")
#: Noise in per cent and seconds of data; every draw has three equations.
CELLS = ((1.0, 5), (2.0, 5), (5.0, 5), (5.0, 10))
#: Time limit of one solve, and the penalty on squared coefficients, which OKRidge needs.
SECONDS, RIDGE = 20.0, 1e-6


@dataclass(frozen=True)
class RegressionRow:
    """What a solver made of one regression: whether its support is the true one, the best one, and what it claims."""

    case: LorenzCase
    equation: str
    solver: str
    right: bool
    best: bool
    status: str
    seconds: float
    day: str

    @property
    def key(self) -> tuple[LorenzCase, str, str]:
        """What identifies the row."""
        return self.case, self.equation, self.solver


def regression_table(folder: Path) -> Table[RegressionRow]:
    """Open the rows of a folder."""
    return Table(folder / "outside_regression.csv", RegressionRow)


def run_regression(draws: int, folder: Path, foreign_python: Path, say: Callable[[str], None]) -> None:
    """Solve what the folder does not hold yet; a peer that is not installed gets no row."""
    rows = regression_table(folder)
    with PeerPool(foreign_python) as pool:
        for case in (LorenzCase(noise, duration, draw) for draw in range(draws) for noise, duration in CELLS):
            for target in TRUTH:
                missing = [solver for solver in SOLVERS if rows.find((case, target, solver)) is None]
                if not missing:
                    continue
                subject, names = regression(case, target)
                begin = time.process_time()
                ours = native(subject, SECONDS)
                spent = time.process_time() - begin
                least = subject.objective(ours.support)
                for solver in missing:
                    if solver == OURS:
                        support, status, seconds = ours.support, ours.status, spent
                    else:
                        support, status, seconds = _asked(pool, solver, subject)
                    if status == "not installed":
                        say(f"{solver} is not installed: run `exactsindy bench install-peers`.")
                        continue
                    terms = {names[j] for j in support}
                    same = support == ours.support or subject.objective(support) <= least * (1 + 1e-9)
                    right, best = terms == set(TRUTH[target]), same and len(support) <= subject.size
                    day = date.today().isoformat()
                    rows.append(RegressionRow(case, target, solver, right, best, status, seconds, day))
                    say(f"{case}, {target}, {solver}: {status}, {'best' if best else 'not best'}, {seconds:.3g} s")


def regression(case: LorenzCase, target: str) -> tuple[Equation, list[str]]:
    """Return the regression of one equation, columns of length 1, and the names of its terms."""
    data = Trajectories.from_arrays(samples(case)[1], time=STEP, states=STATES)
    theta, rates = prepared_rows(data, LIBRARY, "smoothed")
    theta = theta / np.linalg.norm(theta, axis=0)
    problem = Problem.from_arrays(theta, rates[:, list(TRUTH).index(target)])
    return equation(problem, 0, len(TRUTH[target]), RIDGE), [str(name) for name in LIBRARY.bind(data).names]


def _asked(pool: PeerPool, solver: str, subject: Equation) -> tuple[tuple[int, ...], str, float]:
    penalty, largest = penalty_of_size(subject, SECONDS, native) if solver == "l0bnb" else (0.0, 0.0)
    reply = pool.ask(solver, replace(subject), SECONDS, penalty=penalty, largest=largest)
    return tuple(sorted(reply["support"])), reply["status"], float(reply["seconds"])


def regression_section(rows: Sequence[RegressionRow]) -> str:
    """Return the section of the page."""
    if not rows:
        return ""
    lines = []
    for solver in SOLVERS:
        own = [row for row in rows if row.solver == solver]
        if own:
            title = PEERS[solver].title if solver in PEERS else solver
            times = [row.seconds for row in own if np.isfinite(row.seconds)]
            lines.append(
                [
                    title,
                    f"{sum(row.best for row in own)} of {len(own)}",
                    ", ".join(f"{status} {count}" for status, count in Counter(row.status for row in own).items()),
                    sum(row.status == "optimal" and not row.best for row in own),
                    f"{sum(row.right for row in own)} of {len(own)}",
                    f"{np.median(times):.3g}" if times else "-",
                    f"{np.max(times):.3g}" if times else "-",
                ]
            )
    cells = " and ".join(f"{noise:g} % and {duration} s" for noise, duration in CELLS)
    head = ["solver", "best support", "ends as", "says optimal wrongly", "true terms", "s, median", "s, most"]
    return (
        "## The regression alone\n\n"
        "Smoothed states and derivatives of the Lorenz draws, 55 columns of length 1, the true number of terms given, "
        f"a ridge of {RIDGE:g}, limit {SECONDS:g} s; {cells}"
        ". The best support is the one that our search proves; smoothing and least squares decide whether it is the "
        "true one. l0bnb gets the penalty that leads to the size, and its answers at the limit have another size. "
        "OKRidge ends with an error of its own on these nearly dependent columns (where looked at: AttributeError, "
        "'Node' object has no attribute 'lower_solve').\n\n"
        + table(head, lines, "lrlrrrr").rstrip("\n")
        + "\n\nSeconds are elapsed ones for the peers, whose processes report them, and CPU seconds for ours."
    )
