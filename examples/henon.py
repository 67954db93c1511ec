"""The Henon map, discrete time, 3 % noise: the next sample as a function of the present one, and of lags alone."""

import numpy as np

import exactsindy as es

clean = es.Model.from_coefficients({"x[k+1]": {"1": 1.0, "x^2": -1.4, "y": 1.0}, "y[k+1]": {"x": 0.3}})
states = clean.iterate([0.1, 0.1], 600).x[100:]
states = states + 0.03 * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)

found = es.discover(states, form="map", states=("x", "y"))
print(found)
print(f"\nR^2 of predictions 1 and 4 steps ahead: {found.model.score(states):.3f}, ", end="")
print(f"{found.model.score(states, horizon=4):.3f}")

lagged = es.discover(states[:, 0], form=es.MapForm(lags=1), states=("x",))
print(f"\nFrom x alone, with one lag:\n{lagged.model.equations(3)[0]}")
print(f"Report: {found.report('henon.html', title='Henon map')}")
