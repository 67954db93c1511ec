"""Random polynomial systems: bounded, of known terms each of which matters, for tuning and for reporting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from exactsindy.errors import DataError
from exactsindy.systems import Rng, System, integrate

Array = NDArray[np.float64]

Kind = str
KINDS = ("oscillating", "chaotic", "decaying")
# Every true term must make up this share of the right-hand side beyond what the other true terms can imitate.
WEAKEST_SHARE = 0.03
# Samples in the fastest mean period, and the periods over which the conditions are checked.
PER_PERIOD = 100
_PERIODS = 4
# Share of its first period's spread that a decaying state must have in the fourth.
_LEAST_LEFT = 0.2
_LETTERS = ("x", "y", "z", "u", "v")
_BATCH = 400
_ROUNDS = 200
_STEP, _STEPS = 0.02, 1500
_BOUND = 30.0


@dataclass(frozen=True)
class RandomSystem:
    """A random system with where it starts, the sampling step (1/100 of its fastest mean period) and its kind.

    ``degree`` is that of the library it is meant to be looked for in; ``half`` is ``"tuning"`` for even and
    ``"reporting"`` for odd seeds.
    """

    seed: int
    system: System
    start: Array
    step: float
    kind: Kind
    degree: int

    @property
    def half(self) -> str:
        """Return which half of the collection the system belongs to."""
        return "reporting" if self.seed % 2 else "tuning"

    def simulate(self, samples: int, *, every: int = 1) -> tuple[Array, Array]:
        """Return times and states of so many samples, ``every`` times as coarse as the usual step."""
        times: Array = np.arange(samples) * np.float64(self.step * every)
        return times, self.system.simulate(self.start, times)


@lru_cache(maxsize=256)
def random_system(seed: int, *, states: int | None = None, kind: Kind | None = None) -> RandomSystem:
    """Draw a polynomial system of 2 to 5 states, degree <= 3 (2 for five states), 2 to 5 terms per equation.

    Candidates are drawn until one stays bounded for 30 time units, moves in the wanted way, and has every true
    term contribute at least 3 % of its right-hand side beyond the other true terms over its first four periods.

    Parameters
    ----------
    seed
        The same seed gives the same system; even seeds are for tuning rules, odd ones for reporting.
    states, kind
        Number of states and one of ``oscillating``, ``chaotic``, ``decaying``; by default drawn from the seed.

    Raises
    ------
    DataError
        If an argument is out of range, or no system was found.

    Examples
    --------
    >>> found = random_system(4, states=2, kind="oscillating")
    >>> found.system.states, found.half
    (('x', 'y'), 'tuning')
    """
    if states is not None and states not in (2, 3, 4, 5):
        raise DataError(f"random_system(states={states!r}): expected 2, 3, 4 or 5.")
    if kind is not None and kind not in KINDS:
        raise DataError(f"random_system(kind={kind!r}): expected one of {', '.join(KINDS)}.")
    rng, drawn, decays = _first_draws(seed)
    d = drawn if states is None else states
    kinds = (kind,) if kind else ("decaying",) if decays else ("oscillating", "chaotic")
    if kind == "chaotic" and d == 2:
        raise DataError("random_system(states=2, kind='chaotic'): two states cannot be chaotic; use 3 or more.")
    for coef, path, found in _bounded(rng, d, kinds):
        result = _accept(seed, coef, path, found)
        if result is not None:
            return result
    raise DataError(
        f"random_system(seed={seed}): no {' or '.join(kinds)} system of {d} states was found; use another seed."
    )


def is_decaying(seed: int) -> bool:
    """Return whether the system of a seed decays, without drawing it.

    Examples
    --------
    >>> [seed for seed in range(10) if is_decaying(seed)]
    [3, 5, 6, 8]
    """
    return _first_draws(seed)[2]


def _first_draws(seed: int) -> tuple[np.random.Generator, int, bool]:
    """Return the generator of a seed, and the number of states and the kind that it draws first."""
    rng = np.random.default_rng([77, seed])
    states = int(rng.choice([2, 3, 3, 4, 4, 5]))
    return rng, states, bool(rng.random() < 0.25)


def _powers(d: int) -> NDArray[np.intp]:
    degree = 2 if d == 5 else 3
    words = [w for n in range(degree + 1) for w in combinations_with_replacement(range(d), n)]
    return np.array([[word.count(i) for i in range(d)] for word in words])


def _monomials(x: Array, powers: NDArray[np.intp]) -> Array:
    """Return the monomials (..., D) at states (..., d)."""
    table = np.stack([np.ones_like(x), x, x * x, x * x * x])
    columns = np.ones((*x.shape[:-1], len(powers)))
    for i in range(x.shape[-1]):
        columns *= np.moveaxis(table[powers[:, i], ..., i], 0, -1)
    return columns


def _draw(rng: np.random.Generator, d: int, kinds: Sequence[Kind], powers: NDArray[np.intp]) -> Array:
    """Draw coefficients (batch, d, D) of which many stay bounded; keep those with 2 to 5 terms per equation."""
    coef = np.array([_candidate(rng, d, "decaying" in kinds, powers) for _ in range(_BATCH)])
    sizes = np.count_nonzero(coef, axis=2)
    return np.asarray(coef[(sizes >= 2).all(axis=1) & (sizes <= 5).all(axis=1)])


def _candidate(rng: np.random.Generator, d: int, decays: bool, powers: NDArray[np.intp]) -> Array:
    """Draw one system: a ring of couplings, growth or damping, nonlinear terms, cubic limits, forcing."""
    index = {tuple(row): q for q, row in enumerate(powers.tolist())}

    def term(*factors: int) -> int:
        return index[tuple(factors.count(i) for i in range(d))]

    coef = np.zeros((d, len(powers)))
    higher = np.flatnonzero(powers.sum(axis=1) >= 2)
    order = [int(i) for i in rng.permutation(d)]
    for i, state in enumerate(order):
        coef[state, term(order[(i + 1) % d])] = rng.uniform(0.5, 3.0) * (1 if i % 2 else -1)
        if d == 2 or rng.random() < 0.7:
            coef[state, term(state)] = rng.uniform(0.03, 0.4) * (-1 if decays else rng.choice([1, -1, -1]))
        if d < 5:
            extra = rng.choice(higher, size=rng.integers(0, 3), replace=False)
            coef[state, extra] = rng.uniform(0.2, 2.0, len(extra)) * rng.choice([-1, 1], len(extra))
            if rng.random() < 0.6:
                coef[state, term(state, state, state)] = -rng.uniform(0.05, 1.0)
        if rng.random() < 0.2:
            coef[state, 0] = rng.uniform(-1.0, 1.0)
    for _ in range(d - 2):  # products that hand energy from one state to another keep it bounded
        a, b, c = (int(i) for i in rng.choice(d, 3, replace=False))
        size = rng.uniform(0.3, 2.0)
        coef[a, term(b, c)], coef[b, term(a, c)] = size, -size
    return coef


def _bounded(rng: np.random.Generator, d: int, kinds: Sequence[Kind]) -> Iterator[tuple[Array, Array, Kind]]:
    powers = _powers(d)
    for _ in range(_ROUNDS):
        coef = _draw(rng, d, kinds, powers)
        start = rng.normal(0.0, 1.0, (len(coef), d)) + (0.5 if "decaying" in kinds else 0.0)
        for i, found, path in _behaviour(coef, start, powers):
            if found in kinds:
                yield coef[i], path, found


def _behaviour(coef: Array, start: Array, powers: NDArray[np.intp]) -> Iterator[tuple[int, Kind, Array]]:
    """Yield which candidates stay bounded and move, what they do, and their trajectory from where to start."""
    alive = np.arange(len(coef))
    x = np.stack([start, start + 1e-7], axis=1)
    history = []
    for step in range(_STEPS):
        with np.errstate(over="ignore", invalid="ignore"):
            x = _runge_kutta(x, coef[alive], powers)
        history.append(x[:, 0])
        if step % 50 == 49:
            keep = np.abs(x).max(axis=(1, 2)) < _BOUND
            alive, x = alive[keep], x[keep]
            history = [past[keep] for past in history]
    if not len(alive):
        return
    path = np.array(history)
    begin, late = path[:150].std(axis=0).min(axis=1), path[-500:].std(axis=0).min(axis=1)
    apart = np.abs(x[:, 1] - x[:, 0]).max(axis=1)
    for j, i in enumerate(alive):
        if begin[j] > 0.02 and late[j] < 0.2 * begin[j]:
            yield int(i), "decaying", np.vstack([start[i], path[:, j]])
        elif late[j] > 0.05:
            yield int(i), "chaotic" if apart[j] > 1e-3 else "oscillating", path[_STEPS // 3 :, j]


def _runge_kutta(x: Array, coef: Array, powers: NDArray[np.intp]) -> Array:
    def rate(at: Array) -> Array:
        return _monomials(at, powers) @ coef.transpose(0, 2, 1)

    k1 = rate(x)
    k2 = rate(x + _STEP / 2 * k1)
    k3 = rate(x + _STEP / 2 * k2)
    k4 = rate(x + _STEP * k3)
    step = x + _STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    # What has run away is kept finite until it is dropped.
    return np.asarray(np.clip(np.nan_to_num(step, nan=1e3), -1e3, 1e3))


def _accept(seed: int, coef: Array, path: Array, kind: Kind) -> RandomSystem | None:
    d = len(coef)
    powers = _powers(d)
    columns = _monomials(path, powers)
    period = fastest_period(path, columns @ coef.T, _STEP)
    if not 10 * _STEP < period < len(path) * _STEP / _PERIODS:
        return None
    window = int(_PERIODS * period / _STEP)
    if _weakest(columns[:window], coef) < WEAKEST_SHARE or _fades(path[:window]):
        return None
    start, states = path[0], _LETTERS[:d]

    def right_hand_side(x: Array) -> Array:
        return np.asarray(_monomials(np.asarray(x, dtype=float), powers) @ coef.T)

    def sampler(rng: Rng, count: int) -> Array:
        return np.tile(start, (count, 1))

    truth = {
        f"{state}'": {_name(powers[q], states): float(coef[j, q]) for q in np.flatnonzero(coef[j])}
        for j, state in enumerate(states)
    }
    system = System(f"random-{seed}", states, {}, right_hand_side, sampler, truth)
    step = period / PER_PERIOD
    try:  # bounded for the longest data too
        integrate(right_hand_side, start, np.linspace(0, 5000 * step, 50))
    except DataError:
        return None
    return RandomSystem(seed, system, start, step, kind, {2: 4, 3: 3, 4: 3, 5: 2}[d])


def fastest_period(x: Array, rates: Array, step: float) -> float:
    """Return the shortest mean period of a state, from crossings of its mean or, if few, from its mean speed."""
    periods = []
    for column, rate in zip(x.T, rates.T, strict=True):
        centred = column - column.mean()
        crossings = np.count_nonzero(np.diff(np.sign(centred)))
        if crossings >= 4:
            periods.append(2 * step * len(x) / crossings)
        else:
            periods.append(2 * np.pi * centred.std() / max(float(np.sqrt(np.mean(rate**2))), 1e-12))
    return float(min(periods))


def _fades(path: Array) -> bool:
    """Return True if a state has nearly stopped moving before the conditions' periods are over."""
    quarter = len(path) // _PERIODS
    return bool((path[-quarter:].std(axis=0) < _LEAST_LEFT * path[:quarter].std(axis=0)).any())


def _weakest(columns: Array, coef: Array) -> float:
    """Return the least share of a right-hand side that one true term makes up beyond the others."""
    weakest = np.inf
    for row in coef:
        support = np.flatnonzero(row)
        size = np.sqrt(np.mean((columns @ row) ** 2))
        for q in support:
            others = columns[:, [s for s in support if s != q]]
            fit = np.linalg.lstsq(others, columns[:, q], rcond=None)[0]
            alone = np.sqrt(np.mean((columns[:, q] - others @ fit) ** 2))
            weakest = min(weakest, abs(row[q]) * alone / size)
    return float(weakest)


def _name(powers: NDArray[np.intp], states: tuple[str, ...]) -> str:
    parts = [s if p == 1 else f"{s}^{p}" for s, p in zip(states, powers, strict=True) if p]
    return " ".join(parts) or "1"
