"""Recognise one closed orbit: data that repeat themselves after a period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.discovery.recognise.view import View

# The data must cover so many periods.
_LEAST_PERIODS = 1.5
# Mean distance of the states a period apart, in units of the spread: at most this, or what noise makes of it.
_CLOSED, _NOISE = 0.01, 1.5
# Noise that smoothing leaves, as a share of the spread, above which an orbit is not called closed.
_CALM = 0.05
# A harmonic of a rate counts if it is larger than this share of the rate, and than so many times its noise.
_HARMONIC, _SURE = 0.01, 3.0
_MOST_HARMONICS = 20
# Phases that differ by less than this (radians) are the same.
_IN_PHASE = 0.1
# Samples looked at, and most states.
_MOST, _MOST_STATES = 20_000, 12


@dataclass(frozen=True)
class Orbit:
    """A closed orbit: its period in time, how many periods were measured, and how many numbers determine each rate.

    A rate with h harmonics beyond noise has h amplitudes and, unless it is the same forwards and backwards in time,
    h - 1 phases. A law with as many terms fits it whatever they are.
    """

    period: float
    periods: float
    numbers: tuple[int, ...]


def closed_orbit(view: View) -> Orbit | None:
    """Return the orbit that a single trajectory of two or more states repeats; None if there is none."""
    if len(view.pieces) != 1 or not 2 <= len(view.states) <= _MOST_STATES or len(view.names) > len(view.states):
        return None
    times, states = _equally_spaced(view.pieces[0].times, view.smoothed[0])
    width = states.std(axis=0)
    noise = view.smooth_noise
    if (noise > _CALM * width).any() or (width == 0).any():
        return None
    scaled = (states - states.mean(axis=0)) / width
    expected = float(np.mean((noise / width) ** 2))
    period = _period(scaled, expected)
    if period is None:
        return None
    n = len(scaled)
    # As far apart as the data allow: what decays or drifts slowly shows there.
    most = int((n - period / 2) / period)
    if most > 1 and _return_distance(scaled, most * period, period / 4) > _limit(expected):
        return None
    step = float(times[1] - times[0])
    return Orbit(period * step, n / period, _numbers(scaled, period, expected))


def _equally_spaced(times: Array, states: Array) -> tuple[Array, Array]:
    """Return the samples on equal steps, interpolated where they are not; every second, third, ... of very many."""
    count = min(len(times), _MOST)
    grid = np.linspace(times[0], times[-1], count)
    if count == len(times) and np.allclose(grid, times, rtol=0, atol=1e-3 * (grid[1] - grid[0])):
        return times, states
    return grid, np.column_stack([np.interp(grid, times, column) for column in states.T])


def _limit(expected: float) -> float:
    return max(_CLOSED**2, _NOISE**2 * expected)


def _period(scaled: Array, expected: float) -> float | None:
    """Return the shortest lag, in samples, after which the data come back to themselves; None if they do not."""
    n = len(scaled)
    longest = int(n / _LEAST_PERIODS)
    distance = _distances(scaled, longest + 2)
    if len(distance) < 5:
        return None
    away = np.flatnonzero(distance > 0.25)
    if not len(away):
        return None
    inside = np.arange(max(int(away[0]), 1), len(distance) - 1)
    lows = inside[(distance[inside] <= distance[inside - 1]) & (distance[inside] <= distance[inside + 1])]
    for lag in lows:
        exact, value = _vertex(distance, int(lag))
        if value <= _limit(expected):
            return exact
    return None


def _distances(scaled: Array, lags: int) -> Array:
    """Return for each lag half the mean square distance of states that lag apart, by way of Fourier transforms."""
    n, d = scaled.shape
    size = 1 << (2 * n - 1).bit_length()
    waves = np.fft.rfft(scaled, size, axis=0)
    products = np.fft.irfft(np.abs(waves) ** 2, size, axis=0)[:lags].sum(axis=1)
    squares = np.concatenate(([0.0], np.cumsum((scaled**2).sum(axis=1))))
    lag = np.arange(min(lags, n))
    total = squares[n - lag] + (squares[n] - squares[lag])
    return np.asarray((total - 2 * products[: len(lag)]) / (2 * d * (n - lag)))


def _vertex(distance: Array, lag: int) -> tuple[float, float]:
    """Return position and value of the lowest point of the parabola through three neighbours."""
    before, here, after = distance[lag - 1 : lag + 2]
    curvature = before - 2 * here + after
    if curvature <= 0:
        return float(lag), float(here)
    shift = (before - after) / (2 * curvature)
    return lag + float(shift), max(0.0, float(here - (before - after) ** 2 / (8 * curvature)))


def _return_distance(scaled: Array, lag: float, within: float) -> float:
    """Return the least distance near a lag, between samples by a parabola."""
    n = len(scaled)
    low, high = max(int(lag - within), 1), min(int(lag + within) + 1, n - 3)
    distance = _distances(scaled, high + 2)
    if high <= low:
        return float("inf")
    best = low + int(distance[low : high + 1].argmin())
    return _vertex(distance, best)[1]


def _numbers(scaled: Array, period: float, expected: float) -> tuple[int, ...]:
    """Return how many amplitudes and phases beyond noise each rate has."""
    n = len(scaled)
    order = np.arange(1, int(min(_MOST_HARMONICS, period / 2 - 1)) + 1)
    angle = 2 * np.pi * np.arange(n)[:, None] / period * order
    waves = np.hstack((np.ones((n, 1)), np.cos(angle), np.sin(angle)))
    fit = np.linalg.lstsq(waves, scaled, rcond=None)[0][1:]
    cosines, sines = fit[: len(order)], fit[len(order) :]
    size, phase = np.hypot(cosines, sines), np.arctan2(-sines, cosines)
    rate = size * order[:, None]
    known = (rate > _HARMONIC * np.sqrt((rate**2).sum(axis=0))) & (size > _SURE * np.sqrt(4 * expected / n))
    return tuple(
        int(mine.sum()) if _reversible(order[mine], angles[mine]) else max(2 * int(mine.sum()) - 1, 0)
        for mine, angles in zip(known.T, phase.T, strict=True)
    )


def _reversible(order: NDArray[np.intp], phase: Array) -> bool:
    """Return True if harmonics are all cosines or all sines when time is counted from some moment."""
    if len(order) < 2:
        return True
    for kind in (0.0, np.pi / 2):
        # The first harmonic is cos(m s + phase); it is a cosine (kind 0) or a sine if time starts at this angle.
        for turn in range(int(order[0])):
            start = (phase[0] - kind + np.pi * turn) / order[0]
            if (np.abs(np.sin(phase - order * start - kind)) < _IN_PHASE).all():
                return True
    return False
