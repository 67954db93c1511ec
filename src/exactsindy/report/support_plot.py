"""Which terms: rivals of the same size, and how often resamples agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactsindy.errors import DataError
from exactsindy.report import style as canvas
from exactsindy.report.text import worse
from exactsindy.solver import Pool


def plot_supports(result: Any, *, equation: str | None = None, count: int = 10, ax: Any = None) -> Any:
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
    >>> ax = plot_supports(es.solve_pool(problem, 2, count=3))
    >>> [text.get_text() for text in ax.get_xticklabels()][:2]
    ['c', 'd']
    """
    pool = result if isinstance(result, Pool) else getattr(result, "pool", None)
    if not isinstance(pool, Pool):
        raise DataError("plot_supports: expected a Pool, or a Discovery that holds rivals; solve_pool makes one.")
    target = next(iter(pool.members)) if equation is None else equation
    members = pool[target][:count]
    terms = list(dict.fromkeys(name for member in members for name in member.terms))
    (drawn,) = canvas.axes(ax, width=2.2 + 0.6 * len(terms), height=1.0 + 0.3 * len(members))
    present = np.array([[name in member.terms for name in terms] for member in members], dtype=float)
    from matplotlib.colors import ListedColormap

    drawn.imshow(present.reshape(len(members), -1), cmap=ListedColormap(["#f0f0f0", canvas.FOUND]), vmin=0, vmax=1)
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
