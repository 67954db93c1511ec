"""Check a list of the best supports of one size: each entry, their order, and that none is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.exact import RELATIVE, CheckedEquation, as_float, tolerance
from exactsindy.certificate.judging import Normal, misfits
from exactsindy.certificate.ranking import countable, missing
from exactsindy.certificate.verification import TOO_MANY
from exactsindy.problem import COEFFICIENT_LIMIT, Problem

_TOO_MANY_JUDGED = "too many supports would have to be judged to count them"


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
    limit: float = COEFFICIENT_LIMIT,
) -> tuple[list[str], str]:
    """Check the best supports of exactly ``size`` terms of the equation with index ``target``.

    ``members`` are records with ``support``, ``terms`` (coefficients by name), ``objective`` and ``excess``, best
    first; ``ridge`` are the equation's weights over all terms, ``limit`` is the limit of coefficients. ``complete``
    claims that nothing is missing of what was asked for: ``count`` supports, or all with an objective of at most
    (1 + within) times the best. Returns one sentence for each claim that does not hold, and why completeness was not
    checked (empty if it was).
    """
    equation = CheckedEquation.of(problem, target, np.asarray(ridge, dtype=np.float64))
    normal = Normal(equation, limit)
    failures = [f"[{i}]: {text}" for i, m in enumerate(members) for text in _wrong(problem, normal, m, size)]
    if failures:
        return failures, ""
    objectives = [float(member.objective) for member in members]
    for i, (member, objective) in enumerate(zip(members, objectives, strict=True)):
        if i and objective < objectives[i - 1]:
            failures.append(f"[{i}]: its objective {objective!r} is less than the one before it.")
        expected = objective / objectives[0] - 1.0 if objectives[0] > 0 else (0.0 if objective == 0 else np.inf)
        if not np.isclose(float(member.excess), expected, rtol=RELATIVE, atol=RELATIVE):
            failures.append(f"[{i}]: its excess is claimed to be {member.excess!r}; the objectives give {expected!r}.")
    supports = [tuple(member.support) for member in members]
    if len(set(supports)) < len(supports):
        failures.append("a support stands twice.")
    if count is not None and len(members) > count:
        failures.append(f"there are {len(members)} supports where {count} were asked for.")
    if within is not None and objectives and objectives[-1] > (1 + within) * objectives[0] * (1 + RELATIVE):
        failures.append(f"the last support is more than {within!r} worse than the first.")
    if not complete or failures:
        return failures, ""
    if not countable(equation, size):
        return failures, TOO_MANY
    return _missing(normal, members, size, count, within)


def _wrong(problem: Problem, normal: Normal, member: Any, size: int) -> Iterator[str]:
    """Yield what is wrong with one support, its coefficients or its objective."""
    equation = normal.equation
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
    judged = normal.judge(chosen)
    if judged.admissible is False:
        yield f"columns {support} {judged.fault}"
    if judged.value is None:
        return
    value = as_float(judged.value)
    if not abs(float(member.objective) - value) <= tolerance(value, judged.blur):
        yield f"the objective is claimed to be {member.objective!r}, but the best fit on the support has {value!r}."
    values = [terms[problem.names[j]] for j in support]
    for i, true in misfits(normal, chosen, judged, values):
        yield f"the coefficient of {problem.names[support[i]]} is {values[i]!r}; the least-squares fit has {true!r}."


def _missing(
    normal: Normal, members: Sequence[Any], size: int, count: int | None, within: float | None
) -> tuple[list[str], str]:
    """Return what enumeration finds that the list, called complete, does not have, or why it is not known."""
    equation = normal.equation
    listed = {tuple(equation.columns.index(j) for j in member.support) for member in members}
    objectives = [float(member.objective) for member in members]
    blur = max((normal.judge(support).blur for support in listed), default=0.0)
    level = max(objectives, default=math.inf)
    if within is not None and objectives:
        level = max(level, (1 + within) * min(objectives))
    wanted = 1 if count is None else count
    found = missing(normal, size, level - 2 * tolerance(level, blur) if level < math.inf else level, listed, wanted + 1)
    if found.absent is not None:
        named = tuple(equation.columns[j] for j in found.absent)
        return [f"called complete, but the support {named} is better than the last one listed and is missing."], ""
    if not found.known:
        return [], _TOO_MANY_JUDGED
    if len(members) >= wanted:
        return [], ""
    if found.admissible is None:
        return [], _TOO_MANY_JUDGED
    if len(members) < min(wanted, found.admissible):
        text = f"but {wanted} were asked for, there are {found.admissible}."
        return [f"called complete with {len(members)} supports, {text}"], ""
    return [], ""
