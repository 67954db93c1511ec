"""Positions of oscillators whose velocities were not measured."""

import numpy as np
from scipy.integrate import solve_ivp


def positions(acceleration, start, *, noise=0.0, seed=0, samples=600, duration=15.0):
    """Times and the position of x'' = acceleration(x, x', t), with noise as a share of its spread."""
    t = np.linspace(0.0, duration, samples)
    run = solve_ivp(
        lambda time, s: [s[1], acceleration(s[0], s[1], time)],
        (0.0, duration),
        start,
        t_eval=t,
        rtol=1e-10,
        atol=1e-12,
    )
    x = run.y[0]
    return t, x + noise * x.std() * np.random.default_rng(seed).normal(size=samples)


def damped(x, v, t):
    return -4.0 * x - 0.2 * v


def van_der_pol(x, v, t):
    return -x + 1.3 * (1 - x**2) * v
