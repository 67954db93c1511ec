"""A constant inside a function: the frequency of a wave that drives a rate, found with its standard error.

The rate of a phase, s' = 1.5 s - 2 sin(2.37 s) + 0.8 exp(-1.13 s), measured with 2 % noise. Only the form of the
functions is given; their inner constants w and r are not.
"""

import numpy as np

import exactsindy as es

s = np.linspace(0.0, 6.0, 300)
rate = 1.5 * s - 2.0 * np.sin(2.37 * s) + 0.8 * np.exp(-1.13 * s)
rate += 0.02 * rate.std() * np.random.default_rng(0).normal(size=s.size)
data = es.Trajectories.from_arrays(s[:, None], time=1.0, states=("s",), derivatives=rate[:, None])

library = es.Polynomials(3) + es.Terms(["sin(w*s)", "exp(-r*s)"], w=(0.5, 6), r=...)
found = es.discover(data, library=library)
print(found)
for constant in found.constants:
    print(constant.text())
print(found.model.to_latex(4))
print(f"Report: {found.report('tuning_curve.html', title='A wave of unknown frequency')}")
