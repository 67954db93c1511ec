"""Data and measures shared by the tests of the forms."""

from __future__ import annotations

import numpy as np

from exactsindy.data import Field, Trajectories
from exactsindy.library import Derivatives, Polynomials
from exactsindy.systems import add_noise

STEP = 0.005
QUADRATIC = Polynomials(2)
BURGERS = Polynomials(2, bias=False) + Polynomials(1) * Derivatives(2)


def least_squares(problem):
    rows = np.zeros((len(problem.target_names), len(problem.terms)))
    for i, name in enumerate(problem.target_names):
        block, j = problem.locate(name)
        z, _ = block.target(j)
        rows[i, problem.columns(block)] = np.linalg.lstsq(block.theta_factor, z, rcond=None)[0]
    return rows


def gram(problem):
    return [block.factor.T @ block.factor for block in problem.blocks]


def burgers(n=128, nt=101):
    x = 2 * np.pi * np.arange(n) / n
    t = np.linspace(0, 1, nt)
    # Cole-Hopf: u = -2 nu w_x / w with w a sum of decaying waves.
    nu = 0.3
    decay = [np.exp(-nu * k * k * t) for k in (1, 2)]
    w = 3 + np.cos(x)[:, None] * decay[0] + 0.5 * np.sin(2 * x)[:, None] * decay[1]
    w_x = -np.sin(x)[:, None] * decay[0] + np.cos(2 * x)[:, None] * decay[1]
    return x, t, -2 * nu * w_x / w, nu


def on_support(problem, truth):
    """Return least squares on the true support of every equation."""
    found = np.zeros_like(truth)
    for i, row in enumerate(truth):
        support = np.flatnonzero(row)
        block, j = problem.locate(i)
        z, _ = block.target(j)
        found[i, support] = np.linalg.lstsq(block.theta_factor[:, support], z, rcond=None)[0]
    return found


# Cubic terms and their products with derivatives up to the fourth.
WIDE = Polynomials(3, bias=False) + Polynomials(3) * Derivatives(4)


def noisy_burgers(noise, seed=0, **size):
    """Return a noisy periodic field, the true coefficients over WIDE, and the standard deviation of the noise."""
    x, t, u, nu = burgers(**{"n": 128, "nt": 151, **size})
    scale = np.sqrt((u**2).mean())
    u = u + noise * scale * np.random.default_rng(seed).normal(size=u.shape)
    data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    names = WIDE.bind(data).names
    truth = np.zeros((1, len(names)))
    truth[0, names.index("u u_x")], truth[0, names.index("u_xx")] = -1.0, nu
    return data, truth, noise * scale


def clean_burgers(periodic=("x",), missing="refuse", change=None, **size):
    x, t, u, nu = burgers(**size)
    u = u if change is None else change(u.copy())
    return Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=periodic, missing=missing), nu


def noisy_lorenz(clean, seed):
    return Trajectories.from_arrays(
        add_noise(clean, 0.05, np.random.default_rng(seed)), time=STEP, states=("x", "y", "z")
    )


def slightly_noisy_burgers(seed):
    """Return a periodic field with 5 % noise, and the true coefficients over BURGERS."""
    x, t, u, nu = burgers()
    u = u + 0.05 * u.std() * np.random.default_rng(seed).normal(size=u.shape)
    found = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    names = BURGERS.bind(found).names
    coef = np.zeros((1, len(names)))
    coef[0, [names.index("u u_x"), names.index("u_xx")]] = -1.0, nu
    return found, coef
