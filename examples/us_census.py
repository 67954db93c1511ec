"""How a population grows: the census of the United States 1790-1910, and a forecast of the next 40 years.

Pearl and Reed fitted P' = r P - (r / K) P^2 to these numbers in 1920 and found r = 0.0313 per year and K = 197 million;
the form had been proposed by Verhulst. Here nobody proposes: all pairs of candidate terms are compared.
"""

import numpy as np

import exactsindy as es

table = es.datasets.dataset("us_census")[0]
known = table.times <= 1910
data = es.Trajectories.from_arrays(table.states[known], time=table.times[known], states=("P",))

found = es.discover(data, library=es.Polynomials(3), k_max=3).at(k=2)
print(found)
rate, brake = found.solution.terms["P'"]["P"], found.solution.terms["P'"]["P^2"]
print(f"\nr = {rate:.4f} per year, K = {-rate / brake:.0f} million")
print("\nAll pairs of terms, best first:")
print(es.solve_pool(found.problem, 2, count=4))

years = np.arange(1910.0, 1951.0, 10.0)
forecast = found.model.simulate(table.states[table.times == 1910][0], years)["P"]
for year, said in zip(years[1:], forecast[1:], strict=True):
    counted = table.states[table.times == year][0, 0]
    print(f"{year:.0f}: forecast {said:.0f} million, counted {counted:.0f}")
print(f"Report: {found.report('us_census.html', title='Population of the United States, 1790-1910')}")
