"""Small data in memory, and the same data on disk or in chunks."""

from __future__ import annotations

import numpy as np

from exactsindy.data import Field, Trajectories

STATES = ("x", "y")


def trajectories(lengths=(500, 3000, 700, 12), seed=0):
    """Noisy oscillations of several lengths, each with its own start."""
    rng, runs = np.random.default_rng(seed), []
    for run, n in enumerate(lengths):
        t = np.arange(n) * 0.01
        x = np.column_stack([np.cos(t + run), np.sin(1.1 * t + run)]) + 0.01 * rng.normal(size=(n, 2))
        runs.append(Trajectories.from_arrays(x, time=t, states=STATES)[0])
    return Trajectories(runs)


def write_parquet(data, folder, rows=333, columns=STATES):
    """Write one file per trajectory, in row groups of so many rows."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    for run, member in enumerate(data):
        table = {"run": [run] * len(member), "time": member.times, **dict(zip(columns, member.states.T, strict=True))}
        parquet.write_table(pa.table(table), folder / f"r{run:03d}.parquet", row_group_size=rows)


def waves(shape=(32, 24, 60), fields=("u", "v"), seed=0, dtype=float):
    """Smooth random periodic fields as an xarray Dataset in memory."""
    import xarray as xr
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(seed)
    dims = ("x", "y", "t")
    coords = {dim: 0.1 * np.arange(size) for dim, size in zip(dims, shape, strict=True)}
    values = {name: gaussian_filter(rng.normal(size=shape), 2, mode="wrap").astype(dtype) for name in fields}
    return xr.Dataset({name: (dims, array) for name, array in values.items()}, coords=coords)


def as_field(dataset):
    """The field of a dataset that is periodic in space."""
    return Field.from_arrays(dataset, periodic=("x", "y"))


def assert_same(first, second, tolerance=1e-10):
    """R'R agrees relative to the norms of the columns."""
    assert first.n_samples == second.n_samples
    for a, b in zip(first.blocks, second.blocks, strict=True):
        assert (a.names, a.target_names, a.n_samples) == (b.names, b.target_names, b.n_samples)
        gram = a.factor.T @ a.factor
        size = np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
        np.testing.assert_allclose((b.factor.T @ b.factor - gram) / size, 0.0, atol=tolerance)
