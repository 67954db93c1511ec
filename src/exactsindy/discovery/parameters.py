"""Parameters of trajectories: which of them vary, and whether they tell all candidate terms apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from exactsindy.data import Notice, Trajectories
from exactsindy.discovery.read import Measurement
from exactsindy.library import Features, Library, Term, Variable, Variables

# Relative singular value below which functions of the parameters are linearly dependent over the trajectories.
_RANK = 1e-9


def leave_out_constant_parameters(measured: Measurement) -> Measurement:
    """Return the measurement without parameters that are the same in all trajectories, and notices that name them.

    Products with such a parameter repeat other terms.
    """
    data = measured.data
    if not isinstance(data, Trajectories) or not data.parameter_names:
        return measured
    constant = [name for name, values in data.parameters.items() if np.ptp(values) == 0]
    if not constant:
        return measured
    varying = [name for name in data.parameter_names if name not in constant]
    notices = [
        Notice(
            "parameter",
            f"The parameter {name!r} is {data.parameters[name][0]:g} in all trajectories and left out: nothing can be "
            "seen of what depends on it. Measure at other values of it.",
        )
        for name in constant
    ]
    used = data.with_parameters(varying)
    return replace(measured, data=used, used=used, notices=(*measured.notices, *notices))


def parameter_notices(data: object, library: Library) -> Iterator[Notice]:
    """Yield a notice if trajectories have too few values of the parameters for the functions of them in a library."""
    if not isinstance(data, Trajectories) or not data.parameter_names:
        return
    variables = Variables.of(data)
    libraries = dict.fromkeys(library.for_equation(target.name) for target in data.targets)
    products = dict.fromkeys(
        _of_parameters(term, variables.parameters) for own in libraries for term in own.terms(variables)
    )
    if len(products) < 2:
        return
    functions = Features(Variables(variables.parameters), tuple(products))
    values = np.unique(np.column_stack([*data.parameters.values()]), axis=0)
    columns = functions.evaluate(values)
    columns = columns / np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)
    sizes = np.linalg.svd(columns, compute_uv=False)
    rank = int((sizes > _RANK * sizes[0]).sum())
    if rank < len(products):
        names = ", ".join(variables.parameters)
        shown = ", ".join(functions.names)
        text = (
            f"The trajectories have {len(values)} different values of {names}, which tell {rank} of the "
            f"{len(products)} functions {shown} apart: some candidate terms stand in for others. "
            "Measure at more values, or lower the degree of Parameters."
        )
        yield Notice("parameter", text)


def _of_parameters(term: Term, names: Iterable[str]) -> Term:
    """Return the product of those factors of a term that are parameters or functions of them alone."""
    known = {Variable(name) for name in names}
    return Term(tuple((atom, power) for atom, power in term.factors if set(atom.variables()) <= known))
