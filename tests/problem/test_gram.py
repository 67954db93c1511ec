"""Problems from products of columns: as right as a Gram matrix can be, and no Gram matrix that is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactsindy.errors import ProblemError
from exactsindy.problem import Problem


def products(theta, targets):
    return theta.T @ theta, theta.T @ targets, targets.T @ targets


def data(seed, n=60, width=4, m=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, width)) * 10.0 ** rng.uniform(-4, 4, width), rng.standard_normal((n, m))


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_residuals_agree_with_the_rows(seed, n, width, m):
    theta, targets = data(seed, n, width, m)
    problem = Problem.from_gram(*products(theta, targets), n_samples=n)
    coef = np.random.default_rng(seed).standard_normal((m, width)) / np.linalg.norm(theta, axis=0)
    expected = ((targets - theta @ coef.T) ** 2).sum(axis=0)
    np.testing.assert_allclose(problem.rss(coef), expected, rtol=1e-9, atol=1e-9)
    factor = problem.blocks[0].factor
    assert not factor[n:].any()
    assert not np.tril(factor, -1).any()


def test_scalars_and_vectors_for_one_target():
    theta, targets = data(1, m=1)
    gram, moments, square = products(theta, targets)
    reference = Problem.from_gram(gram, moments, square, 60).fingerprint
    for given_square in (square[0, 0], square[0], float(square[0, 0])):
        assert Problem.from_gram(gram, moments[:, 0], given_square, 60).fingerprint == reference


def test_only_squares_of_several_targets():
    theta, targets = data(2, n=5, width=4, m=3)
    theta[:, 3] = theta[:, 0]
    gram, moments, square = products(theta, targets)
    problem = Problem.from_gram(gram, moments, np.diag(square), 5, target_names=["x'", "y'", "z'"])
    assert len(problem.blocks) == 3
    assert problem.target_names == ("x'", "y'", "z'")
    coef = np.full((3, 4), 0.5)
    expected = ((targets - theta @ coef.T) ** 2).sum(axis=0)
    np.testing.assert_allclose(problem.rss(coef), expected, rtol=1e-7)


def test_singular_grams():
    theta, targets = data(3)
    theta[:, 2] = theta[:, 1]
    theta[:, 0] = 0.0
    problem = Problem.from_gram(*products(theta, targets), n_samples=60)
    assert problem.column_norms[0] == 0.0
    np.testing.assert_allclose(problem.column_norms, np.linalg.norm(theta, axis=0), rtol=1e-12)
    coef = np.array([[5.0, 1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    expected = ((targets - theta @ coef.T) ** 2).sum(axis=0)
    np.testing.assert_allclose(problem.rss(coef), expected, rtol=1e-6)


def test_all_zero_gram():
    problem = Problem.from_gram(np.zeros((2, 2)), np.zeros(2), 0.0, 5)
    assert not problem.blocks[0].factor.any()


def test_scales_far_apart():
    theta, targets = data(4)
    theta = theta * np.array([1e-120, 1.0, 1e120, 1e10])
    problem = Problem.from_gram(*products(theta, targets), n_samples=60)
    np.testing.assert_allclose(problem.column_norms, np.linalg.norm(theta, axis=0), rtol=1e-12)
    coef = np.diag([1e120, 1.0, 1e-120, 1e-10])[:2]
    np.testing.assert_allclose(problem.rss(coef), ((targets - theta @ coef.T) ** 2).sum(axis=0), rtol=1e-9)


def test_adds_to_problems_of_rows():
    theta, targets = data(5)
    rows = Problem.from_arrays(theta, targets)
    total = rows + Problem.from_gram(*products(theta, targets), n_samples=60)
    np.testing.assert_allclose(total.rss(np.ones((2, 4))), 2 * rows.rss(np.ones((2, 4))), rtol=1e-9)


EYE = np.eye(2)


@pytest.mark.parametrize(
    "gram, moments, square, n, message",
    [
        (np.ones((2, 3)), [1, 1], 1, 9, r"gram has shape \(2, 3\): expected a square matrix \(D, D\)"),
        (np.ones(4), [1, 1], 1, 9, r"gram has shape \(4,\): expected a square matrix \(D, D\)"),
        (np.ones((0, 0)), [], 1, 9, r"gram has shape \(0, 0\): expected a square matrix"),
        (EYE * 1j, [0, 0], 1, 9, r"gram has dtype complex128: expected real numbers, take \.real"),
        (
            [[1, 0.5], [0.4, 1]],
            [0, 0],
            1,
            9,
            r"gram is not symmetric: entry \(0, 1\) is 0\.5, entry \(1, 0\) is 0\.4",
        ),
        (
            [[1, np.nan], [0, 1]],
            [0, 0],
            1,
            9,
            r"gram has 1 NaN or infinite value .*first: nan at row 0, column 1\): expected finite",
        ),
        (
            EYE,
            [1, 2, 3],
            1,
            9,
            r"moments has shape \(3, 1\): expected \(2,\) or \(2, targets\), one row per column",
        ),
        (EYE, np.ones((2, 0)), 1, 9, r"moments has shape \(2, 0\)"),
        (
            EYE,
            [np.inf, 0],
            1,
            9,
            r"moments has 1 NaN or infinite value .*: expected finite numbers",
        ),
        (
            EYE,
            [0, 0],
            [1, 2],
            9,
            r"target_square has shape \(2,\): expected \(1,\) or \(1, 1\) for 1 targets",
        ),
        (EYE, [0, 0], np.eye(2), 9, r"target_square has shape \(2, 2\): expected a square matrix \(1, 1\)"),
        (EYE, [0, 0], np.ones((1, 1, 1)), 9, r"target_square has shape \(1, 1, 1\): expected \(1,\)"),
        (EYE, [0, 0], np.nan, 9, r"target_square has 1 NaN or infinite value"),
        (EYE, [0, 0], "1", 9, r"target_square has dtype <U1: expected real numbers, convert it to float"),
        (EYE, [0, 0], -1.0, 9, r"negative diagonal entry \(-1\.0\): not a Gram matrix"),
        ([[0, 1], [1, 1]], [0, 0], 1, 9, r"a zero on the diagonal and nonzeros beside it: not a Gram matrix"),
        (
            [[1, 2], [2, 1]],
            [0, 0],
            1,
            9,
            r"do not belong to one data set: .* negative eigenvalue .*same samples",
        ),
        (EYE, [3, 0], 1.0, 9, r"do not belong to one data set"),
        (EYE, [0, 0], 1, 2, r"more independent columns than n_samples = 2 rows can have: check n_samples"),
        (EYE, [0, 0], 1, 0, r"n_samples is 0: expected an integer >= 1"),
        (EYE, [0, 0], 1, 9.0, r"n_samples is 9\.0: expected an integer >= 1"),
        (EYE, [0, 0], 1, True, r"n_samples is True: expected an integer >= 1"),
    ],
)
def test_what_is_no_gram_matrix_is_refused(gram, moments, square, n, message):
    with pytest.raises(ProblemError, match=message):
        Problem.from_gram(gram, moments, square, n)


def test_wrong_number_of_names():
    with pytest.raises(ProblemError, match=r"names has 3 entries for 2 columns of theta"):
        Problem.from_gram(EYE, [0, 0], 1, 9, names=["a", "b", "c"])
    with pytest.raises(ProblemError, match=r"target_names has 1 entries for 2 targets"):
        Problem.from_gram(EYE, np.zeros((2, 2)), [1, 1], 9, target_names=["a"])
