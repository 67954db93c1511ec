"""The Lorenz equations from noisy samples: every size, every rival, a proof, a report."""

import exactsindy as es
from exactsindy.datasets import dataset

found = es.discover(dataset("lorenz"), library=es.Polynomials(5), k_max=6)
print(found)

print("\nThe closest rivals of y':")
for member in found.pool["y"][:3]:
    print(f"  {100 * member.excess:8.1f} % worse: {', '.join(member.terms)}")

print(f"\n{es.verify(found.problem, found.solution)}")
print(f"\nReport: {found.report('lorenz.html', title='Lorenz system')}")
