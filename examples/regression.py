"""Best subset regression, proved: which 4 of 60 columns explain y, and which combinations come close."""

import numpy as np

import exactsindy as es

rng = np.random.default_rng(1)
theta = rng.normal(size=(300, 60))
y = theta[:, [4, 18, 33, 52]] @ [1.0, -0.8, 0.6, 0.4] + rng.normal(size=300)

problem = es.Problem.from_arrays(theta, y, target_names=["y"])
solution = es.solve(problem, 4)
print(solution)
print(es.solve_pool(problem, 4, count=3))
print(f"Best pair, triple, ...: {[path.support[0] for path in es.solve_path(problem, 5)][2:]}")
