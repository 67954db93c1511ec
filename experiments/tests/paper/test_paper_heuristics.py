"""Baselines and our solver on one small regression."""

import sys
from itertools import product

import numpy as np
import pytest

from exactsindy.errors import MissingDependency
from exactsindy.library import Polynomials
from exactsindy.problem import Problem
from exactsindy.solver import Settings
from exactsindy.systems import find_system
from exactsindy_experiments.paper import duffing, exact, heuristics
from exactsindy_experiments.paper.criterion import aicc
from exactsindy_experiments.paper.regression import Regression

TRUTH = np.array([[0.0, 2.0, 0.0, 0.0, -1.0, 0.0], [0.5, 0.0, 0.0, 3.0, 0.0, 0.0]])


def rows(count, seed):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(count, 6)) * [1, 1, 1, 10, 1, 0.1]
    return theta, theta @ TRUTH.T + 0.05 * rng.normal(size=(count, 2))


@pytest.fixture(params=[False, True], ids=["plain", "normalised"])
def regression(request):
    train, validation = rows(200, 1), rows(100, 2)
    return Regression(Problem.from_arrays(*train), Problem.from_arrays(*validation), request.param, train)


def test_compressed_rows_have_the_same_fits(regression):
    theta, targets = regression.compressed
    full = np.linalg.lstsq(*regression.rows)[0]
    np.testing.assert_allclose(np.linalg.lstsq(theta, targets)[0], full, atol=1e-12)


def test_peers_get_all_rows_where_rounding_decides(regression):
    assert regression.for_peers[0] is regression.compressed[0]
    theta, targets = rows(200, 1)
    theta[:, 2] = theta[:, 1] * (1 + 1e-9 * np.arange(200) / 200)
    near = Regression(Problem.from_arrays(theta, targets), rows=(theta, targets))
    assert near.for_peers == (theta, targets)
    assert Regression(near.train).for_peers[0].shape == (8, 6)  # nothing else is known
    # Columns of very different size are no trouble for those who normalise.
    theta, targets = rows(200, 1)
    theta[:, 0] *= 1e9
    huge = [Regression(Problem.from_arrays(theta, targets), None, flag, (theta, targets)) for flag in (False, True)]
    assert [len(one.for_peers[0]) for one in huge] == [200, 8]


def test_ties_of_a_library_ensemble_go_to_later_terms(regression):
    nothing = heuristics.library_stlsq(regression, {"threshold": 1e-9, "alpha": 0.0}, (2, 1), 0)
    assert [np.flatnonzero(row).tolist() for row in nothing.coef] == [[4, 5], [5]]


def test_everyone_finds_the_easy_law(regression, monkeypatch):
    monkeypatch.setattr(heuristics, "MODELS", 25)
    score = heuristics.joint_score(regression)
    thresholds, ridges = (0.05, 0.2, 1.5), (0.0, 0.01)
    if regression.normalise:
        thresholds = (0.5, 2.0, 9.0)
    fits = {
        "exact": exact.choose(regression, ridges, Settings(threads=1)),
        "stlsq": heuristics.stlsq(regression, product(thresholds, ridges), score),
        "ssr": heuristics.ssr(regression, ridges),
        "sr3": heuristics.sr3(regression, product(thresholds, (0.1, 1.0)), score, tuning=200),
    }
    alpha = fits["stlsq"].choice["alpha"]
    fits["bagged"] = heuristics.bagged_stlsq(regression, thresholds, alpha, score)
    fits["library"] = heuristics.library_stlsq(regression, fits["stlsq"].choice, (2, 2), 1)
    for name, fit in fits.items():
        np.testing.assert_allclose(fit.coef, TRUTH, atol=0.05, err_msg=name)
        assert ((fit.coef != 0) == (TRUTH != 0)).all(), name
    assert fits["exact"].proved
    assert fits["exact"].choice["k"] == [2, 2]


def test_choosing_by_the_truth(regression):
    sizes = (2, 2)
    fit = exact.choose_by_truth(regression, TRUTH, sizes, (0.0, 1e9), Settings(threads=1))
    assert fit.choice["alpha"] == 0.0
    assert exact.exact_at(regression, TRUTH, Settings(threads=1))
    found = heuristics.ssr_by_truth(regression, (0.0,), TRUTH)
    assert ((found.coef != 0) == (TRUTH != 0)).all()


def test_path_of_ssr_loses_a_term_at_a_time(regression):
    path = list(heuristics.ssr_path(*regression.compressed, 0.0, regression.normalise))
    assert [np.count_nonzero(coef) for coef in path] == [12, 10, 8, 6, 4, 2]
    np.testing.assert_allclose(path[0], np.linalg.lstsq(*regression.rows)[0].T, atol=1e-10)


def test_ridge_of_normalised_columns(regression):
    ridge = np.broadcast_to(regression.ridge(0.1), 6)
    norms = np.linalg.norm(regression.rows[0], axis=0)
    np.testing.assert_allclose(ridge, 0.1 * norms**2 if regression.normalise else 0.1)


def test_what_is_not_finite_is_never_chosen():
    found = heuristics.best_of(
        iter([({"i": 0}, np.array([np.inf])), ({"i": 1}, np.array([2.0])), ({"i": 2}, np.array([2.0]))]),
        lambda coef: float(coef[0]),
    )
    assert found.choice == {"i": 1}


def test_criterion_counts_as_coded():
    assert aicc(50.0, 100, 4) == pytest.approx(8 + 100 * np.log(0.5) + 2 * 5 * 6 / 94)
    assert aicc(50.0, 5, 4) == pytest.approx(8 + 5 * np.log(10) + 2 * 5 * 6)


def test_constrained_sr3_keeps_the_constraints():
    names = tuple(Polynomials(3).bind(("x", "y")).names)
    x = np.random.default_rng(3).normal(size=(80, 2))
    theta = Polynomials(3).bind(("x", "y")).evaluate(x)
    truth = find_system("duffing").coefficients(names, duffing.TARGETS)
    noise = 0.3 * np.random.default_rng(4).normal(size=(80, 2))
    found = heuristics.fitted(duffing._sr3(0.01, 1.0, names), theta, theta @ truth.T + noise)
    rows = duffing.constraint_rows(names)
    np.testing.assert_allclose(rows @ found.coef_full_.ravel(), 0, atol=1e-10)
    free = heuristics.fitted(duffing._sr3(0.01, 1.0, None), theta, theta @ truth.T + noise)
    assert np.abs(rows @ free.coef_.ravel()).max() > 1e-3


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(heuristics, "pysindy", lambda: object())
    with pytest.raises(MissingDependency, match=r"constrained SR3 needs cvxpy: pip install 'pysindy\[cvxpy\]'"):
        duffing._sr3(0.1, 1.0, ("x",))
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pysindy", None)
    with pytest.raises(MissingDependency, match=r"need PySINDy: pip install 'exactsindy\[pysindy\]'"):
        heuristics.pysindy()
