"""Families of laws that no polynomial library holds; each draws parameters, starts and a duration from a generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Rng = np.random.Generator
#: The true terms of an equation, or None if the library does not hold it.
Truth = tuple[str, ...] | None


@dataclass(frozen=True)
class Law:
    """Right-hand side of the components of the state, initial states, duration, and the truth of what is measured.

    ``truth`` has one entry for each of the first states; states beyond those are hidden.
    """

    states: tuple[str, ...]
    rate: Callable[..., tuple[object, ...]]
    starts: tuple[tuple[float, ...], ...]
    duration: float
    truth: tuple[Truth, ...]


Family = Callable[[Rng], Law]


def _starts(rng: Rng, count: int, *ranges: tuple[float, float]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(rng.uniform(*span)) for span in ranges) for _ in range(count))


def michaelis_menten(rng: Rng) -> Law:
    """Return an enzyme's substrate that is used up, in one experiment or in several."""
    v, k = rng.uniform(0.5, 2.0), rng.uniform(0.2, 0.8)
    starts = _starts(rng, int(rng.choice([1, 3, 5])), (2.0, 5.0))
    longest = max(s[0] for s in starts)
    return Law(("s",), lambda s: (-v * s / (k + s),), starts, (longest + 3 * k) / v, (None,))


def open_enzyme(rng: Rng) -> Law:
    """Return an enzyme with inflow of substrate and outflow of product: the second equation is no polynomial either."""
    v, k, flow, out = rng.uniform(1.0, 2.5), rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.6), rng.uniform(0.3, 1.0)
    return Law(
        ("s", "p"),
        lambda s, p: (flow - v * s / (k + s), v * s / (k + s) - out * p),
        _starts(rng, int(rng.choice([1, 3])), (2.0, 4.0), (0.0, 1.0)),
        rng.uniform(4.0, 8.0) / out,
        (None, None),
    )


def holling(rng: Rng) -> Law:
    """Return prey and predators with saturation of Holling's type II or III."""
    capacity, half, power = rng.uniform(3.0, 5.0), rng.uniform(0.4, 0.8), int(rng.choice([1, 2]))
    attack, gain, loss = rng.uniform(1.5, 2.5), rng.uniform(0.5, 0.8), rng.uniform(0.3, 0.5)

    def rate(x: float, y: float) -> tuple[object, ...]:
        eaten = attack * x**power * y / (half**power + x**power)
        return x * (1 - x / capacity) - eaten, gain * eaten - loss * y

    return Law(("x", "y"), rate, _starts(rng, 1, (0.5, 2.0), (0.3, 1.0)), rng.uniform(30, 60), (None, None))


def repressilator(rng: Rng) -> Law:
    """Return three genes that repress one another (Hill functions)."""
    a, n = rng.uniform(4.0, 10.0), float(rng.choice([3, 4]))
    return Law(
        ("x", "y", "z"),
        lambda x, y, z: (a / (1 + z**n) - x, a / (1 + x**n) - y, a / (1 + y**n) - z),
        _starts(rng, 1, (0.5, 2.0), (0.5, 2.0), (0.5, 2.0)),
        rng.uniform(12, 30),
        (None, None, None),
    )


def goodwin(rng: Rng) -> Law:
    """Return a gene whose product represses it through a chain: only its first equation is no polynomial."""
    a, n = rng.uniform(3.0, 8.0), float(rng.choice([4, 8, 12]))
    b, c, d = rng.uniform(0.4, 0.6, 3)
    return Law(
        ("x", "y", "z"),
        lambda x, y, z: (a / (1 + z**n) - b * x, x - c * y, y - d * z),
        _starts(rng, 1, (0.5, 2.0), (0.5, 2.0), (0.2, 1.0)),
        rng.uniform(25, 50),
        (None, ("x", "y"), ("y", "z")),
    )


def pendulum(rng: Rng) -> Law:
    """Return a swinging pendulum, damped in three of four draws before those near a polynomial are drawn again."""
    g, damping = rng.uniform(0.5, 10.0), rng.uniform(0.02, 0.2) * (rng.random() < 0.75)
    starts = _starts(rng, 1, (1.5, 2.9), (0.0, 0.0))
    periods = rng.uniform(2, 8)
    rate = np.sqrt(g)
    return Law(
        ("x", "v"),
        lambda x, v: (v, -g * np.sin(x) - damping * rate * v),
        starts,
        2 * np.pi * periods / rate,
        (("v",), None),
    )


def coupled_pendula(rng: Rng) -> Law:
    """Return two pendula joined by a spring."""
    k, c = rng.uniform(0.1, 0.6), rng.uniform(0.0, 0.05)
    return Law(
        ("x", "y", "v", "w"),
        lambda x, y, v, w: (v, w, -np.sin(x) + k * (y - x) - c * v, -np.sin(y) + k * (x - y) - c * w),
        _starts(rng, 1, (1.5, 2.4), (-2.0, 1.0), (0.0, 0.0), (-0.5, 0.5)),
        rng.uniform(20, 50),
        (("v",), ("w",), None, None),
    )


def kuramoto(rng: Rng) -> Law:
    """Return two or three coupled phases."""
    count = int(rng.choice([2, 3]))
    speeds, k = rng.uniform(0.5, 1.5, count), rng.uniform(0.3, 1.0)

    def rate(*phases: float) -> tuple[object, ...]:
        p = np.array(phases)
        return tuple(speeds + k / count * np.sin(p[None, :] - p[:, None]).sum(axis=1))

    starts = _starts(rng, 1, *[(0.0, 2 * np.pi)] * count)
    return Law(("p", "q", "r")[:count], rate, starts, rng.uniform(8, 20), (None,) * count)


def morse(rng: Rng) -> Law:
    """Return a stretched bond of Morse's potential, slightly damped."""
    depth, a, c = rng.uniform(0.5, 2.0), rng.uniform(0.7, 1.3), rng.uniform(0.02, 0.15)
    return Law(
        ("x", "v"),
        lambda x, v: (v, 2 * a * depth * (np.exp(-2 * a * x) - np.exp(-a * x)) - c * v),
        _starts(rng, 1, (2.0 / a, 3.5 / a), (0.0, 0.0)),
        rng.uniform(2, 6) * 2 * np.pi / (a * np.sqrt(2 * depth)),
        (("v",), None),
    )


def toda(rng: Rng) -> Law:
    """Return a damped exponential spring."""
    b, c = rng.uniform(0.7, 1.5), rng.uniform(0.0, 0.1)
    return Law(
        ("x", "v"),
        lambda x, v: (v, 1 - np.exp(b * x) - c * v),
        _starts(rng, 1, (1.2 / b, 2.0 / b), (0.0, 0.0)),
        rng.uniform(2, 6) * 2 * np.pi / np.sqrt(b),
        (("v",), None),
    )


def arrhenius(rng: Rng) -> Law:
    """Return concentration and temperature of a reaction that heats itself: a batch or a stirred tank."""
    k, e, heat, cooling = rng.uniform(2.0, 6.0), rng.uniform(4.0, 8.0), rng.uniform(1.0, 3.0), rng.uniform(0.05, 0.3)
    flow = float(rng.choice([0.0, rng.uniform(0.1, 0.4)]))

    def rate(c: float, t: float) -> tuple[object, ...]:
        speed = k * c * np.exp(-e / (1 + t))
        return flow * (1 - c) - speed, heat * speed - (flow + cooling) * t

    starts = _starts(rng, int(rng.choice([1, 3])), (0.8, 1.2), (0.5, 1.5))
    return Law(("c", "T"), rate, starts, rng.uniform(6, 20), (None, None))


def quadratic_drag(rng: Rng) -> Law:
    """Return an oscillator slowed by v |v|, in one draw of two with Duffing's spring."""
    k, c, cubic = rng.uniform(0.5, 3.0), rng.uniform(0.1, 0.6), float(rng.choice([0.0, 0.3]))
    return Law(
        ("x", "v"),
        lambda x, v: (v, -k * x - cubic * x**3 - c * v * abs(v)),
        _starts(rng, 1, (1.0, 2.5), (0.0, 0.0)),
        rng.uniform(2, 6) * 2 * np.pi / np.sqrt(k),
        (("v",), None),
    )


def chua(rng: Rng) -> Law:
    """Return Chua's circuit, whose first equation has a kinked resistor."""
    a, b = rng.uniform(15.0, 16.0), rng.uniform(27.0, 29.0)

    def rate(x: float, y: float, z: float) -> tuple[object, ...]:
        current = -0.714 * x - 0.2145 * (abs(x + 1) - abs(x - 1))
        return a * (y - x - current), x - y + z, -b * y

    starts = _starts(rng, 1, (0.5, 0.9), (0.0, 0.1), (-0.1, 0.1))
    return Law(("x", "y", "z"), rate, starts, rng.uniform(8, 20), (None, ("x", "y", "z"), ("y",)))


def hopfield(rng: Rng) -> Law:
    """Return two or three neurons with tanh."""
    count = int(rng.choice([2, 3]))
    turn = rng.uniform(1.5, 3.0)
    w = rng.normal(0.0, 0.5, (count, count)) + np.diag(rng.uniform(1.5, 3.0, count))
    w[0, 1], w[1, 0] = turn, -turn

    def rate(*x: float) -> tuple[object, ...]:
        return tuple(-np.array(x) + w @ np.tanh(x))

    starts = _starts(rng, int(rng.choice([1, 3])), *[(-2.0, 2.0)] * count)
    return Law(("x", "y", "z")[:count], rate, starts, rng.uniform(10, 30), (None,) * count)


def tanks(rng: Rng) -> Law:
    """Return the levels of two tanks, one draining into the other (square roots), with or without inflow."""
    a, b, flow = rng.uniform(0.3, 0.8), rng.uniform(0.2, 0.6), float(rng.choice([0.0, rng.uniform(0.1, 0.3)]))

    def root(h: float) -> float:
        return float(np.sqrt(max(h, 0.0)))

    starts = _starts(rng, int(rng.choice([1, 3])), (2.0, 4.0), (0.05, 1.0))
    highest = max(s[0] for s in starts)
    return Law(
        ("h", "g"),
        lambda h, g: (flow - a * root(h), a * root(h) - b * root(g)),
        starts,
        (0.95 if flow == 0 else 2.0) * 2 * np.sqrt(highest) / a,
        (None, None),
    )


def _central(rng: Rng, orbits: int) -> Law:
    power = float(rng.choice([3.0, 3.0, 2.0, 2.5]))  # of r below the position vector: 3 is Kepler's

    def rate(x: float, y: float, v: float, w: float) -> tuple[object, ...]:
        r = np.hypot(x, y) ** power
        return v, w, -x / r, -y / r

    starts = tuple(
        (float(r), 0.0, 0.0, float(speed * r ** (1 - power / 2)))
        for r, speed in zip(rng.uniform(0.8, 1.5, orbits), rng.uniform(0.75, 0.95, orbits), strict=True)
    )
    return Law(("x", "y", "v", "w"), rate, starts, rng.uniform(8, 25), (("v",), ("w",), None, None))


def one_orbit(rng: Rng) -> Law:
    """Return one orbit around a centre that attracts like a power of the distance."""
    return _central(rng, 1)


def several_orbits(rng: Rng) -> Law:
    """Return three orbits around such a centre."""
    return _central(rng, 3)


def hidden_lorenz(rng: Rng) -> Law:
    """Return two of the three states of Lorenz's system."""
    rho, given = rng.uniform(26.0, 32.0), int(rng.integers(3))

    def flow(x: float, y: float, z: float) -> tuple[object, ...]:
        return 10 * (y - x), x * (rho - z) - y, x * y - 8 / 3 * z

    truths: tuple[tuple[Truth, ...], ...] = ((("x", "y"), None), (None, None), (None, None))
    return _reordered(("x", "y", "z"), flow, given, truths[given], rng, (-8.0, 8.0, 27.0), rng.uniform(6, 15))


def hidden_roessler(rng: Rng) -> Law:
    """Return two of the three states of Roessler's system."""
    c, given = rng.uniform(4.5, 6.0), int(rng.integers(3))

    def flow(x: float, y: float, z: float) -> tuple[object, ...]:
        return -y - z, x + 0.2 * y, 0.2 + z * (x - c)

    truths: tuple[tuple[Truth, ...], ...] = ((None, ("x", "y")), (None, ("1", "z", "x z")), (None, None))
    return _reordered(("x", "y", "z"), flow, given, truths[given], rng, (3.0, 5.0, 0.1), rng.uniform(25, 60))


def hidden_oscillator(rng: Rng) -> Law:
    """Return the first of two masses coupled by springs, the second being hidden."""
    a, b, k, c = rng.uniform(0.5, 2.0), rng.uniform(0.5, 2.0), rng.uniform(0.3, 1.0), rng.uniform(0.0, 0.05)
    return Law(
        ("x", "v", "y", "w"),
        lambda x, v, y, w: (v, -a * x + k * (y - x) - c * v, w, -b * y + k * (x - y) - c * w),
        _starts(rng, 1, (0.5, 2.0), (0.0, 0.0), (-2.0, 0.0), (0.0, 0.5)),
        rng.uniform(15, 40),
        (("v",), None),
    )


def position_only(rng: Rng) -> Law:
    """Return the position of a damped or of van der Pol's oscillator without its velocity."""
    k, c, drive = rng.uniform(0.5, 3.0), rng.uniform(0.02, 0.2), float(rng.choice([0.0, 1.0]))
    return Law(
        ("x", "v"),
        lambda x, v: (v, -k * x - c * v + drive * (1 - x**2) * v),
        _starts(rng, 1, (1.0, 2.5), (0.0, 0.0)),
        rng.uniform(15, 40),
        (None,),
    )


def _reordered(
    states: tuple[str, ...],
    flow: Callable[..., tuple[object, ...]],
    given: int,
    truth: tuple[Truth, ...],
    rng: Rng,
    start: tuple[float, ...],
    duration: float,
) -> Law:
    """Return three states in another order, such that the hidden one is the last."""
    order = ((0, 1, 2), (0, 2, 1), (1, 2, 0))[given]
    back = [order.index(i) for i in range(3)]

    def rate(*x: float) -> tuple[object, ...]:
        change = flow(*(x[i] for i in back))
        return tuple(change[i] for i in order)

    first = np.array(start) + rng.normal(0.0, 0.5, 3) * (1.0, 1.0, 0.05)
    return Law(tuple(states[i] for i in order), rate, (tuple(float(first[i]) for i in order),), duration, truth)


#: Every family by name, with the kind of function that puts it outside polynomials.
FAMILIES: dict[str, tuple[str, Family]] = {
    "michaelis_menten": ("rational", michaelis_menten),
    "open_enzyme": ("rational", open_enzyme),
    "holling": ("rational", holling),
    "repressilator": ("rational", repressilator),
    "goodwin": ("rational", goodwin),
    "pendulum": ("trigonometric", pendulum),
    "coupled_pendula": ("trigonometric", coupled_pendula),
    "kuramoto": ("trigonometric", kuramoto),
    "morse": ("exponential", morse),
    "toda": ("exponential", toda),
    "arrhenius": ("exponential", arrhenius),
    "quadratic_drag": ("absolute value", quadratic_drag),
    "chua": ("absolute value", chua),
    "hopfield": ("tanh", hopfield),
    "tanks": ("square root", tanks),
    "one_orbit": ("central force", one_orbit),
    "several_orbits": ("central force", several_orbits),
    "hidden_lorenz": ("hidden state", hidden_lorenz),
    "hidden_roessler": ("hidden state", hidden_roessler),
    "hidden_oscillator": ("hidden state", hidden_oscillator),
    "position_only": ("hidden state", position_only),
}
