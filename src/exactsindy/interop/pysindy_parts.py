"""PySINDy's feature libraries and differentiation methods for our forms.

Polynomials become terms that know their derivatives, other columns callables.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._optional import optional
from exactsindy._types import Array
from exactsindy.differentiation import PRINTED, samples, uniform_step
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Custom, Library, Term, Variable, Variables

# They evaluate fields, weak integrals or implicit equations, not columns of samples.
_REFUSED = {
    "PDELibrary": "es.Derivatives, e.g. Polynomials(3) * Derivatives(4), on a field",
    "WeakPDELibrary": "es.WeakForm with es.Polynomials and es.Derivatives",
    "SINDyPILibrary": "es.Terms",
}
# These look at the times; all others (`finite_difference` of SINDyDerivative among them) take them for equally spaced
# and return wrong derivatives without a word.
_UNEQUAL_STEPS = ("FiniteDifference",)
_UNEQUAL_KINDS = ("kalman", "kernel", "savitzky_golay", "spline")


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
    example = "ps.PolynomialLibrary(), or a differentiation method, e.g. ps.FiniteDifference()."
    raise ProblemError(f"from_pysindy: got {type(part).__name__}; expected a PySINDy feature library, e.g. {example}")


class PySINDyLibrary(Library):
    """The terms of a PySINDy feature library, in its order; equal terms are merged.

    Made by `from_pysindy`. The library is copied, so that fitting it to the variables does not change the user's.
    """

    def __init__(self, library: Any) -> None:
        for part in _members(library):
            cure = next((_REFUSED[kind.__name__] for kind in type(part).__mro__ if kind.__name__ in _REFUSED), None)
            if cure is not None:
                raise ProblemError(f"from_pysindy: {type(part).__name__} is not made of terms of samples; use {cure}.")
        self.library = library

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms of the library for these states and controls."""
        yield from _terms(copy.deepcopy(self.library), [Variable(name) for name in variables.basic])

    def __repr__(self) -> str:
        return f"from_pysindy({type(self.library).__name__})"  # some of PySINDy's have no repr


def _members(library: Any) -> Iterable[Any]:
    yield library
    for part in getattr(library, "libraries", None) or ():
        yield from _members(part)


def _terms(library: Any, inputs: list[Variable]) -> list[Term]:
    kind = type(library).__name__
    if kind == "ConcatLibrary":
        return [term for part in library.libraries for term in _terms(part, inputs)]
    if kind == "TensoredLibrary":
        return _products(library, inputs)
    if kind == "IdentityLibrary":
        return [Term(((variable, 1),)) for variable in inputs]
    library.fit(np.ones((2, len(inputs))))
    if kind == "PolynomialLibrary":
        return [Term.of(dict(zip(inputs, map(int, row), strict=True))) for row in library.powers_]
    columns = _Columns(library)
    names = library.get_feature_names([variable.name for variable in inputs])
    return [
        Term() if name == "1" else Term(((Custom(name, partial(_column, columns, j), tuple(inputs)), 1),))
        for j, name in enumerate(names)
    ]


def _products(library: Any, inputs: list[Variable]) -> list[Term]:
    chosen = library.inputs_per_library or [range(len(inputs))] * len(library.libraries)
    products = [Term()]
    for part, indices in zip(library.libraries, chosen, strict=True):
        own = _terms(part, [inputs[i] for i in dict.fromkeys(indices)])
        products = [left * right for left in products for right in own]
    return products


class _Columns:
    """All columns of a fitted library at some samples; the last ones are kept, as terms ask one after the other."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.last: tuple[Array, Array] | None = None

    def at(self, samples: Array) -> Array:
        last = self.last
        if last is None or not np.array_equal(last[0], samples):
            values = np.asarray(self.library.transform(samples), dtype=float)
            last = self.last = (samples, values)
        return last[1]


def _column(columns: _Columns, index: int, *arguments: Array) -> Array:
    return columns.at(np.column_stack(arguments))[:, index]


@dataclass(frozen=True)
class PySINDyDifferentiation:
    """A differentiation method of PySINDy along any axis; made by `from_pysindy`.

    Where PySINDy would go on silently this refuses: unequal steps with a method that assumes equal ones, samples that
    get no derivative (NaN), derivatives of higher order under the name of the first.
    """

    method: Any

    def __post_init__(self) -> None:
        if getattr(self.method, "d", 1) != 1:
            expected = "expected d=1. For x'' name the target x'' in the data."
            raise DataError(f"from_pysindy: the method takes derivative d={self.method.d}; {expected}")

    def __call__(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the derivative of ``x`` along ``axis``."""
        return self._run(x, t, axis)[1]

    def states(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the states the method smoothed, or the samples."""
        return self._run(x, t, axis)[0]

    def _run(self, x: ArrayLike, t: ArrayLike | float, axis: int) -> tuple[Array, Array]:
        label = type(self.method).__name__
        values, times = samples(x, t, axis, 3, label)
        step = uniform_step(times, PRINTED)
        kind = getattr(self.method, "kwargs", {}).get("kind")
        if step is None and label not in _UNEQUAL_STEPS and kind not in _UNEQUAL_KINDS:
            raise DataError(
                f"{label} takes samples for equally spaced, which these are not: use pysindy.FiniteDifference, or "
                "es.differentiation.SmoothedFiniteDifference, which smooths on unequal steps."
            )
        # A copy: methods keep what they smoothed, and along axis 0 all of them work.
        method = copy.deepcopy(self.method)
        if hasattr(method, "axis"):
            method.axis = 0
        table = values.reshape(len(values), -1)
        slopes = np.asarray(method(table, times), dtype=float)
        missing = int(np.isnan(slopes).any(axis=1).sum())
        if missing:
            raise DataError(f"{label} returned no derivative (NaN) for {missing} samples: use drop_endpoints=False.")
        smooth = np.asarray(getattr(method, "smoothed_x_", table), dtype=float)
        shape = values.shape
        return np.moveaxis(smooth.reshape(shape), 0, axis), np.moveaxis(slopes.reshape(shape), 0, axis)
