"""From data and a library to the regression Problem: strong and weak forms."""

from exactsindy.form.strong import StrongForm as StrongForm
from exactsindy.form.weak import WeakForm as WeakForm
