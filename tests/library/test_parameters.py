"""The library of parameters, and where parameters stand in terms."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import ProblemError
from exactsindy.library import Parameters, Polynomials, Terms, Variables

NAMES = Variables(("x", "y"), controls=("u",), parameters=("mu", "nu"))


def names(library):
    return list(library.bind(NAMES).names)


def test_monomials_of_the_parameters_alone():
    assert names(Parameters(2)) == ["1", "mu", "nu", "mu^2", "mu nu", "nu^2"]
    assert names(Parameters(2, of=("nu",))) == ["1", "nu", "nu^2"]
    assert names(Polynomials(1)) == ["1", "x", "y", "u"]
    assert names(Polynomials(1, of=("x", "mu"))) == ["1", "x", "mu"]
    assert names(Polynomials(1, bias=False, of=("x",)) * Parameters(1)) == ["x", "mu x", "nu x"]
    assert names(Terms(["x mu^2", "sin(mu x)"])) == ["mu^2 x", "sin(mu x)"]


def test_columns_follow_the_order_of_states_controls_and_parameters():
    features = (Polynomials(1, bias=False) * Parameters(1, of=("nu",))).bind(NAMES)
    assert [variable.name for variable in features.inputs] == ["x", "y", "u", "mu", "nu"]
    np.testing.assert_array_equal(features.evaluate([[2.0, 3, 5, 7, 11]]), [[2, 22, 3, 33, 5, 55]])
    data = es.Trajectories.from_arrays([np.eye(3), np.eye(3)], time=0.1, parameters={"mu": [2.0, 3.0]})
    bound = Parameters(1).bind(data)
    np.testing.assert_array_equal(bound.evaluate(bound.inputs_of(data[1])), [[1, 3.0]] * 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Parameters(-1), r"Parameters\(degree=-1\): expected an integer from 0 to 100"),
        (lambda: Parameters(1).bind(("x",)), "the data have no parameter that varies between trajectories; pass"),
        (lambda: Parameters(1, of=("x",)).bind(NAMES), r"'x' is no parameter; the parameters are mu, nu."),
        (lambda: Parameters(1, of=("mi",)).bind(NAMES), "unknown variable 'mi'"),
        (lambda: Variables(("x",), parameters=("x",)), "'x' stands for two variables"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ProblemError, match=message):
        make()
