"""The form of discrete maps: the next sample against the library at this one, and moments corrected for noise."""

from exactsindy.forms.map.map_form import MapForm as MapForm
from exactsindy.forms.map.moments import corrected_problem as corrected_problem
from exactsindy.forms.map.noise import one_step_noise as one_step_noise
from exactsindy.forms.map.steps import lag_names as lag_names
from exactsindy.forms.map.steps import lagged as lagged
from exactsindy.forms.map.steps import unbroken as unbroken
