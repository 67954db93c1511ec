"""Trajectories from arrays, their checks and notices."""

from __future__ import annotations

import re

import numpy as np
import pytest

from exactsindy.data import Field, Target, Trajectories, Trajectory
from exactsindy.errors import DataError

X = np.random.default_rng(0).normal(size=(20, 2))
RAGGED = [[1.0, 2.0], [3.0]]


def kinds(data):
    return [notice.kind for notice in data.warnings]


def test_an_array_and_a_step():
    data = Trajectories.from_arrays(X, time=0.1)
    assert (len(data), data.state_names, data.control_names, data.n_samples) == (1, ("x0", "x1"), (), 20)
    np.testing.assert_allclose(data[0].times, 0.1 * np.arange(20))
    np.testing.assert_array_equal(data[0].states, X)
    assert [target.name for target in data.targets] == ["x0'", "x1'"]
    assert data.warnings == ()


def test_records_are_copies_and_cannot_be_changed():
    source = X.copy()
    data = Trajectories.from_arrays(source, time=0.1)
    source[0] = 99
    assert data[0].states[0, 0] == X[0, 0]
    with pytest.raises(ValueError, match="read-only"):
        data[0].states[0] = 1
    with pytest.raises(AttributeError):
        data[0].names = ("a",)


def test_transposed_arrays_are_stored_row_by_row():
    """As native code reads them: solve_ivp(...).y.T and np.array([x, y]).T are stored column by column."""
    columns = np.asfortranarray(X)
    part = Trajectory(0.1, columns, controls=columns, derivatives=columns)
    assert all(table.flags.c_contiguous for table in (part.states, part.controls, part.derivatives))


def test_one_state_as_a_plain_list():
    assert Trajectories.from_arrays([1.0, 2.0, 4.0, 8.0], time=1.0)[0].states.shape == (4, 1)
    assert Trajectories.from_arrays([[1, 2], [2, 3], [4, 4]], time=1.0)[0].states.shape == (3, 2)


def test_several_trajectories_with_their_own_times_lengths_and_controls():
    data = Trajectories.from_arrays(
        [X, X[:7]],
        time=[np.linspace(0, 1, 20), 0.5],
        states=("x", "y"),
        controls=[np.ones(20), np.zeros(7)],
        targets=("y''",),
    )
    assert [len(member) for member in data] == [20, 7]
    assert data[1].times[-1] == 3.0
    assert data.control_names == ("u0",)
    assert data.targets == (Target("y", 2),)
    shared = Trajectories.from_arrays([X, X], time=np.linspace(0, 1, 20))
    np.testing.assert_array_equal(shared[0].times, shared[1].times)
    assert len(Trajectories.from_arrays([shared[0], shared[1]])) == 2


def test_measured_derivatives_need_no_time():
    part = Trajectories.from_arrays(X, derivatives=2 * X)[0]
    assert part.times.tolist() == list(range(20))
    with pytest.raises(DataError, match="time is missing"):
        Trajectories.from_arrays(X)


def test_measured_derivatives():
    data = Trajectories.from_arrays(X, time=1.0, derivatives=2 * X)
    np.testing.assert_array_equal(data[0].derivatives, 2 * X)
    np.testing.assert_array_equal(data.split(0.5)[1][0].derivatives, 2 * X[10:])


def test_dates_become_seconds_and_are_mentioned():
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]")
    data = Trajectories.from_arrays(X[:3], time=days)
    np.testing.assert_array_equal(data[0].times, [0, 86400, 172800])
    assert data.warnings[0].message == "'time' holds dates: the time is counted in seconds since 2020-01-01T00:00:00."
    hours = np.array([0, 1, 2], dtype="timedelta64[h]")
    np.testing.assert_array_equal(Trajectories.from_arrays(X[:3], time=hours)[0].times, [0, 3600, 7200])


def test_gaps_split():
    x = X.copy()
    x[5, 0] = np.nan
    x[8:10] = np.nan
    data = Trajectories.from_arrays(x, time=1.0, gaps="split", controls=np.arange(20.0))
    assert [list(member.times) for member in data] == [[0, 1, 2, 3, 4], list(range(10, 20))]
    np.testing.assert_array_equal(data[1].controls[:, 0], np.arange(10.0, 20))
    messages = [str(notice) for notice in data.warnings]
    assert messages == [
        "Cut into 2 pieces at gaps; 3 samples have missing values.",
        "2 samples at 6 to 7 between gaps: too few, left out.",
    ]


def test_breaks_in_time_split_too():
    t = np.concatenate((np.arange(10.0), 500 + np.arange(10.0)))
    whole = Trajectories.from_arrays(X, time=t)
    assert kinds(whole) == ["gap"]
    assert "no samples between 9 and 500, 491 times the usual step. Pass gaps='split'" in whole.warnings[0].message
    parts = Trajectories.from_arrays(X, time=t, gaps="split")
    assert [len(member) for member in parts] == [10, 10]
    assert kinds(parts) == ["split"]


def test_constant_columns_and_scales_are_noticed():
    x = np.column_stack((X, np.full(20, 3.0), 1e5 * X[:, 0]))
    notices = Trajectories.from_arrays(x, time=1.0).warnings
    assert [n.kind for n in notices] == ["constant", "scale"]
    assert notices[0].message == "'x2' never changes: its equation is 0 and its terms repeat other terms."
    assert re.match("'x3' is about .e.05 times as large as 'x[01]': coefficients will differ", notices[1].message)


def test_fingerprint_depends_on_every_number_and_name():
    marks = {
        Trajectories.from_arrays(X, time=0.1).fingerprint,
        Trajectories.from_arrays(X, time=0.2).fingerprint,
        Trajectories.from_arrays(X, time=0.1, states=("a", "b")).fingerprint,
        Trajectories.from_arrays(X, time=0.1, targets=("x0",)).fingerprint,
        Trajectories.from_arrays(X + 1e-15, time=0.1).fingerprint,
        Trajectories.from_arrays(X, time=0.1, controls=np.zeros(20)).fingerprint,
    }
    assert len(marks) == 6
    assert Trajectories.from_arrays(X, time=0.1).fingerprint in marks


def test_representations():
    member = Trajectory(0.5, X, controls=np.ones(20), control_names=("f",))
    assert repr(member) == "Trajectory(20 samples of x0, x1, controls f, times 0 to 9.5)"
    assert (
        repr(Trajectories.from_arrays([X] * 7, time=1.0)) == "Trajectories(7 of x0, x1; samples: 20, 20, 20, 20, 20...)"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "time is missing: pass the sample times or the step between samples, e.g. time=0.01."),
        ({"time": -0.1}, "time=-0.1: a step must be positive."),
        ({"time": np.arange(19)}, "time has 19 entries but states has 20 samples; expected as many."),
        (
            {"source": X.T, "time": np.arange(20)},
            "expected as many. The states look transposed; pass states.T.",
        ),
        (
            {"source": X.T, "time": 0.1},
            "states has shape (2, 20): 2 samples of 20 states looks transposed; pass states.T",
        ),
        ({"time": np.ones((20, 2))}, "time has shape (20, 2); expected one time per sample, (20,)."),
        (
            {"source": X[:2], "time": 0.1},
            "2 samples are too short a trajectory; expected at least 3 (leave it out).",
        ),
        (
            {"time": [*range(10), *range(10)]},
            "time is not sorted: it goes from 9 to 0 at row 10. Sort the rows by time; if a new",
        ),
        (
            {"time": [0, 1, 1, *range(2, 19)]},
            "time 1 occurs twice (rows 1 and 2): average or remove repeated samples.",
        ),
        ({"time": [*range(19), np.nan]}, "time is missing at row 19; remove the row or fill the time in."),
        (
            {"source": np.where(X > 1, np.nan, X), "time": 1.0},
            "values are missing or infinite, the first in 'x0' at row 3. Pass gaps='split' to cut",
        ),
        ({"source": np.where(X > 1, np.inf, X), "time": 1.0}, "values are missing or infinite"),
        (
            {"source": X + 1j, "time": 1.0},
            "states is complex; pass real and imaginary parts as separate states.",
        ),
        (
            {"source": np.array([["a", "b"]] * 5), "time": 1.0},
            "states holds 'a' at row (0, 0); expected numbers.",
        ),
        (
            {"source": X.reshape(2, 5, 4), "time": 1.0},
            "states has shape (2, 5, 4); expected samples x states. For a field over space",
        ),
        (
            {"source": RAGGED, "time": 1.0},
            "states has rows of different lengths; expected a full table. Several trajectories are a list",
        ),
        ({"time": 1.0, "states": ("a",)}, "states: 1 name ('a',) for 2 columns; expected one per column."),
        ({"time": 1.0, "states": "ab"}, "states='ab': expected a list of 2 names, e.g. ('a', 'b')."),
        ({"time": 1.0, "states": ("a", "a")}, "states: ('a', 'a') must be different and not empty."),
        (
            {"time": 1.0, "controls": np.ones(10)},
            "controls has shape (10, 1) but there are 20 samples; expected one row per sample, (20, columns).",
        ),
        (
            {"time": 1.0, "controls": np.full(20, np.nan)},
            "20 values are missing or infinite, the first in 'u0' at row 0.",
        ),
        (
            {"time": 1.0, "states": ("u0", "b"), "controls": np.ones(20)},
            "'u0' is a name of a state and of a control; expected each column once, or rename one.",
        ),
        (
            {"time": 1.0, "derivatives": np.ones((20, 3))},
            "derivatives has shape (20, 3); expected that of the states, (20, 2).",
        ),
        (
            {"time": 1.0, "targets": "z''"},
            "targets: unknown equation \"z''\"; expected a state (x0, x1) or a derivative of one, such as \"x0''\".",
        ),
        (
            {"time": 1.0, "targets": ("z",)},
            "targets: unknown equation 'z'; expected a state (x0, x1) or a derivative of one, such as \"x0''\".",
        ),
        ({"time": 1.0, "targets": ("x0", "x0'")}, "expected at least one equation, and each only once."),
        ({"time": 1.0, "gaps": "fill"}, "gaps='fill': expected 'refuse' or 'split'."),
        (
            {"source": np.full((5, 1), np.nan), "time": 1.0, "gaps": "split"},
            "(with gaps='split' no piece was long enough: fill in missing values instead).",
        ),
        (
            {"source": [X, X], "time": [1.0, 1.0, 1.0]},
            "time has 3 entries for 2 trajectories; pass a list with one entry per trajectory, or one step",
        ),
        (
            {"source": [X, X], "time": 1.0, "controls": np.ones(20)},
            "controls has 20 entries for 2 trajectories; pass a list with one entry per trajectory.",
        ),
    ],
)
def test_input_errors(arguments, message):
    with pytest.raises(DataError, match=re.escape(message)):
        Trajectories.from_arrays(arguments.pop("source", X), **arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.split(1.5), "split(fraction=1.5): expected a number between 0 and 1, e.g. 2/3."),
        (
            lambda d: d.split(0.95),
            "split(fraction=0.95): 20 samples give parts of 19 and 1; each needs at least 3.",
        ),
        (lambda d: d.folds(1), "folds(count=1): expected an integer from 2 to 6 for 20 samples in time."),
        (
            lambda d: Trajectories.from_arrays([X[:5]] * 3, time=1.0).folds(5),
            "folds(count=5): the trajectories are too short for so many folds; use fewer.",
        ),
        (lambda d: Trajectories(()), "Trajectories: expected at least one trajectory"),
        (
            lambda d: Trajectories((d[0], Trajectory(1.0, X, ("a", "b")))),
            "Trajectory 1 has states ('a', 'b') and controls (), trajectory 0 has ('x0', 'x1') and (); expected the",
        ),
        (
            lambda d: Trajectories((d[0], Trajectory(1.0, X, derivatives=X))),
            "Trajectory 1 and trajectory 0 must both have derivatives, or neither.",
        ),
    ],
)
def test_errors_of_parts(call, message):
    with pytest.raises(DataError, match=re.escape(message)):
        call(Trajectories.from_arrays(X, time=1.0))


def test_the_field_hint_is_right():
    assert isinstance(
        Field.from_arrays(np.ones((4, 5)) * np.arange(5), dims=("x", "t"), coords={"x": 1, "t": 1}), Field
    )


def test_controls_by_name_and_a_short_message_for_what_is_no_number():
    t, u = np.arange(50) * 0.1, np.sin(np.arange(50))
    data = Trajectories.from_arrays(t[:, None], time=t, states=("x",), controls={"push": u, "pull": 2 * u})
    assert data.control_names == ("push", "pull")
    np.testing.assert_array_equal(data[0].controls, np.column_stack([u, 2 * u]))
    with pytest.raises(DataError, match=r"holds .{0,60} at row 0; expected numbers"):
        Trajectories.from_arrays(t, time=t, controls=[{"a": list(range(1000))}])
