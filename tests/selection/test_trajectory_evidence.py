"""How the misfits of trajectory fits choose between models."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.selection import Rival, TrajectoryEvidence


def test_the_criterion_is_the_extended_bic_with_a_share_of_the_regression_evidence():
    evidence = TrajectoryEvidence(rows=100, terms=(10,), trust=0.1)
    short, long = Rival(((1,),), 0, 120.0, 0.5), Rival(((1, 4),), 0, 110.0, 0.5)
    term = np.log(100) + np.log(45) - np.log(10)
    assert evidence.criterion_of(long) - evidence.criterion_of(short) == pytest.approx(100 * np.log(110 / 120) + term)
    doubtful = Rival(((1,),), 0, 120.0, 0.05)
    assert evidence.criterion_of(doubtful) - evidence.criterion_of(short) == pytest.approx(0.2 * np.log(10))
    assert evidence.criterion(np.inf, ((1,),)) == np.inf


def test_simplicity_decides_between_supports_that_fit_alike():
    """Each factor of a term costs 2 in -2 log likelihood: x (one factor) is preferred to x y (two) unless that fits."""
    rule = TrajectoryEvidence(1000, (3,), factors=((0, 1, 2),))
    low, high = Rival(((1,),), 0, 1000.0, 0.5), Rival(((2,),), 0, 1000.0, 0.5)
    assert rule.criterion_of(high) - rule.criterion_of(low) == pytest.approx(2.0)
    assert rule.criterion(1000.0, ((0, 1),)) - rule.criterion(1000.0, ((1,),)) == pytest.approx(np.log(1000))
    near = Rival(((2,),), 0, 999.0, 0.5)  # better by 1 in -2 log likelihood
    far = Rival(((2,),), 0, 995.0, 0.5)  # better by 5
    assert rule.ranked([near, low])[0] is low
    assert rule.ranked([far, low])[0] is far


def test_the_penalty_of_a_term_does_not_depend_on_how_often_was_sampled():
    """Means of ten neighbours keep the likelihood ratio of two models; rows beyond 100 per period do not count."""
    every, means = TrajectoryEvidence(10_000, (10,), counted=0.1), TrajectoryEvidence(1000, (10,))
    short, long = ((1,),), ((1, 4),)
    penalty = every.criterion(10_000.0, long) - every.criterion(10_000.0, short)
    assert penalty == pytest.approx(means.criterion(1000.0, long) - means.criterion(1000.0, short))
    all_count = TrajectoryEvidence(10_000, (10,))
    assert penalty < all_count.criterion(10_000.0, long) - all_count.criterion(10_000.0, short)


def test_correlated_noise_counts_for_less():
    white, coloured = (TrajectoryEvidence(1000, (10,), effective=share, noise=0.2) for share in (1.0, 0.2))
    rivals = [Rival(((1, 2),), 0, 990.0, 0.4), Rival(((1, 3),), 0, 1000.0, 0.4)]
    assert white.ranked(rivals)[0] is coloured.ranked(rivals)[0] is rivals[0]
    assert white.confidence(rivals) > coloured.confidence(rivals) + 0.1


def test_a_misfit_beyond_the_noise_lowers_the_confidence():
    evidence = TrajectoryEvidence(1000, (10,), noise=0.1)
    good = [Rival(((1, 2),), 0, 1000.0, 0.9), Rival(((1, 3),), 0, 1050.0, 0.1)]
    poor = [Rival(((1, 2),), 0, 1100.0, 0.9), Rival(((1, 3),), 0, 1155.0, 0.1)]
    assert evidence.confidence(good) > 0.95
    assert evidence.confidence(poor) < evidence.confidence(good) - 0.02


def test_large_libraries_pay_more_for_a_term():
    """Gamma is 1/2 up to 35 candidates and 1 beyond: k of D terms cost ln C(D, k) once or twice."""

    def penalty_of_two(terms):
        rule = TrajectoryEvidence(1000, (terms,))
        return rule.criterion(1000.0, ((0, 1),)) - 2 * np.log(1000)

    assert penalty_of_two(35) == pytest.approx(np.log(35 * 34 / 2))
    assert penalty_of_two(36) == pytest.approx(2 * np.log(36 * 35 / 2))


def test_coloured_noise_larger_than_estimated_is_no_reason_to_doubt_the_terms():
    rivals = [Rival(((0,),), 0, 2500.0, 0.9), Rival(((1,),), 0, 2700.0, 0.05)]
    as_estimated = TrajectoryEvidence(1000, (10,), noise=0.1)
    assert as_estimated.features(rivals)[2] == 1.0
    larger = TrajectoryEvidence(1000, (10,), level=2.5, noise=0.1)
    assert larger.features(rivals)[2] == 0.0
    assert larger.confidence(rivals) > 0.9
    assert larger.confidence(rivals) > as_estimated.confidence(rivals) + 0.02
    assert larger.ranked(rivals) == as_estimated.ranked(rivals)


def test_the_confidence_is_that_of_the_terms_chosen_and_falls_with_the_noise():
    """A search that ran out of time may leave terms that are not the best ones compared."""
    rivals = [Rival(((0,),), 0, 1000.0, 0.5), Rival(((1,),), 0, 1004.0, 0.5)]
    rule = TrajectoryEvidence(1000, (10,), noise=0.05)
    assert rule.confidence(rivals) == rule.confidence(rivals, (0,))
    assert rule.features(rivals, (1,))[0] == pytest.approx(-rule.features(rivals, (0,))[0])
    assert rule.confidence(rivals, (1,)) < rule.confidence(rivals, (0,)) - 0.2
    assert TrajectoryEvidence(1000, (10,), noise=0.3).confidence(rivals) < rule.confidence(rivals) - 0.1
    clean = [TrajectoryEvidence(1000, (10,), noise=noise).confidence(rivals) for noise in (0.01, 1e-6)]
    assert clean[0] == clean[1]


def test_misfits_below_the_accuracy_of_the_data_are_equal():
    """A term that fits what lies below it costs its penalty and gains nothing."""
    rule = TrajectoryEvidence(400, (10,), least=40.0)
    assert rule.criterion(1e-3, ((0,),)) == rule.criterion(40.0, ((0,),))
    assert rule.criterion(1e-9, ((0, 1),)) > rule.criterion(1e-3, ((0,),))
    assert rule.criterion(80.0, ((0,),)) > rule.criterion(40.0, ((0,),))
