"""Examples that run on click: bundled measurements, and known systems simulated with noise when asked for."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from exactsindy._types import Array
from exactsindy.app.files import Source, keep
from exactsindy.model import Model
from exactsindy.systems import add_field_noise, add_noise, find_field_system, find_system

# Seed of all simulated examples: the same data each time.
_SEED = 1


@dataclass(frozen=True)
class Example:
    """Data to try the app with: a title, what they are, and how they are made; ``periodic`` axes of a field."""

    title: str
    about: str
    file: str
    content: Callable[[], bytes]
    periodic: tuple[str, ...] = ()

    def keep(self, folder: Path) -> Source:
        """Write the data into a folder."""
        return keep(folder, self.file, self.content())


def _bundled(name: str) -> Callable[[], bytes]:
    return lambda: (files("exactsindy.datasets") / name).read_bytes()


def _simulated(name: str, samples: int, step: float, noise: float) -> Callable[[], bytes]:
    def content() -> bytes:
        system = find_system(name)
        rng = np.random.default_rng(_SEED)
        times = np.arange(samples) * step
        states = add_noise(system.simulate(system.initial_condition(rng), times), noise, rng)
        return _csv(("t", *system.states), np.column_stack([times, states]))

    return content


def _pendulum() -> bytes:
    """Return a damped pendulum of large swings, three starts: a law with a sine."""
    model = Model.from_coefficients({"angle'": {"speed": 1.0}, "speed'": {"sin(angle)": -9.81, "speed": -0.2}})
    rng, times = np.random.default_rng(_SEED), np.arange(0.0, 8.0, 0.02)
    parts = []
    for number, start in enumerate(([2.6, 0.0], [-1.5, 3.0], [0.8, -4.0])):
        states = model.simulate(start, times).x
        parts.append(np.column_stack([np.full(len(times), number), times, add_noise(states, 0.01, rng)]))
    text = _csv(("swing", "t", "angle", "speed"), np.vstack(parts)).decode()
    head, *rows = text.splitlines()
    named = [f"swing {row.split(',', 1)[0]},{row.split(',', 1)[1]}" for row in rows]
    return "\n".join([head, *named, ""]).encode()


def _burgers() -> bytes:
    system, rng = find_field_system("burgers"), np.random.default_rng(_SEED)
    data = add_field_noise(system.simulate(rng, points=128, times=np.linspace(0.0, 4.0, 81)), 0.02, rng)
    buffer = io.BytesIO()
    arrays = {**dict(zip(data.dims, data.coords, strict=True)), **dict(zip(data.names, data.values, strict=True))}
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _csv(names: tuple[str, ...], table: Array) -> bytes:
    text = io.StringIO()
    text.write(",".join(names) + "\n")
    np.savetxt(text, table, delimiter=",", fmt="%.6g")
    return text.getvalue().encode()


EXAMPLES: tuple[Example, ...] = (
    Example("Lorenz", "chaos in three states, with noise", "lorenz.csv", _bundled("lorenz.csv")),
    Example("Lynx and hare", "furs counted over 21 years", "lynx_hare.csv", _bundled("lynx_hare.csv")),
    Example("Van der Pol", "an oscillator, 2 % noise", "van_der_pol.csv", _simulated("van_der_pol", 1500, 0.02, 0.02)),
    Example("Pendulum", "large swings: the law holds a sine", "pendulum.csv", _pendulum),
    Example("Burgers", "a field u(x, t), 2 % noise", "burgers.npz", _burgers, periodic=("x",)),
)
#: The example that a first visit runs with one click: it takes the shortest time.
FIRST = next(example for example in EXAMPLES if example.title == "Van der Pol")
