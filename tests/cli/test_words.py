"""Errors and warnings on the command line speak of its options."""

from __future__ import annotations

import pytest

from exactsindy.cli.words import in_options


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Pass gaps='split' to cut there.", "Pass --split-gaps to cut there."),
        (
            "name the time column, time='day' if it is 'day', which grows",
            "name the time column, --time day if it is 'day', which grows",
        ),
        ("time is missing: name the time column, time='...'.", "time is missing: name the time column, --time NAME."),
        ("pass the step, e.g. time=0.01.", "pass the step, e.g. --time 0.01."),
        ("pass trajectory='my run'.", "pass --trajectory 'my run'."),
        ("pass decimal=','.", "pass --decimal ,."),
        ("as a field: dims=('x', 'y', 't').", "as a field: --dims x,y,t."),
        ("e.g. targets=(\"x''\",).", "e.g. --targets \"x''\"."),
        ("time: there is no column 'a'.", "--time: there is no column 'a'."),
        (
            "constraints[1] contradicts constraints[0]: x",
            "--constraint (number 2) contradicts --constraint (number 1): x",
        ),
        ("allow more with k_max=.", "allow more with --k-max."),
        ("load('nowhere.csv'): there is no such file.", "'nowhere.csv': there is no such file."),
        ("discover(seconds=5): the time limit came.", "--seconds 5: the time limit came."),
        ("Allow more `seconds` for it.", "Allow more --seconds for it."),
        ("Give library=... if you know its terms.", "Give --library if you know its terms."),
        ("the form (form='weak').", "the form (--weak)."),
        ("use Trajectories.from_arrays(x[:-1], time=1.0).", "use Trajectories.from_arrays(x[:-1], time=1.0)."),
        ("x' = 3 x and sometime=4", "x' = 3 x and sometime=4"),
    ],
)
def test_arguments_become_options(said, shown):
    assert in_options(said) == shown
