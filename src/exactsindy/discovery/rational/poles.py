"""Where a denominator may be zero: an interval check on the box of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.discovery.rational.output_fit import LawFit
from exactsindy.discovery.rational.shapes import Candidates
from exactsindy.library import Term, Variable

# Boxes that are looked at before the question is left open: enough to divide each side of a two-dimensional box by 64.
_BOXES = 8192


def box_of(values: Array) -> Array:
    """Return the least and largest value of each column (2 x columns)."""
    return np.vstack([values.min(axis=0), values.max(axis=0)])


@dataclass(frozen=True, eq=False)
class PoleCheck:
    """Tells laws of one equation apart that have a pole within the box of the data."""

    candidates: Candidates
    names: tuple[str, ...]
    box: Array

    def __call__(self, law: LawFit) -> bool:
        """Return True if the denominator of a law is zero somewhere in the box."""
        return self.answer(law) is True

    def is_open(self, law: LawFit) -> bool:
        """Return True if it is not known whether the denominator of a law is zero somewhere in the box."""
        return bool(law.shape.over) and self.answer(law) is None

    def answer(self, law: LawFit) -> bool | None:
        """Return True or False; None if it is not known."""
        terms = [self.candidates.under[j] for j in law.shape.under]
        return has_pole(terms, np.concatenate([[1.0], law.under]), self.names, self.box)


def has_pole(terms: Sequence[Term], coef: Array, names: Sequence[str], box: Array) -> bool | None:
    """Return True if the sum of terms has a zero in a box of the variables, False if it has none; None if not known.

    No zero is proved by intervals: boxes are halved until each has values of one sign. Terms other than products of
    variables are not known to intervals.
    """
    place = {name: j for j, name in enumerate(names)}
    powers = np.zeros((len(terms), len(names)), dtype=int)
    for i, term in enumerate(terms):
        for atom, power in term.factors:
            if not isinstance(atom, Variable) or atom.axes or atom.name not in place or power < 0:
                return None
            powers[i, place[atom.name]] = power
    used = np.flatnonzero(powers.any(axis=0))
    powers, boxes = powers[:, used], box[None][:, :, used]
    if not len(used):
        return not float(coef.sum())
    signs = np.zeros(0)
    for _ in range(64):
        low, high = _range(powers, coef, boxes)
        corners = np.sign(_values(powers, coef, np.concatenate([boxes[:, 0], boxes[:, 1], boxes.mean(axis=1)])))
        signs = np.unique(np.concatenate([signs, corners]))
        if len(signs) > 1 or 0.0 in signs:
            return True
        boxes = boxes[(low <= 0) & (high >= 0)]
        if not len(boxes):
            return False
        if 2 * len(boxes) > _BOXES:
            return None
        boxes = _halved(boxes)
    return None


def _values(powers: Array, coef: Array, points: Array) -> Array:
    return np.asarray(np.prod(points[:, None, :] ** powers, axis=2) @ coef)


def _range(powers: Array, coef: Array, boxes: Array) -> tuple[Array, Array]:
    """Return bounds of a polynomial over boxes (boxes x 2 x variables), from intervals of its terms."""
    low, high = boxes[:, None, 0, :] ** powers, boxes[:, None, 1, :] ** powers
    least, most = np.minimum(low, high), np.maximum(low, high)
    across = (boxes[:, 0] < 0) & (boxes[:, 1] > 0)
    least = np.where(across[:, None] & (powers % 2 == 0) & (powers > 0), 0.0, least)
    a, b = np.ones(least.shape[:2]), np.ones(least.shape[:2])
    for j in range(powers.shape[1]):
        products = np.stack([a * least[:, :, j], a * most[:, :, j], b * least[:, :, j], b * most[:, :, j]])
        a, b = products.min(axis=0), products.max(axis=0)
    lower, upper = np.minimum(a * coef, b * coef).sum(axis=1), np.maximum(a * coef, b * coef).sum(axis=1)
    slack = 1e-12 * np.maximum(np.abs(a * coef), np.abs(b * coef)).sum(axis=1)  # rounding of sums and products
    return lower - slack, upper + slack


def _halved(boxes: Array) -> Array:
    """Return the halves of boxes, cut across their longest side relative to the first box."""
    sides = boxes[:, 1] - boxes[:, 0]
    scale = np.maximum(sides.max(axis=0), np.finfo(float).tiny)
    longest = (sides / scale).argmax(axis=1)
    rows = np.arange(len(boxes))
    middle = boxes[rows, :, longest].mean(axis=1)
    left, right = boxes.copy(), boxes.copy()
    left[rows, 1, longest], right[rows, 0, longest] = middle, middle
    return np.concatenate([left, right])
