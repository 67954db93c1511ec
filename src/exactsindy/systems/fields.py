"""Known partial differential equations on periodic domains, with their true coefficients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.errors import DataError
from exactsindy.library import Derivatives, Library, Polynomials
from exactsindy.model import Model
from exactsindy.systems.system import Rng, entry_named

Initial = Callable[[Rng, tuple[Array, ...]], tuple[Array, ...]]


@dataclass(frozen=True)
class FieldSystem:
    """A partial differential equation whose coefficients are known, and how its experiments start.

    Parameters
    ----------
    name
        Key in `FIELD_SYSTEMS`.
    truth
        Coefficients by equation and term: ``{"u_t": {"u u_x": -1.0, "u_xx": 0.1}}``.
    lengths
        Period of each space axis, by name.
    points
        Grid points along each axis.
    times
        Times at which the field is sampled.
    initial
        Draws the fields at the start, ``(rng, coordinates) -> arrays``.
    library
        The library in which the law is looked for.
    first
        Times before this are simulated but not sampled.

    Examples
    --------
    >>> burgers = find_field_system("burgers")
    >>> burgers.truth["u_t"]
    {'u u_x': -1.0, 'u_xx': 0.1}
    """

    name: str
    truth: Mapping[str, Mapping[str, float]]
    lengths: Mapping[str, float]
    points: int
    times: Array
    initial: Initial
    library: Library
    first: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(target.removesuffix("_t") for target in self.truth)

    def simulate(self, rng: Rng, *, points: int | None = None, times: ArrayLike | None = None) -> Field:
        """Return a noise-free field from a drawn start, on a grid of so many points per axis."""
        n = self.points if points is None else points
        when = self.times if times is None else np.asarray(times, dtype=float)
        coords = {axis: length * np.arange(n) / n for axis, length in self.lengths.items()}
        grid = np.meshgrid(*coords.values(), indexing="ij")
        start = dict(zip(self.names, self.initial(rng, tuple(grid)), strict=True))
        model = Model.from_coefficients(self.truth)
        run_up = when if self.first <= 0 else np.concatenate([[0.0], when + self.first])
        run = model.simulate_field(start, run_up, coords=coords, periods=dict(self.lengths))
        if not run.success:
            raise DataError(f"{self.name}: the simulation stopped ({run.status.value}); use another start or grid.")
        kept = slice(None) if self.first <= 0 else slice(1, None)
        values = {name: run[name][..., kept] for name in self.names}
        return Field.from_arrays(values, dims=(*coords, "t"), coords={**coords, "t": when}, periodic=dict(self.lengths))


def _published_library() -> Library:
    """Return the 19 terms u^p D^q u, p <= 3, q <= 4, of the published Kuramoto-Sivashinsky experiment."""
    return Polynomials(3, bias=False) + Polynomials(3) * Derivatives(4)


def random_waves(low: int, high: int, size: float, mean: float = 0.0) -> Initial:
    """Return a function that draws fields: sines of random phase and size, ``low`` to ``high`` waves in the domain."""

    def initial(rng: Rng, grid: tuple[Array, ...]) -> tuple[Array, ...]:
        x = 2 * np.pi * grid[0] / (grid[0][-1] + grid[0][1])
        count = high - low + 1
        phases, sizes = rng.uniform(0, 2 * np.pi, count), rng.uniform(0.3, 1.0, count)
        u = sum(a * np.sin(k * x + p) for k, a, p in zip(range(low, high + 1), sizes, phases, strict=True))
        return (mean + size * u / np.abs(u).max(),)

    return initial


def _published_ks(rng: Rng, grid: tuple[Array, ...]) -> tuple[Array, ...]:
    x = np.linspace(0, 2 * np.pi, len(grid[0]))
    shift, speed = rng.uniform(0, 1, 2)
    u = np.cos(x + shift) + np.sin(4 * speed * x)
    return (u / np.abs(u).max(),)


def _spiral(rng: Rng, grid: tuple[Array, ...]) -> tuple[Array, ...]:
    half = (grid[0].max() + grid[0][1, 0]) / 2
    x, y = grid[0] - half, grid[1] - half
    factor, turn = rng.uniform(0.95, 1.05), rng.uniform(0, 2 * np.pi)
    radius = np.hypot(x, y)
    phase = np.arctan2(y, x) + turn - factor * radius
    return np.tanh(radius) * np.cos(phase), np.tanh(radius) * np.sin(phase)


def _one_dimensional(name: str, truth: Mapping[str, float], length: float, end: float, initial: Initial) -> FieldSystem:
    times = np.linspace(0, end, 201)
    return FieldSystem(name, {"u_t": dict(truth)}, {"x": length}, 256, times, initial, _published_library())


def _kuramoto_sivashinsky() -> FieldSystem:
    truth = {"u_t": {"u u_x": -1.0, "u_xx": -1.0, "u_xxxx": -1.0}}
    times, lengths, name = np.arange(251) * np.float64(0.1), {"x": 32 * np.pi}, "kuramoto_sivashinsky"
    return FieldSystem(name, truth, lengths, 1024, times, _published_ks, _published_library())


def _reaction_diffusion() -> FieldSystem:
    d, beta = 0.1, 1.0
    truth = {
        "u_t": {"u": 1.0, "u^3": -1.0, "u^2 v": beta, "u v^2": -1.0, "v^3": beta, "u_xx": d, "u_yy": d},
        "v_t": {"v": 1.0, "u^3": -beta, "u^2 v": -1.0, "u v^2": -beta, "v^3": -1.0, "v_xx": d, "v_yy": d},
    }
    library = Polynomials(3, bias=False) + Polynomials(3) * Derivatives(2)
    lengths = {"x": 20.0, "y": 20.0}
    return FieldSystem("reaction_diffusion", truth, lengths, 64, np.linspace(0, 5, 101), _spiral, library)


_SWIFT_HOHENBERG = {"u": -0.5, "u^3": -1.0, "u_xx": -2.0, "u_xxxx": -1.0}
_PUBLISHED = (
    _kuramoto_sivashinsky(),
    _reaction_diffusion(),
    _one_dimensional("burgers", {"u u_x": -1.0, "u_xx": 0.1}, 2 * np.pi, 4.0, random_waves(1, 3, 1.5)),
    _one_dimensional("korteweg_de_vries", {"u u_x": -6.0, "u_xxx": -1.0}, 20.0, 2.0, random_waves(1, 3, 0.8, 0.5)),
    _one_dimensional("fisher", {"u": 1.0, "u^2": -1.0, "u_xx": 0.1}, 20.0, 6.0, random_waves(1, 5, 0.2, 0.25)),
    _one_dimensional("allen_cahn", {"u": 1.0, "u^3": -1.0, "u_xx": 0.05}, 20.0, 5.0, random_waves(1, 8, 0.7)),
    _one_dimensional("swift_hohenberg", _SWIFT_HOHENBERG, 20 * np.pi, 10.0, random_waves(1, 16, 1.0)),
)
FIELD_SYSTEMS: Mapping[str, FieldSystem] = MappingProxyType({system.name: system for system in _PUBLISHED})


def find_field_system(name: str) -> FieldSystem:
    """Return the field system of that name; case, blanks and hyphens do not matter.

    Any other name is a `DataError` that lists the nearest names.

    Examples
    --------
    >>> find_field_system("Allen-Cahn").names
    ('u',)
    """
    return entry_named(name, FIELD_SYSTEMS, "field system")
