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
from exactsindy.systems.noise import add_noise, noise_scale
from exactsindy.systems.system import System

__all__ = [
    "SYSTEMS",
    "System",
    "add_noise",
    "duffing",
    "find_system",
    "hopf",
    "lorenz",
    "lotka_volterra",
    "mhd",
    "noise_scale",
    "roessler",
    "van_der_pol",
]
