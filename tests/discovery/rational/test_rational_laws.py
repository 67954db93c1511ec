"""Rational laws from data: with measured derivatives, from trajectories, and what is said about them."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from discovery.rational.laws import LAWS, fraction_terms, labelled, noisy
from exactsindy.data import Columns
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.rational import propose_rational, resolve_rational
from exactsindy.discovery.rational.labelled import labelled_rows
from exactsindy.discovery.rational.resolving import candidates_of
from exactsindy.discovery.rational.row_search import RowSearch
from exactsindy.discovery.read import read
from exactsindy.discovery.request import Request
from exactsindy.discovery.run_check import verify_run
from exactsindy.errors import ProblemError

LIBRARY = es.Rational(es.Polynomials(2), es.Polynomials(2))


@pytest.mark.parametrize("name", LAWS)
def test_laws_of_measured_derivatives(name):
    data = labelled(name, 0.01, seed=3)
    candidates = candidates_of(LIBRARY, data, "x'")
    if name == "Holling III":
        candidates = candidates_of(es.Rational(es.Polynomials(3), es.Polynomials(2)), data, "x'")
    best = RowSearch(labelled_rows(data, "x", candidates), candidates, 7).run()[0]
    assert fraction_terms(candidates, best.law.shape) == LAWS[name][2]


def test_michaelis_menten_reads_as_in_a_textbook():
    rng = np.random.default_rng(0)
    s = np.linspace(0.05, 3.0, 80)[:, None]
    rate = -1.2 * s / (0.5 + s) + 0.005 * rng.normal(size=s.shape)
    data = es.Trajectories.from_arrays(s, time=0.1, states=("S",), derivatives=rate)
    found = es.discover(data, library=LIBRARY, threads=1)
    (constant,) = found.constants
    assert (constant.equation, constant.term, constant.name) == ("S'", "S/(K + S)", "K")
    assert abs(constant.value - 0.5) < 4 * constant.standard_error < 0.1
    assert list(found.solution.terms["S'"]) == [f"S/({constant.value} + S)"]
    ranked = next(notice for notice in found.warnings if notice.kind == "ranked")
    assert "not proved" in ranked.message
    assert found.solution.status[0] is es.Status.OPTIMAL
    assert found.simulate([2.0], np.linspace(0.0, 3.0, 20)).x[-1, 0] < 0.4
    assert es.verify(found.problem, found.solution).ok


def test_no_denominator_where_none_is_needed():
    rng = np.random.default_rng(1)
    x = rng.uniform(0.2, 2.0, (200, 1))
    data = es.Trajectories.from_arrays(
        x, time=0.1, states=("x",), derivatives=x - 0.5 * x**2 + 0.01 * rng.normal(size=x.shape)
    )
    found = es.discover(data, library=LIBRARY, threads=1)
    assert set(found.solution.terms["x'"]) == {"x", "x^2"}
    assert found.constants == ()
    assert "no denominator is needed" in found.tried[0]


def test_a_law_from_trajectories():
    data = noisy("inflow", 0.01, seed=1, samples=80)
    library = es.PerEquation({"x": es.Rational(es.Polynomials(1), es.Polynomials(1))}, default=es.Polynomials(1))
    found = es.discover(data, library=library, threads=1)
    (constant,) = found.constants
    assert (constant.equation, constant.term) == ("x'", "x/(K + x)")
    assert abs(constant.value - 0.4) < 4 * constant.standard_error < 0.2
    assert list(found.solution.terms["x'"]) == ["1", f"x/({constant.value} + x)"]
    assert list(found.solution.terms["y'"]) == ["x", "y"]
    x = np.random.default_rng(5).uniform(0.5, 2.0, (50, 2))
    f, g, _ = LAWS["inflow"]
    assert np.abs(found.model.predict(x) - np.column_stack([f(*x.T), g(*x.T)])).max() < 0.02


def test_an_open_library_names_the_cure():
    with pytest.raises(ProblemError, match="`discover` finds them"):
        LIBRARY.terms(("x", "y"))
    with pytest.raises(ProblemError, match="expected a library such as Polynomials"):
        es.Rational(2, 2)
    with pytest.raises(ProblemError, match="give a library of plain terms"):
        es.Rational(LIBRARY, es.Polynomials(1))


def test_rational_laws_are_for_trajectories_of_first_order():
    t = np.linspace(0.0, 8.0, 100)
    data = es.Trajectories.from_arrays(np.cos(t)[:, None], time=t, states=("x",), targets=("x''",))
    with pytest.raises(ProblemError, match="the equation x'' is of order 2; ask for first derivatives"):
        es.discover(data, library=LIBRARY)
    field = es.Field.from_arrays(np.outer(t, t), dims=("x", "t"), coords={"x": t, "t": t})
    with pytest.raises(ProblemError, match="these data are a field"):
        es.discover(field, library=LIBRARY)


def test_a_proposal_for_one_equation():
    measured = read(labelled("inflow", 0.01, seed=4), Columns())
    clock = Clock(es.Settings(threads=1))
    two, one = es.Polynomials(2), es.Polynomials(1)
    proposal = propose_rational(measured, "x'", two, one, one, clock)
    assert proposal.gain > 20
    assert proposal.size == 3
    assert proposal.law.startswith("0.7")
    assert proposal.constants[0].term == "x/(K + x)"
    assert propose_rational(measured, "y'", two, one, one, clock) is None


def test_errors_of_coefficients_hold_for_free_constants(tmp_path):
    """At a fixed K the coefficient of S/(K + S) would look several times more certain than it is."""
    rng = np.random.default_rng(3)
    s = np.linspace(0.05, 2.0, 60)[:, None]
    data = es.Trajectories.from_arrays(
        s, time=0.1, states=("S",), derivatives=-1.2 * s / (0.5 + s) + 0.01 * rng.normal(size=s.shape)
    )
    found = es.discover(data, library=LIBRARY, threads=1)
    fixed = es.Model.from_solution(found.solution).rows[0].standard_errors[0]
    assert found.model.rows[0].standard_errors[0] > 2 * fixed
    assert abs(found.model.rows[0].coefficients[0] + 1.2) < 4 * found.model.rows[0].standard_errors[0]
    again = es.Discovery.load(found.save(tmp_path / "run"))
    assert again.constants == found.constants
    assert verify_run(tmp_path / "run").ok


def test_a_short_time_limit_keeps_what_was_found():
    found = es.discover(noisy("Beddington", 0.01, seed=1), library=LIBRARY, threads=1, seconds=4.0)
    assert len(found.equations) == 2
    assert any("search of rational laws" in notice.message for notice in found.warnings if notice.kind == "limit")


def test_constants_are_the_best_for_the_terms_that_are_shown():
    """Eleven rates of an enzyme, published least squares 160.3 and 0.0477.

    The best law has another term, which the choice of terms drops; K beside it is 0.033.
    """
    rows = es.datasets.dataset("puromycin")[1]
    data = es.Trajectories.from_arrays(rows.states, derivatives=rows.derivatives, states=("c",))
    found = es.discover(data, library=es.Rational(es.Terms(["c"]), es.Terms(["1", "c"])), threads=1)
    ((_, rate),) = found.solution.terms["c'"].items()
    (constant,) = found.constants
    assert rate == pytest.approx(160.28, rel=1e-3)
    assert constant.value == pytest.approx(0.04771, rel=2e-3)
    assert not [notice for notice in found.warnings if notice.kind == "constants"]
    (error,) = found.model.rows[0].standard_errors
    assert (error, constant.standard_error) == pytest.approx((6.48, 0.00778), rel=0.01)


def test_constants_that_are_the_best_for_other_terms_are_said_to_be():
    rows = es.datasets.dataset("puromycin")[1]
    data = es.Trajectories.from_arrays(rows.states, derivatives=rows.derivatives, states=("c",))
    library = es.Rational(es.Terms(["c"]), es.Terms(["1", "c"]))
    request = Request(library, None, None, None, 0.0, (), es.Settings())
    resolved = resolve_rational(read(data, Columns(None)), request, Clock(es.Settings()))
    terms = {"c'": [term.name for term in resolved.errors["c'"]]}
    assert len(terms["c'"]) == 2
    assert not resolved.foreign(terms)
    assert resolved.at_terms(terms) is None
    (notice,) = resolved.foreign({"c'": terms["c'"][1:]})
    assert "its constants are those of 27.5 c + 138 c/(0.0332 + c), not the best ones" in notice.message
