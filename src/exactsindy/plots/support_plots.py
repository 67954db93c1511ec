"""The accuracy-sparsity path, supports of the same size beside each other, and the terms of several answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from exactsindy.errors import DataError
from exactsindy.model import Model
from exactsindy.plots import axes
from exactsindy.plots.discovery_like import DiscoveryLike
from exactsindy.problem import find_target
from exactsindy.selection import Selection
from exactsindy.solver import Path, Pool, Solution, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points of a path, and the largest where several curves are drawn.
_POINT, _LARGEST = 5.0, 12.5
Answer: TypeAlias = Solution | Model | DiscoveryLike | Mapping[str, Mapping[str, float]]


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
        Axes to draw on; a new figure by default. ``ax.figure.savefig("path.png")`` saves it.

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
        # Points of later curves are smaller: where curves coincide, those below are seen as rings.
        size = min(_POINT + 2.5 * (len(curves) - 1 - i), _LARGEST)
        _draw(drawn, curve, axes.CYCLE[i % len(axes.CYCLE)], size)
    drawn.set(xlabel="number of terms", ylabel="squared residual")
    if all(min(curve.objective) > 0 for curve in curves):
        drawn.set_yscale("log")
    drawn.locator_params(axis="x", integer=True)
    drawn.legend(frameon=False)
    axes.tidy(drawn)
    return drawn


def _draw(ax: Axes, curve: PathCurve, colour: str, size: float) -> None:
    sizes, values = np.array(curve.sizes), np.array(curve.objective)
    proved = np.array(curve.proved)
    ax.plot(sizes, values, "-", color=colour, lw=1.2, label=curve.equation)
    ax.plot(sizes[proved], values[proved], "o", color=colour, ms=size)
    ax.plot(sizes[~proved], values[~proved], "o", color=colour, mfc="none", ms=size)
    bounds = np.array(curve.lower_bound)
    known = ~proved & np.isfinite(bounds) & (bounds > 0)
    ax.vlines(sizes[known], bounds[known], values[known], color=colour, lw=3, alpha=0.35)
    if curve.chosen is not None:
        ax.plot(curve.chosen, values[curve.chosen], "o", color=colour, mfc="none", ms=size + 7, mew=1.5)


def path_curves(result: Path | Selection | DiscoveryLike, equation: str | None = None) -> tuple[PathCurve, ...]:
    """Return the curves of all equations, or of one."""
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


def worse(excess: float) -> str:
    """Return how much worse a fit is, for tables: ``4.1 %``, ``335 times``."""
    return f"{100 * excess:.3g} %" if excess < 1 else f"{1 + excess:.3g} times"


def supports(
    result: Pool | DiscoveryLike, *, equation: str | None = None, count: int = 10, ax: Axes | None = None
) -> Axes:
    """Plot the best supports of one equation: a row each, a filled cell for each of its terms, how much worse it fits.

    Parameters
    ----------
    result
        A `Pool`, or a `Discovery`.
    equation
        Which equation; the first by default.
    count
        How many supports at most.
    ax
        Axes to draw on; a new figure by default.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> theta = np.random.default_rng(0).normal(size=(50, 4))
    >>> problem = es.Problem.from_arrays(theta, theta[:, 2] + theta[:, 3], names=["a", "b", "c", "d"])
    >>> ax = supports(es.solve_pool(problem, 2, count=3))
    >>> [text.get_text() for text in ax.get_xticklabels()][:2]
    ['c', 'd']
    """
    pool = result if isinstance(result, Pool) else getattr(result, "pool", None)
    if not isinstance(pool, Pool):
        raise DataError("plots.supports: expected a Pool, or a Discovery that holds rivals; solve_pool makes one.")
    target = next(iter(pool.members)) if equation is None else equation
    members = pool[target][:count]
    terms = list(dict.fromkeys(name for member in members for name in member.terms))
    (drawn,) = axes.panels(ax, width=2.2 + 0.6 * len(terms), height=1.0 + 0.3 * len(members))
    present = np.array([[name in member.terms for name in terms] for member in members], dtype=float)
    from matplotlib.colors import ListedColormap

    drawn.imshow(present.reshape(len(members), -1), cmap=ListedColormap(["#f0f0f0", axes.FOUND]), vmin=0, vmax=1)
    drawn.set_aspect("auto")
    drawn.set_xticks(range(len(terms)), [axes.raised(name) for name in terms], rotation=45, ha="right")
    drawn.set_yticks(range(len(members)), [worse(member.excess) for member in members])
    drawn.set_ylabel("residual worse by")
    drawn.set_xticks(np.arange(len(terms) + 1) - 0.5, minor=True)
    drawn.set_yticks(np.arange(len(members) + 1) - 0.5, minor=True)
    drawn.grid(which="minor", color="white", lw=2)
    drawn.tick_params(which="both", length=0)
    for spine in drawn.spines.values():
        spine.set_visible(False)
    return drawn


def comparison(solutions: Mapping[str, Answer], *, ax: Axes | None = None) -> Axes:
    """Plot which terms each of several answers holds, and how large they are: one column per answer.

    Parameters
    ----------
    solutions
        Answers by name: `Solution`, `Model` or `Discovery`, or ``{equation: {term: coefficient}}`` (the truth).
    ax
        Axes to draw on; a new figure by default.

    Examples
    --------
    >>> ax = comparison({"truth": {"x'": {"x": -1.0}}, "found": {"x'": {"x": -0.9, "y": 0.1}}})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ["x': x", "x': y"]
    """
    tables = {name: _coefficients(value) for name, value in solutions.items()}
    rows = list(dict.fromkeys(key for table in tables.values() for key in table))
    (drawn,) = axes.panels(ax, width=2.2 + 1.3 * len(tables), height=1.0 + 0.28 * len(rows))
    from matplotlib.patches import Rectangle

    for column, table in enumerate(tables.values()):
        for key, value in table.items():
            row, shade = rows.index(key), axes.FOUND if value > 0 else axes.OTHER
            drawn.text(column, row, f"{value:.4g}", ha="center", va="center", fontsize=8)
            drawn.add_patch(Rectangle((column - 0.45, row - 0.45), 0.9, 0.9, color=shade, alpha=0.2, lw=0))
    drawn.set_xlim(-0.5, len(tables) - 0.5)
    drawn.set_ylim(len(rows) - 0.5, -0.5)
    drawn.set_xticks(range(len(tables)), list(tables))
    drawn.set_yticks(range(len(rows)), [axes.raised(f"{equation}: {term}") for equation, term in rows])
    drawn.tick_params(length=0)
    drawn.xaxis.tick_top()
    for spine in drawn.spines.values():
        spine.set_visible(False)
    return drawn


def _coefficients(value: Answer) -> dict[tuple[str, str], float]:
    """Return ``{(equation, term): coefficient}`` of anything that has coefficients."""
    if isinstance(value, Mapping):
        return {(target, term): float(c) for target, terms in value.items() for term, c in terms.items()}
    if isinstance(value, Solution):
        return _coefficients(value.terms)
    model = value if isinstance(value, Model) else value.model
    return {(row.name, term.name): c for row in model.rows for c, term in row.parts}
