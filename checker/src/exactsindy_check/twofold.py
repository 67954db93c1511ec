"""Sums and products of doubles that keep their rounding errors (about 106 bits), for whole arrays at once."""

from __future__ import annotations

import numpy as np

from exactsindy_check.instance import UNIT, Vector

_SPLITTER = 2.0**27 + 1.0


def product_error(a: Vector, b: Vector, p: Vector) -> Vector:
    """Return a b - p exactly, where p is the rounded product; numbers below 2**990 without underflow."""
    t = a * _SPLITTER
    a_high = t - (t - a)
    a_low = a - a_high
    t = b * _SPLITTER
    b_high = t - (t - b)
    b_low = b - b_high
    return ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def two_sum(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Return the rounded sum and its error: their sum is a + b exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def total(parts: Vector, small: Vector) -> tuple[Vector, Vector]:
    """Return high + low of the sum over axis 0 of `parts`, which is summed with its errors, and of `small`, plainly."""
    low = small.sum(axis=0)
    while len(parts) > 1:
        half = len(parts) // 2
        s, error = two_sum(parts[:half], parts[half : 2 * half])
        low = low + error.sum(axis=0)
        parts = s if len(parts) == 2 * half else np.concatenate([s, parts[2 * half :]])
    return parts[0], low


def dots(a: Vector, high: Vector, low: Vector) -> Vector:
    """Return a' (high + low) over axis 0, rounded once at the end; see `dots_error`."""
    p = a * high
    s, e = total(p, product_error(a, high, p) + a * low)
    return s + e


def dots_error(n: int) -> float:
    """Return c such that the error of `dots` over n entries is at most  2 u |result| + c |a| |high|.

    For |low| <= 2 u |high|, entry by entry; see Lemma 2 in the README.
    """
    levels = max(1, (n - 1).bit_length())
    return 8.0 * (n + 8) * (levels + 6) * UNIT**2
