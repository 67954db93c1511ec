"""How likely a model makes the samples: its best orbit, with noise in every state allowed for."""

from exactsindy.likelihood.measured import Measured
from exactsindy.likelihood.orbit import WARM, Orbit, OrbitModel, Support
from exactsindy.likelihood.tangent import tangent_problem

__all__ = ["WARM", "Measured", "Orbit", "OrbitModel", "Support", "tangent_problem"]
