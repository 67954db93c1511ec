"""One variant of the regression: a form, the parts of its rows, and the smoothed states they were made from."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np

from exactsindy.data import Data, Field
from exactsindy.errors import DataError
from exactsindy.forms import Form, Smoothed, SmoothedField, WindowedField
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import Folds

# Parts of the data from which inclusion shares are drawn: at most _MOST, at least _LEAST, of _ROWS rows or more each.
_MOST, _LEAST, _ROWS = 20, 5, 8
# Numbers measured beyond which a field is neither divided nor smoothed around models: both cost much and gain nothing.
LARGE_FIELD = 4_000_000


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to make the regression.

    Parameters
    ----------
    name
        What it is called in tables; empty for a form that the user chose.
    form
        How its rows are made.
    folds
        The regressions of its parts; their sum is `problem`.
    smoothed
        The smoothed data that its rows were made from, if any; trajectories are fitted to them.
    """

    name: str
    form: Form
    folds: Folds
    smoothed: Smoothed | SmoothedField | WindowedField | None = None

    @property
    def problem(self) -> Problem:
        """The whole regression."""
        return self.folds.whole

    @classmethod
    def of(
        cls, name: str, form: Form, data: Data, library: Library, *, whole: Problem | None = None, rows: int = 0
    ) -> Variant:
        """Return the variant of a form, its rows in parts if the data are long enough.

        Parameters
        ----------
        name, form, data, library
            Its name; what makes its rows.
        whole, rows
            The whole regression if it is known, or the number of its rows: each saves a pass over the rows.
        """
        if whole is None and not rows:
            whole = form.problem(data, library)
        count = min(_MOST, (rows if whole is None else whole.n_samples) // _ROWS)
        parts: tuple[Problem, ...] = ()
        if count >= _LEAST and not is_large(data):
            with contextlib.suppress(DataError):  # the form cannot divide these data
                parts = tuple(form.folds(data, library, count))
        if not parts:
            parts = (form.problem(data, library) if whole is None else whole,)
        return cls(name, form, Folds(parts), form.smoothed if isinstance(form, Form) else None)


def is_large(data: Data) -> bool:
    """Return True if the data are a field of more numbers than are worth the costly steps."""
    return isinstance(data, Field) and int(np.prod(data.shape)) * len(data.names) > LARGE_FIELD
