"""Plots of results with matplotlib: ``es.plots.fit(found)``, ``es.plots.path(path)``."""

from exactsindy.report import plot_comparison as comparison
from exactsindy.report import plot_field as field
from exactsindy.report import plot_fit as fit
from exactsindy.report import plot_path as path
from exactsindy.report import plot_phase as phase
from exactsindy.report import plot_supports as supports

__all__ = ["comparison", "field", "fit", "path", "phase", "supports"]
