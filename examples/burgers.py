"""A partial differential equation from a noisy field, and its simulation."""

import numpy as np

import exactsindy as es
from exactsindy.systems import add_field_noise, find_field_system

rng = np.random.default_rng(0)
burgers = find_field_system("burgers")
data = add_field_noise(burgers.simulate(rng, points=128, times=np.linspace(0, 4, 101)), 0.10, rng)

found = es.discover(data)
print(found)
print(f"\nTruth: {dict(burgers.truth['u_t'])}")
print(f"Report: {found.report('burgers.html', title='Burgers equation, 10 % noise')}")
