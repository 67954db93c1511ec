"""Pendulums of five lengths: which terms they have in common, and how one coefficient depends on the length.

    python examples/pendulum_lengths.py

Every pendulum obeys angle'' = -(g / length) sin(angle) - friction. Nothing is said about how coefficients depend on the
length: the terms are found for all pendulums together, by one exact search, and each has coefficients of its own. Then
the coefficients are regressed on the inverse length, and g comes out.
"""

import numpy as np

import exactsindy as es

LENGTHS = np.array([0.5, 0.8, 1.2, 1.8, 2.5])  # metres
GRAVITY, FRICTION = 9.81, 0.15

times = np.linspace(0.0, 6.0, 601)
rng = np.random.default_rng(1)
runs = []
for length in LENGTHS:
    pendulum = es.Model.from_coefficients(
        {"angle'": {"rate": 1.0}, "rate'": {"sin(angle)": -GRAVITY / length, "rate": -FRICTION}}
    )
    run = pendulum.simulate([2.2, 0.0], times).x
    runs.append(run + 0.005 * rng.normal(size=run.shape))  # radians, and radians per second

library = es.Polynomials(3) + es.Terms(["sin(angle)", "cos(angle)", "rate cos(angle)"])
found = es.discover_per_trajectory(
    runs, times, states=("angle", "rate"), parameters={"inverse_length": 1 / LENGTHS}, library=library
)
print(found)

law = found.against_parameters(1)
print("\nAgainst the inverse length:")
for equation in law.equations(3):
    print("  ", equation)
table = law.coefficients
print(f"\ng = {-table['rate', 'inverse_length sin(angle)']:.2f} m/s^2 (true: {GRAVITY})")
