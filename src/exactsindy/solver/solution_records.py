"""Solutions, paths and pools as plain records for JSON; doubles come back to the bit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from exactsindy.errors import DataError
from exactsindy.problem import COEFFICIENT_LIMIT, Problem
from exactsindy.solver.path import Path
from exactsindy.solver.pool import Member, Pool
from exactsindy.solver.settings import Status, Total
from exactsindy.solver.solution import Solution


def solution_record(solution: Solution) -> dict[str, Any]:
    """Return a solution without its problem."""
    return {
        "k": _size_record(solution.k),
        "status": [status.name for status in solution.status],
        "support": [list(support) for support in solution.support],
        "values": [[float(solution.coef[row, j]) for j in support] for row, support in enumerate(solution.support)],
        "objective": plain(solution.objective),
        "lower_bound": plain(solution.lower_bound),
        "margin": plain(solution.margin),
        "nodes": [int(n) for n in solution.nodes],
        "seconds": plain(solution.seconds),
        "ridge": [plain(row) for row in np.asarray(solution.ridge)],
        "coefficient_limit": float(solution.coefficient_limit),
    }


def read_solution(record: Mapping[str, Any], problem: Problem) -> Solution:
    """Return the solution of a record, for the problem it was found for; refuse what does not fit it."""
    try:
        coef = np.zeros((len(problem.target_names), len(problem.terms)))
        support = tuple(tuple(int(j) for j in row) for row in record["support"])
        for row, (indices, values) in enumerate(zip(support, record["values"], strict=True)):
            coef[row, list(indices)] = [float(value) for value in values]
        size = record["k"]
        return Solution(
            problem=problem,
            coef=coef,
            support=support,
            objective=numbers(record["objective"]),
            lower_bound=numbers(record["lower_bound"]),
            margin=numbers(record["margin"]),
            status=tuple(Status[name] for name in record["status"]),
            nodes=np.array([int(n) for n in record["nodes"]], dtype=np.int64),
            seconds=numbers(record["seconds"]),
            ridge=np.array([numbers(row) for row in record["ridge"]]),
            coefficient_limit=float(record.get("coefficient_limit", COEFFICIENT_LIMIT)),
            k=Total(**size) if isinstance(size, dict) else tuple(int(n) for n in size),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"the stored solution is damaged ({type(error).__name__}: {error}).") from error


def _size_record(k: tuple[int, ...] | Total) -> Any:
    if not isinstance(k, Total):
        return [int(size) for size in k]
    return {"k": int(k.k), "weights": _listed(k.weights), "caps": _listed(k.caps)}


def _listed(value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value
    return dict(value) if isinstance(value, Mapping) else [float(item) if item % 1 else int(item) for item in value]


def path_record(path: Path) -> list[dict[str, Any]]:
    """Return every size of a path."""
    return [solution_record(solution) for solution in path]


def read_path(records: Sequence[Mapping[str, Any]], problem: Problem) -> Path:
    """Return the path of records."""
    return Path(problem, tuple(read_solution(record, problem) for record in records))


def pool_record(pool: Pool) -> dict[str, Any]:
    """Return the members of a pool by equation."""
    asked = {
        "count": None if pool.count is None else int(pool.count),
        "within": None if pool.within is None else float(pool.within),
    }
    return {
        target: {"complete": bool(pool.complete[target]), **asked, "members": [_member_record(m) for m in members]}
        for target, members in pool.members.items()
    }


def _member_record(member: Member) -> dict[str, Any]:
    objective, excess = plain([member.objective, member.excess])
    terms = {name: float(value) for name, value in member.terms.items()}
    return {"support": list(member.support), "terms": terms, "objective": objective, "excess": excess}


def read_pool(record: Mapping[str, Any], problem: Problem) -> Pool:
    """Return the pool of a record."""
    try:
        members = {
            target: tuple(
                Member(tuple(m["support"]), dict(m["terms"]), float(m["objective"]), float(m["excess"]))
                for m in entry["members"]
            )
            for target, entry in record.items()
        }
        complete = {target: bool(entry["complete"]) for target, entry in record.items()}
        asked: Mapping[str, Any] = next(iter(record.values()), {})
        return Pool(problem, members, complete, asked.get("count"), asked.get("within"))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"the stored pool is damaged ({type(error).__name__}: {error}).") from error


def plain(values: Any) -> list[Any]:
    """Return numbers for JSON; what is not finite as text."""
    return [float(v) if math.isfinite(v) else str(float(v)) for v in values]


def numbers(values: Sequence[Any]) -> Any:
    """Return an array from what `plain` made."""
    return np.array([float(value) for value in values])
