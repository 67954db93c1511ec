"""The increment form of trajectories: changes between samples, whitened by the noise that they share."""

from exactsindy.forms.increment.increment_form import IncrementForm as IncrementForm
from exactsindy.forms.increment.resolution import CUBIC as CUBIC
from exactsindy.forms.increment.resolution import SIMULATION_TOLERANCE as SIMULATION_TOLERANCE
from exactsindy.forms.increment.smoothing import Smoothed as Smoothed
from exactsindy.forms.increment.smoothing import smooth as smooth
from exactsindy.forms.increment.smoothing import smooth_guided as smooth_guided
from exactsindy.forms.increment.start import StartRegression as StartRegression
