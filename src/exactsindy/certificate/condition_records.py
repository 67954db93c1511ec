"""What one constraint means for a candidate: a predicate on supports, linear rows, sizes, forms that are not linear."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Present = Callable[[frozenset[int]], bool]


@dataclass(frozen=True)
class LinearRow:
    """``sum numbers[v] x_v == rhs``, or ``<= rhs``."""

    numbers: Mapping[int, float]
    rhs: float
    equal: bool


@dataclass(frozen=True, eq=False)
class Form:
    """``x'Qx + l'x <= rhs`` over some coefficients (``square`` is Q), or a matrix that is positive semidefinite.

    The matrix is ``constant + sum x_v parts[v]``; ``square`` is then None.
    """

    variables: tuple[int, ...]
    square: NDArray[np.float64] | None = None
    linear: NDArray[np.float64] | None = None
    rhs: float = 0.0
    constant: NDArray[np.float64] | None = None
    parts: tuple[NDArray[np.float64], ...] = ()


@dataclass(frozen=True)
class Meaning:
    """What one constraint asks for; ``about`` are the coefficients whose presence ``present`` looks at."""

    rows: tuple[LinearRow, ...] = ()
    present: Present | None = None
    about: frozenset[int] = frozenset()
    sizes: Mapping[int, tuple[float, float]] = field(default_factory=dict)  # if present, least <= |x_v| <= most
    forms: tuple[Form, ...] = ()
    t_level: float = 0.0
    known: bool = True  # False if verify cannot read this kind

    @property
    def variables(self) -> frozenset[int]:
        """All coefficients it is about."""
        used = [row.numbers for row in self.rows] + [form.variables for form in self.forms]
        return self.about.union(self.sizes, *used)
