"""Proof files under random constraints on coefficients and presence, given to the independent checker."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import numpy as np

from exactsindy import constraints as limits
from exactsindy.certificate import check_proof
from exactsindy.constraints import Constraint
from exactsindy.errors import ExactSindyError, ProblemError
from exactsindy.problem import Problem
from exactsindy.solver import Total, solve
from exactsindy_experiments.torture_families import FAMILIES
from exactsindy_experiments.torture_instances import Task, draw

_ORDINARY = "ordinary"


def constrained_proofs(instances: int, seed: int, folder: Path) -> Iterator[tuple[Task, str, str]]:
    """Yield problems with what the checker says of their proofs, or "no proof", and the reason.

    Every other problem is an ordinary one with up to three equations, the others are of the hostile families.
    """
    families = [name for family in FAMILIES for name in (_ORDINARY, family)]
    for name, index in islice(((name, index) for index in count() for name in families), instances):
        task = Task(name, seed, index)
        rng = np.random.default_rng([seed, families.index(name), index, 7])
        try:
            problem, size, ridge = _ordinary(rng) if name == _ORDINARY else _hostile(task)
        except ProblemError:
            continue  # its numbers are refused before a search
        chosen = _constraints(problem, rng)
        k = Total(size + 1) if len(problem.target_names) > 1 and rng.random() < 0.3 else size
        file = folder / "one.proof"
        file.unlink(missing_ok=True)
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                solve(problem, k, ridge=ridge, constraints=chosen, proof=file)
        except ExactSindyError as error:
            yield task, "refused", str(error)
            continue
        if not file.exists():
            yield task, "no proof", "".join(str(warning.message).partition("because ")[2] for warning in said)
            continue
        report = check_proof(problem, file, jobs=0)
        yield task, report.outcome, str(report)


def without_names(reason: str) -> str:
    """Return a reason without the names of equations and what follows its first sentence, so that it can be counted."""
    text = re.sub(r"\by\d*'(, y\d*')*", "an equation", reason)
    return text.partition(". ")[0].rstrip(".")


def _ordinary(rng: np.random.Generator) -> tuple[Problem, int, float]:
    terms, equations = int(rng.integers(5, 10)), int(rng.integers(1, 4))
    theta = rng.standard_normal((terms + int(rng.integers(3, 30)), terms))
    truth = rng.standard_normal((terms, equations)) * (rng.random((terms, equations)) < 0.4)
    noise = rng.standard_normal((len(theta), equations)) * 10.0 ** rng.integers(-3, 1)
    ridge = float(rng.choice([0.0, 0.0, 0.1]))
    return Problem.from_arrays(theta, theta @ truth + noise), int(rng.integers(1, 5)), ridge


def _hostile(task: Task) -> tuple[Problem, int, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    one = draw(task)
    return one.problem, one.size, np.asarray(one.ridge)


def _constraints(problem: Problem, rng: np.random.Generator) -> list[Constraint]:
    """Return one to three constraints; numbers are of the size that coefficients have."""

    def pair() -> tuple[tuple[str, str], float]:
        e = int(rng.integers(len(problem.target_names)))
        block, column = problem.locate(problem.target_names[e])
        j = int(rng.integers(len(block.terms)))
        norm = float(np.linalg.norm(block.factor[:, j])) or 1.0
        target = float(np.linalg.norm(block.factor[:, len(block.terms) + column])) or 1.0
        return (problem.target_names[e], block.names[j]), target / norm * float(rng.normal())

    chosen: list[Constraint] = []
    for _ in range(int(rng.integers(1, 4))):
        (first, number), (second, _) = pair(), pair()
        kind = int(rng.integers(8))
        if kind == 0:
            chosen.append(limits.Sign(*first, "+" if number > 0 else "-"))
        elif kind == 1:
            chosen.append(limits.Bounds(*first, -abs(number), abs(number) / 2))
        elif kind == 2:
            chosen.append(limits.Fixed(*first, number))
        elif first == second:
            chosen.append(limits.Forbid(*first))
        elif kind == 3:
            chosen.append(limits.Equal(first, second, float(rng.choice([1.0, -1.0, 0.1, 2.5]))))
        elif kind == 4:
            chosen.append(limits.Linear({first: 1.0, second: float(rng.normal())}, "<=", number))
        elif kind == 5:
            chosen.append(limits.Linear({first: 0.1, second: 0.3}, "==", 0.1 * number))
        else:
            chosen.append(limits.Implies(first, second) if kind == 6 else limits.NotBoth(first, second))
    return chosen
