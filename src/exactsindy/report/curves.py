"""The numbers behind the plot of a path, taken from a path, a selection or a discovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exactsindy.errors import DataError
from exactsindy.problem import find_target
from exactsindy.solver import Path, Status


@dataclass(frozen=True)
class PathCurve:
    """One equation (or all, with a shared budget): objective and proved bound of every size."""

    equation: str
    sizes: tuple[int, ...]
    objective: tuple[float, ...]
    lower_bound: tuple[float, ...]
    proved: tuple[bool, ...]
    terms: tuple[tuple[str, ...], ...]
    chosen: int | None


def path_curves(result: Any, equation: str | None = None) -> tuple[PathCurve, ...]:
    """Return the curves of all equations, or of one.

    Raises
    ------
    DataError
        If ``result`` holds no path.
    """
    selection = getattr(result, "selection", result)
    path = getattr(selection, "path", selection)
    if not isinstance(path, Path):
        raise DataError(f"plot_path: expected a Path, a Selection or a Discovery, not {type(result).__name__}.")
    chosen = [choice.k for choice in getattr(selection, "choices", ())]
    targets = path.problem.target_names
    if path[0].joint:
        return (_curve(path, 0, ", ".join(targets), range(len(targets)), chosen[0] if chosen else None),)
    rows = range(len(targets)) if equation is None else [find_target(equation, targets)]
    return tuple(_curve(path, i, targets[i], [i], chosen[i] if chosen else None) for i in rows)


def _curve(path: Path, entry: int, name: str, rows: Any, chosen: int | None) -> PathCurve:
    targets, names = path.problem.target_names, path.problem.names
    joint = len(rows) > 1
    return PathCurve(
        name,
        tuple(range(len(path))),
        tuple(float(s.objective[entry]) for s in path),
        tuple(float(s.lower_bound[entry]) for s in path),
        tuple(s.status[entry] is Status.OPTIMAL for s in path),
        tuple(
            tuple(f"{targets[i]}: {names[j]}" if joint else names[j] for i in rows for j in s.support[i]) for s in path
        ),
        chosen,
    )
