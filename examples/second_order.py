"""A swinging weight, filmed: only its position was measured, and its drag is found.

The position of an oscillator with quadratic drag, x'' = -2.5 x - 0.25 x' |x'|, with noise of 1 %. Nobody says that the
law is of second order: positions that rise and fall through the same values tell.
"""

import numpy as np
from scipy.integrate import solve_ivp

import exactsindy as es

t = np.linspace(0.0, 20.0, 1000)
swing = solve_ivp(lambda t, s: [s[1], -2.5 * s[0] - 0.25 * s[1] * abs(s[1])], (0, 20), [1.5, 0.0], t_eval=t, rtol=1e-9)
x = swing.y[0] + 0.01 * swing.y[0].std() * np.random.default_rng(0).normal(size=t.size)

found = es.discover(x, t, states=("x",))
print(found)

later = found.simulate({"x": 1.5, "x'": 0.0}, np.linspace(0.0, 40.0, 5))
print("\nx and x' later:", [f"{value:.3f} {rate:.3f}" for value, rate in later.x])
print(f"Report: {found.report('second_order.html', title='A weight on a spring, in air')}")
