"""An enzyme: 12 measured rates, the law of Michaelis and Menten, and what 12 rows cannot say.

Treloar measured the rate of a reaction at six concentrations, twice each. The rates are given, so nothing is
differentiated: each row says a rate by itself. Bates and Watts (1988) print the least squares V = 212.7, K = 0.0641.
"""

import numpy as np

import exactsindy as es

rows = es.datasets.dataset("puromycin")[0]  # cells treated with puromycin
c, rate = rows.states, rows.derivatives
data = es.Trajectories.from_arrays(c, derivatives=rate, states=("c",))

# Without substrate there is no reaction: p and M have no constant.
found = es.discover(data, library=es.Rational(es.Terms(["c"]), es.Terms(["1", "c"])))
print(found)
(v,) = found.solution.terms["c'"].values()
(K,) = found.constants
(error,) = found.model.rows[0].standard_errors
print(
    f"\nV = {v:.1f} ± {error:.1f}, K = {K.value:.4f} ± {K.standard_error:.4f} (published: 212.7 ± 6.9, 0.0641 ± 0.0083)"
)

# Two rates at each concentration: they differ by the error of measurement alone.
pairs = rate.reshape(6, 2)
pure = np.sqrt((np.diff(pairs, axis=1) ** 2).sum() / 2 / 6)
left = np.sqrt(((rate - found.model.predict(c)) ** 2).sum() / (12 - 2))
print(f"Two rates at one concentration tell the error of one: {pure:.1f}. The law leaves {left:.1f}.")

# If a rate without substrate is not excluded, these rows ask for one.
free = es.discover(data, library=es.Rational(es.Polynomials(1), es.Polynomials(1)))
print("\nWith a constant allowed:", *free.headlines.values())
