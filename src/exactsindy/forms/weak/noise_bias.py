"""Weak rows of fields without the bias of noise: the mean that noise adds to powers and products is taken out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.differentiation import FiniteDifference, fornberg_weights, uniform_step
from exactsindy.forms.weak.by_parts import Part
from exactsindy.library import Term, Variable, differentiate


@dataclass(frozen=True, eq=False)
class NoiseBias:
    """Noise of the fields (white, ``noise`` its standard deviation by field) and what it adds to products of them.

    The measured (u + e)^3 has the mean u^3 + 3 s^2 u. In its place u^3 - 3 s^2 u of what was measured has the mean u^3:
    the Hermite polynomial. With derivatives, which are differences of samples, it is the one of several correlated
    variables, exp(-1/2 sum_ab C_ab d_a d_b) of the product, C_ab the covariance of the noise in a and b.
    """

    data: Field
    noise: Array
    accuracy: int

    def removed(self, parts: Sequence[Part]) -> tuple[Part, ...]:
        """Return the parts of a term with the mean of the noise taken out of their integrands."""
        return tuple(
            Part(part.factor * factor, part.orders, term) for part in parts for factor, term in self._of(part.integrand)
        )

    def _of(self, term: Term) -> Iterator[tuple[float, Term]]:
        """Yield factors and terms of the Hermite polynomial of a product; of anything else, itself."""
        yield 1.0, term
        if not all(isinstance(atom, Variable) and power > 0 for atom, power in term.powers.items()):
            return
        layer, order = {term: 1.0}, 0
        while layer:
            order += 1
            following: dict[Term, float] = {}
            for product, factor in layer.items():
                for weight, less in self._paired(product):
                    following[less] = following.get(less, 0.0) - 0.5 * factor * weight / order
            layer = following
            yield from ((factor, product) for product, factor in layer.items())

    def _paired(self, term: Term) -> Iterator[tuple[float, Term]]:
        """Yield the parts of sum_ab C_ab d_a d_b of a product."""
        fields = [v for v in term.variables() if v.name in self.data.names]
        for a in fields:
            for once, less in differentiate(term, a).parts:
                for b in fields:
                    shared = self._covariance(a, b)
                    for twice, least in differentiate(less, b).parts if shared else ():
                        yield shared * once * twice, least

    def _covariance(self, a: Variable, b: Variable) -> float:
        """Return the covariance of the noise in two derivatives of fields at one point."""
        if a.name != b.name:
            return 0.0
        total = float(self.noise[self.data.names.index(a.name)] ** 2)
        for axis, x in zip(self.data.axes, self.data.coords, strict=False):
            orders = a.axes.count(axis), b.axes.count(axis)
            if any(orders):
                if uniform_step(x) is None:
                    return 0.0  # differs from point to point
                total *= _shared(*orders, self.accuracy) / (float(x[-1] - x[0]) / (len(x) - 1)) ** sum(orders)
        return total


@cache
def _shared(first: int, second: int, accuracy: int) -> float:
    """Return the sum of products of the weights of two central differences on steps of 1."""
    weights = [{0: 1.0}, {0: 1.0}]
    for table, order in zip(weights, (first, second), strict=True):
        if order:
            reach = FiniteDifference(accuracy, order).half_width
            at = np.arange(-reach, reach + 1)
            table.clear()
            table.update(zip(at.tolist(), fornberg_weights(at.astype(float), 0.0, order).tolist(), strict=True))
    return sum(value * weights[1].get(place, 0.0) for place, value in weights[0].items())
