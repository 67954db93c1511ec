"""Wrong values in any argument of the main verbs end in an answer or one sentence of the package."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import ExactSindyError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 5))
Y = X[:, 1] - X[:, 3] + 0.1 * RNG.normal(size=30)
PROBLEM = es.Problem.from_arrays(X, Y)
MODEL = es.Model.from_coefficients({"x'": {"y": 1.0}, "y'": {"x": -1.0}})
PATH = es.solve_path(PROBLEM, 3)
WRONG = [
    *(None, True, -1, 0, 10**30, -(10**30), 2**63, 2**40, 1.5, float("nan"), float("inf"), 1e300, 1j),
    *("", "x", "\0", b"x", [], {}, (), [[]], [None], ["x"], {"x": 1}, {1: 2}, object(), int, lambda: 0),
    *(np.array([]), np.array([1, 2]), np.array(["a"]), np.array([1j]), np.zeros((2, 2, 2)), range(3), {1}, MODEL),
]
VERBS = {
    "solve": (es.solve, {"problem": PROBLEM, "k": 2}, "problem k ridge constraints start settings backend"),
    "solve_path": (es.solve_path, {"problem": PROBLEM, "k_max": 2}, "problem k_max ridge constraints start settings"),
    "solve_pool": (
        es.solve_pool,
        {"problem": PROBLEM, "k": 2, "count": 3},
        "problem k count within ridge constraints start settings",
    ),
    "refit": (es.refit, {"problem": PROBLEM, "support": [[1]]}, "problem support ridge constraints"),
    "Settings": (es.Settings, {}, "gap seconds nodes threads progress"),
    "Total": (lambda **given: es.solve(PROBLEM, es.Total(**given)), {"k": 2}, "k weights caps"),
    "from_arrays": (es.Problem.from_arrays, {"theta": X, "targets": Y}, "theta targets names target_names"),
    "Problem.load": (es.Problem.load, {}, "path"),
    "load": (es.load, {"path": "nowhere.csv"}, "path"),
    "Polynomials": (lambda **given: es.Polynomials(**given).terms(("x", "y")), {"degree": 2}, "degree bias of"),
    "Fourier": (lambda **given: es.Fourier(**given).terms(("x", "y")), {"frequencies": 1}, "base of"),
    "Model.load": (es.Model.load, {}, "path"),
    "predict": (MODEL.predict, {"x": [[1.0, 2.0]]}, "x u t"),
    "simulate": (MODEL.simulate, {"x0": [1.0, 2.0], "t": [0.0, 0.1]}, "x0 t u method rtol atol max_abs max_steps"),
    "Discovery.load": (es.Discovery.load, {}, "folder"),
    "penalised": (PATH.penalised, {}, "lam"),
    "at": (PATH.at, {}, "k"),
    "dataset": (es.datasets.dataset, {}, "name"),
    "Bounds": (
        lambda **given: es.solve(PROBLEM, 2, constraints=[es.constraints.Bounds(**given)]),
        {"equation": "y0'", "term": "theta1"},
        "equation term lower upper",
    ),
    "EnergyPreserving": (
        lambda **given: es.solve(PROBLEM, 2, constraints=[es.constraints.EnergyPreserving(**given)]),
        {},
        "weights",
    ),
}


@pytest.mark.parametrize(
    ("verb", "argument"), [(verb, argument) for verb, (_, _, names) in VERBS.items() for argument in names.split()]
)
def test_wrong_values(verb, argument):
    function, given, _ = VERBS[verb]
    for value in WRONG:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(ExactSindyError):
                function(**{**given, argument: value})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: es.solve(PROBLEM, 2, settings={"seconds": 1}), r"settings={'seconds': 1}: expected Settings\(...\)"),
        (lambda: es.solve_path(PROBLEM, 10**30), "expected at most 10000 terms"),
        (lambda: es.solve(PROBLEM, es.Total(10**30)), r"Total\(k=10+\): expected at most 10000 terms"),
        (lambda: es.solve(PROBLEM, 2, backend=3), "backend=3: expected the name of one, e.g. 'native'"),
        (lambda: es.Polynomials(10**6), r"Polynomials\(degree=1000000\): expected at most 100, e.g. 3"),
        (lambda: es.Polynomials(60).terms(tuple("abcdefg")), "has more than 20000 terms for a, b, c, d, e, f, g"),
        (lambda: es.Polynomials(2, of=3), r"Polynomials: of=3: expected a list of names, e.g. \('x', 'y'\)"),
        (lambda: MODEL.simulate([1.0, 2.0], [0, 1], rtol=np.array([1j])), "expected 0 < rtol < 1 and atol >= 0"),
        (lambda: MODEL.simulate([1.0, 2.0], [0, 1], max_steps=2**40), r"max_steps=\d+: expected an integer from 1"),
        (lambda: PATH.at(7), r"at\(k=7\): this path goes from 0 to 3 terms"),
        (lambda: MODEL.save(3), "save: got int; expected a path"),
        (lambda: es.Discovery.load(None), "load: got NoneType; expected the path of a run folder"),
        (lambda: es.Terms(3), r"Terms\(3\): expected a list of terms"),
        (lambda: es.PerEquation(3), r"PerEquation\(3\): expected a mapping from equation to library"),
    ],
)
def test_the_sentence(call, sentence):
    with pytest.raises(ExactSindyError, match=sentence):
        call()
