"""What physics says about coefficients and about supports, in terms of equation and term names.

Names are loaded on first use: the records can be read and checked without the code that translates them for solvers.
"""

from exactsindy._lazy import attach as _attach

__getattr__, __dir__ = _attach(__name__)
