"""From data and a library to the regression Problem: strong, weak, integral and whitened forms."""

from exactsindy.form.equations import Form as Form
from exactsindy.form.increment import IncrementForm as IncrementForm
from exactsindy.form.increment import Whiteness as Whiteness
from exactsindy.form.integral import IntegralForm as IntegralForm
from exactsindy.form.modal import ModalForm as ModalForm
from exactsindy.form.modal import inform_field as inform_field
from exactsindy.form.modal import smooth_field as smooth_field
from exactsindy.form.modal_smoothing import SmoothedField as SmoothedField
from exactsindy.form.modal_window import WindowedField as WindowedField
from exactsindy.form.smoothing import Smoothed as Smoothed
from exactsindy.form.smoothing import inform as inform
from exactsindy.form.smoothing import smooth as smooth
from exactsindy.form.strong import StrongForm as StrongForm
from exactsindy.form.trial import Trial as Trial
from exactsindy.form.weak import WeakForm as WeakForm
