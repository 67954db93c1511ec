"""Random constrained problems with the answer of brute force (see constrained_oracle)."""

from __future__ import annotations

import itertools

import numpy as np

import exactsindy as es
from constrained_oracle import Oracle

KINDS = (
    "Equal",
    "Linear ==",
    "Linear <=",
    "Bounds",
    "Sign",
    "Fixed",
    "Forbid",
    "Require",
    "Implies",
    "NotBoth",
    "AtMost",
    "AtLeast",
    "Exactly",
    "WholeGroup",
    "SameSupport",
    "SemiContinuous",
)


def constraint(kind, rng, names):
    def pick(count):
        return [names[i] for i in rng.choice(len(names), size=count, replace=False)]

    (pair,), two = pick(1), pick(2)
    group = pick(int(rng.integers(2, min(4, len(names)) + 1)))
    number, ratio = float(np.round(rng.normal(), 2)), float(rng.choice([1.0, -1.0, 2.0]))
    coefs = {member: float(rng.choice([1.0, -1.0, 2.0, 0.5])) for member in group}
    least = float(rng.uniform(0.1, 0.8))
    return {
        "Equal": lambda: es.constraints.Equal(*two, ratio),
        "Linear ==": lambda: es.constraints.Linear(coefs, "==", float(rng.choice([0.0, number]))),
        "Linear <=": lambda: es.constraints.Linear(coefs, str(rng.choice(["<=", ">="])), number),
        "Bounds": lambda: es.constraints.Bounds(*pair, number, number + float(rng.uniform(0.1, 1))),
        "Sign": lambda: es.constraints.Sign(*pair, str(rng.choice(["+", "-"]))),
        "Fixed": lambda: es.constraints.Fixed(*pair, number),
        "Forbid": lambda: es.constraints.Forbid(*pair),
        "Require": lambda: es.constraints.Require(*pair),
        "Implies": lambda: es.constraints.Implies(*two),
        "NotBoth": lambda: es.constraints.NotBoth(*two),
        "AtMost": lambda: es.constraints.AtMost(int(rng.integers(0, 2)), group),
        "AtLeast": lambda: es.constraints.AtLeast(int(rng.integers(1, len(group))), group),
        "Exactly": lambda: es.constraints.Exactly(int(rng.integers(0, len(group))), group),
        "WholeGroup": lambda: es.constraints.WholeGroup(group),
        "SameSupport": lambda: es.constraints.SameSupport(),
        "SemiContinuous": lambda: es.constraints.SemiContinuous(*pair, least, float(rng.choice([np.inf, least + 1]))),
    }[kind]()


class Case:
    """One random problem: data, constraints, budget, and the answer of the oracle."""

    def __init__(self, seed, kinds, limit=2.0**27, alike=0.0):
        rng = np.random.default_rng(seed)
        self.count = 2 if "SameSupport" in kinds else int(rng.integers(1, 3))
        self.width = int(rng.integers(3, 5)) if self.count == 2 else int(rng.integers(4, 7))
        rows = int(rng.integers(self.width + 2, 20))
        thetas = [rng.normal(size=(rows, self.width)) for _ in range(self.count)]
        thetas = [t + alike * t[:, :1] for t in thetas]  # columns that resemble each other have large coefficients
        truth = rng.normal(size=(self.count, self.width)) * (rng.random((self.count, self.width)) < 0.5)
        targets = [t @ x + 0.5 * rng.normal(size=rows) for t, x in zip(thetas, truth, strict=True)]
        terms, equations = [f"t{j}" for j in range(self.width)], ["x'", "y'"][: self.count]
        names = list(itertools.product(equations, terms))
        self.problem = es.Problem.from_blocks(
            es.Problem.from_arrays(t, y, names=terms, target_names=[e])
            for t, y, e in zip(thetas, targets, equations, strict=True)
        )
        self.constraints = [constraint(kind, rng, names) for kind in kinds]
        self.ridge = float(rng.choice([0.0, 0.3]))
        self.size = int(rng.integers(1, 4))
        self.total = bool(rng.random() < 0.4)
        weights = [float(w) for w in rng.choice([1.0, 2.5, 0.3], size=self.count)] if self.total else [1.0] * self.count
        self.k = es.Total(self.size, weights) if self.total else self.size
        self.oracle = Oracle(thetas, targets, names, weights, self.ridge, limit)
        self.settings = es.Settings(coefficient_limit=limit)
        self.expected = self.best(self.size)

    def best(self, size):
        """Return the oracle's supports within a size, best first."""
        sizes, total = (None, size) if self.total else ([size] * self.count, None)
        return self.oracle.best(self.constraints, sizes=sizes, total=total)

    def exactly(self, size):
        """Return those of them with exactly that many terms in each equation (without a shared budget)."""
        widths = [[v // self.width for v in item[2]] for item in self.best(size)]
        whole = [all(w.count(e) == size for e in range(self.count)) for w in widths]
        return [item for item, good in zip(self.best(size), whole, strict=True) if good]

    def check(self):
        try:
            solution = es.solve(
                self.problem, self.k, ridge=self.ridge, constraints=self.constraints, settings=self.settings
            )
        except es.errors.ConstraintError:  # a contradiction seen at the door
            assert not self.expected
            return
        if es.Status.INFEASIBLE in solution.status:
            assert not self.expected
            assert solution.conflict
            return
        assert self.expected
        value = self.expected[0][0]
        # Supports that differ by terms without effect have the same value; the oracle's rounding must not rank them.
        ties = [item for item in self.expected if item[0] <= value * (1 + 1e-12)]
        size = min(item[1] for item in ties)
        found = tuple(e * self.width + j for e, chosen in enumerate(solution.support) for j in chosen)
        assert solution.optimal
        assert found in [item[2] for item in ties if item[1] == size]
        assert np.isclose(solution.objective.sum(), value, rtol=1e-7, atol=1e-10)
        assert solution.lower_bound.sum() <= value * (1 + 1e-7)
        if solution.joint or self.count == 1:
            rivals = [item[0] for item in self.expected if item[1] == size and item[2] != found]
            margin = rivals[0] / value - 1 if rivals else np.inf
            assert np.isnan(solution.margin[0]) or np.isclose(solution.margin[0], margin, rtol=1e-5, atol=1e-6)
