"""Turn what users pass as ``k``, ``ridge`` and ``start`` into one plain record per equation."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.problem import Problem, find_target
from exactsindy.solver.settings import Total


class HasSupport(Protocol):
    """A `Solution`, or another answer that knows its terms."""

    @property
    def support(self) -> Sequence[Sequence[int]]:
        """Per equation the indices of its terms."""


#: Terms per equation: an answer, ``{target: terms}``, or one list of term names or indices per equation.
Supports: TypeAlias = (
    HasSupport | Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]] | Sequence[str | int]
)


def ridge_matrix(problem: Problem, ridge: Any) -> Array:
    """Return the ridge as an (m, D) matrix: a number, D weights, or one row of weights per equation."""
    shape = (len(problem.target_names), len(problem.terms))
    if isinstance(ridge, float) and 0.0 <= ridge < float("inf"):
        return np.full(shape, ridge)
    try:
        value = np.asarray(ridge, dtype=np.float64)
    except (TypeError, ValueError):
        raise SolverError(f"ridge={ridge!r}: expected a number >= 0 or an array of them.") from None
    if value.shape not in ((), (shape[1],), shape):
        raise SolverError(
            f"ridge has shape {value.shape}: expected a number, {shape[1]} weights (one per term) or a "
            f"{shape[0]} x {shape[1]} array (equations x terms)."
        )
    if not np.all(np.isfinite(value)) or np.any(value < 0):
        raise SolverError("ridge holds a negative or non-finite number: expected numbers >= 0.")
    return np.broadcast_to(value, shape).copy()


def sizes(problem: Problem, k: Any, name: str = "k") -> tuple[int, ...]:
    """Return the number of terms of each equation: an int for all, a sequence, or a mapping from target name."""
    targets = problem.target_names
    if isinstance(k, Mapping):
        given = {target: _count(v, f"{name}[{key!r}]") for target, key, v in _by_target(problem, k, name)}
        missing = [target for target in targets if target not in given]
        if missing:
            raise SolverError(
                f"{name} gives no number of terms for {', '.join(missing)}: name every equation, or pass one int "
                "for all."
            )
        counts = [given[target] for target in targets]
    elif isinstance(k, Sequence | np.ndarray) and not isinstance(k, str) and np.ndim(k) > 0:
        if len(k) != len(targets):
            raise SolverError(
                f"{name} has {len(k)} entries, but the problem has {len(targets)} equations ({', '.join(targets)})."
            )
        counts = [_count(value, f"{name}[{i}]") for i, value in enumerate(k)]
    else:
        counts = [_count(k, name)] * len(targets)
    return tuple(counts)


def total(problem: Problem, k: Total) -> tuple[int, Array]:
    """Return the shared budget and one weight per target."""
    count = _count(k.k, "Total(k)")
    m = len(problem.target_names)
    if k.weights is None:
        return count, np.ones(m)
    if isinstance(k.weights, Mapping):
        weights = np.ones(m)
        for target, _, value in _by_target(problem, k.weights, "Total(weights)"):
            weights[problem.target_names.index(target)] = _number(value, "Total(weights)")
    else:
        weights = np.asarray(_number(k.weights, "Total(weights)"))
        if weights.shape != (m,):
            raise SolverError(f"Total(weights) has shape {weights.shape}: expected {m} weights, one per equation.")
    if not (np.all(np.isfinite(weights)) and np.all(weights > 0)):
        raise SolverError("Total(weights): expected positive finite numbers.")
    return count, weights


def caps(problem: Problem, k: Total) -> tuple[int, ...]:
    """Return the most terms each target may have of a shared budget."""
    count = _count(k.k, "Total(k)")
    if k.caps is None:
        return (count,) * len(problem.target_names)
    given = k.caps
    if isinstance(given, Mapping):
        named = {target: value for target, _, value in _by_target(problem, given, "Total(caps)")}
        given = [named.get(target, count) for target in problem.target_names]
    return tuple(min(count, cap) for cap in sizes(problem, given, "Total(caps)"))


def check_problem(problem: Any) -> None:
    """Refuse what is not a Problem, most likely a plain array."""
    if not hasattr(problem, "target_names") or not hasattr(problem, "fingerprint"):
        raise SolverError(
            f"problem is of type {type(problem).__name__}: expected a Problem, e.g. "
            "Problem.from_arrays(theta, targets) or form.problem(data, library)."
        )


def _by_target(problem: Problem, given: Mapping[Any, Any], name: str) -> list[tuple[str, Any, Any]]:
    """Entries of a mapping with their full target names; an equation named twice is refused."""
    entries = [(_name(problem, key), key, value) for key, value in given.items()]
    seen: set[str] = set()
    for target, key, _ in entries:
        if target in seen:
            raise SolverError(f"{name} names the equation {target} twice (the second time as {key!r}): name it once.")
        seen.add(target)
    return entries


def _number(value: Any, name: str) -> Any:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise SolverError(f"{name}: expected positive finite numbers, not {value!r}.") from None


def _name(problem: Problem, key: Any) -> str:
    return problem.target_names[find_target(key, problem.target_names)]


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool | np.bool_):
        raise SolverError(f"{name}={value!r}: expected a number of terms (an integer >= 0).")
    try:
        count = operator.index(value)
    except TypeError:
        raise SolverError(f"{name}={value!r}: expected a number of terms (an integer >= 0).") from None
    if count < 0:
        raise SolverError(f"{name}={value!r}: expected a number of terms (an integer >= 0).")
    return count


def supports(problem: Problem, support: Any, name: str) -> list[tuple[int, ...]]:
    """Return one tuple of indices into ``problem.terms`` per equation.

    ``support`` is a mapping from target to term names or indices, or a sequence with one entry per equation.
    """
    targets = problem.target_names
    if hasattr(support, "support"):
        support = support.support
    if isinstance(support, Mapping):
        given = {target: value for target, _, value in _by_target(problem, support, name)}
        chosen = [given.get(target, ()) for target in targets]
    elif isinstance(support, Sequence) and not isinstance(support, str):
        chosen = list(support)
        if len(targets) == 1 and (not chosen or isinstance(chosen[0], str | int | np.integer)):
            chosen = [chosen]
        if len(chosen) != len(targets):
            raise SolverError(
                f"{name} has {len(chosen)} entries, but the problem has {len(targets)} equations "
                f"({', '.join(targets)}): give one list of terms per equation."
            )
    else:
        raise SolverError(f"{name}={support!r}: expected a mapping from target to terms, or one list per equation.")
    return [
        _support(problem, target, terms, f"{name}[{target!r}]") for target, terms in zip(targets, chosen, strict=True)
    ]


def _support(problem: Problem, target: str, terms: Any, name: str) -> tuple[int, ...]:
    block, _ = problem.locate(target)
    known = {problem.names[c]: int(c) for c in problem.columns(block)}
    if isinstance(terms, str) or not isinstance(terms, Iterable):
        raise SolverError(f"{name}={terms!r}: expected a list of terms, e.g. [{terms!r}].")
    indices = set()
    for term in terms:
        label = getattr(term, "name", term)
        if isinstance(label, str):
            if label not in known:
                raise SolverError(f"{name}: no term {label!r} in the library of {target}; it has {', '.join(known)}.")
            indices.add(known[label])
        else:
            if not isinstance(term, int | np.integer) or isinstance(term, bool) or term not in known.values():
                raise SolverError(f"{name}: term index {term!r} is not in the library of {target}.")
            indices.add(int(term))
    return tuple(sorted(indices))


def start(problem: Problem, support: Any) -> list[int] | None:
    """Return supports to start from as one list of variables ``equation * D + term``; None if there are none."""
    if support is None:
        return None
    return variables(problem, supports(problem, support, "start"))


def variables(problem: Problem, chosen: Sequence[Sequence[int]]) -> list[int]:
    """Return one support per equation as one list of variables ``equation * D + term``."""
    return [e * len(problem.terms) + j for e, support in enumerate(chosen) for j in support]


def budget(problem: Problem, k: Any) -> tuple[int, ...] | Total:
    """Return a shared budget whose numbers make sense, or one size per equation."""
    return _checked(problem, k) if isinstance(k, Total) else sizes(problem, k)


def largest(problem: Problem, k_max: Any) -> int | Total:
    """Return the largest size of a path: a number of terms, or a shared budget whose numbers make sense."""
    return _checked(problem, k_max) if isinstance(k_max, Total) else _count(k_max, "k_max")


def _checked(problem: Problem, k: Total) -> Total:
    total(problem, k)
    caps(problem, k)
    return k
