"""What the solver verbs and `discover` give, stored by one version and compared with by a later one.

Problems are stored as their triangular factors, so that both versions see the same doubles: 320 problems of eight kinds
(random, copies of columns, powers, integers, fewer rows than terms, columns of very different size, correlated columns,
exact fits). The verbs must agree to the bit, on the same kind of processor. `discover` has no time limit, must choose
the same terms, and its coefficients must agree to 1e-10.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import exactsindy as es
from exactsindy._types import Array
from exactsindy.constraints import Equal, Forbid, NotBoth
from exactsindy.problem import Block
from exactsindy.systems import FIELD_SYSTEMS, SYSTEMS, add_field_noise, add_noise

PROBLEMS = 320
# Relative difference that coefficients of `discover` may have.
_CLOSE = 1e-10
_ONE_THREAD = es.Settings(threads=1)
_CLAIMS = ("coef", "objective", "lower_bound", "margin", "gap")
# Solved by `discover` in minutes, so left out: reaction-diffusion has two dimensions.
_SLOW_FIELDS = ("reaction_diffusion",)

Say = Callable[[str], None]


def store(file: Path, say: Say) -> None:
    """Solve every problem with this version and keep problems and answers."""
    factors = {f"p{seed:03d}": _factor(seed) for seed in range(PROBLEMS)}
    answers = {name: answers_of(_problem(factor), int(name[1:])) for name, factor in factors.items()}
    models = {name: model() for name, model in discoveries(say)}
    np.savez_compressed(file, answers=json.dumps(answers), discovered=json.dumps(models), **factors)  # type: ignore[arg-type]


def compare(file: Path, say: Say, *, skip: str | None = None) -> list[str]:
    """Return where this version differs from the stored one; systems with ``skip`` in their name are left out."""
    with np.load(file, allow_pickle=False) as stored:
        answers, models = json.loads(str(stored["answers"])), json.loads(str(stored["discovered"]))
        found: list[str] = []
        for name, before in answers.items():
            now = json.loads(json.dumps(answers_of(_problem(stored[name]), int(name[1:]))))
            found += differences(before, now, name)
    say(f"{len(answers)} problems, {sum(map(len, answers.values()))} answers: {len(found)} differences")
    largest = 0.0
    for name, model in discoveries(say):
        if name not in models or (skip and skip in name):
            continue
        for target, terms in model().items():
            before = models[name][target]
            if set(terms) != set(before):
                found.append(f"{name} {target}: {sorted(before)} -> {sorted(terms)}")
            else:
                largest = max([largest, *(abs(terms[t] - c) / abs(c) for t, c in before.items())])
    say(f"discover: largest relative difference of a coefficient {largest:.1e}")
    return [*found, f"coefficients of discover differ by {largest:.1e}"] if largest > _CLOSE else found


def answers_of(problem: es.Problem, seed: int) -> dict[str, Any]:
    """Return what every verb says of a problem."""
    targets = problem.target_names
    answers: dict[str, Any] = {
        "solve": _claims(es.solve(problem, 1 + seed % 4, settings=_ONE_THREAD)),
        "total": _claims(es.solve(problem, es.Total(2 + seed % 4), settings=_ONE_THREAD)),
        "ridge": _claims(es.solve(problem, 3, ridge=0.01, settings=_ONE_THREAD)),
        "path": [_claims(s) for s in es.solve_path(problem, 4, settings=_ONE_THREAD)],
        "path_total": [_claims(s) for s in es.solve_path(problem, es.Total(4), settings=_ONE_THREAD)],
        "pool": _members(es.solve_pool(problem, 2, count=4, settings=_ONE_THREAD), targets),
        "within": _members(es.solve_pool(problem, 2, within=0.2, settings=_ONE_THREAD), targets),
        "refit": _claims(es.refit(problem, [[0, 2]] * len(targets))),
    }
    constraints = _constraints(problem, seed)
    size = es.Total(3) if any(isinstance(item, Equal) for item in constraints) else 2
    try:
        solution = es.solve(problem, size, constraints=constraints, settings=_ONE_THREAD)
        answers["constrained0"] = _claims(solution)
    except es.errors.ExactSindyError as error:
        answers["constrained0"] = {"error": str(error)}
    return answers


def discoveries(say: Say) -> Iterator[tuple[str, Callable[[], dict[str, dict[str, float]]]]]:
    """Yield every bundled and catalogued system with a function that finds its equations."""

    def finder(name: str, data: Any, **options: Any) -> Callable[[], dict[str, dict[str, float]]]:
        def find() -> dict[str, dict[str, float]]:
            say(f"discover: {name}")
            terms = es.discover(data, seconds=None, **options).solution.terms
            return {target: dict(found) for target, found in terms.items()}

        return find

    for name in ("lorenz", "lynx_hare"):
        yield name, finder(name, es.datasets.dataset(name))
    times = np.arange(1000) * 0.02
    for name, system in SYSTEMS.items():
        for noise in (0.001, 0.02):
            rng = np.random.RandomState(7)
            states = add_noise(system.simulate(system.initial_condition(rng), times), noise, rng)
            yield f"{name} {noise}", finder(f"{name} {noise}", states, time=times, states=system.states)
    for name, field in FIELD_SYSTEMS.items():
        if name not in _SLOW_FIELDS:
            rng = np.random.RandomState(7)
            data = add_field_noise(field.simulate(rng), 0.05, rng)
            yield f"field {name}", finder(f"field {name}", data, library=field.library)


def differences(before: object, now: object, where: str) -> list[str]:
    """Return the places where two answers differ.

    Examples
    --------
    >>> differences({"nodes": [1, 2]}, {"nodes": [1, 3]}, "p000")
    ['p000.nodes[1]: 2 -> 3']
    """
    if isinstance(before, dict) and isinstance(now, dict):
        keys = sorted({*before, *now})
        return [d for key in keys for d in differences(before.get(key), now.get(key), f"{where}.{key}")]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{where}[{i}]")]
    return [] if before == now else [f"{where}: {before!r} -> {now!r}"]


def _rows(seed: int) -> tuple[Array, Array]:
    """Return library rows and targets of one of the eight kinds."""
    rng = np.random.default_rng(seed)
    kind = seed % 8
    width, targets, count = int(rng.integers(6, 18)), int(rng.integers(1, 4)), int(rng.integers(20, 120))
    theta = rng.normal(size=(count, width))
    if kind == 1:
        theta[:, -1] = theta[:, 0]
    elif kind == 2:
        theta = np.vander(1 + 0.3 * rng.normal(size=count), width)
    elif kind == 3:
        theta = rng.integers(-2, 3, size=(count, width)).astype(float)
    elif kind == 4:
        theta = theta[: width - 2]
    elif kind == 5:
        theta *= 10.0 ** rng.uniform(-6, 6, size=width)
    elif kind == 6:
        theta[:, 1:] += 3 * theta[:, :1]
    coef = np.zeros((width, targets))
    for j in range(targets):
        coef[rng.choice(width, 3, replace=False), j] = rng.normal(size=3)
    noise = 0.0 if kind == 7 else 10.0 ** rng.uniform(-3, 0.5)
    return theta, theta @ coef + noise * rng.normal(size=(len(theta), targets))


def _factor(seed: int) -> Array:
    """Return the triangular factor of a problem, under a row that starts with its terms, targets and samples."""
    theta, targets = _rows(seed)
    factor = es.Problem.from_arrays(theta, targets).blocks[0].factor
    stored = np.vstack([np.zeros(len(factor)), factor])
    stored[0, :3] = theta.shape[1], targets.shape[1], len(theta)
    return stored


def _problem(stored: Array) -> es.Problem:
    width, targets, count = (int(value) for value in stored[0, :3])
    names: tuple[Any, ...] = tuple(f"c{j}" for j in range(width))
    return es.Problem((Block(stored[1:], count, names, tuple(f"y{j}'" for j in range(targets))),))


def _constraints(problem: es.Problem, seed: int) -> list[Any]:
    first, last, names = problem.target_names[0], problem.target_names[-1], problem.names
    choices: list[list[Any]] = [
        [f"{first}: {names[0]} >= 0"],
        [f"{first}: {names[1]} + {names[2]} <= 1"],
        [f"{last}: {names[3]} == 0.5"],
    ]
    if len(problem.target_names) > 1:
        choices.append([Equal((first, names[1]), (problem.target_names[1], names[2]))])
    choices.append([NotBoth((first, names[0]), (first, names[1])), Forbid(first, names[4])])
    return choices[seed % len(choices)]


def _bits(numbers: object) -> list[str]:
    return [float(value).hex() for value in np.asarray(numbers, dtype=float).ravel()]


def _claims(solution: es.Solution) -> dict[str, Any]:
    """Return everything that a solution claims but its time."""
    return {
        "support": [list(map(int, support)) for support in solution.support],
        "status": [status.name for status in solution.status],
        **{name: _bits(getattr(solution, name)) for name in _CLAIMS},
        "nodes": [int(count) for count in solution.nodes],
    }


def _members(pool: es.Pool, targets: tuple[str, ...]) -> list[Any]:
    """Return the supports, terms and objectives of a pool."""
    return [
        [
            (list(map(int, m.support)), {t: float(c) for t, c in m.terms.items()}, _bits([m.objective]))
            for m in pool[name]
        ]
        for name in targets
    ]
