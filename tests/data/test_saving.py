"""Data written to a file and read again."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories, read_data, save_data
from exactsindy.errors import DataError

X = np.random.default_rng(0).normal(size=(20, 4))


@pytest.mark.parametrize(
    "data",
    [
        Trajectories.from_arrays([X, X[:9]], time=0.1, targets=("x1''",), controls=[X[:, :1], X[:9, :1]]),
        Trajectories.from_arrays(X, time=0.1, derivatives=2 * X),
        Field.from_arrays(X, dims=("x", "t"), coords={"x": 1, "t": 1}, periodic=("x",), targets=("u_tt",)),
    ],
    ids=["trajectories", "derivatives", "field"],
)
def test_data_come_back_to_the_bit(data, tmp_path):
    save_data(data, tmp_path / "data.npz")
    with np.load(tmp_path / "data.npz") as archive:
        again = read_data(dict(archive))
    assert type(again) is type(data)
    assert again.fingerprint == data.fingerprint
    assert (again.targets, again.time_name, repr(again)) == (data.targets, data.time_name, repr(data))


def test_a_missing_array_ends_in_a_sentence(tmp_path):
    save_data(Trajectories.from_arrays(X, time=0.1), tmp_path / "data.npz")
    with np.load(tmp_path / "data.npz") as archive:
        arrays = {name: archive[name] for name in archive.files if name != "states0"}
    with pytest.raises(DataError, match="the stored data are damaged: 'states0' is missing"):
        read_data(arrays)
