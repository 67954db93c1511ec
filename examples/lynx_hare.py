"""Predator and prey, 21 measured years: the terms of Lotka and Volterra win; the data are too few to be sure."""

import exactsindy as es
from exactsindy.datasets import dataset

data = dataset("lynx_hare")
found = es.discover(data, library=es.Polynomials(2))
for choice in found.selection.choices:
    print(f"{choice.equation} {choice.words()}")
found = found.at(k=2)
print(f"\nWith two terms each:\n{found}")

run = found.model.simulate(data[0].states[0], data[0].times)
peaks = data[0].times[[run["hare"][:10].argmax(), 10 + run["hare"][10:].argmax()]]
print(f"\nSimulated peaks of the hares: {peaks[0]:.0f} and {peaks[1]:.0f}; measured: 1903 and 1913.")
print(f"Report: {found.report('lynx_hare.html', title='Lynx and hare, 1900-1920')}")
