"""What the forgeries start from: honest run folders and honest answers, small and of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import exactsindy as es
from exactsindy.discovery import Discovery

_CONSTRAINTS = ("x': v + v': x == 0", "v': v <= 0")


def honest_runs(folder: Path) -> dict[str, Path]:
    """Write run folders: plain, ridge, shared budget, constraints, a field."""
    rng = np.random.default_rng(0)
    t = np.arange(0.0, 12.0, 0.05)
    states = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * rng.normal(size=(len(t), 2))
    x, times = np.linspace(0, 2 * np.pi, 48, endpoint=False), np.linspace(0, 2, 41)
    wave = np.exp(-0.3 * times) * np.sin(x[:, None] - times) + 0.5 * np.exp(-1.2 * times) * np.cos(
        2 * (x[:, None] - times)
    )
    field = es.Field.from_arrays(
        wave + 1e-3 * rng.normal(size=wave.shape), dims=("x", "t"), coords={"x": x, "t": times}
    )
    constraints = [es.constraints.parse_constraint(text) for text in _CONSTRAINTS]

    def oscillator(**options: Any) -> Discovery:
        return es.discover(states, t, states=("x", "v"), library=es.Polynomials(2), form="strong", **options)

    made = {
        "plain": oscillator(k_max=3),
        "ridge": oscillator(k_max=2, ridge=1e-2),
        "shared budget": oscillator(k_max=es.Total(3, [1.0, 2.0])),
        "constraints": oscillator(k_max=es.Total(3), constraints=constraints),
        "field": es.discover(field, k_max=3),
    }
    texts = {"constraints": list(_CONSTRAINTS)}
    return {
        name: found.save(folder / name.replace(" ", "_"), about={"constraints": texts.get(name, [])})
        for name, found in made.items()
    }


@dataclass(frozen=True)
class Answer:
    """An honest solution with how it was asked for."""

    name: str
    solution: es.Solution


def honest_answers() -> Iterator[Answer]:
    """Yield solutions of every kind of question."""
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(30, 6))
    targets = theta[:, [0, 2]] @ np.array([[2.0, 0.0], [-1.0, 1.5]]) + 0.3 * rng.normal(size=(30, 2))
    names = ["1", "x", "y", "x^2", "x y", "y^2"]
    problem = es.Problem.from_arrays(theta, targets, names=names, target_names=["x'", "y'"])
    single = es.Problem.from_arrays(theta, targets[:, 0], names=names, target_names=["x'"])
    close = es.Problem.from_arrays(
        np.column_stack([theta[:, :4], theta[:, 0] + 1e-7 * theta[:, 4], theta[:, 5]]),
        targets[:, 0],
        names=names,
        target_names=["x'"],
    )
    fit = es.Problem.from_arrays(theta, theta[:, :2] @ [1.0, 2.0], names=names, target_names=["x'"])
    c = es.constraints
    equal, sign = c.Equal(("x'", "1"), ("y'", "x"), 1.0), c.Sign("x'", "y", "+")
    yield Answer("one equation", es.solve(single, 2))
    yield Answer("two equations", es.solve(problem, [2, 1]))
    yield Answer("ridge", es.solve(problem, 2, ridge=0.5))
    yield Answer("shared budget", es.solve(problem, es.Total(3, [1.0, 3.0], caps=(2, 2))))
    yield Answer("nearly dependent", es.solve(close, 3))
    yield Answer("exact fit", es.solve(fit, 2))
    yield Answer("given support", es.refit(problem, [[0, 1], [2]]))
    yield Answer("stopped", replace(es.solve(single, 3), status=(es.Status.NODE_LIMIT,), lower_bound=np.zeros(1)))
    yield Answer("bound together", es.solve(problem, 2, constraints=[equal]))
    yield Answer("signs and presence", es.solve(problem, 2, constraints=[sign, c.NotBoth(("y'", "y"), ("y'", "1"))]))
    yield Answer("sizes", es.solve(single, 2, constraints=[c.SemiContinuous("x'", "1", 2.5)]))
    yield Answer("significant", es.solve(single, 3, constraints=[c.Significant(3)]))
    yield Answer("infeasible", es.solve(single, 1, constraints=[c.Require("x'", "x"), c.Bounds("x'", "y", 0.5)]))
