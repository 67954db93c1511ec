"""Derivatives of samples, smoothing, and the noise of the samples."""

from exactsindy.differentiation.external import PyNumDiff as PyNumDiff
from exactsindy.differentiation.finite_difference import FiniteDifference as FiniteDifference
from exactsindy.differentiation.finite_difference import SmoothedFiniteDifference as SmoothedFiniteDifference
from exactsindy.differentiation.finite_difference import fornberg_weights as fornberg_weights
from exactsindy.differentiation.penalised import Smooth as Smooth
from exactsindy.differentiation.penalised import noise_level as noise_level
from exactsindy.differentiation.penalised import whittaker as whittaker
from exactsindy.differentiation.penalised_spline import PenalisedSpline as PenalisedSpline
from exactsindy.differentiation.spectral import Spectral as Spectral
from exactsindy.differentiation.steps import PRINTED as PRINTED
from exactsindy.differentiation.steps import samples as samples
from exactsindy.differentiation.steps import uniform_step as uniform_step
