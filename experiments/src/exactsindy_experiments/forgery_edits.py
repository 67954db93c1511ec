"""Ways to change what is stored: every number, text, flag and list of a JSON file, and every field of an answer."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import exactsindy as es

#: Where an entry of a JSON document stands.
Place = tuple[str | int, ...]


def places(document: Any, here: Place = ()) -> Iterator[Place]:
    """Yield all entries of a document, lists and objects included."""
    if here:
        yield here
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*here, key))
    elif isinstance(document, list):
        for i, value in enumerate(document):
            yield from places(value, (*here, i))


def changed_values(value: Any) -> list[Any]:
    """Return other values for an entry."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 10 * value + 7]
    if isinstance(value, float):
        near = [math.nextafter(value, math.inf), value * (1 + 1e-6), value * (1 - 1e-6)]
        return [*near, -value - 1e-3, 0.0, 3 * value + 1.0, "nan", "inf", "-inf"]
    if isinstance(value, str):
        return [value + "x", "", "OPTIMAL" if value != "OPTIMAL" else "TIME_LIMIT", 0.5]
    if isinstance(value, list):
        shorter = [value[:-1], []] if value else []
        return [*shorter, value[::-1], value + value[-1:]]
    if isinstance(value, dict):
        without = [{k: v for k, v in value.items() if k != key} for key in value]
        return [*without[:3], {**value, "more": 1.0}]
    return [1.0, "x"]


def with_value(document: Any, place: Place, value: Any) -> Any:
    """Return a document with one entry changed."""
    changed = copy.deepcopy(document)
    parent = changed
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    return changed


def value_at(document: Any, place: Place) -> Any:
    """Return an entry of a document."""
    for key in place:
        document = document[key]
    return document


def changed_solutions(solution: es.Solution, rng: np.random.Generator) -> Iterator[tuple[str, es.Solution]]:
    """Yield a solution with each of its fields changed, and what was done."""
    for name in ("objective", "lower_bound", "margin"):
        array = np.asarray(getattr(solution, name), dtype=float)
        for i in range(len(array)):
            for value in changed_values(float(array[i])):
                other = array.copy()
                other[i] = float(value)
                changes: dict[str, Any] = {name: other}
                yield f"{name}[{i}] = {value!r}", replace(solution, **changes)
    present = [(row, j) for row, support in enumerate(solution.support) for j in support]
    for row, j in present:
        for value in changed_values(float(solution.coef[row, j]))[:7]:
            yield f"coef[{row}, {j}] = {value!r}", replace(solution, coef=_set(solution.coef, (row, j), value))
    row, j = int(rng.integers(len(solution.coef))), int(rng.integers(solution.coef.shape[1]))
    yield f"coef[{row}, {j}] += 1", replace(solution, coef=_set(solution.coef, (row, j), solution.coef[row, j] + 1))
    for row in range(len(solution.ridge)):
        for value in (0.25, 1e-9, 3.0):
            yield f"ridge[{row}] = {value}", replace(solution, ridge=_set(solution.ridge, (row,), value))
    for i in range(len(solution.status)):
        for status in es.Status:
            if status is not solution.status[i]:
                states = (*solution.status[:i], status, *solution.status[i + 1 :])
                yield f"status[{i}] = {status.name}", replace(solution, status=states)
    yield from _other_supports(solution, rng)
    yield from _other_sizes(solution)
    yield "constraints = ()", replace(solution, constraints=())
    forbid = es.constraints.Forbid(solution.problem.target_names[0], 0)
    yield "constraints + Forbid", replace(solution, constraints=(*solution.constraints, forbid))
    for limit in (2.0**20, 1e-3):
        yield f"coefficient_limit = {limit}", replace(solution, coefficient_limit=limit)
    for conflict in (("Forbid()",), (f"k = {len(solution.coef)}",), solution.conflict[1:]):
        if conflict != solution.conflict:
            yield f"conflict = {conflict!r}", replace(solution, conflict=conflict)
    yield "problem = 2 problem", replace(solution, problem=2.0 * solution.problem)


def _set(array: Any, index: Any, value: Any) -> Any:
    other = np.array(array, dtype=float)
    other[index] = float(value)
    return other


def _other_supports(solution: es.Solution, rng: np.random.Generator) -> Iterator[tuple[str, es.Solution]]:
    """Yield other supports, fitted rightly, under the claims of the solution, with its objective and with their own."""
    problem = solution.problem
    libraries = [problem.columns(problem.locate(row)[0]) for row in range(len(solution.support))]
    for _ in range(4):
        supports = [
            sorted(rng.choice(own, size=max(len(chosen), 1), replace=False).tolist())
            for own, chosen in zip(libraries, solution.support, strict=True)
        ]
        fitted = es.refit(problem, supports, ridge=solution.ridge)
        text = f"support = {supports}"
        moved = replace(solution, support=fitted.support)
        yield text, moved
        yield f"{text}, coef", replace(moved, coef=fitted.coef)
        value = fitted.objective
        if len(value) != len(solution.objective):
            value = np.array([float(value.sum())])
        unknown = np.full(len(value), math.nan)
        called = replace(moved, coef=fitted.coef, objective=value, lower_bound=value, margin=unknown)
        optimal = (es.Status.OPTIMAL,) * len(solution.status)
        yield f"{text}, coef, objective, bound, margin unknown", called
        yield f"{text}, called optimal", replace(called, status=optimal, lower_bound=np.zeros(len(value)))


def _other_sizes(solution: es.Solution) -> Iterator[tuple[str, es.Solution]]:
    if isinstance(solution.k, es.Total):
        yield "k + 1", replace(solution, k=replace(solution.k, k=solution.k.k + 1))
        yield "k - 1", replace(solution, k=replace(solution.k, k=solution.k.k - 1))
        yield "weights = None", replace(solution, k=replace(solution.k, weights=None))
        yield "caps = 1", replace(solution, k=replace(solution.k, caps=1))
        yield "caps = None", replace(solution, k=replace(solution.k, caps=None))
        return
    yield "k + 1", replace(solution, k=tuple(size + 1 for size in solution.k))
    yield "k - 1", replace(solution, k=tuple(max(size - 1, 0) for size in solution.k))
