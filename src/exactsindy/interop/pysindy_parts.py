"""What a PySINDy user already has, for our forms."""

from __future__ import annotations

from exactsindy._optional import optional
from exactsindy.errors import ProblemError
from exactsindy.interop.pysindy_differentiation import PySINDyDifferentiation
from exactsindy.interop.pysindy_library import PySINDyLibrary


def from_pysindy(part: object) -> PySINDyLibrary | PySINDyDifferentiation:
    """Return a PySINDy feature library or differentiation method as one that our forms take.

    Parameters
    ----------
    part
        A feature library of samples (`PolynomialLibrary`, `FourierLibrary`, `CustomLibrary`, `IdentityLibrary`,
        `GeneralizedLibrary`, sums and products of them), or a differentiation method (`FiniteDifference`,
        `SmoothedFiniteDifference`, `SpectralDerivative`, `SINDyDerivative`).

    Returns
    -------
    PySINDyLibrary or PySINDyDifferentiation
        Polynomials become terms with exact derivatives, equal to those of `Polynomials`; other columns are called as
        they are and differentiated numerically.

    Raises
    ------
    ProblemError
        If it is something else, or a library for fields (`PDELibrary`, `WeakPDELibrary`) or implicit equations.
    DataError
        If the method is of a higher derivative.

    Examples
    --------
    >>> import numpy as np, pysindy as ps, exactsindy as es
    >>> library = es.from_pysindy(ps.PolynomialLibrary(degree=2) + ps.FourierLibrary())
    >>> library.bind(("x",)).names
    ('1', 'x', 'x^2', 'sin(1 x)', 'cos(1 x)')
    >>> t = np.arange(0.0, 3.0, 0.01)
    >>> data = es.Trajectories.from_arrays(np.exp(-t), time=t, states=("x",))
    >>> form = es.StrongForm(differentiation=es.from_pysindy(ps.FiniteDifference(order=4)))
    >>> es.solve(form.problem(data, library), 1).support
    ((1,),)
    """
    libraries = optional("pysindy.feature_library.base", "pysindy", "from_pysindy")
    methods = optional("pysindy.differentiation", "pysindy", "from_pysindy")
    if isinstance(part, libraries.BaseFeatureLibrary):
        return PySINDyLibrary(part)
    if isinstance(part, methods.BaseDifferentiation):
        return PySINDyDifferentiation(part)
    raise ProblemError(
        f"from_pysindy: got {type(part).__name__}; expected a PySINDy feature library, e.g. ps.PolynomialLibrary(), or "
        "a differentiation method, e.g. ps.FiniteDifference()."
    )
