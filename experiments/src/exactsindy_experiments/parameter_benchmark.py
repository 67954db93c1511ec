"""Laws with parameters: how often they are right, with and without naming them; exactness of common terms."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy_experiments.pages import table

Array = NDArray[np.float64]
NOISES = (0.0, 0.01, 0.05)

_HEAD = """# Parameters that differ between trajectories

`exactsindy bench parameters` writes this page. Each data set has four or five trajectories of one law at different
values of a parameter; noise is a share of the standard deviation of each state. *Right*: every equation has exactly the
true terms. *Sure*: the answer is called identified. *With parameters* is `discover(runs, parameters={...})`, *without*
the same data without them (right would be the terms without the parameter), *per trajectory*
`discover_per_trajectory(runs)` (right: the true terms of a single trajectory), *against parameters* the regression of
its coefficients on the parameter, degree 2. Each cell counts draws of starts and noise. No rule or threshold was chosen
by these systems, but for two of the last column, which came after a first run of it: the F-test where standard errors
are too small, and the least standard error of 1e-4.
"""


@dataclass(frozen=True)
class Case:
    """A law: its right-hand side f(t, states, parameter), the true terms of each equation, and what is measured."""

    name: str
    states: tuple[str, ...]
    parameter: str
    values: tuple[float, ...]
    rhs: Callable[[float, Array, float], Sequence[float]]
    terms: dict[str, frozenset[str]]
    start: Callable[[np.random.Generator], Array]
    end: float
    control: Callable[[Array], Array] | None = None

    def single(self) -> dict[str, frozenset[str]]:
        """Return the terms of one trajectory: the parameter is a number there."""
        prefix = f"{self.parameter} "
        return {name: frozenset(term.removeprefix(prefix) for term in terms) for name, terms in self.terms.items()}


def _hopf(t: float, x: Array, mu: float) -> Sequence[float]:
    square = x[0] ** 2 + x[1] ** 2
    return mu * x[0] - x[1] - x[0] * square, x[0] + mu * x[1] - x[1] * square


CASES = (
    Case(
        "Hopf normal form",
        ("x", "y"),
        "mu",
        (-0.2, 0.1, 0.4, 0.8),
        _hopf,
        {"x'": frozenset({"mu x", "y", "x^3", "x y^2"}), "y'": frozenset({"x", "mu y", "x^2 y", "y^3"})},
        lambda rng: rng.uniform(0.9, 1.5) * np.array([1.0, rng.uniform(-0.5, 0.5)]),
        20.0,
    ),
    Case(
        "logistic growth",
        ("x",),
        "r",
        (0.5, 0.8, 1.2, 1.7, 2.3),
        lambda t, x, r: (r * x[0] - 0.6 * x[0] ** 2,),
        {"x'": frozenset({"r x", "x^2"})},
        lambda rng: rng.uniform(0.05, 0.3, 1),
        10.0,
    ),
    Case(
        "driven oscillator",
        ("x", "v"),
        "k",
        (1.0, 1.6, 2.4, 3.5),
        lambda t, x, k: (x[1], -k * x[0] - 0.3 * x[1] + np.cos(1.3 * t)),
        {"x'": frozenset({"v"}), "v'": frozenset({"k x", "v", "u"})},
        lambda rng: rng.uniform(-1.5, 1.5, 2),
        20.0,
        lambda t: np.cos(1.3 * t)[:, None],
    ),
)


@dataclass(frozen=True)
class Row:
    """One draw of one case at one noise level."""

    case: str
    noise: float
    draw: int
    right: bool
    sure: bool
    plain_right: bool
    plain_sure: bool
    each_right: bool
    against_right: bool


def measure(case: Case, noise: float, draw: int, seconds: float) -> Row:
    """Return what is found with parameters, without, and per trajectory."""
    rng = np.random.default_rng([draw, int(1e4 * noise), len(case.name)])
    times, runs = np.linspace(0.0, case.end, 401), []
    for value in case.values:
        clean = solve_ivp(case.rhs, (0.0, case.end), case.start(rng), "DOP853", times, args=(value,), rtol=1e-10)
        runs.append(clean.y.T + noise * clean.y.std(axis=1) * rng.normal(size=clean.y.T.shape))
    known = {case.parameter: case.values}
    inputs = None if case.control is None else [case.control(times)] * len(runs)
    data = es.Trajectories.from_arrays(
        runs, time=times, states=case.states, controls=inputs, control_names=None if inputs is None else ("u",)
    )
    found = es.discover(data, parameters=known, seconds=seconds, threads=1)
    plain = es.discover(data, seconds=seconds, threads=1)
    each = es.discover_per_trajectory(data, parameters=known, seconds=seconds, threads=1)
    return Row(
        case.name,
        noise,
        draw,
        _terms(found.model) == case.terms,
        found.identified,
        _terms(plain.model) == case.single(),
        plain.identified,
        {name: frozenset(terms) for name, terms in each.terms.items()} == case.single(),
        _terms(each.against_parameters(2)) == case.terms,
    )


def _terms(model: es.Model) -> dict[str, frozenset[str]]:
    return {row.name: frozenset(term.name for term in row.terms) for row in model.rows}


def measure_all(draws: int, seconds: float, file: Path) -> Iterator[Row]:
    """Yield all rows, those of an earlier call from the file."""
    known = {(row.case, row.noise, row.draw): row for row in read_rows(file)}
    for draw in range(draws):
        for case in CASES:
            for noise in NOISES:
                if (case.name, noise, draw) not in known:
                    row = measure(case, noise, draw, seconds)
                    append_row(file, row)
                else:
                    row = known[case.name, noise, draw]
                yield row


def append_row(file: Path, row: Row) -> None:
    """Add a row to a table."""
    new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [f.name for f in fields(Row)])
        if new:
            writer.writeheader()
        writer.writerow(asdict(row))


def read_rows(file: Path) -> list[Row]:
    """Return the rows of a table; none if there is no file."""
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as stream:
        return [
            Row(r["case"], float(r["noise"]), int(r["draw"]), *(r[f.name] == "True" for f in fields(Row)[3:]))
            for r in csv.DictReader(stream)
        ]


def exactness(count: int, seed: int) -> tuple[int, int]:
    """Return how many random problems of common terms were solved, and how many optima differ from enumeration."""
    rng, wrong = np.random.default_rng(seed), 0
    for _ in range(count):
        terms, size = int(rng.integers(3, 9)), 0
        size = int(rng.integers(1, terms))
        parts = []
        for _ in range(int(rng.integers(2, 6))):
            theta = rng.normal(size=(terms + int(rng.integers(1, 15)), terms)) + rng.uniform(0, 3) * rng.normal()
            true = (rng.random(terms) < 0.4) * rng.normal(size=terms)
            parts.append((theta, theta @ true + 10.0 ** rng.uniform(-8, 1) * rng.normal(size=len(theta))))
        problems = [es.Problem.from_arrays(a, y, target_names=[f"y{r}"]) for r, (a, y) in enumerate(parts)]
        problem = es.Problem(tuple(p.blocks[0] for p in problems))
        solution = es.solve(problem, size, constraints=[es.constraints.SameSupport()])
        best = min(_value(parts, support) for support in combinations(range(terms), size))
        scale = sum(float(y @ y) for _, y in parts)
        good = solution.optimal and abs(float(solution.objective[0]) - best) <= 1e-7 * best + 1e-12 * scale
        wrong += not good
    return count, wrong


def _value(parts: Sequence[tuple[Array, Array]], support: Sequence[int]) -> float:
    chosen = list(support)
    return sum(
        float(np.sum((y - a[:, chosen] @ np.linalg.lstsq(a[:, chosen], y, rcond=None)[0]) ** 2)) for a, y in parts
    )


def page(rows: Sequence[Row], exact: tuple[int, int], machine: str) -> str:
    """Return the page of the benchmark."""
    lines = []
    for case in CASES:
        for noise in NOISES:
            own = [row for row in rows if (row.case, row.noise) == (case.name, noise)]
            names = ("right", "sure", "plain_right", "plain_sure", "each_right", "against_right")
            counts = [f"{sum(getattr(row, name) for row in own)} of {len(own)}" for name in names]
            lines.append([case.name, f"{100 * noise:g} %", *counts])
    head = ["law", "noise", "with parameters: right", "sure", "without: right", "sure", "per trajectory: right"]
    solved, wrong = exact
    text = f"""
## Common terms: exactness

{solved} random problems (2 to 5 trajectories, 3 to 8 candidate terms, every size) were solved with `SameSupport` and by
looking at all supports in double precision: {wrong} optima differ.
"""
    return f"{_HEAD}\n{machine}\n\n{table([*head, 'against parameters: right'], lines)}\n{text}"
