"""A glider between springs on an air track and a pendulum, filmed by Schmidt and Lipson (Science, 2009).

    python examples/filmed.py real_linear_h_1.txt real_pend_h_1.txt

The files were published with "Distilling free-form natural laws from experimental data". Only positions and angles are
used. Where the law is x'' = -(k/m) x and friction, or o'' = -(g/l) sin(o) and friction, it should be found.
"""

import sys

import exactsindy as es

if len(sys.argv) < 2:
    raise SystemExit("NOT RUN: python examples/filmed.py real_linear_h_1.txt real_pend_h_1.txt (download them first)")
for path in sys.argv[1:]:
    data = es.datasets.schmidt_lipson(path)
    (s,) = data.state_names
    candidates = ["1", s, f"{s}^2", f"{s}^3", f"sin({s})", f"{s}'", f"{s}' abs({s}')", f"abs({s})"]
    if s == "x":
        candidates.remove("sin(x)")  # x is a length, not an angle
    found = es.discover(data, library=es.Terms(candidates), seconds=None)
    print(f"\n{path}\n{found}\n\nThe best of each size:")
    for k in range(1, 5):
        best = found.at(k=k)
        proof = "proved" if best.solution.status[0] is es.Status.OPTIMAL else "not proved"
        print(f"  {best.model.equations(4)[0]}    ({proof})")
