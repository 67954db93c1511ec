"""Polynomial right-hand sides as lists of numbers, for the native integration between samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy import _native
from exactsindy._types import Array
from exactsindy.trajectory_fit.dynamics import Dynamics
from exactsindy.trajectory_fit.intervals import Intervals
from exactsindy.trajectory_fit.runge_kutta import tableau


@dataclass(frozen=True, eq=False)
class PolynomialFlow:
    """Right-hand sides of all equations as sums of products of inputs (states, controls, time).

    Registers hold the inputs and then one product of two registers after the other, ``factors`` (-1: the number one).
    ``term`` and ``rate`` give the register and the state of each coefficient. ``slope`` lists the summands of slopes:
    the state of the rate, the state it is derived by, the register; ``owner`` and ``scale`` are the coefficient and the
    number that multiply it.
    """

    factors: NDArray[np.int64]
    term: NDArray[np.int64]
    rate: NDArray[np.int64]
    slope: NDArray[np.int64]
    owner: NDArray[np.int64]
    scale: Array

    @classmethod
    def of(
        cls, dynamics: Sequence[Dynamics], own: NDArray[np.int64], states: int, controls: int
    ) -> PolynomialFlow | None:
        """Return the right-hand sides of equations of the states ``own``; None if one is no polynomial."""
        inputs = states + controls + 1
        factors: list[tuple[int, int]] = []
        term: list[int] = []
        rate: list[int] = []
        summands: list[tuple[int, int, int, int, float]] = []
        at = 0
        for part in dynamics:
            program, shift = part.terms.both, inputs + len(factors)
            if not all(step.operation in (np.multiply, np.ones_like) for step in program.steps):
                return None

            def register(r: int, known: int = len(program.inputs), shift: int = shift) -> int:
                return r if r < known else r - known + shift

            for step in program.steps:
                pair = [register(r) for r in step.arguments] if step.operation is np.multiply else [-1, -1]
                factors.append((pair[0], pair[-1]))
            outputs = [register(r) for r in program.outputs]
            count, first = len(part.terms.columns), np.cumsum([0, *map(len, part.supports)]) + len(term)
            for j, rows in enumerate(part.terms.rows):
                term += [outputs[i] for i in rows]
                rate += [int(own[at + j])] * len(rows)
            for s in part.terms.summands:
                coefficient = int(first[s.equation]) + s.term
                summands.append(
                    (int(own[at + s.equation]), s.variable, outputs[count + s.output], coefficient, s.factor)
                )
            at += len(part.supports)
        summands.sort(key=lambda s: s[:2])
        return cls(
            _indices(factors),
            _indices(term),
            _indices(rate),
            slope=_indices([s[:3] for s in summands]),
            owner=_indices([s[3] for s in summands]),
            scale=np.array([s[4] for s in summands]),
        )

    def ends(
        self,
        intervals: Intervals,
        which: NDArray[np.intp],
        start: Array,
        coef: Sequence[Array],
        substeps: NDArray[np.int64],
        derivatives: bool,
    ) -> Array:
        """Return where some intervals end: (intervals x states x 1), or x (1 + states + coefficients) with derivatives.

        ``start`` and ``substeps`` are those of all intervals.
        """
        xi = np.concatenate([np.zeros(0), *coef])
        states = start.shape[1]
        width = 1 + states + len(xi) if derivatives else 1
        ends = np.empty((len(which), states * width))
        nodes, rows, weights = tableau()
        _native.integrate(
            np.ascontiguousarray(start[which]),
            intervals.begin[which],
            intervals.length[which],
            np.ascontiguousarray(intervals.controls[:, :, which]),
            substeps[which],
            self.factors,
            self.term,
            self.rate,
            xi,
            self.slope,
            self.scale * xi[self.owner],
            np.array(nodes),
            np.ascontiguousarray(rows),
            np.ascontiguousarray(weights),
            derivatives,
            ends,
        )
        return ends.reshape(len(which), states, width)


def _indices(numbers: Sequence[int] | Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    return np.array(numbers, dtype=np.int64).ravel()
