"""The paper's hardest regression, 2D reaction-diffusion in weak form (109 terms, 7 per equation), at growing noise.

Gurobi is not in it: its free licence refuses more than 100 terms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from exactsindy.data import Field
from exactsindy.forms import WeakForm
from exactsindy.model import Model
from exactsindy.problem import Problem
from exactsindy.solver import Settings, solve
from exactsindy.systems import find_field_system
from exactsindy_experiments.pages import table

#: Noise levels, relative to the root mean square of each field.
NOISES = (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
LENGTH, POINTS, TIMES = 20.0, 96, np.linspace(0.0, 5.0, 120)


def page(say: Callable[[str], None]) -> str:
    """Measure all noise levels and return the page."""
    system, lines = find_field_system("reaction_diffusion"), []
    for noise in NOISES:
        problem = weak_problem(noise)
        solution = solve(problem, 7, settings=Settings(threads=1, seconds=60.0))
        for i, (target, terms) in enumerate(solution.terms.items()):
            line = [f"{100 * noise:g} %", target, solution.status[i].name.lower(), f"{solution.seconds[i]:.3g}"]
            line += [str(solution.nodes[i]), f"{100 * solution.margin[i]:.3g} % worse"]
            lines.append([*line, f"{len(set(terms) & set(system.truth[target]))} of 7"])
            say(" ".join(lines[-1]))
    head = ["noise", "equation", "status", "seconds", "nodes", "next best", "true terms found"]
    return (
        "# Reaction-diffusion, weak form: 109 terms, k = 7, 400 windows, one thread\n\n"
        f"Spiral on a {POINTS} x {POINTS} periodic grid, {len(TIMES)} times.\n"
        f"Reprinted by `exactsindy bench reaction-diffusion`.\n\n{table(head, lines)}"
    )


def weak_problem(noise: float) -> Problem:
    """Return the regression of both equations at a noise level."""
    system, clean = find_field_system("reaction_diffusion"), _clean()
    rng = np.random.default_rng(0)
    noisy = {
        name: values + noise * np.sqrt(np.mean(values**2)) * rng.standard_normal(values.shape)
        for name, values in zip(clean.names, clean.values, strict=True)
    }
    coords = dict(zip(clean.dims, clean.coords, strict=True))
    data = Field.from_arrays(noisy, dims=clean.dims, coords=coords, periodic=system.lengths)
    return WeakForm(domains=400, seed=0, width=(1.0, 1.0, 0.25)).problem(data, system.library)


@cache
def _clean() -> Field:
    """Return the fields of a spiral around the middle of the domain."""
    x = np.linspace(-LENGTH / 2, LENGTH / 2, POINTS, endpoint=False)
    across, along = np.meshgrid(x, x, indexing="ij")
    radius, angle = np.hypot(across, along), np.arctan2(along, across)
    start = [np.tanh(radius) * np.cos(angle - radius), np.tanh(radius) * np.sin(angle - radius)]
    periods = {"x": LENGTH, "y": LENGTH}
    model = Model.from_coefficients(find_field_system("reaction_diffusion").truth)
    return model.simulate_field(start, TIMES, coords={"x": x, "y": x}, periods=periods).field()
