"""Time steps of fields by ETDRK4: the linear part exactly, the remaining terms by Runge-Kutta of fourth order.

Constant-coefficient linear terms (u_xx, u_xxxx, ...) make a PDE stiff, and are small matrices per wave in
Fourier space, so their exponential is exact and cheap. Cox & Matthews (2002); the phi functions are computed
without cancellation (`phi_functions`). Linear coupling between fields, as in u_tt = u_xx, is treated exactly too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from math import factorial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.errors import ProblemError
from exactsindy.library import Term, Variable
from exactsindy.model.codegen import Parts, vector_function
from exactsindy.model.equation import variable_name
from exactsindy.model.phase import Phase
from exactsindy.model.spectrum import Spectrum

Complex = NDArray[Any]
# One factor per wave, by row and column; fields that are not coupled have no entry.
Blocks = dict[tuple[int, int], Complex]
# Gives an array, or always None where all terms are linear.
Remainder = Callable[[float, Complex], Any]

# Step lengths whose factors are kept: lengths change slowly, and old ones rarely come back.
_KEPT = 8
# Order of the Taylor series: exact to rounding for matrices of norm at most 1/2 (0.5^15 / 15! is below 1e-16).
_TAYLOR = 14


def linear_variable(term: Term, names: tuple[str, ...]) -> Variable | None:
    """Return the variable of a term that is linear with a constant coefficient, such as u_xx."""
    if len(term.factors) == 1:
        atom, power = term.factors[0]
        if isinstance(atom, Variable) and power == 1 and atom.name in names:
            return atom
    return None


def linear_part(phase: Phase, spectrum: Spectrum) -> Blocks:
    """Return the matrix of the linear terms."""
    blocks: Blocks = {}
    for i, parts in enumerate(phase.sums):
        for coefficient, term in parts:
            variable = linear_variable(term, phase.names)
            if variable is not None:
                key = i, phase.names.index(variable.name)
                symbol = coefficient * spectrum.symbol(variable.axes)
                blocks[key] = blocks[key] + symbol if key in blocks else symbol
    return blocks


def remaining_part(
    phase: Phase, spectrum: Spectrum, coordinates: Mapping[str, Array], time: str, dealias: bool
) -> Remainder:
    """Return the transform of all other terms as a function of time and of the fields' transforms."""
    sums: list[Parts] = [
        tuple((c, term) for c, term in parts if linear_variable(term, phase.names) is None) for parts in phase.sums
    ]
    if not any(sums):
        return lambda t, waves: None
    inputs = tuple(dict.fromkeys(v for parts in sums for _, term in parts for v in term.variables()))
    for variable in inputs:
        if variable.name not in (*phase.names, *coordinates, time):
            raise ProblemError(
                f"The equations use {variable_name(variable)!r}, which is neither a field nor a space axis; a "
                "simulation of fields has no controls."
            )
    function = vector_function(sums, inputs)
    mask = spectrum.mask if dealias else np.ones(())
    symbols = [mask * spectrum.symbol(v.axes) if v.name in phase.names else None for v in inputs]

    def remainder(t: float, waves: Complex) -> Complex:
        columns: list[Any] = [
            coordinates.get(variable.name, t)
            if symbol is None
            else spectrum.backward(symbol * waves[phase.names.index(variable.name)])
            for variable, symbol in zip(inputs, symbols, strict=True)
        ]
        result = np.zeros_like(waves)
        for i, (rate, parts) in enumerate(zip(function(*columns), sums, strict=True)):
            if parts:
                result[i] = mask * spectrum.forward(np.broadcast_to(rate, spectrum.shape))
        return result

    return remainder


class Stepper:
    """ETDRK4 for given linear blocks; the factors of a step length are computed once and kept."""

    def __init__(self, linear: Blocks, count: int, modes: tuple[int, ...], remainder: Remainder) -> None:
        self.linear, self.count, self.modes, self.remainder = linear, count, modes, remainder
        self._factors: dict[float, tuple[Blocks, ...]] = {}

    def step(self, t: float, h: float, waves: Complex, slope: Complex | None) -> Complex:
        """Return the fields' transforms one step later; ``slope`` is the remainder at the start."""
        whole, half, q, f1, f2, f3 = self._of(h)
        if slope is None:
            return _apply(whole, waves)
        halfway = _apply(half, waves)
        a = halfway + _apply(q, slope)
        rate_a = self.remainder(t + h / 2, a)
        rate_b = self.remainder(t + h / 2, halfway + _apply(q, rate_a))
        rate_c = self.remainder(t + h, _apply(half, a) + _apply(q, 2 * rate_b - slope))
        return _apply(whole, waves) + _apply(f1, slope) + _apply(f2, rate_a + rate_b) + _apply(f3, rate_c)

    def _of(self, h: float) -> tuple[Blocks, ...]:
        if h not in self._factors:
            if len(self._factors) >= _KEPT:
                self._factors.pop(next(iter(self._factors)))
            p0, p1, p2, p3 = self._phi(h)
            half, half1, _, _ = self._phi(h / 2)
            self._factors[h] = (
                p0,
                half,
                _combine((h / 2, half1)),
                _combine((h, p1), (-3 * h, p2), (4 * h, p3)),
                _combine((2 * h, p2), (-4 * h, p3)),
                _combine((-h, p2), (4 * h, p3)),
            )
        return self._factors[h]

    def _phi(self, h: float) -> tuple[Blocks, ...]:
        """Return phi_0..phi_3 of h times the linear part; uncoupled fields are treated one by one."""
        coupled = any(i != j for i, j in self.linear)
        results: tuple[Blocks, ...] = ({}, {}, {}, {})
        for group in [range(self.count)] if coupled else [range(i, i + 1) for i in range(self.count)]:
            places = [(a, b, (i, j)) for a, i in enumerate(group) for b, j in enumerate(group)]
            complex_valued = any(np.iscomplexobj(self.linear.get(key, 0.0)) for _, _, key in places)
            z = np.zeros((*self.modes, len(group), len(group)), dtype=complex if complex_valued else float)
            for a, b, key in places:
                if key in self.linear:
                    z[..., a, b] = h * self.linear[key]
            for result, phi in zip(results, phi_functions(z.reshape(-1, len(group), len(group))), strict=True):
                result.update({key: np.ascontiguousarray(phi[:, a, b]).reshape(self.modes) for a, b, key in places})
        return results


def _combine(*parts: tuple[float, Blocks]) -> Blocks:
    """Return the weighted sum of matrices that have the same entries."""
    return {key: reduce(add, (weight * blocks[key] for weight, blocks in parts)) for key in parts[0][1]}


def _apply(blocks: Blocks, waves: Complex) -> Complex:
    result = np.zeros_like(waves)
    for (i, j), block in blocks.items():
        result[i] += block * waves[j]
    return result


def phi_functions(z: Complex) -> tuple[Complex, Complex, Complex, Complex]:
    """Return phi_0(z) = exp(z) and phi_k(z) = (phi_{k-1}(z) - 1/(k-1)!) / z, k = 1, 2, 3.

    Each matrix is halved until its norm is at most 1/2, the series is summed, and the result doubled again by
    phi_k(2z) = 2^-k (phi_0(z) phi_k(z) + sum_{j=1..k} phi_j(z) / (k-j)!). No division, so nothing cancels and
    singular matrices need no care.
    """
    with np.errstate(all="ignore"):  # a strongly growing mode may overflow: the step is then refused
        norms = np.abs(z).sum(axis=2).max(axis=1)
        halvings = np.maximum(np.frexp(norms)[1] + 1, 0)
        small = z * np.ldexp(1.0, -halvings)[:, None, None]
        one = np.eye(z.shape[1])
        last = np.broadcast_to(one / factorial(_TAYLOR + 3), z.shape)
        for m in range(_TAYLOR - 1, -1, -1):
            last = small @ last + one / factorial(m + 3)
        phi = [last]
        for k in (2, 1, 0):
            phi.insert(0, small @ phi[0] + one / factorial(k))
        for done in range(int(halvings.max(initial=0))):
            on = np.flatnonzero(halvings > done)
            p0, p1, p2, p3 = (p[on] for p in phi)
            phi[0][on] = p0 @ p0
            phi[1][on] = (p0 @ p1 + p1) / 2
            phi[2][on] = (p0 @ p2 + p1 + p2) / 4
            phi[3][on] = (p0 @ p3 + p1 / 2 + p2 + p3) / 8
    return phi[0], phi[1], phi[2], phi[3]
