"""Which terms: supports of the same size beside each other, and the terms of several answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from exactsindy.errors import DataError
from exactsindy.model import Model
from exactsindy.plots import axes
from exactsindy.plots.discovery_like import DiscoveryLike
from exactsindy.solver import Pool, Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

Answer: TypeAlias = Solution | Model | DiscoveryLike | Mapping[str, Mapping[str, float]]


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
    drawn.set_xticks(range(len(terms)), terms, rotation=45, ha="right")
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
    for column, table in enumerate(tables.values()):
        for (equation, term), value in table.items():
            row = rows.index((equation, term))
            drawn.text(column, row, f"{value:.4g}", ha="center", va="center", fontsize=8)
            shade = axes.FOUND if value > 0 else axes.OTHER
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


def _cell(column: int, row: int, colour: str) -> Rectangle:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.45, row - 0.45), 0.9, 0.9, color=colour, alpha=0.2, lw=0)


def _coefficients(value: Answer) -> dict[tuple[str, str], float]:
    """Return ``{(equation, term): coefficient}`` of anything that has coefficients."""
    if isinstance(value, Mapping):
        return {(target, term): float(c) for target, terms in value.items() for term, c in terms.items()}
    if isinstance(value, Solution):
        return _coefficients(value.terms)
    model = value if isinstance(value, Model) else value.model
    return {(row.name, term.name): c for row in model.rows for c, term in row.parts}
