"""Weak rows of fields: boxes contracted axis by axis with separable weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field
from exactsindy.form.by_parts import ByParts, Part
from exactsindy.form.equations import Group
from exactsindy.form.patch import Patches
from exactsindy.form.products import product
from exactsindy.form.windows import AxisWindows
from exactsindy.library import Features, Term, Variable
from exactsindy.library.term import Atom

Array = NDArray[np.float64]

# Points evaluated together: the integrands of a library of a hundred terms stay in the second-level cache.
_SLAB_POINTS = 2048
# Windows whose rows are handed over together.
_BATCH = 64
# Kinds of windows whose weights are kept.
_SHARED = 16


def is_product(term: Term) -> bool:
    """Say whether a term is more than a function or one derivative."""
    return len(term.derivatives) > 1 or bool(term.derivatives and term.coefficient.factors)


@dataclass(frozen=True)
class Plan:
    """What has to be integrated: every term as a sum of products function x slope x derivative of phi.

    So all integrals of a window are one matrix product, functions (a x points) times weighted slopes
    (points x b). ``slopes`` holds the products of spatial derivatives, ``columns`` the pairs (slope, orders
    of the derivatives of phi); ``mixing`` (terms x a b) combines the integrals into terms.
    """

    functions: tuple[Term, ...]
    slopes: tuple[Term, ...]
    columns: tuple[tuple[int, tuple[int, ...]], ...]
    mixing: Array
    sampled: dict[str, Term]

    @classmethod
    def of(cls, terms: Sequence[Term], by_parts: ByParts, quadrature: str) -> Plan:
        """Return the plan for terms; that of the published quadrature leaves out products."""
        lists: list[tuple[Part, ...]] = []
        sampled: dict[str, Term] = {}
        for term in terms:
            if quadrature == "exact":
                parts = by_parts.full(term)
            elif quadrature == "legacy" and is_product(term):
                parts = ()
            else:
                parts, extra = by_parts.half(term)
                sampled |= extra
            lists.append(parts)
        entries = [
            (row, part, *_split(part.integrand, by_parts.fields)) for row, parts in enumerate(lists) for part in parts
        ]
        functions = tuple(dict.fromkeys(function for _, _, function, _ in entries))
        slopes = tuple(dict.fromkeys(slope for _, _, _, slope in entries))
        pairs = tuple(dict.fromkeys((slopes.index(slope), part.orders) for _, part, _, slope in entries))
        mixing = np.zeros((len(terms), len(functions), len(pairs)))
        for row, part, function, slope in entries:
            column = pairs.index((slopes.index(slope), part.orders))
            mixing[row, functions.index(function), column] += part.factor
        return cls(functions, slopes, pairs, mixing.reshape(len(terms), -1), sampled)

    def orders(self, i: int) -> set[int]:
        """Return the derivatives of phi along space dimension i."""
        return {0, *(orders[i] for _, orders in self.columns)}

    @property
    def derivatives(self) -> tuple[Variable, ...]:
        """Return the derivatives of data that are left in the integrands."""
        terms = (*self.functions, *self.slopes)
        return tuple(dict.fromkeys(v for term in terms for v in term.variables() if v.axes))


def _split(term: Term, fields: Sequence[str]) -> tuple[Term, Term]:
    """Return the term as a product of a function and spatial derivatives of fields."""
    slope: dict[Atom, int] = {
        v: n for v, n in term.powers.items() if isinstance(v, Variable) and v.axes and v.name in fields
    }
    return Term.of({a: n for a, n in term.powers.items() if a not in slope}), Term.of(slope)


@dataclass(frozen=True)
class FieldRows:
    """The weak rows of some equations of a field; ``windows`` has one entry per dimension, time last."""

    data: Field
    windows: tuple[AxisWindows, ...]
    group: Group
    plan: Plan
    accuracy: int

    def __len__(self) -> int:
        return len(self.windows[0])

    @cached_property
    def features(self) -> Features:
        """Return functions, then slopes, as evaluable columns."""
        return Features(self.group.features.variables, (*self.plan.functions, *self.plan.slopes))

    @cached_property
    def patches(self) -> Patches:
        """Return the source of boxes."""
        return Patches(self.data, self.accuracy, self.plan.sampled)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) of the windows ``low`` to ``high``."""
        for start in range(low, high, _BATCH):
            pairs = [self._window(k) for k in range(start, min(start + _BATCH, high))]
            integrals = np.stack([integral for integral, _ in pairs])
            yield integrals @ self.plan.mixing.T, np.stack([target for _, target in pairs])

    def _window(self, k: int) -> tuple[Array, Array]:
        starts = [int(axis.starts[k]) for axis in self.windows]
        lengths = [int(axis.lengths[k]) for axis in self.windows]
        inputs = [self.patches.get(v, starts, lengths) for v in self.features.inputs]
        count = len(self.plan.functions)
        integrals = np.zeros((count, len(self.plan.columns)))
        rest = int(np.prod(lengths[1:]))
        planes = max(_SLAB_POINTS // rest, 1)
        weights = self._weights(k)
        for a in range(0, lengths[0] if self.plan.columns else 0, planes):
            values = self.features.rows([array[a : a + planes] for array in inputs])
            part = weights[:, a * rest : (a + planes) * rest]
            weighted = np.empty(part.shape)
            for column, (slope, _) in enumerate(self.plan.columns):
                np.multiply(part[column], values[count + slope], out=weighted[column])
            integrals += product(values[:count], weighted.T)
        return integrals.reshape(-1), self._targets(k, inputs)

    def _weights(self, k: int) -> Array:
        """Return the weights of a window (columns x points); windows that lie alike share them."""
        key = tuple(int(axis.kernel[k]) for axis in self.windows)
        if key not in self._shared:
            if len(self._shared) >= _SHARED:
                self._shared.clear()
            rows = []
            for _, orders in self.plan.columns:
                total = np.ones(1)
                for axis, order in zip(self.windows, (*orders, 0), strict=True):
                    total = np.outer(total, axis.weights(k)[order]).reshape(-1)
                rows.append(total)
            self._shared[key] = np.array(rows)
        return self._shared[key]

    @cached_property
    def _shared(self) -> dict[tuple[int, ...], Array]:
        return {}

    def _targets(self, k: int, inputs: Sequence[Array]) -> Array:
        result = []
        for target in self.group.targets:
            total = inputs[self.features.inputs.index(Variable(target.state))]
            order = target.order
            for axis in reversed(self.windows):
                total = np.ascontiguousarray(total) @ axis.weights(k)[order]
                order = 0
            result.append((-1.0) ** target.order * float(total))
        return np.array(result)
