"""The data sets beyond the main benchmark: each differs from the reference in what its name says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from exactsindy_experiments.condition_noise import coloured, heavy, per_state, white
from exactsindy_experiments.function_systems import FUNCTION_SYSTEMS
from exactsindy_experiments.sampling_tuning import row_examples
from exactsindy_experiments.selection_benchmark import measure_selection
from exactsindy_experiments.selection_conditions import CONDITIONS, FUNCTIONS, LEVELS, condition_cases, load_condition
from exactsindy_experiments.selection_report import conditions_table, selection_report
from exactsindy_experiments.selection_rows import CEILING, OURS, SelectionCase, SelectionRow


def case(condition, system="lotka_volterra", noise=0.02, samples=400):
    return SelectionCase("tuning conditions", f"{condition}: {system}", samples, noise, 0)


def test_the_halves_have_all_conditions_and_share_no_random_system():
    reporting, tuning = condition_cases(), condition_cases("tuning")
    for cases in (reporting, tuning):
        assert {c.system.split(": ")[0] for c in cases} == set(CONDITIONS)
        assert {c.noise for c in cases} == set(LEVELS)
        assert len(set(cases)) == len(cases)
    drawn = [{c.system.split("random-")[1] for c in cases if "random-" in c.system} for cases in (reporting, tuning)]
    assert all(int(seed) % 2 == 1 for seed in drawn[0])
    assert all(int(seed) % 2 == 0 for seed in drawn[1])


@pytest.mark.parametrize("condition", [name for name in CONDITIONS if name != FUNCTIONS])
def test_data_of_every_condition(condition):
    loaded, again = load_condition(case(condition)), load_condition(case(condition))
    assert loaded.data.fingerprint == again.data.fingerprint
    names = loaded.library.bind(loaded.data).names
    assert set().union(*loaded.truth.values()) <= set(names)
    assert tuple(loaded.truth) == tuple(target.name for target in loaded.data.targets)
    other = load_condition(case(condition, noise=0.1))
    assert other.truth == loaded.truth
    assert np.array_equal(other.data[0].times, loaded.data[0].times)


def test_what_conditions_change():
    reference = load_condition(case("reference"))
    step = np.diff(reference.data[0].times)[0]
    assert np.diff(load_condition(case("25 samples per period")).data[0].times)[0] == pytest.approx(4 * step)
    steps = np.diff(load_condition(case("jittered times")).data[0].times)
    assert 0 < steps.min() < 0.6 * step < 1.4 * step < steps.max()
    thinned = load_condition(case("a third missing")).data[0]
    assert np.diff(thinned.times).max() > 30 * step
    assert [len(member) for member in load_condition(case("10 short trajectories")).data] == [40] * 10
    forced = load_condition(case("known input"))
    assert forced.data.control_names == ("w",)
    assert forced.truth["x'"] == reference.truth["x'"] | {"w"}
    assert load_condition(case("constant state")).truth["p'"] == frozenset()
    assert load_condition(case("parameter state")).truth["x'"] == {"x p", "x y"}
    assert len(load_condition(case("a weak term")).truth["x'"]) == 3


def test_a_weak_term_is_weak():
    loaded = load_condition(case("a weak term", "lorenz", 1e-9, 1200))
    states, times = loaded.data[0].states, loaded.data[0].times
    names = loaded.library.bind(loaded.data).names
    columns = loaded.library.bind(loaded.data).evaluate(states)
    rates = np.gradient(states[:, 0], times)
    (weak,) = loaded.truth["x'"] - {"x", "y"}
    own = columns[:, [names.index("x"), names.index("y")]]
    full = np.column_stack([own, columns[:, names.index(weak)]])
    xi = np.linalg.lstsq(full, rates, rcond=None)[0]
    alone = full[:, 2] - own @ np.linalg.lstsq(own, full[:, 2], rcond=None)[0]
    share = abs(xi[2]) * np.sqrt(np.mean(alone**2) / np.mean(rates**2))
    assert 0.01 < share < 0.03


@pytest.mark.parametrize("noise", [white, heavy, coloured(0.9)])
def test_noise_has_the_usual_size(noise):
    x = np.column_stack([np.sin(np.arange(40000) / 50), 3 * np.cos(np.arange(40000) / 50)])
    e = noise(x, 0.1, np.random.default_rng(0))
    scale = 0.1 * (1 + 3) / 2 / math.sqrt(2)
    assert e.std(axis=0) == pytest.approx([scale, scale], rel=0.1)
    assert per_state(x, 0.1, np.random.default_rng(0)).std(axis=0) == pytest.approx(0.1 * x.std(axis=0), rel=0.02)


def test_coloured_noise_is_coloured():
    e = coloured(0.9)(np.ones((20000, 1)), 0.1, np.random.default_rng(0))[:, 0]
    assert np.corrcoef(e[1:], e[:-1])[0, 1] == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("name", FUNCTION_SYSTEMS)
def test_laws_of_functions_hold_on_their_data(name):
    loaded = load_condition(case(FUNCTIONS, name, 1e-9, 400))
    member = loaded.data[0]
    features = loaded.library.bind(loaded.data)
    columns = features.evaluate(member.states)
    for j, true in enumerate(loaded.truth.values()):
        own = columns[:, [features.names.index(term) for term in true]]
        rates = np.gradient(member.states[:, j], member.times)[2:-2]
        fit = own[2:-2] @ np.linalg.lstsq(own[2:-2], rates, rcond=None)[0]
        assert np.sqrt(np.mean((fit - rates) ** 2)) < 0.02 * np.sqrt(np.mean(rates**2))


def test_a_case_is_measured_and_reported():
    rows = measure_selection(case("constant state", noise=0.005), baselines=False)
    assert {row.method for row in rows} == {OURS, CEILING}
    (constant,) = [row for row in rows if row.method == OURS and row.equation == "p'"]
    assert constant.exact
    assert constant.size == 0
    assert math.isnan(constant.confidence)
    reported = [replace(row, case=replace(row.case, part="conditions")) for row in rows]
    assert "| constant state | 0.5 % | 3 | 1.00 | 1.00 |" in selection_report(reported, "a machine")


def test_the_table_counts_who_is_sure():
    base = SelectionRow(
        SelectionCase("conditions", "some noise: lorenz", 400, 0.1, 1), OURS, "x'", True, 1.0, 2, 2, 0.95, 9.0, 1.0
    )
    rows = [base, replace(base, equation="y'", exact=False), replace(base, equation="z'", confidence=0.2)]
    rows += [replace(row, method=CEILING, exact=True, confidence=math.nan) for row in rows]
    assert conditions_table(rows).splitlines()[-1] == "| some noise | 10 % | 3 | 0.67 | 1.00 | 0.70 | 1 of 2 |"


def test_examples_for_the_power_are_those_of_rows_before_calibration():
    found = row_examples([case("10 samples per period", samples=200)], say=lambda text: None)
    assert found
    assert all(1.0 < example.coarse < 1.6 for example in found)
