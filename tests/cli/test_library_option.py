"""What the options of `discover` say about the library and the kind of law."""

from __future__ import annotations

import numpy as np
import pytest
import typer

import exactsindy as es
from exactsindy.cli.library_option import candidates

PLAIN = es.Trajectories.from_arrays(np.random.default_rng(0).normal(size=(20, 2)), time=0.1, states=("x", "y"))
RUNS = [np.random.default_rng(i).normal(size=(20, 1)) for i in range(2)]
TUNED = es.Trajectories.from_arrays(RUNS, time=0.1, states=("x",), parameters={"mu": [0.1, 0.2]})
FIELD = es.Field.from_arrays(np.ones((8, 9)), dims=("x", "t"), coords={"x": np.arange(8), "t": np.arange(9)})


@pytest.mark.parametrize(
    ("data", "text", "degree", "expected"),
    [
        (PLAIN, None, None, None),
        (PLAIN, None, 2, es.Polynomials(2)),
        (PLAIN, "polynomials", None, es.Polynomials(3)),
        (PLAIN, "sin, exp", None, es.Polynomials(3) + es.Functions(["sin", "exp"])),
        (PLAIN, "sin(w)", 2, es.Polynomials(2) + es.Functions(["sin"], w=...)),
        (PLAIN, "rational", None, es.Rational(es.Polynomials(2), es.Polynomials(2))),
        (TUNED, None, 2, es.Polynomials(2) * es.Parameters(1)),
        (TUNED, "rational", 1, es.Rational(es.Polynomials(1) * es.Parameters(1), es.Polynomials(1))),
        (TUNED, "sin", None, (es.Polynomials(3) + es.Functions(["sin"])) * es.Parameters(1)),
        (FIELD, None, 1, es.Polynomials(1, bias=False) + es.Polynomials(1) * es.Derivatives(4)),
    ],
)
def test_words_become_libraries(data, text, degree, expected):
    assert candidates(data, text, degree, 4) == expected


@pytest.mark.parametrize(
    ("data", "text", "message"),
    [
        (PLAIN, "sine", "--library 'sine': unknown function."),
        (TUNED, "sin(w)", "--library 'sin(w)': inner constants do not go together with --parameters."),
        (FIELD, "sin", "--library 'sin': fields take monomials and derivatives"),
    ],
)
def test_what_is_not_understood_is_said(data, text, message, capsys):
    with pytest.raises(typer.Exit):
        candidates(data, text, None, 4)
    assert message in " ".join(capsys.readouterr().err.split())
