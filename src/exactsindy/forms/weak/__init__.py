"""The weak form: equations integrated against test functions on small windows."""

from exactsindy.forms.weak.by_parts import ByParts as ByParts
from exactsindy.forms.weak.by_parts import IntegralPlan as IntegralPlan
from exactsindy.forms.weak.by_parts import Part as Part
from exactsindy.forms.weak.patch import box_of as box_of
from exactsindy.forms.weak.placement import Rng as Rng
from exactsindy.forms.weak.placement import Width as Width
from exactsindy.forms.weak.placement import checked_widths as checked_widths
from exactsindy.forms.weak.placement import too_wide as too_wide
from exactsindy.forms.weak.weak_form import WeakForm as WeakForm
from exactsindy.forms.weak.whitening import field_noise as field_noise
from exactsindy.forms.weak.window_rows import FieldRows as FieldRows
from exactsindy.forms.weak.window_rows import TrajectoryRows as TrajectoryRows
from exactsindy.forms.weak.window_rows import product as product
from exactsindy.forms.weak.windows import AxisWindows as AxisWindows
from exactsindy.forms.weak.windows import Kernel as Kernel
from exactsindy.forms.weak.windows import bump as bump
