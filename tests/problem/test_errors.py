"""Every refusal of the problem room, by its text."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.errors import ExactSindyError, ProblemError
from exactsindy.problem import Block, Problem
from exactsindy.solver import solve

ONES = np.ones((6, 2))
Y = np.ones(6)


def with_value(value, row, column, shape=(6, 2)):
    array = np.ones(shape)
    array[row, column] = value
    return array


def masked():
    return np.ma.masked_array(ONES, mask=with_value(0, 2, 1) == 0)


@pytest.mark.parametrize(
    "theta, targets, message",
    [
        (
            np.ones(6),
            Y,
            r"theta has shape \(6,\): expected 2 dimensions \(samples, terms\); use theta\[:, None\]",
        ),
        (np.ones((6, 2, 1)), Y, r"theta has shape \(6, 2, 1\): expected 2 dimensions \(samples, terms\)\."),
        (
            ONES,
            np.ones((6, 1, 1)),
            r"targets has shape \(6, 1, 1\): expected \(samples,\) or \(samples, targets\)",
        ),
        (ONES, 1.0, r"targets has shape \(\): expected \(samples,\)"),
        (np.ones((6, 0)), Y, r"theta has shape \(6, 0\): expected at least one column \(term\)"),
        (ONES, np.ones((6, 0)), r"targets has shape \(6, 0\): expected at least one column \(target\)"),
        (
            np.ones((0, 2)),
            np.ones(0),
            r"theta has no rows \(of positive weight\): expected at least one sample",
        ),
        (ONES, np.ones(5), r"theta has 6 rows, targets has 5: expected one row per sample in both\."),
        (ONES.T, Y, r"theta has 2 rows, .* in both; theta has shape \(2, 6\): transposed\? Pass theta\.T\."),
        (ONES, np.ones((3, 6)), r"in both; targets has shape \(3, 6\): transposed\? Pass targets\.T\."),
        (
            ONES * 1j,
            Y,
            r"theta has dtype complex128: expected real numbers, take \.real or stack real and imag",
        ),
        (ONES.astype(object), Y, r"theta has dtype object: expected real numbers, convert it to float"),
        (ONES, ["a"] * 6, r"targets has dtype <U1: expected real numbers, convert it to float"),
        (ONES, np.ones(6, "M8[s]"), r"targets has dtype datetime64\[s\]: expected real numbers"),
        ([[1, 2], [3]], Y, r"theta cannot be read as an array \("),
        (None, Y, r"theta has dtype object: expected real numbers"),
        (
            masked(),
            Y,
            r"theta has 1 masked entries: drop their rows, or give them weight 0 and pass a plain array",
        ),
        (
            with_value(np.nan, 3, 1),
            Y,
            r"theta has 1 NaN or infinite value \(first: nan at row 3, column 1 \('theta1'\)\): drop or",
        ),
        (
            with_value(-np.inf, slice(2, 4), 0),
            Y,
            r"theta has 2 NaN or infinite values .*\(first: -inf at row 2, column 0 \('theta0'",
        ),
        (
            ONES,
            with_value(np.inf, 5, 2, (6, 3)),
            r"targets has 1 NaN or infinite value .*\(first: inf at row 5, column 2 \(\"y2'\"",
        ),
        (ONES * np.longdouble("1e400"), Y, r"theta has 12 NaN or infinite values"),
    ],
)
def test_arrays(theta, targets, message):
    with pytest.raises(ProblemError, match=message):
        Problem.from_arrays(theta, targets)


def test_nan_is_found_in_any_block_of_a_long_array():
    for row in (0, 511, 512, 70_000, 99_999):
        theta = np.ones((100_000, 3), dtype=np.float32)
        theta[row, 2] = np.nan
        with pytest.raises(
            ProblemError, match=rf"theta has 1 NaN or infinite value .*first: nan at row {row}, column 2 "
        ):
            Problem.from_arrays(theta, np.ones(100_000))


@pytest.mark.parametrize(
    "weights, message",
    [
        (np.ones(5), r"weights has shape \(5,\): expected \(6,\), one weight per row of theta"),
        (np.ones((6, 1)), r"weights has shape \(6, 1\): expected \(6,\)"),
        (1.0, r"weights has shape \(\): expected \(6,\)"),
        (
            [1, 1, -1, 1, -2, 1],
            r"weights has 2 entries that are negative or not finite \(first: -1\.0 at row 2\)",
        ),
        (
            [1, np.nan, 1, 1, 1, 1],
            r"weights has 1 entries .*\(first: nan at row 1\): expected finite numbers >= 0",
        ),
        ([np.inf, 1, 1, 1, 1, 1], r"weights has 1 entries .*\(first: inf at row 0\).*0 leaves a row out"),
        (["a"] * 6, r"weights has dtype <U1: expected real numbers"),
        (np.zeros(6), r"theta has no rows \(of positive weight\)"),
    ],
)
def test_weights(weights, message):
    with pytest.raises(ProblemError, match=message):
        Problem.from_arrays(ONES, Y, weights=weights)


def test_nan_beside_rows_of_weight_zero():
    theta = with_value(np.nan, [1, 4], 0)
    with pytest.raises(ProblemError, match=r"theta has 1 NaN or infinite value .*first: nan at row 4"):
        Problem.from_arrays(theta, Y, weights=[1, 0, 1, 1, 1, 1])


@pytest.mark.parametrize(
    "names, target_names, message",
    [
        (["a"], None, r"names has 1 entries for 2 columns of theta: give one name for each"),
        (["a", "a"], None, r"names\[0\] and names\[1\] are both 'a': names must be distinct, rename or drop"),
        (["a", ""], None, r"names\[1\] is '': a name must not be empty"),
        (
            ["a", 3],
            None,
            r"names\[1\] is 3 of type int: expected a str or a term with a `name` that is a str",
        ),
        ("ab", None, r"names is 'ab': expected a sequence of names such as \('1', 'x', 'x\^2'\)"),
        (5, None, r"names is 5: expected a sequence of names"),
        (None, ["x'", "y'"], r"target_names has 2 entries for 1 targets: give one name for each"),
        (None, [None], r"target_names\[0\] is None of type NoneType: expected a str"),
        (None, 5, r"target_names is 5: expected a sequence of names such as"),
        (None, [" "], r"target_names\[0\] is ' ': a name must not be empty"),
    ],
)
def test_names(names, target_names, message):
    with pytest.raises(ProblemError, match=message):
        Problem.from_arrays(ONES, Y, names=names, target_names=target_names)


def test_one_string_does_not_name_several_targets():
    with pytest.raises(ProblemError, match=r"target_names is 'xy': expected a sequence of names"):
        Problem.from_arrays(ONES, np.ones((6, 2)), target_names="xy")
    with pytest.raises(ProblemError, match=r"target_names\[0\] and target_names\[1\] are both \"x'\""):
        Problem.from_arrays(ONES, np.ones((6, 2)), target_names=["x'", "x'"])


@pytest.mark.parametrize(
    "chunks, message",
    [
        ([], r"chunks is empty: expected at least one \(theta, targets\)"),
        (5, r"chunks is of type int: expected an iterable of \(theta, targets\) tuples"),
        (
            [ONES],
            r"chunk 0: got a ndarray: expected a tuple \(theta, targets\) or \(theta, targets, weights\)",
        ),
        ([(ONES,)], r"chunk 0: got a tuple of length 1: expected a tuple"),
        (
            [(ONES, Y), (np.ones((6, 3)), Y)],
            r"chunk 1: 3 terms and 1 targets after chunks of 2 terms and 1 targets",
        ),
        (
            [(ONES, Y), (ONES, ONES)],
            r"chunk 1: 2 terms and 2 targets after .*: all chunks need the same columns",
        ),
        (
            [(ONES, Y), (ONES, Y), (ONES, Y * np.nan)],
            r"chunk 2: targets has 6 NaN or infinite values .*first: nan at row 0",
        ),
        ([(ONES, Y, -Y)], r"chunk 0: weights has 6 entries that are negative"),
        ([(ONES[:0], Y[:0])], r"theta has no rows"),
    ],
)
def test_chunks(chunks, message):
    with pytest.raises(ProblemError, match=message):
        Problem.from_chunks(chunks)


def test_errors_of_the_stream_itself_pass_through():
    def stream():
        yield ONES, Y
        raise OSError("disk")

    with pytest.raises(OSError, match=r"^disk$"):
        Problem.from_chunks(stream())


def test_chunks_may_be_empty_or_weightless():
    problem = Problem.from_chunks([(ONES[:0], Y[:0]), (ONES, Y, None), [ONES, Y, np.arange(6)]])
    assert problem.n_samples == 11


def test_columns_outside_doubles():
    tiny = r"columns too small for doubles: 'theta1' \(norm below 1e-289\); multiply them by a power of ten\."
    large = r"columns too large for doubles: 'theta0', 'theta1' \(norm above 1\.8e308\); divide them by a power"
    with pytest.raises(ProblemError, match=tiny):
        Problem.from_arrays(ONES * [1, 1e-300], Y)
    with pytest.raises(ProblemError, match=large):
        Problem.from_arrays(ONES * 1.7e308, Y)
    with pytest.raises(ProblemError, match=r"too large for doubles: .*'theta4' and 2 more \(norm"):
        Problem.from_arrays(np.full((6, 7), 1.7e308), Y)
    with pytest.raises(ProblemError, match=r"columns too small for doubles: \"y0'\""):
        Problem.from_arrays(ONES, Y * 5e-324)
    accepted = Problem.from_arrays(ONES * [1e-288, 1e287], Y)
    np.testing.assert_allclose(accepted.column_norms, np.sqrt(6) * np.array([1e-288, 1e287]), rtol=1e-14)


def test_targets_whose_squares_or_coefficients_leave_the_doubles():
    large = r"target \"y0'\" is too large \(norm .*e\+150, above 3e144\): its square is not .*; divide it by a power"
    with pytest.raises(ProblemError, match=large):
        Problem.from_arrays(ONES, Y * 1e150)
    small = r"target \"y0'\" is too small \(norm .*e-150, below 3e-145\): its square is not .*; multiply it by a power"
    with pytest.raises(ProblemError, match=small):
        Problem.from_arrays(ONES, Y * 1e-150)
    apart = (
        r"target \"y0'\" \(norm .*\) and term 'theta1' \(norm .*\) are too far apart: a coefficient .*; scale one of"
    )
    for theta, y in ((1e-200, 1e140), (1e200, 1e-140)):
        with pytest.raises(ProblemError, match=apart):
            Problem.from_arrays(ONES * [1.0, theta], Y * y)
    accepted = Problem.from_arrays(ONES * [0.0, 1e-140], Y * 1e140)
    assert np.isfinite(solve(accepted, 1).coef).all()
    assert Problem.from_arrays(ONES * 1e300, Y * 0.0).rss([0.0, 0.0])[0] == 0.0


def test_weights_that_leave_the_doubles():
    with pytest.raises(ProblemError, match=r"root of weights is too large for doubles .*: scale the weights down"):
        Problem.from_arrays(ONES * 1e200, Y, weights=np.full(6, 1e300))
    with pytest.raises(ProblemError, match=r"columns too small for doubles: 'theta0' "):
        Problem.from_arrays(ONES * [1e-200, 1.0], Y, weights=np.full(6, 1e-300))
    mended = Problem.from_arrays(ONES * [1e-200, 1.0], Y, weights=[1e-300, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(mended.column_norms, np.sqrt(5) * np.array([1e-200, 1.0]), rtol=1e-14)


@pytest.mark.parametrize(
    "weight, message",
    [
        (-1, r"a Problem was multiplied by -1\.0: expected a finite number >= 0"),
        (np.nan, r"a Problem was multiplied by nan: expected a finite number >= 0"),
        (np.inf, r"a Problem was multiplied by inf: expected a finite"),
        (10**400, r"a Problem was multiplied by inf: expected a finite"),
        (True, r"a Problem was multiplied by True of type bool: expected a number >= 0"),
        (np.True_, r"a Problem was multiplied by (np\.)?True_? of type bool"),
        ("2", r"a Problem was multiplied by '2' of type str: expected a number >= 0"),
        (1j, r"a Problem was multiplied by 1j of type complex"),
        (np.ones(2), r"a Problem was multiplied by array\(\[1\., 1\.\]\) of type ndarray"),
    ],
)
def test_multiplication(weight, message):
    problem = Problem.from_arrays(ONES, Y)
    with pytest.raises(ProblemError, match=message):
        weight * problem


def test_multiplication_that_leaves_the_doubles():
    with pytest.raises(ProblemError, match=r"columns too large for doubles: 'theta0', 'theta1' "):
        1e300 * Problem.from_arrays(ONES * 1e200, Y)
    with pytest.raises(ProblemError, match=r"columns too small for doubles: 'theta0', 'theta1' "):
        1e-300 * Problem.from_arrays(ONES * 1e-200, Y)


def test_addition_of_what_does_not_match():
    def make(names, targets):
        return Problem.from_arrays(
            np.eye(6)[:, : len(names)], np.ones((6, len(targets))), names=names, target_names=targets
        )

    base = make(["a", "b"], ["x'", "y'"])
    with pytest.raises(
        ProblemError, match=r"different targets: x', y' and x', z'\. To join .* use Problem\.from_blocks"
    ):
        base + make(["a", "b"], ["x'", "z'"])
    with pytest.raises(ProblemError, match=r"different targets: x', y' and x' \| y'\."):
        base + Problem.from_blocks([make(["a", "b"], ["x'"]), make(["a", "b"], ["y'"])])
    with pytest.raises(ProblemError, match=r"different terms: for x', y' term 1 is 'b' and 'c'\. Build both from"):
        base + make(["a", "c"], ["x'", "y'"])
    with pytest.raises(ProblemError, match=r"different terms: for x', y' 2 and 3 terms\."):
        base + make(["a", "b", "c"], ["x'", "y'"])


def test_joining_blocks():
    problem = Problem.from_arrays(ONES, Y, target_names=["x'"])
    with pytest.raises(ProblemError, match=r"target_names\[0\] and target_names\[1\] are both \"x'\""):
        Problem.from_blocks([problem, problem])
    with pytest.raises(ProblemError, match=r"a Problem needs at least one block"):
        Problem.from_blocks([])
    with pytest.raises(ProblemError, match=r"problems is of type Problem: expected a sequence of Problems"):
        Problem.from_blocks(problem)
    with pytest.raises(ProblemError, match=r"problems\[1\] is of type Block: expected a Problem"):
        Problem.from_blocks([problem, problem.blocks[0]])
    with pytest.raises(ProblemError, match=r"blocks\[0\] is of type str: expected a Block"):
        Problem(("x",))


@pytest.mark.parametrize(
    "coef, message",
    [
        (np.ones((1, 2)), r"coef has shape \(1, 2\): expected \(2, 3\), one row per target"),
        (np.ones(3), r"coef has shape \(3,\): expected \(2, 3\)"),
        (
            np.full((2, 3), np.nan),
            r"coef has 6 NaN or infinite values .*first: nan at row 0, column 0 \('a'\)\): expected fin",
        ),
        (np.ones((2, 3)), r"coef\[0, 2\] is 1\.0, but the equation of x' has no term 'c': set it to 0"),
        (np.ones((2, 3)) * 1j, r"coef has dtype complex128: expected real numbers"),
    ],
)
def test_coefficients(coef, message):
    first = Problem.from_arrays(ONES, Y, names=["a", "b"], target_names=["x'"])
    second = Problem.from_arrays(ONES, Y, names=["a", "c"], target_names=["y'"])
    with pytest.raises(ProblemError, match=message):
        Problem.from_blocks([first, second]).rss(coef)


@pytest.mark.parametrize(
    "factor, n, terms, targets, message",
    [
        (
            np.eye(3),
            9,
            ["x"],
            ["x'"],
            r"factor has shape \(3, 3\): expected \(2, 2\) for 1 terms and 1 targets",
        ),
        (
            np.ones((2, 2)),
            9,
            ["x"],
            ["x'"],
            r"factor is not upper triangular: pass the R of a QR factorisation",
        ),
        (np.eye(2) * np.nan, 9, ["x"], ["x'"], r"factor has NaN entries"),
        (np.diag([np.inf, 1]), 9, ["x"], ["x'"], r"columns too large for doubles: 'x'"),
        (np.eye(2), 1, ["x"], ["x'"], r"factor has nonzero rows beyond its n_samples = 1"),
        (np.eye(2), -1, ["x"], ["x'"], r"n_samples is -1: expected an integer >= 0"),
        (np.eye(2), 2.0, ["x"], ["x'"], r"n_samples is 2\.0: expected an integer >= 0"),
        (np.eye(2), True, ["x"], ["x'"], r"n_samples is True: expected an integer >= 0"),
        (np.eye(2), 9, [], ["x'"], r"a Block needs at least one term and one target"),
        (np.eye(2), 9, ["x"], [], r"a Block needs at least one term and one target"),
        (np.eye(3), 9, ["x", "x"], ["x'"], r"names\[0\] and names\[1\] are both 'x'"),
    ],
)
def test_blocks_by_hand(factor, n, terms, targets, message):
    with pytest.raises(ProblemError, match=message):
        Block(factor, n, terms, targets)


def test_errors_are_value_errors_of_this_package():
    assert issubclass(ProblemError, ExactSindyError)
    assert issubclass(ProblemError, ValueError)
