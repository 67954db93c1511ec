"""The accuracy-sparsity path: objective and proved bound against the number of terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exactsindy.errors import DataError
from exactsindy.plots import axes
from exactsindy.plots.discovery_like import DiscoveryLike
from exactsindy.problem import find_target
from exactsindy.selection import Selection
from exactsindy.solver import Path, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def path(result: Path | Selection | DiscoveryLike, *, equation: str | None = None, ax: Axes | None = None) -> Axes:
    """Plot the objective against the number of terms, with the proved lower bounds.

    Filled circles are proved optimal. Where a limit stopped the proof, a bar reaches down to the bound. The size
    that was chosen is ringed.

    Parameters
    ----------
    result
        A `Path`, a `Selection` or a `Discovery`.
    equation
        Which equation; all by default.
    ax
        Axes to draw on; a new figure by default.

    Returns
    -------
    Axes
        ``.figure.savefig("path.png")`` saves it.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> theta = np.random.default_rng(0).normal(size=(50, 6))
    >>> steps = es.solve_path(es.Problem.from_arrays(theta, theta[:, 2] + 0.1 * theta[:, 3]), 3)
    >>> path(steps).get_xlabel()
    'number of terms'
    """
    curves = path_curves(result, equation)
    (drawn,) = axes.panels(ax)
    for i, curve in enumerate(curves):
        _draw(drawn, curve, axes.CYCLE[i % len(axes.CYCLE)])
    drawn.set(xlabel="number of terms", ylabel="squared residual")
    if all(min(curve.objective) > 0 for curve in curves):
        drawn.set_yscale("log")
    drawn.locator_params(axis="x", integer=True)
    drawn.legend(frameon=False)
    axes.tidy(drawn)
    return drawn


def _draw(ax: Axes, curve: PathCurve, colour: str) -> None:
    sizes, values = np.array(curve.sizes), np.array(curve.objective)
    proved = np.array(curve.proved)
    ax.plot(sizes, values, "-", color=colour, lw=1.2, label=curve.equation)
    ax.plot(sizes[proved], values[proved], "o", color=colour, ms=5)
    ax.plot(sizes[~proved], values[~proved], "o", color=colour, mfc="none", ms=5)
    bounds = np.array(curve.lower_bound)
    known = ~proved & np.isfinite(bounds) & (bounds > 0)
    ax.vlines(sizes[known], bounds[known], values[known], color=colour, lw=3, alpha=0.35)
    if curve.chosen is not None:
        ax.plot(curve.chosen, values[curve.chosen], "o", color=colour, mfc="none", ms=12, mew=1.5)


def path_curves(result: Path | Selection | DiscoveryLike, equation: str | None = None) -> tuple[PathCurve, ...]:
    """Return the curves of all equations, or of one.

    Raises
    ------
    DataError
        If ``result`` holds no path.
    """
    selection = result if isinstance(result, Path | Selection) else getattr(result, "selection", None)
    solved = selection.path if isinstance(selection, Selection) else selection
    if not isinstance(solved, Path):
        raise DataError(f"plots.path: expected a Path, a Selection or a Discovery, not {type(result).__name__}.")
    chosen = [choice.k for choice in selection.choices] if isinstance(selection, Selection) else []
    targets = solved.problem.target_names
    if solved[0].joint:
        return (_curve(solved, 0, ", ".join(targets), range(len(targets)), chosen[0] if chosen else None),)
    rows = range(len(targets)) if equation is None else [find_target(equation, targets)]
    return tuple(_curve(solved, i, targets[i], [i], chosen[i] if chosen else None) for i in rows)


def _curve(solved: Path, entry: int, name: str, rows: Sequence[int], chosen: int | None) -> PathCurve:
    targets, names = solved.problem.target_names, solved.problem.names
    joint = len(rows) > 1
    return PathCurve(
        name,
        tuple(range(len(solved))),
        tuple(float(s.objective[entry]) for s in solved),
        tuple(float(s.lower_bound[entry]) for s in solved),
        tuple(s.status[entry] is Status.OPTIMAL for s in solved),
        tuple(
            tuple(f"{targets[i]}: {names[j]}" if joint else names[j] for i in rows for j in s.support[i])
            for s in solved
        ),
        chosen,
    )
