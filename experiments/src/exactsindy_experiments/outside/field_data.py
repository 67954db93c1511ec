"""The fields of WSINDy's benchmark (Messenger and Bortz 2021), regenerated from their equations on their grids.

Noise is normal, its standard deviation a share of the root mean square of each field. The published libraries hold
derivatives of monomials, (u^j)_x..x; ours hold products of a monomial and a derivative, u^i u_x..x, of which there
are as many for one field. Both hold the law.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field
from exactsindy.library import Derivatives, Library, Polynomials
from exactsindy.model import Model
from exactsindy_experiments.outside.weak_rows import Windows

Array = NDArray[np.float64]
Law = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class FieldCase:
    """One draw: which equation, noise in per cent of the root mean square, and the number of the draw."""

    system: str
    noise: float
    draw: int

    def __str__(self) -> str:
        return f"{self.system}, noise {self.noise:g} %, draw {self.draw}"


@dataclass(frozen=True)
class Published:
    """A system: its law in products and in derivatives of monomials, libraries, data, noise levels in per cent."""

    title: str
    law: Law
    published_law: Law
    library: Library
    windows: Windows
    make: Callable[[], Field]
    grid: str
    noises: tuple[float, ...]


def _burgers(height: float) -> Field:
    """Return the exact solution with a shock of that height: a ramp that steepens and then travels."""
    steepness = 0.5
    x = height * (-4 + 8 / 255 * np.arange(256))
    t = 4.0 / 255 * np.arange(256)
    at, when = np.meshgrid(x, t, indexing="ij")
    shock = when - 1 / steepness
    left = np.maximum(at / height + 1 / steepness, 2 * at / height + 1 / steepness)
    with np.errstate(divide="ignore", invalid="ignore"):
        ramp = -steepness * at / (1 - steepness * when)
    values = np.where(when >= left, height, np.where((height * shock < at) & (at <= 0), ramp, 0.0))
    return Field.from_arrays({"u": values}, dims=("x", "t"), coords={"x": x, "t": t})


def _periodic(law: Law, length: float, points: int, start: Callable[[Array], tuple[Array, ...]], times: Array) -> Field:
    """Simulate on a periodic line by spectral derivatives and exponential time stepping."""
    x = length * np.arange(points) / points
    names = [target.removesuffix("_t") for target in law]
    run = Model.from_coefficients(law).simulate_field(
        dict(zip(names, start(x), strict=True)), times, coords={"x": x}, periods={"x": length}
    )
    if not run.success:
        raise RuntimeError(f"the simulation stopped: {run.status.value}")
    values = {name: run[name] for name in names}
    return Field.from_arrays(values, dims=("x", "t"), coords={"x": x, "t": times}, periodic={"x": length})


def _kdv() -> Field:
    def solitons(x: Array) -> tuple[Array, ...]:
        centred = x - np.pi
        waves = ((25.0, 2.0), (16.0, 1.0))
        return (sum(3 * a**2 / np.cosh(0.5 * a * (centred + b)) ** 2 for a, b in waves),)  # type: ignore[return-value]

    return _periodic(_KDV, 2 * np.pi, 400, solitons, np.linspace(0.0, 0.006, 601))


def _ks() -> Field:
    def start(x: Array) -> tuple[Array, ...]:
        return (np.cos(x / 16) * (1 + np.sin(x / 16)),)

    return _periodic(_KS, 32 * np.pi, 256, start, np.linspace(0.0, 150.0, 301))


def _nls() -> Field:
    def start(x: Array) -> tuple[Array, ...]:
        return 2 / np.cosh(x - 5), np.zeros_like(x)

    whole = _periodic(_NLS, 10.0, 512, start, np.linspace(0.0, np.pi, 501))
    values = {name: np.asarray(whole[name])[::2, ::2] for name in ("u", "v")}
    coords = {"x": np.asarray(whole.coords[0])[::2], "t": np.asarray(whole.coords[1])[::2]}
    return Field.from_arrays(values, dims=("x", "t"), coords=coords, periodic={"x": 10.0})


def _rd(turns: float) -> Field:
    """Start from a spiral of phase ``turns * r``: pi as WSINDy (it breaks up), 1 as PDE-FIND and ensemble WSINDy."""
    points, length = 256, 20.0
    axis = length * np.arange(points) / points
    x, y = np.meshgrid(axis - length / 2, axis - length / 2, indexing="ij")
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    phase = angle - turns * radius
    start = {"u": np.tanh(radius) * np.cos(phase), "v": np.tanh(radius) * np.sin(phase)}
    times = 0.05 * np.arange(201)
    run = Model.from_coefficients(_RD).simulate_field(
        start, times, coords={"x": axis, "y": axis}, periods={"x": length, "y": length}
    )
    values = {name: run[name] for name in ("u", "v")}
    return Field.from_arrays(
        values, dims=("x", "y", "t"), coords={"x": axis, "y": axis, "t": times}, periodic={"x": length, "y": length}
    )


_BURGERS: Law = {"u_t": {"u u_x": -1.0}}
_KDV: Law = {"u_t": {"u u_x": -1.0, "u_xxx": -1.0}}
_KS: Law = {"u_t": {"u u_x": -1.0, "u_xx": -1.0, "u_xxxx": -1.0}}
_NLS: Law = {"u_t": {"v_xx": 0.5, "u^2 v": 1.0, "v^3": 1.0}, "v_t": {"u_xx": -0.5, "u v^2": -1.0, "u^3": -1.0}}
_RD: Law = {
    "u_t": {"u": 1.0, "u^3": -1.0, "u^2 v": 1.0, "u v^2": -1.0, "v^3": 1.0, "u_xx": 0.1, "u_yy": 0.1},
    "v_t": {"v": 1.0, "u^3": -1.0, "u^2 v": -1.0, "u v^2": -1.0, "v^3": -1.0, "v_xx": 0.1, "v_yy": 0.1},
}
_IN_X: Law = {"u_t": {"(u^2)_x": -0.5}}
_LINE = Polynomials(6) + Polynomials(5) * Derivatives(6)
_LINE_NOISES = (0.0, 1.0, 20.0, 50.0, 100.0)
SYSTEMS: Mapping[str, Published] = MappingProxyType(
    {
        "burgers": Published(
            "inviscid Burgers",
            _BURGERS,
            _IN_X,
            _LINE,
            Windows((60, 60), (5, 5), (7, 7), 6, 6),
            partial(_burgers, 1000.0),
            "256 x 256, exact solution with a shock",
            (*_LINE_NOISES, 335.0),
        ),
        "burgers in other units": Published(
            "the same, shock of height 1",
            _BURGERS,
            _IN_X,
            _LINE,
            Windows((60, 60), (5, 5), (7, 7), 6, 6),
            partial(_burgers, 1.0),
            "lengths in thousands",
            (100.0,),
        ),
        "kdv": Published(
            "Korteweg-de Vries",
            _KDV,
            {"u_t": {**_IN_X["u_t"], "u_xxx": -1.0}},
            _LINE,
            Windows((45, 80), (8, 12), (8, 7), 6, 6),
            _kdv,
            "400 x 601, spectral",
            (*_LINE_NOISES, 231.0),
        ),
        "ks": Published(
            "Kuramoto-Sivashinsky",
            _KS,
            {"u_t": {**_IN_X["u_t"], "u_xx": -1.0, "u_xxxx": -1.0}},
            _LINE,
            Windows((23, 22), (5, 6), (10, 10), 6, 6),
            _ks,
            "256 x 301, spectral",
            (*_LINE_NOISES, 159.0),
        ),
        "nls": Published(
            "nonlinear Schroedinger",
            _NLS,
            _NLS,
            Polynomials(6) + Polynomials(5) * Derivatives(6),
            Windows((19, 25), (5, 5), (11, 10), 6, 6),
            _nls,
            "2 x 256 x 251, spectral",
            (0.0, 1.0, 20.0, 50.0, 93.0),
        ),
        "rd": Published(
            "reaction-diffusion",
            _RD,
            _RD,
            Polynomials(5) + Polynomials(3) * Derivatives(2),
            Windows((13, 14), (10, 8), (13, 12), 5, 4),
            partial(_rd, np.pi),
            "2 x 256 x 256 x 201, spectral",
            (0.0, 1.0, 10.0, 20.0, 22.0, 32.0),
        ),
        "rd stable": Published(
            "reaction-diffusion, stable spiral",
            _RD,
            _RD,
            Polynomials(5) + Polynomials(3) * Derivatives(2),
            Windows((13, 14), (10, 8), (13, 12), 5, 4),
            partial(_rd, 1.0),
            "the same, started as in ensemble WSINDy (there 512 x 512 points)",
            (8.0, 20.0, 32.0),
        ),
    }
)


@cache
def clean(system: str) -> Field:
    """Return the field of a system without noise."""
    return SYSTEMS[system].make()


def noisy(case: FieldCase) -> Field:
    """Return the field of a draw."""
    field = clean(case.system)
    rng = np.random.default_rng([2021, list(SYSTEMS).index(case.system), round(10 * case.noise), case.draw])
    names = [target.removesuffix("_t") for target in SYSTEMS[case.system].law]
    values = {}
    for name in names:
        exact = np.asarray(field[name])
        values[name] = exact + case.noise / 100 * np.sqrt(np.mean(exact**2)) * rng.standard_normal(exact.shape)
    coords = dict(zip(field.dims, field.coords, strict=True))
    periods = {axis: period for axis, period in zip(field.axes, field.periods, strict=True) if period is not None}
    return Field.from_arrays(values, dims=field.dims, coords=coords, periodic=periods)
