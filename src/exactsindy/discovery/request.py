"""What is looked for where the user says nothing: library, sizes, forms."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from exactsindy.data import Data, Field
from exactsindy.errors import ProblemError
from exactsindy.forms import Form, IncrementForm, ModalForm, StrongForm, WeakForm
from exactsindy.library import Derivatives, Library, Polynomials
from exactsindy.problem import Problem
from exactsindy.solver import Total

# Largest library made by default; beyond it the degree is lowered.
_MOST_TERMS = 130
# Samples wanted per candidate: with fewer, high powers fit the noise of a handful of points.
_LEAST_ROWS = 3
# Terms allowed beyond what most laws have, so that the growth ratio sees gains fall off.
_SIZE, _SIZE_FIELDS = 8, 10

FORMS: dict[str, type[Any]] = {"strong": StrongForm, "weak": WeakForm, "increment": IncrementForm, "modal": ModalForm}


def default_library(data: Data) -> Library:
    """Return monomials of degree 3 (less for many states or few samples), for fields also times derivatives.

    States and controls that never change are left out: products with them repeat other terms.
    """
    if isinstance(data, Field):
        order = 4 if len(data.axes) == 1 and len(data.names) == 1 else 2
        return Polynomials(3, bias=False) + Polynomials(3) * Derivatives(order)
    names = (*data.state_names, *data.control_names)
    columns = np.vstack([np.hstack((member.states, member.controls)) for member in data])
    moving = tuple(name for name, moves in zip(names, np.ptp(columns, axis=0) > 0, strict=True) if moves) or names
    most = min(_MOST_TERMS, data.n_samples // _LEAST_ROWS)
    degree = next((n for n in (3, 2) if comb(len(moving) + n, n) <= most), 1)
    return Polynomials(degree, of=None if moving == names else moving)


def default_size(data: Data, problem: Problem) -> int:
    """Return the largest number of terms that is tried."""
    wide = isinstance(data, Field) and len(problem.terms) > 40
    return min(_SIZE_FIELDS if wide else _SIZE, len(problem.terms))


def named_form(form: Any) -> Form:
    """Return a form from its name or itself."""
    if isinstance(form, str):
        if form not in FORMS:
            raise ProblemError(
                f"form={form!r}: expected 'auto', a form such as WeakForm(), or one of {', '.join(FORMS)}."
            )
        return FORMS[form]()  # type: ignore[no-any-return]
    if isinstance(form, type) or not isinstance(form, Form):
        raise ProblemError(f"form={form!r}: expected 'auto', a form such as WeakForm(), or one of {', '.join(FORMS)}.")
    return form


def largest(k_max: int | Total) -> int:
    """Return the number of terms of a size or shared budget."""
    return k_max.k if isinstance(k_max, Total) else k_max
