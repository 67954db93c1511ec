"""What people pass by mistake on the first day: each answered in one sentence that holds the cure."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es

T = np.linspace(0.0, 10.0, 501)
X = np.column_stack([np.cos(2 * T), -2 * np.sin(2 * T)])
ONE_MISSING = np.where(np.arange(1002).reshape(501, 2) == 15, np.nan, X)
MIXED = np.random.default_rng(0).permutation(501)
TWICE = np.where(np.arange(501) == 5, T[4], T)
MISTAKES = {
    "transposed": ({"data": X.T, "time": T}, "The states look transposed; pass states.T."),
    "swapped": ({"data": T, "time": X}, "Data and time seem to be swapped: the data come first."),
    "no time": ({"data": X}, "pass the sample times or the step between samples, e.g. time=0.01."),
    "nothing": ({"data": None, "time": T}, "data is None: expected an array, a table, a file name"),
    "one time for many": (
        {"data": [X, X[:300]], "time": T},
        "trajectory 1: time has 501 entries but states has 300 samples; expected as many. Give each trajectory its own "
        "times, time=[t0, t1, ...]",
    ),
    "missing value": ({"data": ONE_MISSING, "time": T}, "'x1' at row 7. Pass gaps='split'"),
    "text": ({"data": [["a", "b"], ["c", "d"]], "time": [0, 1]}, "states holds 'a' at row (0, 0); expected numbers"),
    "unsorted": ({"data": X[MIXED], "time": T[MIXED]}, "Sort the rows by time"),
    "twice": ({"data": X, "time": TWICE}, "(rows 4 and 5): average or remove repeated samples"),
    "too few": ({"data": X[:4], "time": T[:4]}, "measure longer ones"),
    "lengths": ({"data": X[:-1], "time": T}, "time has 501 entries but states has 500 samples"),
    "negative step": ({"data": X, "time": -0.02}, "a step must be positive"),
    "names": ({"data": X, "time": T, "states": ["x"]}, "1 name ('x',) for 2 columns; expected one per column"),
    "one word": ({"data": X, "time": T, "states": "xv"}, "expected a list of 2 names, e.g. ('x', 'v')"),
    "column": ({"data": {"t": T, "x": T}, "time": "T"}, "there is no column 'T'. Known are t, x."),
    "functions": (
        {"data": X, "time": T, "library": ["sin", "cos"]},
        "expected a library such as Polynomials(3) + Functions(['sin'])",
    ),
    "term": ({"data": X, "time": T, "constraints": ["x0': foo == 1"]}, "there is no term 'foo'. Known are 1, x0, x1"),
    "one constraint": ({"data": X, "time": T, "constraints": "x0': x0 == 0"}, 'e.g. ["x\': y >= 0"]'),
    "complex": ({"data": X * 1j, "time": T}, "pass real and imaginary parts as separate states"),
    "no limit": ({"data": X, "time": T, "seconds": 0}, "expected a positive number, or None for no limit"),
}
KEYWORDS = {
    "t": "Did you mean time=?",
    "dt": "Did you mean time=?",
    "x": "Did you mean data=?",
    "feature_names": "Did you mean states=?",
    "feature_library": "Did you mean library=?",
    "differentiation_method": "Did you mean form=?",
    "poly_order": "Did you mean degree=?",
    "threshold": "Did you mean k_max=?",
    "x_dot": "data=es.Trajectories.from_arrays(x, t, derivatives=x_dot)",
    "optimizer": "The search is exact, so there is none to choose; leave it out.",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_its_cure(mistake):
    arguments, cure = MISTAKES[mistake]
    with pytest.raises(es.errors.ExactSindyError) as caught:
        es.discover(**arguments)
    assert cure in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_keywords_of_others_are_answered_with_ours(keyword):
    with pytest.raises(TypeError) as caught:
        es.discover(X, **{"time": T} if keyword != "t" else {}, **{keyword: T})
    assert KEYWORDS[keyword] in str(caught.value)


def test_measured_derivatives_are_taken_as_the_sentence_says():
    assert es.Trajectories.from_arrays(X, T, derivatives=X).n_samples == 501


@pytest.mark.parametrize("shape", [(501, 1), (1, 501)])
def test_a_column_or_a_row_of_times_is_taken(shape):
    assert np.array_equal(es.Trajectories.from_arrays(X, T.reshape(shape))[0].times, T)


def test_a_library_of_pysindy_is_answered_with_from_pysindy():
    pysindy = pytest.importorskip("pysindy")
    with pytest.raises(es.errors.ProblemError, match=r"this is one of PySINDy; pass es\.from_pysindy"):
        es.discover(X, T, library=pysindy.PolynomialLibrary(2))
