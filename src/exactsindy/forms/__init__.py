"""From data and a library to the regression `Problem`: strong, weak, increment and modal forms."""

from exactsindy.forms.base import EquationGroup as EquationGroup
from exactsindy.forms.base import NotPositiveDefinite as NotPositiveDefinite
from exactsindy.forms.base import Trial as Trial
from exactsindy.forms.base import groups as groups
from exactsindy.forms.base import trajectory_inputs as trajectory_inputs
from exactsindy.forms.form import Form as Form
from exactsindy.forms.increment import SIMULATION_TOLERANCE as SIMULATION_TOLERANCE
from exactsindy.forms.increment import IncrementForm as IncrementForm
from exactsindy.forms.increment import Smoothed as Smoothed
from exactsindy.forms.increment import StartRegression as StartRegression
from exactsindy.forms.increment import smooth as smooth
from exactsindy.forms.increment import smooth_guided as smooth_guided
from exactsindy.forms.modal import ModalForm as ModalForm
from exactsindy.forms.modal import ModalLibrary as ModalLibrary
from exactsindy.forms.modal import SmoothedField as SmoothedField
from exactsindy.forms.modal import WindowedField as WindowedField
from exactsindy.forms.modal import smooth_field as smooth_field
from exactsindy.forms.modal import smooth_field_guided as smooth_field_guided
from exactsindy.forms.quadrature import integrate_intervals as integrate_intervals
from exactsindy.forms.quadrature import interval_weights as interval_weights
from exactsindy.forms.rows import Rows as Rows
from exactsindy.forms.rows import Whiteness as Whiteness
from exactsindy.forms.rows import lag_correlation as lag_correlation
from exactsindy.forms.rows import summed as summed
from exactsindy.forms.strong import StrongForm as StrongForm
from exactsindy.forms.weak import WeakForm as WeakForm
