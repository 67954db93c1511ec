"""Partial differential equations with drawn coefficients: a tuning and a checking half, apart from the known ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from exactsindy.library import Derivatives, Polynomials
from exactsindy.systems import FIELD_SYSTEMS, FieldSystem, Initial, Rng, random_waves

Array = NDArray[np.float64]

Truth = dict[str, dict[str, float]]
# Law, period, duration, start.
Drawn = tuple[Truth, float, float, Initial]

_POINTS, _TIMES = 256, 201
_PLANE_POINTS, _PLANE_TIMES = 64, 101


def _modified_kdv(rng: Rng) -> Drawn:
    law = {"u^2 u_x": -rng.uniform(3, 8), "u_xxx": -rng.uniform(0.5, 1.5)}
    return {"u_t": law}, 20.0, 2.0, random_waves(1, 3, 0.8, rng.uniform(0.2, 0.5))


def _ks_kdv(rng: Rng) -> Drawn:
    second, third, fourth = rng.uniform(0.7, 1.3), rng.uniform(0.3, 1.0), rng.uniform(0.7, 1.3)
    law = {"u u_x": -rng.uniform(0.7, 2.0), "u_xx": -second, "u_xxx": third, "u_xxxx": -fourth}
    return {"u_t": law}, 20 * np.pi, 20.0, random_waves(1, 10, 1.5)


def _advection_diffusion_reaction(rng: Rng) -> Drawn:
    rate = rng.uniform(0.5, 1.5)
    law = {"u_x": -rng.uniform(0.5, 2.0), "u_xx": rng.uniform(0.05, 0.2), "u": rate, "u^2": -rate * rng.uniform(0.7, 1)}
    return {"u_t": law}, 20.0, 5.0, random_waves(1, 6, 0.25, 0.35)


def _newell_whitehead(rng: Rng) -> Drawn:
    law = {"u": rng.uniform(0.3, 0.8), "u^3": -rng.uniform(1.3, 3.0), "u_xx": rng.uniform(0.1, 0.3)}
    return {"u_t": law}, 25.0, 5.0, random_waves(1, 8, 0.8)


def _logistic_diffusion(rng: Rng) -> Drawn:
    law = {"u": rng.uniform(1.3, 2.0), "u^2": -rng.uniform(1.3, 2.5), "u_xx": rng.uniform(0.15, 0.4)}
    return {"u_t": law}, 30.0, 4.0, random_waves(1, 6, 0.2, 0.25)


def _burgers_kdv(rng: Rng) -> Drawn:
    law = {"u u_x": -rng.uniform(1, 3), "u_xx": rng.uniform(0.1, 0.3), "u_xxx": -rng.uniform(0.05, 0.2)}
    return {"u_t": law}, 4 * np.pi, 4.0, random_waves(1, 4, 1.2, 0.3)


def _burgers_fisher(rng: Rng) -> Drawn:
    rate = rng.uniform(0.5, 1.5)
    law = {"u u_x": -rng.uniform(0.7, 2), "u_xx": rng.uniform(0.1, 0.3), "u": rate, "u^2": -rate}
    return {"u_t": law}, 20.0, 4.0, random_waves(1, 6, 0.3, 0.4)


def _nagumo(rng: Rng) -> Drawn:
    low = rng.uniform(0.2, 0.4)
    scale = rng.uniform(2, 4)
    law = {"u": -scale * low, "u^2": scale * (1 + low), "u^3": -scale, "u_xx": rng.uniform(0.05, 0.2)}
    return {"u_t": law}, 20.0, 4.0, random_waves(1, 7, 0.6, 0.35)


def _quadratic_swift_hohenberg(rng: Rng) -> Drawn:
    law = {"u": -rng.uniform(0.5, 0.9), "u^2": rng.uniform(0.5, 1.2), "u^3": -1.0, "u_xx": -2.0, "u_xxxx": -1.0}
    return {"u_t": law}, 20 * np.pi, 8.0, random_waves(1, 14, 1.2)


def _heat(rng: Rng) -> Drawn:
    return {"u_t": {"u_xx": rng.uniform(0.05, 0.2)}}, 2 * np.pi, 4.0, random_waves(1, 5, 1.0)


def _advection_diffusion(rng: Rng) -> Drawn:
    return (
        {"u_t": {"u_x": -rng.uniform(0.5, 2), "u_xx": rng.uniform(0.05, 0.2)}},
        4 * np.pi,
        4.0,
        random_waves(1, 5, 1.0),
    )


def _huxley(rng: Rng) -> Drawn:
    rate = rng.uniform(1, 2)
    law = {"u^2": rate, "u^3": -rate, "u_xx": rng.uniform(0.05, 0.2)}
    return {"u_t": law}, 20.0, 5.0, random_waves(1, 6, 0.4, 0.45)


def _cubic_burgers(rng: Rng) -> Drawn:
    return (
        {"u_t": {"u^2 u_x": -rng.uniform(1, 3), "u_xx": rng.uniform(0.1, 0.2)}},
        2 * np.pi,
        3.0,
        random_waves(1, 3, 1.2),
    )


def _thin_waves(rng: Rng) -> Drawn:
    law = {"u u_x": -rng.uniform(0.7, 1.5), "u_xxxx": -rng.uniform(0.02, 0.06)}
    return {"u_t": law}, 4 * np.pi, 5.0, random_waves(1, 4, 1.2)


def _oscillators(rng: Rng) -> Drawn:
    d, beta = rng.uniform(0.05, 0.3), rng.uniform(0.4, 0.8) * rng.choice([-1, 1])
    truth = {
        "u_t": {"u": 1.0, "u^3": -1.0, "u^2 v": beta, "u v^2": -1.0, "v^3": beta, "u_xx": d, "u_yy": d},
        "v_t": {"v": 1.0, "u^3": -beta, "u^2 v": -1.0, "u v^2": -beta, "v^3": -1.0, "v_xx": d, "v_yy": d},
    }
    return truth, 20.0, 5.0, _plane_waves(0.9, 0.0)


def _excitable(rng: Rng) -> Drawn:
    d, slow = rng.uniform(0.05, 0.2), rng.uniform(0.3, 0.6)
    truth = {
        "u_t": {"u": 1.0, "u^3": -1.0, "v": -1.0, "u_xx": d, "u_yy": d},
        "v_t": {"u": slow, "v": -slow * rng.uniform(0.3, 0.8), "v_xx": d / 2, "v_yy": d / 2},
    }
    return truth, 20.0, 6.0, _plane_waves(1.0, 0.0)


def _predators(rng: Rng) -> Drawn:
    d = rng.uniform(0.05, 0.2)
    truth = {
        "u_t": {"u": rng.uniform(0.8, 1.2), "u v": -rng.uniform(0.8, 1.2), "u_xx": d, "u_yy": d},
        "v_t": {"v": -rng.uniform(0.8, 1.2), "u v": rng.uniform(0.8, 1.2), "v_xx": d, "v_yy": d},
    }
    return truth, 20.0, 5.0, _plane_waves(0.6, 1.0)


def _plane_waves(size: float, mean: float) -> Initial:
    """Return starts of two fields made of twenty plane waves each, mean plus or minus about ``size``."""

    def initial(rng: Rng, grid: tuple[Array, ...]) -> tuple[Array, ...]:
        x, y = (2 * np.pi * axis / (axis.max() + axis.max() / (len(axis) - 1)) for axis in grid)
        fields = []
        for _ in range(2):
            k, phase = rng.choice(np.arange(-4, 5), size=(20, 2)), rng.uniform(0, 2 * np.pi, 20)
            u = sum(np.cos(a * x + b * y + p) for (a, b), p in zip(k, phase, strict=True))
            fields.append(mean + size * u / np.abs(u).max())
        return tuple(fields)

    return initial


LINES: Mapping[str, Callable[[Rng], Drawn]] = MappingProxyType(
    {
        "modified_kdv": _modified_kdv,
        "ks_kdv": _ks_kdv,
        "advection_diffusion_reaction": _advection_diffusion_reaction,
        "newell_whitehead": _newell_whitehead,
        "logistic_diffusion": _logistic_diffusion,
        "burgers_kdv": _burgers_kdv,
        "burgers_fisher": _burgers_fisher,
        "nagumo": _nagumo,
        "quadratic_swift_hohenberg": _quadratic_swift_hohenberg,
        "heat": _heat,
        "advection_diffusion": _advection_diffusion,
        "huxley": _huxley,
        "cubic_burgers": _cubic_burgers,
        "thin_waves": _thin_waves,
    }
)
PLANES: Mapping[str, Callable[[Rng], Drawn]] = MappingProxyType(
    {"oscillators": _oscillators, "excitable": _excitable, "predators": _predators}
)


def random_field(family: str, seed: int) -> FieldSystem:
    """Return the equation of a family with the coefficients that a seed draws.

    Families are those of `LINES` (one dimension, one field) and `PLANES` (two and two). Even seeds are for tuning,
    odd ones for checking.

    Examples
    --------
    >>> {term: round(value, 2) for term, value in random_field("heat", 0).truth["u_t"].items()}
    {'u_xx': 0.13}
    """
    plane = family in PLANES
    draw = PLANES[family] if plane else LINES[family]
    truth, length, end, initial = draw(np.random.RandomState(seed))
    if plane:
        library = Polynomials(3, bias=False) + Polynomials(3) * Derivatives(2)
        times = np.linspace(0, end, _PLANE_TIMES)
        return FieldSystem(
            f"{family}-{seed}", truth, {"x": length, "y": length}, _PLANE_POINTS, times, initial, library
        )
    times = np.linspace(0, end, _TIMES)
    return FieldSystem(
        f"{family}-{seed}", truth, {"x": length}, _POINTS, times, initial, FIELD_SYSTEMS["burgers"].library
    )
