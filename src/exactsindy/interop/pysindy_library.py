"""PySINDy's feature libraries as ours: polynomials become terms that know their derivatives, the rest callables."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import ProblemError
from exactsindy.library import Custom, Library, Term, Variable, Variables

# They evaluate fields, weak integrals or implicit equations, not columns of samples.
_REFUSED = {
    "PDELibrary": "es.Derivatives, e.g. Polynomials(3) * Derivatives(4), on a field",
    "WeakPDELibrary": "es.WeakForm with es.Polynomials and es.Derivatives",
    "SINDyPILibrary": "es.Terms",
}


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
        Term() if name == "1" else Term(((Custom(name, _Column(columns, j), tuple(inputs)), 1),))
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


class _Column:
    """One column of a library as a function of the variables."""

    def __init__(self, columns: _Columns, index: int) -> None:
        self.columns = columns
        self.index = index

    def __call__(self, *arguments: Array) -> Array:
        return self.columns.at(np.column_stack(arguments))[:, self.index]
