"""Equations grouped by library, and parts that are contiguous in time."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Trajectories
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import groups, trajectory_inputs
from exactsindy.forms.base import checked
from exactsindy.forms.rows import check_count, parts
from exactsindy.library import PerEquation, Polynomials, Terms

DATA = Trajectories.from_arrays(np.arange(30.0).reshape(10, 3), time=0.5, states=("x", "y", "z"))


def test_neighbouring_equations_with_equal_libraries_are_one_group():
    library = PerEquation({"x": Polynomials(2), "y": Polynomials(2), "z": Polynomials(1)})
    assert [group.target_names for group in groups(DATA, library)] == [("x'", "y'"), ("z'",)]
    assert [group.target_names for group in groups(DATA, Polynomials(1))] == [("x'", "y'", "z'")]


def test_time_is_an_input_only_where_the_library_uses_it():
    member = DATA[0]
    (plain,), (timed,) = groups(DATA, Polynomials(1)), groups(DATA, Terms(["x", "sin(t)"]))
    assert trajectory_inputs(plain.features, member, member.states[2:5], 2, 5).shape == (3, 3)
    assert trajectory_inputs(timed.features, member, member.states[2:5], 2, 5)[:, -1].tolist() == [1.0, 1.5, 2.0]


@pytest.mark.parametrize(("lengths", "count"), [([4, 6], 3), ([1, 1, 8], 2), ([7], 7)])
def test_parts_hold_every_sample_once_and_in_order(lengths, count):
    samples = [(i, k) for part in parts(lengths, count) for i, low, high in part for k in range(low, high)]
    assert samples == [(i, k) for i, n in enumerate(lengths) for k in range(n)]
    assert len(parts(lengths, count)) == count


def test_errors_name_the_cure():
    with pytest.raises(DataError, match=r"StrongForm: data is of type list; expected trajectories or a field"):
        checked([1.0], "StrongForm")
    with pytest.raises(ProblemError, match=r"library is of type int: expected a library such as Polynomials\(3\)"):
        groups(DATA, 3)
    with pytest.raises(DataError, match=r"folds\(count=1\): expected an integer from 2 to 9, the number of samples"):
        check_count(1, 9, "number of samples")
