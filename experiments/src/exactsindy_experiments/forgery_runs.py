"""What the forgeries start from: honest run folders and honest answers, small and of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import exactsindy as es
from exactsindy.discovery import Discovery
from exactsindy_experiments.forgery_laws import LAWS

_CONSTRAINTS = ("x': v + v': x == 0", "v': v <= 0")


def _oscillator(**options: Any) -> Discovery:
    rng = np.random.default_rng(0)
    t = np.arange(0.0, 12.0, 0.05)
    states = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * rng.normal(size=(len(t), 2))
    return es.discover(states, t, states=("x", "v"), library=es.Polynomials(2), form="strong", **options)


def _field() -> Discovery:
    x, times = np.linspace(0, 2 * np.pi, 48, endpoint=False), np.linspace(0, 2, 41)
    wave = np.exp(-0.3 * times) * np.sin(x[:, None] - times) + 0.5 * np.exp(-1.2 * times) * np.cos(
        2 * (x[:, None] - times)
    )
    values = wave + 1e-3 * np.random.default_rng(1).normal(size=wave.shape)
    return es.discover(es.Field.from_arrays(values, dims=("x", "t"), coords={"x": x, "t": times}), k_max=3)


def _constrained() -> Discovery:
    constraints = [es.constraints.parse_constraint(text) for text in _CONSTRAINTS]
    return _oscillator(k_max=es.Total(3), constraints=constraints)


#: From the name of a kind of run to a function that discovers one: kinds of questions, then kinds of laws.
HONEST_RUNS: Mapping[str, Callable[[], Discovery]] = {
    "plain": lambda: _oscillator(k_max=3),
    "ridge": lambda: _oscillator(k_max=2, ridge=1e-2),
    "shared budget": lambda: _oscillator(k_max=es.Total(3, [1.0, 2.0])),
    "constraints": _constrained,
    "field": _field,
    **LAWS,
}


def honest_run(name: str, folder: Path) -> Path:
    """Write a run folder of this kind inside a folder."""
    texts = list(_CONSTRAINTS) if name == "constraints" else []
    return HONEST_RUNS[name]().save(folder / name.replace(" ", "_"), about={"constraints": texts})


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
