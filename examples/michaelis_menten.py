"""An enzyme at work: substrate measured over time from four starts, and the law of Michaelis and Menten in it.

S' = 0.3 - 1.2 S / (0.5 + S): a constant inflow, and a rate that saturates. Its constant K = 0.5 stands inside the
fraction, where no linear regression finds it; `Rational` does, with a standard error.
"""

import numpy as np
from scipy.integrate import solve_ivp

import exactsindy as es

times = np.linspace(0.0, 5.0, 101)
rng = np.random.default_rng(7)
runs = []
for start in (0.05, 1.0, 2.0, 3.0):
    exact = solve_ivp(lambda t, s: 0.3 - 1.2 * s / (0.5 + s), (0.0, 5.0), [start], t_eval=times, rtol=1e-9).y.T
    runs.append(exact + rng.normal(0.0, 0.01, exact.shape))
data = es.Trajectories.from_arrays(runs, time=[times] * 4, states=("S",))

found = es.discover(data, library=es.Rational(es.Polynomials(2), es.Polynomials(2)))
print(found)
for constant in found.constants:
    print(f"\n{constant.name} = {constant.value:.3f} +- {constant.standard_error:.3f}, true 0.5")
print("Without a denominator the best law is", es.discover(data, library=es.Polynomials(3)).equations[0])
print(f"Report: {found.report('michaelis_menten.html', title='Michaelis-Menten kinetics')}")
