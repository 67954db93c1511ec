"""When a short first attempt at the paths is enough, and the limits of a call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery import attempt as attempt_stage
from exactsindy.discovery import refine as refine_stage
from exactsindy.discovery import select as select_stage
from exactsindy.discovery.select import is_resolved, is_unambiguous
from exactsindy.errors import SolverError
from exactsindy.solver import Status
from exactsindy.systems import add_noise, find_system


def discovered(**options):
    t = np.arange(0.0, 4.0, 0.004)
    x = add_noise(find_system("lorenz").simulate([-8.0, 7.0, 27.0], t), 0.002, np.random.default_rng(1))
    return es.discover(x, time=t, states=("x", "y", "z"), **options)


@pytest.fixture(scope="module")
def selection():
    return discovered().selection


def unproved(selection, k):
    """Return the selection as if no size from k on had been proved."""
    solutions = tuple(
        replace(s, status=(Status.TIME_LIMIT,) * len(s.status)) if size >= k else s
        for size, s in enumerate(selection.path)
    )
    table = tuple(replace(row, proved=row.proved and row.k < k) for row in selection.table)
    return replace(selection, path=replace(selection.path, solutions=solutions), table=table)


def doubtful(selection):
    return replace(selection, choices=tuple(replace(choice, confidence=0.97) for choice in selection.choices))


def test_all_proved_is_unambiguous(selection):
    assert all(row.proved for row in selection.table)
    assert is_unambiguous(selection)
    assert is_unambiguous(doubtful(selection))


def test_sizes_far_beyond_a_sure_choice_need_no_proof(selection):
    most = max(choice.k for choice in selection.choices)
    assert is_unambiguous(unproved(selection, most + 2))
    assert not is_unambiguous(doubtful(unproved(selection, most + 2)))
    assert is_resolved(unproved(selection, most + 2))
    assert not is_resolved(unproved(selection, most + 1))
    assert not is_unambiguous(unproved(selection, most + 1))


@pytest.fixture
def limits(monkeypatch):
    """The time limits of the searches of one call."""
    found = []

    def select(*arguments, settings, **options):
        found.append(settings.seconds)
        return es.select(*arguments, settings=settings, **options)

    monkeypatch.setattr(select_stage, "select_sizes", select)
    return found


def test_without_a_time_limit_there_is_one_search(limits):
    discovered(seconds=None, settings=es.Settings(nodes=1))
    assert limits == [None]


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({}, 60.0),
        ({"settings": es.Settings(threads=1)}, 60.0),  # other settings do not lift the limit
        ({"seconds": 30.0, "threads": 1}, 30.0),
        ({"settings": es.Settings(seconds=30.0)}, 30.0),
        ({"seconds": 30.0, "settings": es.Settings(seconds=30.0, threads=1), "threads": 1}, 30.0),
        ({"seconds": None}, None),
    ],
    ids=str,
)
def test_the_time_limit_of_a_call(monkeypatch, limits, options, seconds):
    monkeypatch.setattr(select_stage, "is_unambiguous", lambda selection: True)
    found = discovered(library=es.Polynomials(2), **options)
    assert limits == [None if seconds is None else pytest.approx(0.02 * seconds)]
    assert found.arguments["time limit"] == ("none" if seconds is None else f"{seconds:g} s")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seconds": 20.0, "settings": es.Settings(seconds=30.0)}, r"discover\(seconds=20.0, .*two different values"),
        ({"seconds": None, "settings": es.Settings(seconds=30.0)}, r"discover\(seconds=None, .*two different values"),
        ({"threads": 2, "settings": es.Settings(threads=1)}, r"discover\(threads=2, .*two different values"),
        ({"seconds": -1.0}, r"seconds=-1.0\): expected a positive number"),
        ({"settings": {"seconds": 3}}, r"settings=.*expected Settings"),
    ],
    ids=str,
)
def test_limits_that_cannot_be_used(options, words):
    with pytest.raises(SolverError, match=words):
        discovered(**options)


@pytest.mark.parametrize(("enough", "searches"), [(True, 1), (False, 2)])
def test_the_search_goes_on_unless_the_first_attempt_was_enough(monkeypatch, limits, enough, searches):
    monkeypatch.setattr(select_stage, "is_unambiguous", lambda selection: enough)
    assert discovered(settings=es.Settings(seconds=60.0), rule=es.selection.GrowthRatio()).solution.optimal
    assert limits == pytest.approx([1.2, 6.0][:searches])


def noisy(**options):
    t = np.arange(0.01, 3.005, 0.01)
    x = add_noise(find_system("lorenz").simulate([-8.0, 7.0, 27.0], t), 0.05, np.random.default_rng(3))
    return es.discover(x, time=t, states=("x", "y", "z"), library=es.Polynomials(5, bias=False), **options)


def test_where_trajectory_fits_decide_sizes_far_beyond_the_choice_are_not_searched_again(limits):
    found = noisy(seconds=900.0, threads=1)
    assert limits == pytest.approx([18.0])  # one short attempt, though its sizes of 6 to 8 terms are not proved
    assert not all(row.proved for row in found.selection.table if row.variant != "trajectory fit")
    assert all(choice.variant == "trajectory fit" for choice in found.selection.choices)
    assert [set(terms) for terms in found.solution.terms.values()] == [{"x", "y"}, {"x", "y", "x z"}, {"z", "x y"}]


def test_where_fits_resolve_nothing_a_longer_search_decides_and_they_are_not_repeated(monkeypatch, limits):
    compared = []

    def refine(selection, prepared, request, settings):
        compared.append(selection.solution.support)
        return refine_stage.Refined(selection)

    monkeypatch.setattr(attempt_stage, "refine", refine)
    noisy(seconds=10.0, threads=1)
    assert len(limits) == 2
    assert len(compared) == len(set(compared))


def test_the_first_attempt_takes_as_long_whatever_the_time_limit(monkeypatch):
    nodes = []

    def select(*arguments, settings, **options):
        nodes.append(settings.nodes)
        return es.select(*arguments, settings=settings, **options)

    monkeypatch.setattr(select_stage, "select_sizes", select)
    noisy(seconds=900.0)
    noisy(settings=es.Settings(seconds=900.0, nodes=5_000))
    assert nodes == [100_000, 5_000]
