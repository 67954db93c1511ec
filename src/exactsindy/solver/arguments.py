"""Turn what users pass as ``k``, ``ridge`` and ``start`` into one plain record per equation."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.problem import Problem, find_target
from exactsindy.solver.settings import Settings, Total

# Largest size of a path, which holds a solution for every smaller one.
_MOST_SIZES = 10_000


class _HasSupport(Protocol):
    """A `Solution`, or another answer that knows its terms."""

    @property
    def support(self) -> Sequence[Sequence[int]]: ...


#: Terms per equation: an answer, ``{target: terms}``, or one list of term names or indices per equation.
Supports: TypeAlias = (
    _HasSupport | Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]] | Sequence[str | int]
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
        wide = f"{shape[1]} weights (one per term) or a {shape[0]} x {shape[1]} array (equations x terms)"
        raise SolverError(f"ridge has shape {value.shape}: expected a number, {wide}.")
    if value.size and not (value.min() >= 0 and value.max() < np.inf):  # NaN is neither
        raise SolverError("ridge holds a negative or non-finite number: expected numbers >= 0.")
    return value.copy() if value.shape == shape else np.broadcast_to(value, shape).copy()


def sizes(problem: Problem, k: Any, name: str = "k") -> tuple[int, ...]:
    """Return the number of terms of each equation: an int for all, a sequence, or a mapping from target name."""
    targets = problem.target_names
    if isinstance(k, Mapping):
        given = {target: _count(v, f"{name}[{key!r}]") for target, key, v in _by_target(problem, k, name)}
        missing = [target for target in targets if target not in given]
        if missing:
            cure = "name every equation, or pass one int for all"
            raise SolverError(f"{name} gives no number of terms for {', '.join(missing)}: {cure}.")
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
    count, m = _count(k.k, "Total(k)"), len(problem.target_names)
    if count > _MOST_SIZES:
        raise SolverError(f"Total(k={count}): expected at most {_MOST_SIZES} terms.")
    given = k.weights
    if given is None:
        return count, np.ones(m)
    if isinstance(given, Mapping):
        given = _in_order(problem, given, "Total(weights)", 1.0)
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise SolverError(f"Total(weights): expected positive finite numbers, not {k.weights!r}.") from None
    if values.shape != (m,):
        raise SolverError(f"Total(weights) has shape {values.shape}: expected {m} weights, one per equation.")
    if not (np.all(np.isfinite(values)) and np.all(values > 0)):
        raise SolverError("Total(weights): expected positive finite numbers.")
    return count, values


def weights(problem: Problem, k: tuple[int, ...] | Total) -> Array:
    """Return the weight of each equation in the objective: 1 without a shared budget."""
    return total(problem, k)[1] if isinstance(k, Total) else np.ones(len(problem.target_names))


def caps(problem: Problem, k: Total) -> tuple[int, ...]:
    """Return the most terms each target may have of a shared budget."""
    count = _count(k.k, "Total(k)")
    given = k.caps
    if given is None:
        return (count,) * len(problem.target_names)
    if isinstance(given, Mapping):
        given = _in_order(problem, given, "Total(caps)", count)
    return tuple(min(count, cap) for cap in sizes(problem, given, "Total(caps)"))


def check_problem(problem: Any, settings: Any = Settings()) -> None:  # noqa: B008 - frozen
    """Refuse what is not a Problem, most likely a plain array, and settings that are none."""
    if not isinstance(settings, Settings):
        raise SolverError(f"settings={settings!r}: expected Settings(...), e.g. Settings(seconds=60).")
    kind = type(problem)  # asked instead of the problem itself: to read its fingerprint would compute it
    if not hasattr(kind, "column_norms") or not hasattr(kind, "fingerprint"):
        raise SolverError(
            f"problem is of type {type(problem).__name__}: expected a Problem, e.g. "
            "Problem.from_arrays(theta, targets) or form.problem(data, library)."
        )


def _by_target(problem: Problem, given: Mapping[Any, Any], name: str) -> list[tuple[str, Any, Any]]:
    """Entries of a mapping with their full target names; an equation named twice is refused."""
    targets = problem.target_names
    entries = [(targets[find_target(key, targets)], key, value) for key, value in given.items()]
    for i, (target, key, _) in enumerate(entries):
        if target in [earlier for earlier, _, _ in entries[:i]]:
            raise SolverError(f"{name} names the equation {target} twice (the second time as {key!r}): name it once.")
    return entries


def _in_order(problem: Problem, given: Mapping[Any, Any], name: str, default: Any) -> list[Any]:
    """Return the values of a mapping in the order of the equations."""
    named = {target: value for target, _, value in _by_target(problem, given, name)}
    return [named.get(target, default) for target in problem.target_names]


def _count(value: Any, name: str) -> int:
    try:
        count = -1 if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        count = -1
    if count < 0:
        raise SolverError(f"{name}={value!r}: expected a number of terms (an integer >= 0).")
    return count


def supports(problem: Problem, support: Any, name: str) -> list[tuple[int, ...]]:
    """Return one tuple of indices into ``problem.terms`` per equation, from what `Supports` allows."""
    targets, chosen = problem.target_names, getattr(support, "support", support)
    if chosen is not support and getattr(support, "problem", None) is problem:
        return list(chosen)  # a solution of this very problem
    if isinstance(chosen, Mapping):
        chosen = _in_order(problem, chosen, name, ())
    elif isinstance(chosen, Sequence) and not isinstance(chosen, str):
        if len(targets) == 1 and (not chosen or isinstance(chosen[0], str | int | np.integer)):
            chosen = [chosen]
        if len(chosen) != len(targets):
            raise SolverError(
                f"{name} has {len(chosen)} entries, but the problem has {len(targets)} equations "
                f"({', '.join(targets)}): give one list of terms per equation."
            )
    else:
        raise SolverError(f"{name}={chosen!r}: expected a mapping from target to terms, or one list per equation.")
    return [
        _support(problem, target, terms, f"{name}[{target!r}]") for target, terms in zip(targets, chosen, strict=True)
    ]


def _support(problem: Problem, target: str, terms: Any, name: str) -> tuple[int, ...]:
    block, _ = problem.locate(target)
    columns, names = problem.columns(block).tolist(), block.names
    if isinstance(terms, str) or not isinstance(terms, Iterable):
        raise SolverError(f"{name}={terms!r}: expected a list of terms, e.g. [{terms!r}].")
    indices = set()
    for term in terms:
        label = getattr(term, "name", term)
        if isinstance(label, str):
            if label not in names:
                raise SolverError(f"{name}: no term {label!r} in the library of {target}; it has {', '.join(names)}.")
            indices.add(columns[names.index(label)])
        elif isinstance(term, int | np.integer) and not isinstance(term, bool) and term in columns:
            indices.add(int(term))
        else:
            raise SolverError(f"{name}: term index {term!r} is not in the library of {target}.")
    return tuple(sorted(indices))


def start(problem: Problem, support: Any) -> list[int] | None:
    """Return supports to start from as one list of variables ``equation * D + term``; None if there are none."""
    return None if support is None else variables(problem, supports(problem, support, "start"))


def variables(problem: Problem, chosen: Sequence[Sequence[int]]) -> list[int]:
    """Return one support per equation as one list of variables ``equation * D + term``."""
    return [e * len(problem.terms) + j for e, support in enumerate(chosen) for j in support]


def budget(problem: Problem, k: Any) -> tuple[int, ...] | Total:
    """Return a shared budget whose numbers make sense, or one size per equation."""
    return sizes(problem, k) if not isinstance(k, Total) else _checked(problem, k)


def largest(problem: Problem, k_max: Any) -> int | Total:
    """Return the largest size of a path: a number of terms, or a shared budget whose numbers make sense."""
    size = _count(k_max, "k_max") if not isinstance(k_max, Total) else _checked(problem, k_max)
    if (size.k if isinstance(size, Total) else size) > _MOST_SIZES:
        raise SolverError(f"k_max={k_max!r}: expected at most {_MOST_SIZES} terms.")
    return size


def _checked(problem: Problem, k: Total) -> Total:
    total(problem, k)
    caps(problem, k)
    return k
