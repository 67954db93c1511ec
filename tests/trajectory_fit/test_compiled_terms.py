"""Compiled terms give the values of the library, and summands that add up to its slopes."""

import numpy as np

import exactsindy as es
from exactsindy.library import Variable
from exactsindy.trajectory_fit.compiled_terms import CompiledTerms


def run(program, inputs):
    table = np.empty((len(program.outputs), len(inputs)))
    program.run(list(inputs.T), table)
    return table


def test_values_and_slopes_are_those_of_the_library():
    features = es.Terms(["x", "x y^2", "sin(x)", "y", "x^3"]).bind(("x", "y"))
    supports, variables = ((1, 2), (0, 1, 4)), (Variable("x"), Variable("y"))
    terms = CompiledTerms(features, supports, variables)
    assert terms.columns == (0, 1, 2, 4)
    rng = np.random.default_rng(0)
    inputs, coef = rng.normal(size=(7, 2)), [rng.normal(size=2), rng.normal(size=3)]
    values = run(terms.values, inputs)
    np.testing.assert_allclose(values.T, features.evaluate(inputs)[:, list(terms.columns)])
    for support, rows in zip(supports, terms.rows, strict=True):
        np.testing.assert_allclose(values[rows].T, features.evaluate(inputs)[:, list(support)])
    outputs = run(terms.slopes, inputs)
    slopes = np.zeros((7, 2, 2))
    for s in terms.summands:
        slopes[:, s.equation, s.variable] += coef[s.equation][s.term] * s.factor * outputs[s.output]
    table = np.zeros((2, 5))
    for row, support, xi in zip(table, supports, coef, strict=True):
        row[list(support)] = xi
    np.testing.assert_allclose(slopes, features.jacobian(inputs, table, wrt=variables), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run(terms.both, inputs), np.vstack([values, outputs]))
