"""Plots of results with matplotlib: ``es.plots.fit(found)``, ``es.plots.path(path)``."""

from exactsindy.plots.axes import both_signs as both_signs
from exactsindy.plots.axes import raised as raised
from exactsindy.plots.data_plots import field as field
from exactsindy.plots.data_plots import fit as fit
from exactsindy.plots.data_plots import phase as phase
from exactsindy.plots.discovery_like import DiscoveryLike as DiscoveryLike
from exactsindy.plots.horizon import Prediction as Prediction
from exactsindy.plots.horizon import Predictions as Predictions
from exactsindy.plots.horizon import predictions as predictions
from exactsindy.plots.next_samples import StepPairs as StepPairs
from exactsindy.plots.next_samples import step_pairs as step_pairs
from exactsindy.plots.replays import Replay as Replay
from exactsindy.plots.replays import replay as replay
from exactsindy.plots.replays import replay_field as replay_field
from exactsindy.plots.residuals import ResidualSeries as ResidualSeries
from exactsindy.plots.residuals import residual_series as residual_series
from exactsindy.plots.support_plots import PathCurve as PathCurve
from exactsindy.plots.support_plots import comparison as comparison
from exactsindy.plots.support_plots import path as path
from exactsindy.plots.support_plots import path_curves as path_curves
from exactsindy.plots.support_plots import supports as supports
from exactsindy.plots.support_plots import worse as worse

__all__ = ["comparison", "field", "fit", "path", "phase", "supports"]
