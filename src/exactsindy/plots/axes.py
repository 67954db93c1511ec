"""Axes to draw on and the colours of all plots, without touching the state of pyplot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from exactsindy._optional import optional
from exactsindy.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colour-blind safe (Okabe and Ito): what was measured, what was found, what it is compared with.
MEASURED, FOUND, OTHER = "#8c8c8c", "#0072B2", "#D55E00"
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6b6b6b")
# Of values of both signs the smaller must reach this share of the larger, else it is noise around zero.
_BOTH_SIGNS = 0.15
# A power within text, and its digits raised.
_POWER, _RAISED = re.compile(r"\^(-?\d+)"), str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def panels(
    ax: Axes | Sequence[Axes] | None, count: int = 1, *, width: float = 6.0, height: float = 2.4, three: bool = False
) -> list[Axes]:
    """Return ``count`` axes: those given, or those of a new figure, one below the other."""
    optional("matplotlib", "report", "A plot")
    if ax is not None:
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(axes) != count:
            raise DataError(f"ax holds {len(axes)} axes; expected {count}, one for each panel.")
        return axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Inches; 3.2 leaves room for the labels of a single panel.
    figure = Figure(figsize=(width, max(height * count, 3.2)), layout="constrained")
    FigureCanvasAgg(figure)
    if three:
        optional("mpl_toolkits.mplot3d", "report", "A plot in three dimensions")
        return [figure.add_subplot(projection="3d")]
    return list(np.ravel(figure.subplots(count, 1, sharex=count > 1)))


def tidy(ax: Axes) -> None:
    """Take away the frame lines that carry no information."""
    for side in ("top", "right"):
        if side in ax.spines:
            ax.spines[side].set_visible(False)


def raised(text: str) -> str:
    """Return text with its powers raised: x² for x^2."""
    return _POWER.sub(lambda found: found[1].translate(_RAISED), text)


def both_signs(low: float, high: float) -> bool:
    """Return True if values from low to high have both signs by more than noise around zero."""
    return low < 0 < high and min(-low, high) > _BOTH_SIGNS * max(-low, high)
