"""The accuracy-sparsity path, and how solutions compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exactsindy.report import style as canvas
from exactsindy.report.curves import PathCurve, path_curves
from exactsindy.solver import Solution


def plot_path(result: Any, *, equation: str | None = None, ax: Any = None) -> Any:
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
    >>> path = es.solve_path(es.Problem.from_arrays(theta, theta[:, 2] + 0.1 * theta[:, 3]), 3)
    >>> plot_path(path).get_xlabel()
    'number of terms'
    """
    (drawn,) = canvas.axes(ax)
    for i, curve in enumerate(path_curves(result, equation)):
        _curve(drawn, curve, canvas.CYCLE[i % len(canvas.CYCLE)])
    drawn.set(xlabel="number of terms", ylabel="squared residual")
    if all(min(curve.objective) > 0 for curve in path_curves(result, equation)):
        drawn.set_yscale("log")
    drawn.xaxis.get_major_locator().set_params(integer=True)
    drawn.legend(frameon=False)
    canvas.tidy(drawn)
    return drawn


def _curve(ax: Any, curve: PathCurve, colour: str) -> None:
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


def plot_comparison(solutions: Mapping[str, Any], *, ax: Any = None) -> Any:
    """Plot which terms each of several answers holds, and how large they are: one column per answer.

    Parameters
    ----------
    solutions
        Answers by name: `Solution`, `Model` or `Discovery`, or ``{equation: {term: coefficient}}`` (the truth).
    ax
        Axes to draw on; a new figure by default.

    Examples
    --------
    >>> ax = plot_comparison({"truth": {"x'": {"x": -1.0}}, "found": {"x'": {"x": -0.9, "y": 0.1}}})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ["x': x", "x': y"]
    """
    tables = {name: _coefficients(value) for name, value in solutions.items()}
    rows = list(dict.fromkeys(key for table in tables.values() for key in table))
    (drawn,) = canvas.axes(ax, width=2.2 + 1.3 * len(tables), height=1.0 + 0.28 * len(rows))
    for column, table in enumerate(tables.values()):
        for (equation, term), value in table.items():
            row = rows.index((equation, term))
            drawn.text(column, row, f"{value:.4g}", ha="center", va="center", fontsize=8)
            shade = canvas.FOUND if value > 0 else canvas.OTHER
            drawn.add_patch(_cell(column, row, shade))
    drawn.set_xlim(-0.5, len(tables) - 0.5)
    drawn.set_ylim(len(rows) - 0.5, -0.5)
    drawn.set_xticks(range(len(tables)), list(tables))
    drawn.set_yticks(range(len(rows)), [f"{equation}: {term}" for equation, term in rows])
    drawn.tick_params(length=0)
    drawn.xaxis.tick_top()
    for spine in drawn.spines.values():
        spine.set_visible(False)
    return drawn


def _cell(column: int, row: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.45, row - 0.45), 0.9, 0.9, color=colour, alpha=0.2, lw=0)


def _coefficients(value: Any) -> dict[tuple[str, str], float]:
    """Return ``{(equation, term): coefficient}`` of anything that has coefficients."""
    if isinstance(value, Mapping):
        return {(target, term): float(c) for target, terms in value.items() for term, c in terms.items()}
    if isinstance(value, Solution):
        return _coefficients(value.terms)
    model = getattr(value, "model", value)
    return {(row.name, term.name): c for row in model.rows for c, term in row.parts}
