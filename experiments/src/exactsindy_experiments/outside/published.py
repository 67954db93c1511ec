"""Numbers that others published, typed in as facts with where they stand."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

#: Draws behind each share of the Lorenz table.
LORENZ_TRIALS = 1000
LORENZ_SOURCE = (
    "Fasel, Kutz, Brunton and Brunton, Proc. R. Soc. A 478 (2022) 20210904; the outcome of every trial is in their "
    "repository urban-fasel/EnsembleSINDy (SINDy/results/simOut*FinalPaper.mat), from which these counts are summed"
)
WSINDY_SOURCE = "Messenger and Bortz, J. Comput. Phys. 443 (2021) 110525, Tables 3 to 6 and Figure 4"
PDE_FIND_SOURCE = "Rudy, Brunton, Proctor and Kutz, Sci. Adv. 3 (2017) e1602614, Table 1"


@cache
def lorenz_counts() -> Mapping[str, Mapping[tuple[float, int], int]]:
    """Return how many of 1000 draws each published method had right, by method and (noise in per cent, seconds).

    Examples
    --------
    >>> lorenz_counts()["bragging"][5.0, 10]
    610
    """
    text = resources.files(__package__).joinpath("published_lorenz.csv").read_text(encoding="utf-8")
    counts: dict[str, dict[tuple[float, int], int]] = {}
    for row in csv.DictReader(text.splitlines()):
        own = counts.setdefault(row.pop("method"), {})
        noise = float(row.pop("noise"))
        own.update({(noise, int(name.removesuffix(" s"))): int(count) for name, count in row.items()})
    return MappingProxyType(counts)


def best_lorenz(cell: tuple[float, int]) -> tuple[str, float]:
    """Return the best published method of a cell and its share.

    Examples
    --------
    >>> best_lorenz((5.0, 10))
    ('bagging', 0.805)
    """
    method = max(lorenz_counts(), key=lambda name: lorenz_counts()[name][cell])
    return method, lorenz_counts()[method][cell] / LORENZ_TRIALS


#: Share of draws with exactly the true terms, by system and noise in per cent: WSINDy, ensemble WSINDy (200 draws).
SUCCESS: Mapping[tuple[str, float], tuple[float, float]] = MappingProxyType(
    {
        ("burgers", 100.0): (0.99, 1.00),
        ("kdv", 100.0): (0.935, 1.00),
        ("nls", 50.0): (0.82, 1.00),
        ("ks", 100.0): (0.875, 0.995),
        ("rd stable", 20.0): (0.00, 0.995),
    }
)
#: Noise in per cent up to which the mean true positivity ratio of WSINDy is above .95 (200 draws).
TPR_ABOVE_95: Mapping[str, float] = MappingProxyType({"burgers": 100, "kdv": 100, "ks": 100, "nls": 50, "rd": 22})
#: Noise in per cent at which the success rate falls to .90: WSINDy, ensemble WSINDy (settings of the repository).
SUCCESS_90: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"burgers": (209, 335), "kdv": (117, 231), "ks": (98, 159), "nls": (43, 93), "rd stable": (8, 32)}
)
#: Largest relative coefficient error without noise: WSINDy.
CLEAN_ERROR: Mapping[str, float] = MappingProxyType(
    {"burgers": 4.3e-5, "kdv": 3.1e-7, "ks": 8.1e-7, "nls": 9.4e-8, "rd": 3.9e-10}
)
#: The same at 1 % noise: WSINDy, and what that paper quotes for PDE-FIND (reaction-diffusion: at 0.5 %).
ONE_PER_CENT_ERROR: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"kdv": (6.7e-4, 7.0e-2), "ks": (1.8e-4, 0.52), "nls": (2.9e-4, 3.0e-2), "rd": (6.0e-4, 3.8e-2)}
)
#: PDE-FIND's own Table 1: mean coefficient error without noise and at 1 % (0.5 % for reaction-diffusion).
PDE_FIND: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"kdv": (0.01, 0.07), "nls": (0.0005, 0.03), "ks": (0.013, 0.52), "rd": (0.0002, 0.038)}
)
#: Most columns of a library, as published: Table 4.
COLUMNS: Mapping[str, int] = MappingProxyType({"burgers": 43, "kdv": 43, "ks": 43, "nls": 190, "rd": 181})
