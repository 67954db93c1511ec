"""From data and a library to the regression Problem: strong, weak, integral and whitened forms."""

from exactsindy.forms.equations import Form as Form
from exactsindy.forms.equations import Group as Group
from exactsindy.forms.equations import NotPositiveDefinite as NotPositiveDefinite
from exactsindy.forms.equations import groups as groups
from exactsindy.forms.equations import trajectory_inputs as trajectory_inputs
from exactsindy.forms.increment import IncrementForm as IncrementForm
from exactsindy.forms.increment import Whiteness as Whiteness
from exactsindy.forms.integral import IntegralForm as IntegralForm
from exactsindy.forms.modal import ModalForm as ModalForm
from exactsindy.forms.modal import inform_field as inform_field
from exactsindy.forms.modal import smooth_field as smooth_field
from exactsindy.forms.modal_library import ModalLibrary as ModalLibrary
from exactsindy.forms.modal_smoothing import SmoothedField as SmoothedField
from exactsindy.forms.modal_window import WindowedField as WindowedField
from exactsindy.forms.modes import Complex as Complex
from exactsindy.forms.quadrature import integrate_intervals as integrate_intervals
from exactsindy.forms.quadrature import interval_weights as interval_weights
from exactsindy.forms.smoothing import Smoothed as Smoothed
from exactsindy.forms.smoothing import inform as inform
from exactsindy.forms.smoothing import smooth as smooth
from exactsindy.forms.strong import StrongForm as StrongForm
from exactsindy.forms.trial import Trial as Trial
from exactsindy.forms.weak import WeakForm as WeakForm
