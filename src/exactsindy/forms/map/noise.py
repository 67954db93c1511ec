"""The size of measurement noise in the samples of a map, from what one step of a model leaves of them."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.forms.base import groups, trajectory_inputs
from exactsindy.forms.map.map_form import next_values
from exactsindy.library import Library, Variable


def one_step_noise(data: Trajectories, library: Library, lags: int) -> Array:
    """Return the standard deviation of the noise of each state, from the residuals of the whole library.

    A row leaves r = e[k+1] - J e[k] for noise e and slopes J of the map, so that the mean of r_i^2 is
    s_i^2 + sum_j mean(J_ij^2) s_j^2: as many equations as states with an equation, solved for squares that are not
    negative. States without an equation share the size of the others, relative to their spread. ``data`` are those of
    `lagged`.
    """
    from scipy.optimize import nnls  # loaded when needed: importing it is slow

    names = data.state_names
    spread = np.vstack([member.states for member in data]).std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    matrix, squares = [], []
    for group in groups(data, library):
        inputs = np.vstack([trajectory_inputs(group.features, m, m.states[:-1], 0, len(m) - 1) for m in data])
        later = np.vstack([next_values(member, group.targets) for member in data])
        theta = group.features.evaluate(inputs)
        size = np.maximum(np.linalg.norm(theta, axis=0), np.finfo(float).tiny)
        coef, *_ = np.linalg.lstsq(theta / size, later, rcond=None)
        left = later - theta / size @ coef
        degrees = max(len(left) - theta.shape[1], 1)
        variables = [*names, *(f"{name}[k-{lag}]" for lag in range(1, lags + 1) for name in names)]
        slopes = group.features.jacobian(inputs, (coef / size[:, None]).T, wrt=[Variable(v) for v in variables])
        for e, target in enumerate(group.targets):
            own = names.index(target.state)
            slope = slopes[:, e]
            slope[:, own] += float(target.step == "change")
            mean = (slope**2).mean(axis=0).reshape(lags + 1, len(names)).sum(axis=0)
            mean[own] += 1.0
            matrix.append(mean * spread**2)
            squares.append(float((left[:, e] ** 2).sum()) / degrees)
    rows, right = np.array(matrix), np.array(squares)
    # Each row in units of its residual, so that states of any size count alike.
    scale = np.maximum(right, np.finfo(float).tiny)
    relative, _ = nnls(rows / scale[:, None], right / scale)
    known = relative > 0
    typical = float(np.median(relative[known])) if known.any() else 0.0
    return np.asarray(spread * np.sqrt(np.where(known, relative, typical)))
