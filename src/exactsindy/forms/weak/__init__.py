"""The weak form: equations integrated against test functions on small windows."""

from exactsindy.forms.weak.weak_form import WeakForm as WeakForm
