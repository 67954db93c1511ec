"""Parameters of trajectories: from values and from columns of tables, their checks, storage and fingerprint."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import exactsindy as es
from exactsindy._files import read_arrays
from exactsindy.data import Trajectories, Trajectory, read_data, save_data
from exactsindy.errors import DataError

T = np.arange(20) * 0.1
RUNS = [np.column_stack([np.sin(T + i), np.cos(T + i)]) for i in range(2)]


def table():
    parts = [pd.DataFrame({"run": name, "t": T, "x": np.sin(T), "mu": mu}) for name, mu in (("a", 0.1), ("b", 0.4))]
    return pd.concat(parts, ignore_index=True)


def test_values_by_name_for_a_list_of_arrays():
    data = Trajectories.from_arrays(RUNS, time=0.1, parameters={"mu": [0.1, 0.4], "nu": (1, 2)})
    assert data.parameter_names == ("mu", "nu")
    assert [dict(member.parameters) for member in data] == [{"mu": 0.1, "nu": 1.0}, {"mu": 0.4, "nu": 2.0}]
    np.testing.assert_array_equal(data.parameters["mu"], [0.1, 0.4])
    np.testing.assert_array_equal(data[1].inputs, np.tile([0.4, 2.0], (20, 1)))
    assert "mu = 0.1" in repr(data[0])
    assert data.split()[1][1].parameters == {"mu": 0.4, "nu": 2.0}


def test_columns_of_a_table_are_constant_within_each_trajectory(tmp_path):
    frame = table()
    data = Trajectories.from_arrays(frame, time="t", trajectory="run", parameters=["mu"])
    assert data.state_names == ("x",)
    np.testing.assert_array_equal(data.parameters["mu"], [0.1, 0.4])
    by_value = Trajectories.from_arrays(frame[["run", "t", "x"]], time="t", trajectory="run", parameters={"mu": [1, 2]})
    np.testing.assert_array_equal(by_value.parameters["mu"], [1.0, 2.0])
    frame.to_csv(tmp_path / "runs.csv", index=False)
    read = es.load(tmp_path / "runs.csv", time="t", trajectory="run", parameters=("mu",))
    np.testing.assert_array_equal(read.parameters["mu"], [0.1, 0.4])
    frame.loc[3, "mu"] = 0.2
    with pytest.raises(DataError, match=r"column 'mu' has 2 values in trajectory 'a' \(0.1, 0.2\).*controls=\('mu',\)"):
        Trajectories.from_arrays(frame, time="t", trajectory="run", parameters=["mu"])
    with pytest.raises(DataError, match=r"column 'mu' has 3 values in the table .*trajectory="):
        Trajectories.from_arrays(frame[["t", "x", "mu"]], time="t", parameters=["mu"])


def test_pieces_between_gaps_keep_the_parameters_of_their_trajectory():
    first, second = (run.copy() for run in RUNS)
    first[10] = np.nan
    data = Trajectories.from_arrays([first, second], time=0.1, gaps="split", parameters={"mu": [0.1, 0.4]})
    np.testing.assert_array_equal(data.parameters["mu"], [0.1, 0.1, 0.4])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mu": [0.1]}, "parameters: 'mu' has 1 value for 2 trajectories; expected one value per trajectory."),
        ({"x0": [0.1, 0.2]}, "parameters: 'x0' is also a state or a control; rename one of them."),
        ({"mu": [0.1, np.inf]}, "parameters: 'mu' is inf; expected one finite number."),
        ({"mu": ["a", "b"]}, "parameters: 'mu' holds 'a' at row 0; expected numbers."),
        ("mu", "parameters='mu': expected columns of a table, e.g. ('mu',), or values by name"),
        (["mu"], "names of columns are for tables; for arrays pass one value per trajectory by name"),
    ],
)
def test_errors_name_the_cure(parameters, message):
    with pytest.raises(DataError, match=re.escape(message)):
        Trajectories.from_arrays(RUNS, time=0.1, parameters=parameters)


def test_parameters_of_trajectories_already_read():
    data = Trajectories.from_arrays(RUNS, time=0.1, parameters={"mu": [0.1, 0.4], "nu": [1, 2]})
    assert data.with_parameters(["nu"]).parameter_names == ("nu",)
    assert data.with_parameters({"a": [5, 6]}).parameters["a"].tolist() == [5.0, 6.0]
    with pytest.raises(DataError, match=r"have no parameter 'om' \(they have mu, nu"):
        data.with_parameters(["om"])
    with pytest.raises(DataError, match="Trajectory 1 has the parameters"):
        Trajectories([data[0], Trajectory(T, RUNS[1])])


def test_parameters_are_stored_and_are_part_of_the_fingerprint(tmp_path):
    plain = Trajectories.from_arrays(RUNS, time=0.1)
    data = plain.with_parameters({"mu": [0.1, 0.4]})
    assert len({plain.fingerprint, data.fingerprint, plain.with_parameters({"mu": [0.1, 0.5]}).fingerprint}) == 3
    save_data(data, tmp_path / "data.npz")
    again = read_data(read_arrays(tmp_path / "data.npz"))
    assert again.fingerprint == data.fingerprint
    assert again.parameter_names == ("mu",)
