"""Gause's protists (1934): two species, alone and together, and the competition between them.

Gause counted Paramecium aurelia and P. caudatum in 0.5 ml for 25 days: each alone, and both in one vessel. He fitted
logistic growth with competition by hand. Here all polynomials of degree two without a constant are compared: five
candidates for each species, and the three vessels are three trajectories of one system.
"""

import exactsindy as es

data = es.datasets.dataset("paramecium")
found = es.discover(data, library=es.Polynomials(2, bias=False))
print(found)

print("\nOne vessel alone does not tell:")
for vessel in data:
    alone = es.discover(es.Trajectories([vessel]), library=es.Polynomials(2, bias=False))
    for name, headline in alone.headlines.items():
        if vessel.states[:, vessel.names.index(name[:-1])].any():
            print(f"  {vessel.label}: {headline}")

growth = found.solution.terms
a, c = growth["aurelia'"], growth["caudatum'"]
room = -a["aurelia"] / a["aurelia^2"], -c["caudatum"] / c["caudatum^2"]
print(f"\nCarrying capacities: aurelia {room[0]:.0f}, caudatum {room[1]:.0f}")
mutual = "aurelia caudatum"
print(f"One caudatum takes the place of {a[mutual] / a['aurelia^2']:.1f} aurelia;")
print(f"one aurelia takes the place of {c[mutual] / c['caudatum^2']:.2f} caudatum.")
print(f"Report: {found.report('paramecium.html', title='Paramecium, 1934')}")
