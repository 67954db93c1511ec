"""Our solver inside PySINDy and scikit-learn, and their parts inside our forms.

Both packages are optional: a name is loaded on first use, and a missing package names the extra that installs it.
"""

from exactsindy._lazy import attach as _attach

__getattr__, __dir__ = _attach(__name__)
