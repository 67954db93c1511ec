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
from exactsindy.form.patch import Patches, box_of
from exactsindy.form.windows import AxisWindows
from exactsindy.library import Features, Term, Variable

Array = NDArray[np.float64]

# Points evaluated together: the integrands of a library of a hundred terms stay in the second-level cache.
_SLAB_POINTS = 4096
# Windows whose rows are handed over together.
_BATCH = 64


def is_product(term: Term) -> bool:
    """Say whether a term is more than a function or one derivative."""
    return len(term.derivatives) > 1 or bool(term.derivatives and term.coefficient.factors)


@dataclass(frozen=True)
class Plan:
    """What has to be integrated: every term as a sum of integrands against derivatives of phi.

    ``orders`` holds per space dimension the derivatives of the test function in use; ``mixing`` (terms x
    integrands x orders) combines the integrals into terms.
    """

    integrands: tuple[Term, ...]
    orders: tuple[tuple[int, ...], ...]
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
        integrands = tuple(dict.fromkeys(part.integrand for parts in lists for part in parts))
        dims = range(len(by_parts.axes))
        used = [part for parts in lists for part in parts]
        orders = tuple(tuple(sorted({0, *(part.orders[i] for part in used)})) for i in dims)
        mixing = np.zeros((len(terms), len(integrands), *(len(q) for q in reversed(orders))))
        place = {term: g for g, term in enumerate(integrands)}
        for row, parts in enumerate(lists):
            for part in parts:
                where = [orders[i].index(part.orders[i]) for i in reversed(dims)]
                mixing[(row, place[part.integrand], *where)] += part.factor
        return cls(integrands, orders, mixing.reshape(len(terms), -1), sampled)

    @property
    def derivatives(self) -> tuple[Variable, ...]:
        """Return the derivatives of data that are left in the integrands."""
        return tuple(dict.fromkeys(v for term in self.integrands for v in term.variables() if v.axes))


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
        """Return the integrands as evaluable columns."""
        return Features(self.group.features.variables, self.plan.integrands)

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
        kernels = [axis.weights(k) for axis in self.windows]
        inputs = [self.patches.get(v, starts, lengths) for v in self.features.inputs]
        reduced = np.empty((len(self.plan.integrands), *lengths[:-1]))
        planes = max(_SLAB_POINTS // int(np.prod(lengths[1:])), 1)
        count = len(self.plan.integrands)
        for a in range(0, lengths[0], planes):
            slab = [array[a : a + planes] for array in inputs]
            values = self.features.rows(slab).reshape(count, *slab[0].shape)
            np.matmul(values, kernels[-1][0], out=reduced[:, a : a + planes])
        for i in reversed(range(len(lengths) - 1)):
            table = np.stack([kernels[i][q] for q in self.plan.orders[i]], axis=1)
            reduced = np.tensordot(reduced, table, axes=(i + 1, 0))
        ends = [a + n for a, n in zip(starts, lengths, strict=True)]
        return reduced.reshape(-1), np.array([self._target(j, starts, ends, k) for j in range(self._m)])

    @property
    def _m(self) -> int:
        return len(self.group.targets)

    def _target(self, j: int, starts: Sequence[int], ends: Sequence[int], k: int) -> float:
        target = self.group.targets[j]
        values = box_of(self.data[target.state], starts, ends)
        values = values @ self.windows[-1].weights(k)[target.order]
        for axis in reversed(self.windows[:-1]):
            values = values @ axis.weights(k)[0]
        return float((-1.0) ** target.order * values)
