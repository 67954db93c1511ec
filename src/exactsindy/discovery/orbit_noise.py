"""How large the noise is that an orbit leaves, where it is correlated in time."""

from __future__ import annotations

import numpy as np

from exactsindy.discovery.fitted_models import FittedModels, Supports
from exactsindy.trajectory_fit import row_count

# Mean correlation of neighbouring residuals beyond which noise may be larger than estimated: smoothing follows what is
# correlated.
_COLOURED = 0.2


def noise_level(fits: FittedModels, model: Supports, saturated: Supports) -> float:
    """Return the misfit per row that noise leaves: 1, or what an saturated model leaves if residuals are coloured.

    A wrong model's residuals are correlated too, but an saturated one removes that. Each of its terms takes
    (1 + lag) / (1 - lag) rows' worth of such noise, that being its share at low frequencies.

    Parameters
    ----------
    fits
        The samples, and orbits fitted to them.
    model
        The terms of every equation.
    saturated
        Those of a model with more terms than laws have.
    """
    orbit, rows = fits.fit(model), row_count(fits.measured)
    residual = fits.measured.samples - orbit.states
    lags = (residual[1:] * residual[:-1]).sum(axis=0) / np.maximum((residual**2).sum(axis=0), np.finfo(float).tiny)
    lag = min(float(lags.mean()), 0.99)
    if not rows < orbit.misfit < np.inf or lag < _COLOURED or fits.late:
        return 1.0
    wide = tuple(tuple(sorted({*mine, *more})) for mine, more in zip(model, saturated, strict=True))
    extra = sum(map(len, wide)) - sum(map(len, model))
    taken = min(extra * (1 + lag) / (1 - lag) / rows, 0.5)
    return max(fits.fit(wide, model).misfit / rows / (1 - taken), 1.0)
