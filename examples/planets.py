"""Gravity from the positions of three planets: r'' = -GM r / |r|^3, and what the residuals say about the others.

The positions are those of JPL's ephemeris DE421, fitted to a century of observations, in astronomical units (AU) from
the sun. Nothing else is used; the candidates are x/r^p, y/r^p and z/r^p for p = 1 to 5, r being the distance.
"""

import numpy as np

import exactsindy as es

try:
    import de421
    from jplephem import Ephemeris
except ImportError:
    raise SystemExit("NOT RUN: this example needs the ephemeris. pip install de421 jplephem (27 MB, MIT)") from None

ephemeris = Ephemeris(de421)
GM = ephemeris.GMS  # of the sun, AU^3 / day^2, as JPL fitted it
PERIODS = {"mercury": 88.0, "mars": 687.0, "jupiter": 4332.6}  # days

r = "sqrt(x^2 + y^2 + z^2)"
library = es.Terms([f"{axis}/{r}^{power}" for axis in "xyz" for power in range(1, 6)])
for planet, period in PERIODS.items():
    days = np.linspace(0.0, 2.0 * period, 400)
    since = 2451545.0 + days  # the first of January 2000
    path = (ephemeris.position(planet, since) - ephemeris.position("sun", since)).T / ephemeris.AU
    positions = es.Trajectories.from_arrays(path, time=days, states=("x", "y", "z"), targets=("x''", "y''", "z''"))
    found = es.discover(positions, library=library, seconds=None)
    if planet == "mercury":
        print(found, f"\n\nReport: {found.report('planets.html', title='Mercury, two years')}")
    print(f"\n{planet}")
    for name, terms in found.solution.terms.items():
        cube = -terms.get(f"{name[0]}/{r}^3", np.nan)
        shown = f"terms: {len(terms)}, GM = {cube:.6e}, {cube / GM - 1:+.1e} of JPL's"
        verdict = found.headlines[name].split(":")[0]
        print(f"  {name} {shown}; residuals {found.residuals.get(name, np.nan):.2f} times the noise. {verdict}")
mass = ephemeris.GM5 / GM
print(f"\nJupiter moves the sun, too: GM of both together is larger by {mass:.1e}.")
