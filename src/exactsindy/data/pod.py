"""Proper orthogonal decomposition: a field as a few modes with time-dependent amplitudes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data.field import Field
from exactsindy.data.input_checks import frozen
from exactsindy.data.trajectory import Trajectories, Trajectory
from exactsindy.errors import DataError


@dataclass(frozen=True, eq=False)
class Pod:
    """The modes of a field, most energetic first.

    ``trajectories`` holds the amplitudes a1, a2, ... over time, ``modes`` the orthonormal shapes (mode x
    fields x space), ``mean`` what was subtracted (fields x space), ``energies`` the mean squares of the
    amplitudes (the weights of an energy-weighted joint fit), ``share`` their part of the total energy.
    """

    trajectories: Trajectories
    modes: Array
    mean: Array
    energies: Array
    share: Array

    def reconstruct(self, amplitudes: ArrayLike) -> Array:
        """Return the field (times x fields x space) that belongs to amplitudes (times x modes)."""
        return np.asarray(self.mean + np.tensordot(np.asarray(amplitudes, dtype=float), self.modes, axes=1))


def pod(field: Field, rank: int, *, center: bool = True) -> Pod:
    """Return the ``rank`` most energetic modes of a field.

    Parameters
    ----------
    field
        The field; several fields share modes. Every grid point counts the same.
    rank
        Number of modes, at most the number of times.
    center
        Whether the mean over time is subtracted first.

    Examples
    --------
    >>> x, t = np.linspace(0, 1, 30), np.linspace(0, 2, 40)
    >>> wave = Field.from_arrays(np.sin(6 * x[:, None] - t), dims=("x", "t"), coords={"x": x, "t": t})
    >>> pod(wave, 2).share.sum().round(9)
    np.float64(1.0)
    """
    n = len(field.times)
    if not (isinstance(rank, int) and 1 <= rank <= n):
        raise DataError(f"pod(rank={rank!r}): expected an integer from 1 to the number of times, {n}.")
    if field.missing:
        raise DataError(f"pod: the field has {field.missing} missing cells; fill them in first.")
    snapshots = np.concatenate([array.reshape(-1, n) for array in field.values])
    mean = snapshots.mean(axis=1, keepdims=True) if center else np.zeros((len(snapshots), 1))
    shapes, sizes, times = np.linalg.svd(snapshots - mean, full_matrices=False)
    if sizes[rank - 1 : rank].size == 0 or sizes[rank - 1] <= sizes[0] * n * np.finfo(float).eps:
        full = int((sizes > sizes[0] * n * np.finfo(float).eps).sum())
        raise DataError(f"pod(rank={rank}): the field has only {full} independent modes; ask for at most that many.")
    # A mode and its amplitude may both change sign; the largest entry of every mode is made positive.
    peak = np.abs(shapes).argmax(axis=0)
    sign = np.sign(shapes[peak, np.arange(shapes.shape[1])])
    energies = sizes**2 / n
    space = (len(field.names), *field.shape[:-1])
    amplitudes = ((sign * sizes)[:, None] * times)[:rank].T
    names = tuple(f"a{i + 1}" for i in range(rank))
    return Pod(
        trajectories=Trajectories((Trajectory(field.times, amplitudes, names),), time_name=field.time_name),
        modes=frozen((shapes * sign).T[:rank].reshape(rank, *space)),
        mean=frozen(mean.reshape(space)),
        energies=frozen(energies[:rank]),
        share=frozen(energies[:rank] / energies.sum()),
    )
