"""Check a list of the best supports of one size: each entry, their order, and that none is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.exact import GRADIENT, RELATIVE, CheckedEquation, NormalEquations, as_float, tolerance
from exactsindy.certificate.ranking import below, countable
from exactsindy.certificate.verification import TOO_MANY
from exactsindy.problem import Problem


def check_rivals(
    problem: Problem,
    target: int,
    members: Sequence[Any],
    ridge: NDArray[np.float64],
    *,
    size: int,
    complete: bool,
    count: int | None = None,
    within: float | None = None,
) -> tuple[list[str], str]:
    """Check the best supports of exactly ``size`` terms of the equation with index ``target``.

    ``members`` are records with ``support``, ``terms`` (coefficients by name), ``objective`` and ``excess``, best
    first; ``ridge`` are the equation's weights over all terms. ``complete`` claims that nothing is missing of what was
    asked for: ``count`` supports, or all with an objective of at most (1 + within) times the best. Returns one sentence
    for each claim that does not hold, and why completeness was not checked (empty if it was).
    """
    equation = CheckedEquation.of(problem, target, np.asarray(ridge, dtype=np.float64))
    failures = [f"[{i}]: {text}" for i, m in enumerate(members) for text in _wrong(problem, equation, m, size)]
    if failures:
        return failures, ""
    objectives = [float(member.objective) for member in members]
    for i, (member, objective) in enumerate(zip(members, objectives, strict=True)):
        if i and objective < objectives[i - 1]:
            failures.append(f"[{i}]: its objective {objective!r} is less than the one before it.")
        expected = objective / objectives[0] - 1.0 if objectives[0] > 0 else (0.0 if objective == 0 else np.inf)
        if not np.isclose(float(member.excess), expected, rtol=RELATIVE, atol=RELATIVE):
            failures.append(f"[{i}]: its excess is claimed to be {member.excess!r}; the objectives give {expected!r}.")
    if complete and not countable(equation, size):
        return failures, TOO_MANY
    return failures + (_missing(problem, equation, members, size, count, within) if complete else []), ""


def _wrong(problem: Problem, equation: CheckedEquation, member: Any, size: int) -> Iterator[str]:
    """Yield what is wrong with one support, its coefficients or its objective."""
    support, terms = tuple(member.support), {name: float(value) for name, value in member.terms.items()}
    if sorted(set(support)) != list(support) or not set(support) <= set(equation.columns):
        yield f"{support} is no increasing list of terms of the library of {equation.name}."
        return
    if len(support) != size:
        yield f"{len(support)} terms where supports of {size} were asked for."
    if sorted(terms) != sorted(problem.names[j] for j in support):
        yield f"the terms {sorted(terms)} are not those of the support {support}."
        return
    if not np.isfinite(list(terms.values())).all():
        yield "not all coefficients are finite numbers."
        return
    chosen = [equation.columns.index(j) for j in support]
    if not NormalEquations(equation).independent(chosen):
        yield f"columns {support} are dependent: fewer terms do the same."
    coef = _coefficients(problem, equation, member)
    value, floor = as_float(equation.objective(coef)), equation.floor(coef)
    if not abs(float(member.objective) - value) <= tolerance(value, floor):
        yield f"the objective is claimed to be {member.objective!r}, but the coefficients give {value!r}."
    if equation.gradient(coef, chosen) > GRADIENT:
        yield "the coefficients are not the least-squares fit on their support."


def _coefficients(problem: Problem, equation: CheckedEquation, member: Any) -> list[float]:
    """Return the coefficients of a support, one for each column of the equation."""
    return [float(member.terms.get(problem.names[j], 0.0)) for j in equation.columns]


def _missing(
    problem: Problem,
    equation: CheckedEquation,
    members: Sequence[Any],
    size: int,
    count: int | None,
    within: float | None,
) -> list[str]:
    """Return what enumeration finds that the list, called complete, does not have."""
    listed = {tuple(equation.columns.index(j) for j in member.support) for member in members}
    if len(listed) < len(members):
        return ["a support stands twice."]
    objectives = [float(member.objective) for member in members]
    floor = max((equation.floor(_coefficients(problem, equation, member)) for member in members), default=0.0)
    level = max(objectives, default=0.0)
    if within is not None and objectives:
        level = max(level, (1 + within) * min(objectives))
    better, admissible = below(equation, size, level - 2 * tolerance(level, floor))
    if absent := sorted(better - listed):
        named = tuple(equation.columns[j] for j in absent[0])
        return [f"called complete, but the support {named} is better than the last one listed and is missing."]
    wanted = 1 if count is None else count
    if len(members) < min(wanted, admissible):
        return [f"called complete with {len(members)} supports, but {wanted} were asked for, there are {admissible}."]
    return []
