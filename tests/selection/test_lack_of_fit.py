"""Tests of a library against functions beside it: on rows whose law is known."""

import math

import numpy as np
import pytest

from exactsindy.selection import LackOfFit, additions, mean_correlation
from exactsindy.selection.trajectory_evidence import SIMPLICITY

ROWS = 400


def regression(law, noise=0.1, seed=0):
    """Rows of a law over 1, x, x^2, x^3 and, outside the library, sin(2 x) and |x|."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, ROWS)
    columns = np.column_stack([np.ones(ROWS), x, x**2, x**3, np.sin(2 * x), np.abs(x)])
    return columns, (law(x) + noise * rng.normal(size=ROWS)) / noise


def added(law, support, noise=0.1):
    columns, target = regression(law, noise)
    return additions(columns, target, 0.0, support, (4, 5), ROWS, 0.0)


def residual_sum(columns, target):
    return float(((target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]) ** 2).sum())


def test_nothing_gains_beside_the_true_terms():
    found = added(lambda x: x - 0.5 * x**3, (1, 3))
    assert 0 <= found.inside < 12
    assert 0 <= found.outside < 12
    assert found.saved < -100
    assert found.swapped < -100


def test_the_missing_function_is_named():
    found = added(lambda x: x + 0.5 * np.abs(x), (1,))
    assert found.column == 5
    assert found.best == 5
    assert found.advantage > 20


def test_a_missing_term_of_the_library_gives_functions_no_advantage():
    found = added(lambda x: x + x**2, (1,))
    assert found.term == found.best == 2
    assert found.inside > 100
    assert found.advantage < 0


def test_a_function_in_place_of_two_terms_is_found():
    found = added(lambda x: np.sin(2 * x), (1, 3), noise=0.5)
    assert found.replacement == 4
    assert found.replaced == (1, 3)
    assert found.saved > math.log(ROWS) - 6


def test_gains_are_those_of_least_squares():
    columns, target = regression(lambda x: x + 0.5 * np.abs(x) + 0.2 * x**2)
    found = additions(columns, target, 0.0, (1, 2, 3), (4, 5), ROWS, 0.0)
    base = residual_sum(columns[:, [1, 2, 3]], target)
    gains = {j: ROWS * math.log(base / residual_sum(columns[:, [1, 2, 3, j]], target)) for j in (0, 4, 5)}
    assert found.inside == pytest.approx(gains[0], rel=1e-6)
    assert found.outside == pytest.approx(max(gains[4], gains[5]), rel=1e-6)
    pairs = [(j, a, b) for j in (4, 5) for a, b in ((1, 2), (1, 3), (2, 3))]
    kept = {(j, a, b): [k for k in (1, 2, 3) if k not in (a, b)] + [j] for j, a, b in pairs}
    saved = {p: math.log(ROWS) - ROWS * math.log(residual_sum(columns[:, kept[p]], target) / base) for p in pairs}
    assert found.saved == pytest.approx(max(saved.values()), rel=1e-6)
    best = max(saved, key=lambda p: saved[p])
    assert (found.replacement, *found.replaced) == best
    swaps = {(j, a): [k for k in (1, 2, 3) if k != a] + [j] for j in (4, 5) for a in (1, 2, 3)}
    swapped = {p: -ROWS * math.log(residual_sum(columns[:, kept], target) / base) for p, kept in swaps.items()}
    assert found.swapped == pytest.approx(max(swapped.values()), rel=1e-6)
    assert (found.other, found.out) == max(swapped, key=lambda p: swapped[p])


def test_a_triangular_factor_says_the_same_as_the_rows():
    columns, target = regression(lambda x: x + 0.3 * np.abs(x))
    q, r = np.linalg.qr(columns)
    z = q.T @ target
    found = additions(r, z, float(target @ target - z @ z), (1, 3), (4, 5), ROWS, 0.0)
    expected = additions(columns, target, 0.0, (1, 3), (4, 5), ROWS, 0.0)
    assert found.outside == pytest.approx(expected.outside)
    assert found.saved == pytest.approx(expected.saved)


def test_what_lies_below_the_floor_is_no_gain():
    columns, target = regression(lambda x: x + 0.5 * np.abs(x))
    found = additions(columns, target, 0.0, (1,), (4, 5), ROWS, float(target @ target))
    assert found.inside == found.outside == 0


def test_dependent_columns_gain_nothing():
    columns, target = regression(lambda x: x)
    columns[:, 4] = 3 * columns[:, 1]
    found = additions(columns, target, 0.0, (1, 2), (4,), ROWS, 0.0)
    assert found.outside == 0
    assert found.saved == -math.inf


def test_correlation_of_residuals():
    rng = np.random.default_rng(1)
    assert abs(mean_correlation(rng.normal(size=4000))) < 0.05
    assert mean_correlation(np.sin(np.linspace(0, 20, 4000))) > 0.9
    assert mean_correlation(np.zeros(10)) == 0


GOOD = LackOfFit(rows=ROWS, ratio=1.0, share=0.1, correlation=0.0)


def changed(**values):
    return LackOfFit(**{**{"rows": ROWS, "ratio": 1.0, "share": 0.1, "correlation": 0.0}, **values})


def test_nothing_lowers_the_probability_of_a_law_that_fits():
    assert GOOD.probability == 1
    assert set(GOOD.features()) == {0}


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        (changed(ratio=13.0), "residuals are 13 times the noise"),
        (changed(advantage=40.0, function="abs(x)"), "abs(x) explains what it leaves"),
        (changed(saved=20.0, replacement="sin(x)", replaced=("x", "x^3")), "sin(x) fits better in place of x and x^3"),
        (changed(swapped=5.0, other="sin(x)", out="x"), "sin(x) fits as well in place of x"),
        (changed(swapped=9.0, other="sin(x)", out="x"), "sin(x) fits better in place of x"),
        (changed(imitation=1.0, imitator="exp(x)", imitated=("x", "x^2")), "as plausible on these data is exp(x) in"),
    ],
)
def test_each_test_can_withhold_the_confidence_and_says_why(lack, words):
    assert lack.probability < 0.5
    assert words in lack.reason()


def test_more_evidence_never_raises_the_probability():
    for name, values in {
        "ratio": (1, 5, 6, 9, 99),
        "advantage": (0, 9, 90),
        "saved": (-9, 9, 90),
        "swapped": (-9, 0, 2, 9),
        "imitation": (-math.inf, -99, -9, 0, 9, 999),
    }.items():
        probabilities = [changed(**{name: value}).probability for value in values]
        assert probabilities == sorted(probabilities, reverse=True)


def test_monomials_that_a_function_could_be_lower_the_probability_by_how_well_functions_fit():
    known = (ROWS, 0.0, (0, 1, 2, 3, 3, 2), (0, 1, 2, 3, -1, -1))

    def imitation(law, support, noise):
        columns, target = regression(law, noise)
        return additions(columns, target, 0.0, support, (4, 5), *known)

    def cubic(x):
        return x - 0.5 * x**3

    assert imitation(cubic, (1, 3), 0.1).imitation < -100
    assert imitation(cubic, (1, 3), 3.0).imitation > -10  # noise hides what tells them apart
    assert imitation(lambda x: x, (1,), 3.0).imitation == -math.inf  # a straight line is not suspicious
    doubtful = imitation(lambda x: np.sin(2 * x), (1, 3), 0.5)
    assert (doubtful.imitator, doubtful.imitated) == (4, (1, 3))
    assert changed(imitation=doubtful.imitation).probability < 0.5


def test_an_imitation_is_the_mean_over_functions_of_what_the_criterion_says():
    columns, target = regression(lambda x: x - 0.5 * x**3, 1.0)
    complexity = (0, 1, 2, 3, 3, 2)
    found = additions(columns, target, 0.0, (1, 3), (4, 5), ROWS, 0.0, complexity, (0, 1, 2, 3, -1, -1))
    base = residual_sum(columns[:, [1, 3]], target)

    def criterion(kept, j, out):
        gain = -ROWS * math.log(residual_sum(columns[:, [*kept, j]], target) / base)
        return gain + (len(out) - 1) * math.log(ROWS) + SIMPLICITY * (sum(complexity[a] for a in out) - complexity[j])

    best = [max(criterion([1], j, [3]), criterion([], j, [1, 3])) for j in (4, 5)]
    assert found.imitation == pytest.approx(2 * math.log(np.mean(np.exp(np.array(best) / 2))), rel=1e-6)


def test_gains_count_less_where_noise_is_correlated():
    assert changed(advantage=25.0).probability < 0.5 < changed(advantage=25.0, correlation=0.6).probability


def test_residuals_below_the_floor_say_nothing():
    assert changed(ratio=0.4, correlation=0.9, resolved=False).probability == 1


def test_small_residuals_of_data_without_noise_count_less():
    coarse = {"ratio": 100.0, "correlation": 0.9, "share": 0.002, "advantage": 50.0, "imitation": 9.0}
    assert changed(**coarse, noisy=False).probability > 0.5 > changed(**coarse).probability
