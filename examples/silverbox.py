"""The Silverbox: an electronic spring that gets harder, from 131,072 measured voltages.

    python examples/silverbox.py SNLS80mV.csv [rows]

Download SNLS80mV.csv from nonlinearbenchmark.org (Silverbox; Wigren and Schoukens, 2013). The circuit was built to obey
y'' = -a y - b y' - d y^3 + c u. The voltages u and y were measured at 610 Hz, no rate was.
"""

import sys

import exactsindy as es

if len(sys.argv) < 2:
    raise SystemExit("NOT RUN: python examples/silverbox.py SNLS80mV.csv [rows] (download the file first)")
rows = slice(0, int(sys.argv[2])) if len(sys.argv) > 2 else slice(None)
data = es.datasets.silverbox(sys.argv[1], rows)
library = es.Terms(["1", "y", "y^2", "y^3", "y'", "u", "y y'", "y^2 y'", "y'^2", "y' abs(y')"])
found = es.discover(data, library=library, seconds=None)
print(found)

print("\nThe best of each size on the rows of the chosen fit:")
for k in range(1, 8):
    best = found.at(k=k)
    proof = "proved" if best.solution.status[0] is es.Status.OPTIMAL else "not proved"
    print(f"  {best.model.equations(4)[0]}    ({proof})")
print(f"Report: {found.report('silverbox.html', title='Silverbox')}")
