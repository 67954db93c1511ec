"""From samples to derivatives, and how noisy the samples are."""

from exactsindy.differentiation.external import PyNumDiff as PyNumDiff
from exactsindy.differentiation.finite_difference import FiniteDifference as FiniteDifference
from exactsindy.differentiation.fornberg import fornberg_weights as fornberg_weights
from exactsindy.differentiation.grid import PRINTED as PRINTED
from exactsindy.differentiation.grid import samples as samples
from exactsindy.differentiation.grid import uniform_step as uniform_step
from exactsindy.differentiation.noise import noise_level as noise_level
from exactsindy.differentiation.penalised import Smooth as Smooth
from exactsindy.differentiation.penalised import whittaker as whittaker
from exactsindy.differentiation.savitzky_golay import SmoothedFiniteDifference as SmoothedFiniteDifference
from exactsindy.differentiation.spectral import Spectral as Spectral
