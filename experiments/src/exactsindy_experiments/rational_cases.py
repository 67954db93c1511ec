"""Invented rational laws with drawn constants, and published ones, as data with their true terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy.library import Group, Term, parse_term
from exactsindy.library import Variables as Names

Array = NDArray[np.float64]
# Rates of two states from states and constants.
Rates = Callable[[Array, Array, Array], tuple[Array, Array]]
# Terms of numerator and denominator of a law written as one fraction.
Fraction = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True)
class Family:
    """A kind of law of two states: its rates, typical constants, and the fraction that x' is."""

    rates: Rates
    constants: tuple[float, ...]
    fraction: Fraction


def _fraction(over: str, under: str) -> Fraction:
    return frozenset(over.split(",")), frozenset(under.split(","))


def _inflow(x: Array, y: Array, c: Array) -> tuple[Array, Array]:
    return c[0] - c[1] * x / (c[2] + x), x - c[3] * y


def _holling2(x: Array, y: Array, c: Array) -> tuple[Array, Array]:
    eaten = x * y / (1 + c[3] * x)
    return c[0] * x - c[1] * x**2 - c[2] * eaten, c[5] * eaten - c[4] * y


def _holling3(x: Array, y: Array, c: Array) -> tuple[Array, Array]:
    eaten = x**2 * y / (1 + c[3] * x**2)
    return c[0] * x - c[1] * x**2 - c[2] * eaten, c[5] * eaten - c[4] * y


def _toggle(x: Array, y: Array, c: Array) -> tuple[Array, Array]:
    return c[0] / (1 + c[1] * y**2) - c[2] * x, c[3] / (1 + c[4] * x**2) - c[5] * y


def _activator(x: Array, y: Array, c: Array) -> tuple[Array, Array]:
    return c[0] * x**2 / (1 + c[1] * x**2 + c[2] * y) - c[3] * x, c[4] * x**2 - c[5] * y


def _beddington(x: Array, y: Array, c: Array) -> tuple[Array, Array]:
    eaten = x * y / (1 + c[3] * x + c[4] * y)
    return c[0] * x - c[1] * x**2 - c[2] * eaten, c[6] * eaten - c[5] * y


FAMILIES = {
    "Michaelis-Menten with inflow": Family(_inflow, (0.8, 1.5, 0.5, 0.6), _fraction("1,x", "1,x")),
    "Holling II": Family(_holling2, (1.0, 0.25, 0.9, 0.6, 0.4, 0.6), _fraction("x,x^2,x^3,x y", "1,x")),
    "Holling III": Family(_holling3, (1.0, 0.3, 1.1, 0.8, 0.35, 0.7), _fraction("x,x^2,x^3,x^4,x^2 y", "1,x^2")),
    "toggle": Family(_toggle, (2.2, 0.7, 0.8, 1.9, 0.9, 0.7), _fraction("1,x,x y^2", "1,y^2")),
    "activator": Family(_activator, (1.8, 0.5, 0.6, 0.5, 0.6, 0.7), _fraction("x,x^2,x^3,x y", "1,x^2,y")),
    "Beddington-DeAngelis": Family(
        _beddington, (0.9, 0.2, 1.2, 0.5, 0.4, 0.4, 0.8), _fraction("x,x^2,x^3,x y,x^2 y", "1,x,y")
    ),
}
# Constants are drawn within this factor of the typical ones, starts from this range; trajectories last so long.
_FACTOR, _STARTS, _END = 1.3, (0.3, 3.0), 8.0
# Samples of yeast glycolysis in the published test: 900 starts, 51 times.
_GLYCOLYSIS = 900 * 51


def runs(name: str, seed: int, samples: int) -> tuple[Array, list[tuple[Array, Array]]]:
    """Return times, and states and rates of four trajectories of a law whose constants are drawn."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(name)])
    family = FAMILIES[name]
    constants = np.array(family.constants) * np.exp(rng.uniform(-1, 1, len(family.constants)) * np.log(_FACTOR))
    times = np.linspace(0.0, _END, samples)
    found = []
    for _ in range(4):
        start = rng.uniform(*_STARTS, 2)
        path = solve_ivp(
            lambda t, z: family.rates(z[0], z[1], constants), (0.0, _END), start, t_eval=times, rtol=1e-10, atol=1e-12
        ).y
        found.append((path.T, np.column_stack(family.rates(path[0], path[1], constants))))
    return times, found


def labelled(name: str, noise: float, seed: int) -> es.Trajectories:
    """Return 400 samples with measured derivatives; noise as a share of the root mean square of the derivative."""
    times, found = runs(name, seed, 100)
    rng = np.random.default_rng([seed, 1])
    size = np.sqrt(np.mean(np.vstack([rates for _, rates in found]) ** 2, axis=0))
    members = [
        es.Trajectories.from_arrays(
            states, time=times, states=("x", "y"), derivatives=rates + noise * size * rng.normal(size=rates.shape)
        )[0]
        for states, rates in found
    ]
    return es.Trajectories(members, ("x",))


def trajectories(name: str, noise: float, seed: int) -> es.Trajectories:
    """Return 4 x 200 samples; noise as a share of the spread of each state."""
    times, found = runs(name, seed, 200)
    rng = np.random.default_rng([seed, 2])
    spread = np.vstack([states for states, _ in found]).std(axis=0)
    noisy = [states + noise * spread * rng.normal(size=states.shape) for states, _ in found]
    return es.Trajectories.from_arrays(noisy, time=[times] * len(noisy), states=("x", "y"))


def progress_curves(sigma: float, seed: int, count: int = 120) -> es.Trajectories:
    """Return x' = 0.6 - 1.5 x / (0.3 + x) as SINDy-PI was tested with: T = 5, step 0.1, noise ``sigma`` on the state.

    Starts are drawn as there, |(round(i / gap) + 0.5) u| up to 12.5, but ``count`` of them, not 2,400.
    """
    rng = np.random.default_rng([seed, 3])
    times = np.arange(0.0, 5.05, 0.1)
    states = []
    for i in range(1, count + 1):
        start = abs((round(i * 12 / count) + 0.5) * rng.random())
        path = solve_ivp(lambda t, x: 0.6 - 1.5 * x / (0.3 + x), (0.0, 5.0), [start], t_eval=times, rtol=1e-9).y.T
        states.append(path + sigma * rng.normal(size=path.shape))
    return es.Trajectories.from_arrays(states, time=[times] * count, states=("x",))


def glycolysis(share: float, seed: int) -> es.Trajectories:
    """Return samples of yeast glycolysis (Ruoff's model, 7 states) with exact derivatives; the equation of ATP, x6'.

    A share of the 45,900 samples that SINDy-PI was tested with (T = 5, step 0.1, starts of sizes 0.05 to 5), drawn at
    random from trajectories of starts drawn anew.
    """
    rng = np.random.default_rng([seed, 4])
    times, sizes = np.arange(0.0, 5.05, 0.1), (0.05, 0.1, 1.0, 2.0, 3.0, 4.0, 5.0)
    count = round(share * _GLYCOLYSIS)
    starts = [size * rng.random(7) for _ in range(max(2 * count // (7 * len(times)), 2)) for size in sizes]
    paths = [
        solve_ivp(lambda t, x: _glycolysis(x), (0.0, 5.0), x0, t_eval=times, rtol=1e-7, atol=1e-7, method="LSODA").y
        for x0 in starts
    ]
    states = np.hstack(paths).T
    states = states[rng.choice(len(states), min(count, len(states)), replace=False)]
    names = tuple(f"x{i}" for i in range(1, 8))
    rates = _glycolysis(states.T).T
    return es.Trajectories.from_arrays(states, time=0.1, states=names, derivatives=rates, targets=("x6",))


def _glycolysis(x: Array) -> Array:
    """Return the rates of glucose, two intermediates, two pools of pyruvate, ATP and NADH (Ruoff et al. 2003)."""
    x1, x2, x3, x4, x5, x6, x7 = x
    v1 = 100.0 * x1 * x6 / (1.0 + (x6 / 0.52) ** 4)
    v2, v3, v4, v6 = 6.0 * x2 * (1.0 - x7), 16.0 * x3 * (4.0 - x6), 100.0 * x4 * x7, 12.0 * x2 * x7
    leak = 13.0 * (x4 - x5)
    atp = 2.0 * v3 - 2.0 * v1 - 1.28 * x6
    return np.array(
        [2.5 - v1, 2.0 * v1 - v2 - v6, v2 - v3, v3 - v4 - leak, 0.1 * (leak - 18.0 * x5), atp, v2 - v4 - v6]
    )


def fraction_of(found: es.Discovery, equation: str) -> Fraction:
    """Return the terms of numerator and denominator of a discovered equation written as one fraction."""
    row = next(row for row in found.model.rows if row.name == equation)
    bottom: tuple[Term, ...] = (Term(),)
    over, plain = [], []
    for term in row.terms:
        groups = [atom for atom, power in term.factors if isinstance(atom, Group) and power < 0]
        below = Term(tuple((atom, -power) for atom, power in term.factors if power < 0 and not isinstance(atom, Group)))
        if groups:
            bottom = tuple(part for _, part in groups[0].content.parts)
        elif below.factors:
            bottom = (below,)
        if groups or below.factors:
            over.append(Term(tuple((atom, power) for atom, power in term.factors if power > 0)))
        else:
            plain.append(term)
    if not over:
        return frozenset(term.name for term in plain), frozenset(("1",))
    names = Names(found.data.state_names)
    whole = {names.ordered(term * part) for term in plain for part in bottom} | {names.ordered(term) for term in over}
    return frozenset(term.name for term in whole), frozenset(term.name for term in bottom)


def same(answer: Fraction, truth: Fraction) -> bool:
    """Return True if two fractions are equal after a common monomial is cancelled."""
    return _cancelled(answer) == _cancelled(truth)


def _cancelled(fraction: Fraction) -> tuple[frozenset[Term], frozenset[Term]]:
    names = Names(("x", "y", *(f"x{i}" for i in range(1, 8))))
    over, under = ([parse_term(text, names) for text in part] for part in fraction)
    powers = dict(over[0].factors) if over else {}
    for term in (*over, *under):
        powers = {atom: min(power, term.powers.get(atom, 0)) for atom, power in powers.items()}
    inverse = Term(tuple((atom, -power) for atom, power in powers.items() if power > 0))
    return frozenset(term * inverse for term in over), frozenset(term * inverse for term in under)


CURVE: Fraction = _fraction("1,x", "1,x")
ATP: Fraction = _fraction("x1 x6,x3,x6,x3 x6,x3 x6^4,x6^5,x3 x6^5", "1,x6^4")
