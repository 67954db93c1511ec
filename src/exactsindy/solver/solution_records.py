"""Solutions, paths and pools as plain records for JSON; doubles come back to the bit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from exactsindy._files import reason
from exactsindy._records import flag, mapping, real, reals, sequence, texts, whole, wholes
from exactsindy.errors import DataError
from exactsindy.problem import COEFFICIENT_LIMIT, Problem
from exactsindy.solver import arguments
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
    m, width = len(problem.target_names), len(problem.terms)
    try:
        record = mapping(record, "solution")
        support = tuple(wholes(row, "support", below=width) for row in sequence(record["support"], "support"))
        values = [reals(row, "values") for row in sequence(record["values"], "values")]
        if [len(row) for row in values] != [len(row) for row in support] or len(support) != m:
            raise DataError(f"support and values do not belong together, or not to {m} equations")
        if any(list(row) != sorted(set(row)) for row in support):
            raise DataError("the indices of a support are not in order")
        coef = np.zeros((m, width))
        for row, indices in enumerate(support):
            coef[row, list(indices)] = values[row]
        solution = Solution(
            problem=problem,
            coef=coef,
            support=support,
            objective=_numbers(record, "objective"),
            lower_bound=_numbers(record, "lower_bound"),
            margin=_numbers(record, "margin"),
            status=tuple(Status[name] for name in texts(record["status"], "status")),
            nodes=np.array(wholes(record["nodes"], "nodes"), dtype=np.int64),
            seconds=_numbers(record, "seconds"),
            ridge=np.array([reals(row, "ridge", least=0.0) for row in sequence(record["ridge"], "ridge")]),
            coefficient_limit=real(record.get("coefficient_limit", COEFFICIENT_LIMIT), "coefficient_limit", least=0.0),
            k=arguments.budget(problem, Total(**record["k"]) if isinstance(record["k"], dict) else record["k"]),
        )
    except KeyError as error:
        raise DataError(f"the stored solution is damaged: {reason(error)} is missing or unknown.") from error
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"the stored solution is damaged: {reason(error)}.") from error
    counts = {
        len(getattr(solution, name)) for name in ("objective", "lower_bound", "margin", "status", "nodes", "seconds")
    }
    if solution.ridge.shape != (m, width) or counts not in ({1}, {m}):
        raise DataError(f"the stored solution is damaged: it is not one of {m} equations and {width} terms.")
    return solution


def _numbers(record: Mapping[str, Any], entry: str) -> Any:
    return np.array(reals(record[entry], entry, finite=False))


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
    return Path(problem, tuple(read_solution(record, problem) for record in sequence(records, "path")))


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
        entries = {target: mapping(entry, target) for target, entry in mapping(record, "pool").items()}
        width = len(problem.terms) * len(problem.target_names)
        members = {
            target: tuple(_read_member(mapping(m, "members"), width) for m in sequence(entry["members"], "members"))
            for target, entry in entries.items()
        }
        complete = {target: flag(entry["complete"], "complete") for target, entry in entries.items()}
        asked: Mapping[str, Any] = next(iter(entries.values()), {})
        count, within = asked.get("count"), asked.get("within")
        return Pool(
            problem,
            members,
            complete,
            None if count is None else whole(count, "count"),
            None if within is None else real(within, "within"),
        )
    except KeyError as error:
        raise DataError(f"the stored pool is damaged: {reason(error)} is missing.") from error
    except (TypeError, ValueError) as error:
        raise DataError(f"the stored pool is damaged: {reason(error)}.") from error


def _read_member(record: Mapping[str, Any], width: int) -> Member:
    return Member(
        wholes(record["support"], "support", below=width),
        {name: real(value, name) for name, value in mapping(record["terms"], "terms").items()},
        real(record["objective"], "objective", finite=False),
        real(record["excess"], "excess", finite=False),
    )


def plain(values: Any) -> list[Any]:
    """Return numbers for JSON; what is not finite as text."""
    return [float(v) if math.isfinite(v) else str(float(v)) for v in values]
