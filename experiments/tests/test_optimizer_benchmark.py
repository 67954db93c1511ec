"""Optimizers with PySINDy's interface on the same data: what is measured, and how it is told."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.problem import Problem
from exactsindy.solver import solve
from exactsindy_experiments.instances import Instance
from exactsindy_experiments.optimizer_benchmark import Outcome, Task, markdown, measure, summary, tasks


class Exact:
    def __init__(self, target_sparsity, group_sparsity, alpha, regression_timeout):
        self.k, self.alpha = group_sparsity, alpha

    def fit(self, x, y):
        self.coef_ = solve(Problem.from_arrays(x, y), self.k, ridge=self.alpha).coef


class Slightly(Exact):
    """One coefficient off."""

    def fit(self, x, y):
        super().fit(x, y)
        self.coef_[self.coef_ != 0] *= 1.001


class Refuses(Exact):
    def fit(self, x, y):
        raise RuntimeError("too large; buy more")


TASK = Task(Instance("hopf", degree=3, duration=0.5), group_sparsity=(4, 4))


def test_excess_over_the_proved_optimum():
    peers = {"exact": Exact, "slightly": Slightly, "refuses": Refuses}
    exact, slightly, refuses = measure(TASK, peers, seconds=10.0)
    assert exact.optimal
    assert exact.terms == 10
    assert not slightly.optimal
    assert slightly.excess > 1e-9
    assert np.isnan(refuses.excess)
    assert refuses.note == "too large"
    assert not refuses.optimal


def test_words():
    rows = [
        Outcome("a", 10, "peer", 2.0, 0.01, ""),
        Outcome("a", 10, "ours", 0.5, 0.0, ""),
        Outcome("b", 10, "peer", 1.0, float("nan"), "too large"),
        Outcome("b", 10, "ours", 0.1, 0.0, ""),
    ]
    lines = markdown(rows, "ours").splitlines()
    assert lines[2] == "| a | 10 | peer | 2 | 4x | objective 1 % above the optimum |"
    assert lines[3] == "| a | 10 | ours | 0.5 |  | the proved optimum |"
    assert lines[4] == "| b | 10 | peer | 1 |  | too large |"
    assert summary(rows, "ours").splitlines() == [
        "- peer: 1 of 2 problems answered, 0 of the answers optimal, 4 times the time of ours (geometric mean).",
        "- ours: 2 of 2 problems answered, 2 of the answers optimal.",
    ]


def test_documented_tasks_have_one_budget_each():
    labels = [task.label for task in tasks()]
    assert len(set(labels)) == len(labels) == 12
    assert all((task.target_sparsity is None) != (task.group_sparsity is None) for task in tasks())
    assert labels[0] == "lorenz, degree 2, 2 s, (2, 3, 2) each"


def test_a_shared_budget_is_measured_too():
    class Zero(Exact):
        def fit(self, x, y):
            self.coef_ = np.zeros((y.shape[1], x.shape[1]))

    (zero,) = measure(Task(TASK.instance, target_sparsity=8), {"zero": Zero}, seconds=10.0)
    assert zero.excess > 1
    assert zero.label == "hopf, degree 3, 0.5 s, 8 in all"


@pytest.mark.parametrize("seed", [1, 2])
def test_samples_are_those_of_the_instance(seed):
    from exactsindy_experiments.instances import samples

    x, x_dot = samples(Instance("hopf", degree=3, duration=0.5, seed=seed))
    assert x.shape == x_dot.shape == (250, 2)
