"""Weak rows of fields: boxes contracted axis by axis with separable weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.forms.base import EquationGroup
from exactsindy.forms.weak.by_parts import ByParts, Part
from exactsindy.forms.weak.patch import Patches
from exactsindy.forms.weak.products import product
from exactsindy.forms.weak.windows import AxisWindows
from exactsindy.library import Atom, Features, Term, Variable

# Points evaluated together: the integrands of a library of a hundred terms stay in the second-level cache.
_SLAB_POINTS = 4096
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
    (points x b). ``slopes`` holds the products of spatial derivatives, ``columns`` the triples (slope, orders
    of the derivatives of phi, orders of differences of the function's samples); ``mixing`` (terms x a b) combines the
    integrals into terms. A difference is taken, transposed, of the weighted slope: there are few of those.
    """

    functions: tuple[Term, ...]
    slopes: tuple[Term, ...]
    columns: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]
    mixing: Array
    axes: tuple[str, ...]

    @classmethod
    def of(cls, terms: Sequence[Term], by_parts: ByParts, quadrature: str) -> Plan:
        """Return the plan for terms; that of the published quadrature leaves out products."""
        lists: list[tuple[Part, ...]] = []
        for term in terms:
            if quadrature == "exact":
                parts = by_parts.full(term)
            elif quadrature == "legacy" and is_product(term):
                parts = ()
            else:
                parts = by_parts.half(term)
            lists.append(parts)
        entries = [
            (row, part, *_split(part.integrand, by_parts.fields)) for row, parts in enumerate(lists) for part in parts
        ]
        functions = tuple(dict.fromkeys(function for _, _, function, _ in entries))
        slopes = tuple(dict.fromkeys(slope for _, _, _, slope in entries))
        keys = [(slopes.index(slope), part.orders, part.differences) for _, part, _, slope in entries]
        columns = tuple(dict.fromkeys(keys))
        mixing = np.zeros((len(terms), len(functions), len(columns)))
        for (row, part, function, _), key in zip(entries, keys, strict=True):
            mixing[row, functions.index(function), columns.index(key)] += part.factor
        return cls(functions, slopes, columns, mixing.reshape(len(terms), -1), by_parts.axes)

    def orders(self, i: int) -> set[int]:
        """Return the derivatives of phi along space dimension i."""
        return {0, *(orders[i] for _, orders, _ in self.columns)}

    def differences(self, i: int) -> set[int]:
        """Return the differences of samples of functions along space dimension i."""
        return {differences[i] for _, _, differences in self.columns if differences}

    @property
    def derivatives(self) -> tuple[Variable, ...]:
        """Return the derivatives of data that are left in the integrands, and for differences one of their order."""
        terms = (*self.functions, *self.slopes)
        words = (
            tuple(axis for axis, n in zip(self.axes, orders, strict=True) for _ in range(n))
            for _, _, orders in self.columns
            if orders
        )
        left = (v for term in terms for v in term.variables() if v.axes)
        return tuple(dict.fromkeys((*left, *(Variable("", word) for word in words))))


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
    group: EquationGroup
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
        return Patches(self.data, self.accuracy)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) of the windows ``low`` to ``high``."""
        for start in range(low, high, _BATCH):
            pairs = [self._window(k) for k in range(start, min(start + _BATCH, high))]
            integrals = np.stack([integral for integral, _ in pairs])
            yield integrals @ self.plan.mixing.T, np.stack([target for _, target in pairs])

    def _window(self, k: int) -> tuple[Array, Array]:
        starts = [int(axis.starts[k]) for axis in self.windows]
        lengths = [int(axis.lengths[k]) for axis in self.windows]
        box = self._box(starts, lengths)
        inputs = [self.patches.get(v, box.low, box.lengths) for v in self.features.inputs]
        count = len(self.plan.functions)
        integrals = np.zeros((count, len(self.plan.columns)))
        rest = int(np.prod(box.lengths[1:]))
        planes = max(_SLAB_POINTS // rest, 1)
        weights = self._weights(k, box)
        differenced = self._differenced(weights, inputs, starts, box)
        for a in range(0, box.lengths[0] if self.plan.columns else 0, planes):
            values = self.features.rows([array[a : a + planes] for array in inputs])
            part = slice(a * rest, (a + planes) * rest)
            weighted = np.empty((len(self.plan.columns), values.shape[1]))
            for column, (slope, _, _) in enumerate(self.plan.columns):
                if column in differenced:
                    weighted[column] = differenced[column][part]
                else:
                    np.multiply(weights[column, part], values[count + slope], out=weighted[column])
            integrals += product(values[:count], weighted.T)
        return integrals.reshape(-1), self._targets(k, inputs, box)

    def _box(self, starts: Sequence[int], lengths: Sequence[int]) -> _Box:
        """Return the window with the surroundings that differences of samples see."""
        low, high = list(starts), [a + n for a, n in zip(starts, lengths, strict=True)]
        for i in range(len(starts) - 1):
            low[i], high[i] = self.patches.seen(i, self.plan.differences(i), starts[i], lengths[i])
        margins = tuple((a - b, d - a - n) for a, n, b, d in zip(starts, lengths, low, high, strict=True))
        return _Box(tuple(low), tuple(b - a for a, b in zip(low, high, strict=True)), margins)

    def _differenced(
        self, weights: Array, inputs: Sequence[Array], starts: Sequence[int], box: _Box
    ) -> dict[int, Array]:
        """Return, by column, the transposed differences of weighted slopes (points of the box)."""
        found: dict[int, Array] = {}
        for column, (slope, _, orders) in enumerate(self.plan.columns):
            if not orders:
                continue
            values = weights[column].reshape(box.lengths)[box.inside].copy()
            for variable, power in self.plan.slopes[slope].powers.items():
                for _ in range(power):
                    values *= inputs[self.features.inputs.index(variable)][box.inside]
            at = list(starts)
            for i, order in enumerate(orders):
                if order:
                    at[i], values = self.patches.transposed(values, i, order, at[i])
            whole = np.zeros(box.lengths)
            cutoff = [a - b for a, b in zip(at, box.low, strict=True)]
            whole[tuple(slice(c, c + n) for c, n in zip(cutoff, values.shape, strict=True))] = values
            found[column] = whole.reshape(-1)
        return found

    def _weights(self, k: int, box: _Box) -> Array:
        """Return the weights of a window (columns x points of the box); windows that lie alike share them."""
        key = (*(int(axis.kernel[k]) for axis in self.windows), box.margins)
        if key not in self._shared:
            if len(self._shared) >= _SHARED:
                self._shared.clear()
            rows = []
            for _, orders, _ in self.plan.columns:
                total = np.ones(1)
                for axis, order, margin in zip(self.windows, (*orders, 0), box.margins, strict=True):
                    total = np.outer(total, np.pad(axis.weights(k)[order], margin)).reshape(-1)
                rows.append(total)
            self._shared[key] = np.array(rows)
        return self._shared[key]

    @cached_property
    def _shared(self) -> dict[tuple[object, ...], Array]:
        return {}

    def _targets(self, k: int, inputs: Sequence[Array], box: _Box) -> Array:
        result = []
        for target in self.group.targets:
            total = inputs[self.features.inputs.index(Variable(target.state))][box.inside]
            order = target.order
            for axis in reversed(self.windows):
                total = np.ascontiguousarray(total) @ axis.weights(k)[order]
                order = 0
            result.append((-1.0) ** target.order * float(total))
        return np.array(result)


@dataclass(frozen=True)
class _Box:
    """The samples from ``low`` on that a window uses, with ``margins`` around the window itself."""

    low: tuple[int, ...]
    lengths: tuple[int, ...]
    margins: tuple[tuple[int, int], ...]

    @property
    def inside(self) -> tuple[slice, ...]:
        """Return where the window is in the box."""
        return tuple(slice(a, n - b) for n, (a, b) in zip(self.lengths, self.margins, strict=True))
