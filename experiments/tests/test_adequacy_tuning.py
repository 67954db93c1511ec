"""The fit of how much tests lower the probability that the library holds a law."""

import numpy as np

from exactsindy_experiments.adequacy_tuning import AdequacyExample, fit_adequacy, likely_tests
from exactsindy_experiments.first_contact_data import load
from exactsindy_experiments.first_contact_rows import ContactCase


def pendulum(seed, noise):
    return load(ContactCase("outside", "pendulum", seed, 0, 0, noise))


def test_tests_are_those_of_discover():
    lack, right = likely_tests(pendulum(10, 0.1))["v'"]
    assert not right
    assert lack.probability < 0.8
    lack, right = likely_tests(pendulum(52, 0.02))["x'"]
    assert right
    assert lack.probability > 0.9


def test_laws_that_no_test_can_place_do_not_decide_the_weights():
    rng = np.random.default_rng(1)
    clear = [AdequacyExample((0.0, 0.0), True)] * 300
    clear += [AdequacyExample((float(value), 0.0), False) for value in rng.uniform(3, 8, 40)]
    clear += [AdequacyExample((float(value), 0.0), True) for value in rng.uniform(0, 1, 40)]
    constant, first, _ = fit_adequacy([*clear, *[AdequacyExample((0.0, 0.0), False)] * 5])
    assert constant > 3
    assert first * 3 > constant > first
