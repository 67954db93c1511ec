"""Known systems with their true coefficients, and the noise of the published experiments."""

from exactsindy.systems.catalogue import (
    SYSTEMS,
    duffing,
    find_system,
    hopf,
    lorenz,
    lotka_volterra,
    mhd,
    roessler,
    van_der_pol,
)
from exactsindy.systems.fields import FIELD_SYSTEMS, FieldSystem, add_field_noise, find_field_system
from exactsindy.systems.noise import add_noise, noise_scale
from exactsindy.systems.system import System
from exactsindy_experiments.random_systems import RandomSystem, random_system

__all__ = [
    "FIELD_SYSTEMS",
    "SYSTEMS",
    "FieldSystem",
    "RandomSystem",
    "System",
    "add_field_noise",
    "add_noise",
    "duffing",
    "find_field_system",
    "find_system",
    "hopf",
    "lorenz",
    "lotka_volterra",
    "mhd",
    "noise_scale",
    "random_system",
    "roessler",
    "van_der_pol",
]
