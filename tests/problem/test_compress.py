"""The factor of a problem against exact arithmetic, however the rows are stored, cut, ordered or scaled."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactsindy.problem import Problem
from exactsindy.problem import compress as compress_module
from exactsindy.problem.compress import absorb, column_norms

EPS = 2.0**-52


def exact_gram(matrix):
    """Return matrix' matrix in rational arithmetic: no rounding, no overflow."""
    columns = [[Fraction(float(value)) for value in column] for column in np.asarray(matrix).T]
    return [[sum((a * b for a, b in zip(p, q, strict=True)), Fraction()) for q in columns] for p in columns]


def gram_error(gram, reference):
    """Return the largest difference relative to the column norms, in units of eps; both rational."""
    worst = 0.0
    for i, row in enumerate(reference):
        for j, value in enumerate(row):
            scale = reference[i][i] * reference[j][j]
            square = (gram[i][j] - value) ** 2
            if scale == 0:
                assert square == 0, (i, j)
            else:
                worst = max(worst, float(square / scale) ** 0.5 / EPS)
    return worst


def factor_error(problem, matrix):
    return gram_error(exact_gram(problem.blocks[0].factor), exact_gram(matrix))


def split(matrix, m=1):
    return matrix[:, :-m], matrix[:, -m:]


def random_matrix(seed, n, width, *, integers=False):
    rng = np.random.default_rng(seed)
    if integers:
        return rng.integers(-3, 4, (n, width)).astype(float)
    return rng.standard_normal((n, width)) * 10.0 ** rng.uniform(-6, 6, width)


matrices = st.builds(
    random_matrix,
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(2, 7),
    integers=st.booleans(),
)


@given(matrices)
@settings(max_examples=60, deadline=None)
def test_factor_is_exact_up_to_rounding_and_has_the_promised_shape(matrix):
    problem = Problem.from_arrays(*split(matrix))
    factor = problem.blocks[0].factor
    assert factor_error(problem, matrix) < 30
    assert factor.dtype == np.float64
    assert factor.flags.c_contiguous
    assert not factor.flags.writeable
    assert not np.tril(factor, -1).any()
    assert (np.diag(factor) >= 0).all()
    assert not factor[len(matrix) :].any()
    assert not np.signbit(factor[factor == 0]).any()


@given(matrices, st.data())
@settings(max_examples=60, deadline=None)
def test_sum_is_the_problem_of_both_data_sets(matrix, data):
    cut = data.draw(st.integers(1, max(1, len(matrix) - 1)))
    parts = [Problem.from_arrays(*split(part)) for part in (matrix[:cut], matrix[cut:]) if len(part)]
    total = sum(parts)
    assert total.n_samples == len(matrix)
    assert factor_error(total, matrix) < 40
    assert factor_error(sum(parts[::-1]), matrix) < 40
    assert not total.blocks[0].factor[len(matrix) :].any()


@given(matrices, st.lists(st.integers(0, 40), max_size=5))
@settings(max_examples=60, deadline=None)
def test_chunks_give_the_same_doubles_as_the_whole(matrix, cuts):
    edges = [0, *sorted(min(cut, len(matrix)) for cut in cuts), len(matrix)]
    chunks = [split(matrix[a:b]) for a, b in pairwise(edges)]
    streamed = Problem.from_chunks(iter(chunks))
    assert streamed.fingerprint == Problem.from_arrays(*split(matrix)).fingerprint


@given(matrices, st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_order_of_rows_matters_only_by_rounding(matrix, seed):
    shuffled = np.random.default_rng(seed).permutation(matrix)
    assert factor_error(Problem.from_arrays(*split(shuffled)), matrix) < 30


@given(matrices, st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_weights_equal_repeated_rows(matrix, seed):
    repeats = np.random.default_rng(seed).integers(0, 5, len(matrix))
    repeats[0] = 1
    problem = Problem.from_arrays(*split(matrix), weights=repeats)
    assert problem.n_samples == np.count_nonzero(repeats)
    assert factor_error(problem, np.repeat(matrix, repeats, axis=0)) < 40
    assert not problem.blocks[0].factor[problem.n_samples :].any()


@given(matrices, st.floats(1e-12, 1e12))
@settings(max_examples=40, deadline=None)
def test_weighted_problem_is_weighted_rows(matrix, weight):
    problem = weight * Problem.from_arrays(*split(matrix))
    reference = [[Fraction(weight) * value for value in row] for row in exact_gram(matrix)]
    assert gram_error(exact_gram(problem.blocks[0].factor), reference) < 40
    assert problem.n_samples == len(matrix)


def test_weight_by_a_power_of_four_is_exact():
    problem = Problem.from_arrays(*split(random_matrix(3, 30, 5)))
    assert np.array_equal((4.0 * problem).blocks[0].factor, 2.0 * problem.blocks[0].factor)
    assert np.array_equal((problem * 0.25).blocks[0].factor, 0.5 * problem.blocks[0].factor)


@given(matrices, st.data())
@settings(max_examples=60, deadline=None)
def test_extreme_scales_cost_no_digits(matrix, data):
    # The columns of `matrix` lie within 1e-7 .. 1e7; the allowed norms of a target are 1e-144 .. 1e144.
    powers = data.draw(st.lists(st.integers(-450, 450), min_size=matrix.shape[1], max_size=matrix.shape[1]))
    scaled = np.ldexp(matrix, np.array(powers, dtype=np.int32))
    assert factor_error(Problem.from_arrays(*split(scaled)), scaled) < 30
    half = len(scaled) // 2
    if half:
        total = Problem.from_arrays(*split(scaled[:half])) + Problem.from_arrays(*split(scaled[half:]))
        assert factor_error(total, scaled) < 40


def test_scale_that_grows_while_streaming(monkeypatch):
    monkeypatch.setattr(compress_module, "BLOCK_ROWS", 8)
    monkeypatch.setattr(compress_module, "GROUP_BLOCKS", 2)
    rng = np.random.default_rng(11)
    matrix = rng.standard_normal((120, 3)) * np.geomspace(1e-250, 1e250, 120)[:, np.newaxis]
    matrix[:, 1] = rng.standard_normal(120)
    matrix[:, 2] *= 1e-120
    problem = Problem.from_arrays(*split(matrix))
    assert factor_error(problem, matrix) < 60
    assert factor_error(Problem.from_arrays(*split(matrix[::-1])), matrix) < 60


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 129])
def test_every_way_blocks_and_groups_can_end(rows, monkeypatch):
    monkeypatch.setattr(compress_module, "BLOCK_ROWS", 8)
    monkeypatch.setattr(compress_module, "GROUP_BLOCKS", 2)
    matrix = random_matrix(rows, rows, 6)
    problem = Problem.from_arrays(*split(matrix, 2))
    assert factor_error(problem, matrix) < 60
    assert problem.n_samples == rows
    chunks = [split(matrix[i : i + 5], 2) for i in range(0, rows, 5)]
    assert Problem.from_chunks(chunks).fingerprint == problem.fingerprint


def test_many_rows_stay_at_rounding_level():
    matrix = np.random.default_rng(2).random((300_000, 6))
    wide = matrix.astype(np.longdouble)
    gram = wide.T @ wide
    factor = Problem.from_arrays(*split(matrix)).blocks[0].factor.astype(np.longdouble)
    scale = np.sqrt(np.diag(gram))
    assert np.max(np.abs(factor.T @ factor - gram) / np.outer(scale, scale)) < 20 * EPS


@pytest.mark.parametrize("n, width", [(40_000, 64), (9000, 65), (9000, 130), (600, 550), (100, 130)])
def test_usual_library_sizes(n, width):
    matrix = np.random.default_rng(width).standard_normal((n, width))
    factor = Problem.from_arrays(*split(matrix, 3)).blocks[0].factor
    assert np.max(np.abs(factor.T @ factor - matrix.T @ matrix)) < 1e-13 * n
    assert not factor[n:].any()


@pytest.mark.parametrize("width", [1, 8, 63, 64, 65, 128, 150])
@pytest.mark.parametrize("count", [0, 1, 10, 64, 65, 130, 150])
@pytest.mark.parametrize("triangular", [False, True])
def test_absorbed_rows_by_slabs_of_columns(width, count, triangular):
    rng = np.random.default_rng(width + count)
    count = min(count, width) if triangular else count
    factor = np.triu(rng.standard_normal((width, width)))
    rows = rng.standard_normal((count, width))
    rows = np.triu(rows) if triangular else rows
    gram = factor.T @ factor + rows.T @ rows
    absorb(factor, np.asfortranarray(rows), triangular=triangular)
    assert not np.tril(factor, -1).any()
    assert np.max(np.abs(factor.T @ factor - gram)) < 1e-12


def test_small_residual_survives_where_a_gram_matrix_loses_it():
    rng = np.random.default_rng(8)
    theta = rng.standard_normal((500, 4))
    noise = rng.standard_normal(500)
    noise -= theta @ np.linalg.lstsq(theta, noise, rcond=None)[0]
    coef = np.array([1.0, -2.0, 0.5, 3.0])
    problem = Problem.from_arrays(theta, theta @ coef + 1e-11 * noise)
    assert problem.rss([coef])[0] == pytest.approx(1e-22 * float(noise @ noise), rel=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8, np.int64, np.uint64, bool])
def test_number_types_are_read_as_doubles(dtype):
    matrix = np.random.default_rng(1).integers(0, 2, (50, 5)).astype(dtype)
    problem = Problem.from_arrays(*split(matrix))
    assert problem.fingerprint == Problem.from_arrays(*split(matrix.astype(float))).fingerprint
    assert factor_error(problem, matrix.astype(float)) < 30


def test_memory_layout_does_not_matter():
    matrix = random_matrix(4, 3000, 6)
    reference = Problem.from_arrays(*split(matrix)).fingerprint
    wide = np.zeros((6000, 12))
    wide[::2, ::2] = matrix
    flipped = matrix[::-1, ::-1].copy()[::-1, ::-1]
    big_endian = matrix.astype(">f8")
    for view in (np.asfortranarray(matrix), wide[::2, ::2], flipped, big_endian):
        assert Problem.from_arrays(*split(view)).fingerprint == reference
    theta, target = split(matrix)
    assert Problem.from_arrays(theta, target[:, 0]).fingerprint == reference
    assert Problem.from_arrays(theta.tolist(), target.tolist()).fingerprint == reference


def test_input_is_left_alone():
    matrix = random_matrix(4, 700, 6)
    matrix.flags.writeable = False
    Problem.from_arrays(*split(matrix), weights=np.ones(700))
    assert np.array_equal(matrix, random_matrix(4, 700, 6))


def test_zero_column_stays_exactly_zero():
    for n in (3, 6, 40, 1500, 40_000):
        matrix = random_matrix(n, n, 6)
        matrix[:, [0, 3]] = 0.0
        problem = Problem.from_arrays(*split(matrix))
        assert not (problem + problem).blocks[0].factor[:, [0, 3]].any()
        assert not problem.blocks[0].factor[:, [0, 3]].any()
        assert problem.column_norms[0] == 0.0
        assert (problem.column_norms[[1, 2, 4]] > 0).all()


def test_duplicate_columns_and_zero_target():
    matrix = random_matrix(6, 60, 5)
    matrix[:, 2] = matrix[:, 1]
    matrix[:, 4] = 0.0
    problem = Problem.from_arrays(*split(matrix))
    assert factor_error(problem, matrix) < 30
    assert problem.rss(np.zeros(4))[0] == 0.0
    coef = np.array([0.0, 1.0, -1.0, 0.0])
    assert problem.rss(coef)[0] < (100 * EPS * problem.column_norms[1]) ** 2


def test_rows_of_weight_zero_may_hold_anything():
    matrix = random_matrix(9, 40, 4)
    weights = np.ones(40)
    weights[[3, 17]] = 0.0
    spoiled = matrix.copy()
    spoiled[[3, 17]] = np.nan
    problem = Problem.from_arrays(*split(spoiled), weights=weights)
    assert problem.n_samples == 38
    assert problem.fingerprint == Problem.from_arrays(*split(matrix[weights > 0])).fingerprint


def test_theta_is_never_copied_whole():
    import tracemalloc

    theta, targets = np.ones((200_000, 10), dtype=np.float32), np.ones(200_000)
    Problem.from_arrays(theta[:5000], targets[:5000])
    tracemalloc.start()
    Problem.from_arrays(theta, targets)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < theta.nbytes / 10


@given(st.lists(st.floats(1e-250, 1e250), min_size=1, max_size=5))
def test_column_norms_reach_over_the_whole_range(values):
    column = np.array(values)
    exact = sum((Fraction(value) ** 2 for value in values), Fraction())
    norm = Fraction(float(column_norms(column[:, np.newaxis])[0]))
    assert abs(float(norm**2 / exact) - 1) < 10 * EPS


def test_column_norms_of_a_problem():
    matrix = random_matrix(12, 90, 5)
    problem = Problem.from_arrays(*split(matrix))
    np.testing.assert_allclose(problem.column_norms, np.linalg.norm(matrix[:, :-1], axis=0), rtol=1e-14)
    assert not problem.column_norms.flags.writeable


def test_results_do_not_depend_on_numpy_error_settings():
    matrix = random_matrix(7, 30, 4)
    matrix[:, 0] *= 1e-200
    matrix[:, 1] *= 1e200
    matrix[::2, 1] = 1e-300
    reference = Problem.from_arrays(*split(matrix), weights=np.full(30, 1e-30))
    with np.errstate(all="raise"):
        problem = Problem.from_arrays(*split(matrix), weights=np.full(30, 1e-30))
        total = problem + problem
        (1e-8 * total).rss(np.ones(3))
    assert problem.fingerprint == reference.fingerprint
