"""Optimizers with PySINDy's interface on the same library matrix: time, and how far from the proved optimum."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.library import Polynomials
from exactsindy.problem import Problem
from exactsindy.solver import Settings, Total, solve
from exactsindy.systems import find_system
from exactsindy_experiments.instances import Instance, samples
from exactsindy_experiments.pages import geometric_mean, table
from exactsindy_experiments.paper.heuristics import pysindy

Array = NDArray[np.float64]

#: An excess of the objective below this is rounding.
SAME = 1e-9
#: The time of an optimizer is the least of this many fits; a fit of this many seconds is not repeated.
REPEATS = 3
LONG = 2.0


@dataclass(frozen=True)
class Task:
    """A regression: an instance, and its budget as MIOSR takes it (one of the two is None)."""

    instance: Instance
    target_sparsity: int | None = None
    group_sparsity: tuple[int, ...] | None = None
    alpha: float = 0.01

    @property
    def label(self) -> str:
        """How the task is called in a table."""
        each = f"{self.group_sparsity} each" if self.group_sparsity else f"{self.target_sparsity} in all"
        return f"{self.instance.system}, degree {self.instance.degree}, {self.instance.duration:g} s, {each}"


@dataclass(frozen=True)
class Outcome:
    """One optimizer on one task; ``excess`` is its objective over the proved optimum - 1, nan if there is no answer."""

    label: str
    terms: int
    optimizer: str
    seconds: float
    excess: float
    note: str

    @property
    def optimal(self) -> bool:
        """Whether no support of the budget does better, to rounding."""
        return self.excess <= SAME


def tasks() -> tuple[Task, ...]:
    """Return the tasks of the documented table: budgets of the true laws, growing libraries."""
    found = []
    for system, degree, duration in (
        ("lorenz", 2, 2.0),
        ("lorenz", 3, 2.0),
        ("lorenz", 5, 2.0),
        ("hopf", 5, 4.0),
        ("mhd", 2, 2.0),
        ("mhd", 3, 2.0),
    ):
        sizes = find_system(system).sizes
        instance = Instance(system, degree, duration)
        found += [Task(instance, group_sparsity=sizes), Task(instance, target_sparsity=sum(sizes))]
    return tuple(found)


def measure(task: Task, optimizers: dict[str, Callable[..., Any]], *, seconds: float) -> list[Outcome]:
    """Fit every optimizer (name -> constructor) to the task; times are those of ``fit`` alone, the least of a few.

    Examples
    --------
    >>> class Zero:
    ...     def __init__(self, **options): pass
    ...     def fit(self, x, y): self.coef_ = np.zeros((y.shape[1], x.shape[1]))
    >>> task = Task(Instance("hopf", degree=3, duration=0.5), target_sparsity=8)
    >>> measure(task, {"zero": Zero}, seconds=10.0)[0].optimal
    False
    """
    x, y = samples(task.instance)
    theta = Polynomials(task.instance.degree).bind(find_system(task.instance.system).states).evaluate(x)
    problem = Problem.from_arrays(theta, y)
    budget = task.group_sparsity if task.target_sparsity is None else Total(task.target_sparsity)
    assert budget is not None
    best = solve(problem, budget, ridge=task.alpha, settings=Settings(seconds=20 * seconds))
    options = {"target_sparsity": task.target_sparsity, "group_sparsity": task.group_sparsity, "alpha": task.alpha}
    outcomes = []
    for name, make in optimizers.items():
        times: list[float] = []
        note = ""
        while not note and len(times) < REPEATS and sum(times) < LONG:
            optimizer = make(**options, regression_timeout=seconds)
            spent, note = _fit(optimizer, theta, y)
            times.append(spent)
        excess = float("nan")
        if not note:
            reached = float(np.sum(problem.rss(optimizer.coef_)) + task.alpha * np.sum(optimizer.coef_**2))
            excess = reached / float(np.sum(best.lower_bound)) - 1.0
        outcomes.append(Outcome(task.label, theta.shape[1], name, min(times), excess, note))
    return outcomes


def _fit(optimizer: Any, theta: Array, y: Array) -> tuple[float, str]:
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer.fit(theta, y)
    except Exception as error:  # what a peer raises is its result
        return time.perf_counter() - started, str(error).partition(";")[0]
    return time.perf_counter() - started, ""


def markdown(outcomes: Sequence[Outcome], reference: str) -> str:
    """Return one line per optimizer and task; ratios are times over that of ``reference``."""
    ours = _times(outcomes, reference)
    lines = []
    for o in outcomes:
        ratio = "" if o.optimizer == reference or o.note else f"{o.seconds / ours[o.label]:,.3g}x"
        answer = "the proved optimum" if o.optimal else f"objective {100 * o.excess:.3g} % above the optimum"
        lines.append([o.label, o.terms, o.optimizer, f"{o.seconds:.3g}", ratio, o.note or answer])
    return table(["problem", "terms", "optimizer", "seconds", "ratio", "answer"], lines, "lrlrrl")


def summary(outcomes: Sequence[Outcome], reference: str) -> str:
    """Return one line per peer: geometric mean of the time ratios, and how many answers are optimal."""
    ours = _times(outcomes, reference)
    text = ""
    for name in dict.fromkeys(outcome.optimizer for outcome in outcomes):
        rows = [outcome for outcome in outcomes if outcome.optimizer == name]
        answered = [outcome for outcome in rows if not outcome.note]
        right = sum(outcome.optimal for outcome in answered)
        text += f"- {name}: {len(answered)} of {len(rows)} problems answered, {right} of the answers optimal"
        if name != reference and answered:
            ratio = geometric_mean([outcome.seconds / ours[outcome.label] for outcome in answered])
            text += f", {ratio:,.3g} times the time of {reference} (geometric mean)"
        text += ".\n"
    return text


def _times(outcomes: Sequence[Outcome], optimizer: str) -> dict[str, float]:
    return {outcome.label: outcome.seconds for outcome in outcomes if outcome.optimizer == optimizer}


def miosr_page(seconds: float, say: Callable[[str], None]) -> str:
    """Measure PySINDy's MIOSR, as it is and with a tight gap, and ours; return the page."""
    from exactsindy.interop import MIOSR

    ps = pysindy()

    class Tight(ps.MIOSR):  # type: ignore[name-defined,misc]
        """PySINDy's MIOSR with a gap that means a proof: Gurobi's default is 1e-4 of an objective without y'y."""

        def _make_model(self, *args: Any, **options: Any) -> Any:
            model, variables = super()._make_model(*args, **options)
            model.params.MIPGap = 1e-9
            return model, variables

    ours, optimizers = "es.MIOSR", {"ps.MIOSR": ps.MIOSR, "ps.MIOSR with MIPGap=1e-9": Tight, "es.MIOSR": MIOSR}
    for name in ("ps.MIOSR", ours):  # loads Gurobi and our core before anything is timed
        _fit(optimizers[name](), np.eye(3), np.eye(3))
    outcomes: list[Outcome] = []
    for task in tasks():
        outcomes += measure(task, optimizers, seconds=seconds)
        say(f"{task.label}: " + ", ".join(f"{o.optimizer} {o.seconds:.3g} s" for o in outcomes[-len(optimizers) :]))
    return (
        "# PySINDy's MIOSR and ours\n\n"
        f"The same library matrix for both, default options, regression_timeout={seconds:g}; seconds of `fit`,\n"
        "the least of three fits (fewer where they take seconds). Reprinted by `exactsindy bench miosr`.\n\n"
        f"{summary(outcomes, ours)}\n{markdown(outcomes, ours)}"
    )
