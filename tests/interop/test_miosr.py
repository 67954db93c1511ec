"""es.MIOSR: every argument of PySINDy's MIOSR does what it says."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pytest
from pysindy import MIOSR as GurobiMIOSR
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

import exactsindy as es
from exactsindy.errors import ConstraintError, ProblemError, SolverError


def value(x, y, support, ridge):
    """RSS + ridge term of the best coefficients on a support."""
    columns = np.vstack([x[:, support], np.diag(np.sqrt(ridge[list(support)]))])
    target = np.concatenate([y, np.zeros(len(support))])
    coef = np.linalg.lstsq(columns, target, rcond=None)[0]
    return float(np.sum((target - columns @ coef) ** 2))


def table(x, y, ridge):
    """Best value of each size and target, by looking at all supports."""
    return [
        [
            min(value(x, y[:, j], list(s), ridge) for s in itertools.combinations(range(x.shape[1]), size))
            for size in range(x.shape[1] + 1)
        ]
        for j in range(y.shape[1])
    ]


def objective(x, y, coef, ridge):
    return float(np.sum((y - x @ coef.T) ** 2) + np.sum(ridge * coef**2))


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("target, group", [(None, None), (6, None), (None, (1, 2, 3)), (4, (1, 2, 3)), (9, (0, 2, 1))])
def test_budgets_hold_and_the_answer_is_the_best(regression, target, group, normalize):
    x, y, _ = regression
    ridge = 0.5 * (np.sum(x**2, axis=0) if normalize else np.ones(7))
    found = es.MIOSR(target_sparsity=target, group_sparsity=group, alpha=0.5, normalize_columns=normalize).fit(x, y)
    values = table(x, y, ridge)
    total = target if target is not None else (5 if group is None else sum(group))
    caps = group or (7, 7, 7)
    sizes = itertools.product(*(range(cap + 1) for cap in caps))
    best = min(sum(row[s] for row, s in zip(values, n, strict=True)) for n in sizes if sum(n) <= total)
    counts = np.count_nonzero(found.coef_, axis=1)
    assert counts.sum() <= total
    assert (counts <= caps).all()
    assert objective(x, y, found.coef_, ridge) == pytest.approx(best, rel=1e-9)
    assert all(certificate.status == "OPTIMAL" for certificate in found.certificate_)
    assert len(found.certificate_) == (3 if target is None and group is not None else 1)


def test_group_sparsity_alone_is_not_cut_to_five_terms(lorenz):
    """PySINDy's default of 5 terms in all overrides group_sparsity=(2, 3, 2)."""
    import pysindy as ps

    x, t = lorenz
    model = ps.SINDy(optimizer=es.MIOSR(group_sparsity=(2, 3, 2)), feature_library=ps.PolynomialLibrary(degree=2))
    model.fit(x, t, feature_names=["x", "y", "z"])
    assert model.optimizer.complexity == 7
    names = model.get_feature_names()
    found = [{names[j] for j in np.flatnonzero(row)} for row in model.coefficients()]
    assert found == [{"x", "y"}, {"x", "y", "x z"}, {"z", "x y"}]
    assert model.score(x, t) > 0.999


def test_one_number_for_all_groups(regression):
    x, y, _ = regression
    assert np.count_nonzero(es.MIOSR(group_sparsity=2).fit(x, y).coef_, axis=1).tolist() == [2, 2, 2]


@pytest.mark.parametrize("options", [{"target_sparsity": 4}, {"target_sparsity": None, "group_sparsity": (2, 1, 2)}])
def test_agrees_with_gurobi_on_a_benign_problem(options):
    pytest.importorskip("gurobipy")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 6))
    y = x @ rng.normal(size=(6, 3)) + 0.1 * rng.normal(size=(60, 3))
    ours, theirs = es.MIOSR(**options).fit(x, y), GurobiMIOSR(**options).fit(x, y)
    assert np.array_equal(ours.coef_ != 0, theirs.coef_ != 0)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)


@pytest.mark.parametrize("scalar", [False, True])
def test_sample_weight_multiplies_squared_residuals(regression, scalar):
    x, y, _ = regression
    counts = np.full(80, 3) if scalar else np.random.default_rng(0).integers(0, 3, 80)
    options = {"group_sparsity": (1, 2, 3), "alpha": 0.3, "normalize_columns": True}
    weighted = es.MIOSR(**options).fit(x, y, sample_weight=3 if scalar else counts)
    repeated = es.MIOSR(**options).fit(np.repeat(x, counts, axis=0), np.repeat(y, counts, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.certificate_[0].objective == pytest.approx(repeated.certificate_[0].objective, rel=1e-9)


def test_weights_stay_with_their_samples_when_some_are_missing(regression):
    """PySINDy 2.1 drops rows with NaN, but not their weights."""
    x, y, _ = regression
    weights = np.random.default_rng(1).uniform(0.1, 2, 80)
    keep = np.ones(80, dtype=bool)
    keep[[3, 17, 40]] = False
    x_missing, y_missing = x.copy(), y.copy()
    x_missing[3, 2] = y_missing[17] = y_missing[40, 1] = np.nan
    found = es.MIOSR().fit(x_missing, y_missing, sample_weight=weights)
    wanted = es.MIOSR().fit(x[keep], y[keep], sample_weight=weights[keep])
    assert np.array_equal(found.coef_, wanted.coef_)
    assert found.Theta_.shape == (77, 7)


def test_unbias_leaves_no_ridge(regression):
    x, y, _ = regression
    found = es.MIOSR(group_sparsity=(1, 2, 3), alpha=500.0, unbias=True).fit(x, y)
    for row, target in zip(found.coef_, y.T, strict=True):
        support = np.flatnonzero(row)
        np.testing.assert_allclose(row[support], np.linalg.lstsq(x[:, support], target, rcond=None)[0], rtol=1e-9)
    assert np.array_equal(found.history_[-1], found.coef_)
    assert np.array_equal(found.history_[0], found.solution_.coef)
    assert not np.allclose(found.history_[0], found.coef_, rtol=1e-2)


def test_zero_column_with_normalisation(regression):
    """PySINDy ends in "SVD did not converge"."""
    x, y, _ = regression
    x = x.copy()
    x[:, 5] = 0
    found = es.MIOSR(normalize_columns=True).fit(x, y)
    assert np.isfinite(found.coef_).all()
    assert (found.coef_[:, 5] == 0).all()


def test_initial_guess_starts_the_search_and_the_history(regression):
    x, y, coef = regression
    plain = es.MIOSR(target_sparsity=6).fit(x, y)
    for guess in (coef, np.linalg.lstsq(x, y, rcond=None)[0].T, np.ones((3, 7))):
        warm = es.MIOSR(target_sparsity=6, initial_guess=guess).fit(x, y)
        assert np.array_equal(warm.coef_, plain.coef_)
        assert np.array_equal(warm.history_[0], guess)
        assert len(warm.history_) == 2
    flat = es.MIOSR(target_sparsity=1, initial_guess=coef[0]).fit(x, y[:, 0])
    assert flat.history_[0].shape == (1, 7)


def test_data_are_not_changed_and_copied_if_asked(regression):
    x, y, _ = regression
    before = x.copy(), y.copy()
    assert np.shares_memory(es.MIOSR(copy_X=False, normalize_columns=True).fit(x, y).Theta_, x)
    assert not np.shares_memory(es.MIOSR().fit(x, y).Theta_, x)
    assert np.array_equal(before[0], x)
    assert np.array_equal(before[1], y)


def test_time_limit_is_reported_with_a_true_bound():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(70, 60)), rng.normal(size=(70, 1))
    with pytest.warns(ConvergenceWarning, match=r"MIOSR: not proved optimal\. Time limit reached.*Proved gap: "):
        found = es.MIOSR(target_sparsity=20, regression_timeout=0.05).fit(x, y)
    (certificate,) = found.certificate_
    assert certificate.status == "TIME_LIMIT"
    assert 0 <= certificate.lower_bound < certificate.objective
    assert np.count_nonzero(found.coef_) == 20


@pytest.mark.parametrize("limit", [None, float("inf"), 3])
def test_other_time_limits(regression, limit):
    x, y, _ = regression
    assert es.MIOSR(regression_timeout=limit, group_sparsity=1).fit(x, y).complexity == 3


def test_verbose_prints_the_result(regression, capsys):
    x, y, _ = regression
    es.MIOSR(target_sparsity=2, verbose=True).fit(x, y)
    assert "all together k <= 2 | proved optimal" in capsys.readouterr().out
    es.MIOSR(target_sparsity=2).fit(x, y)
    assert capsys.readouterr().out == ""


def test_verbose_prints_progress(capsys):
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        es.MIOSR(target_sparsity=20, regression_timeout=0.5, verbose=True).fit(
            rng.normal(size=(70, 60)), rng.normal(size=70)
        )
    assert " nodes  best y0' " in capsys.readouterr().out


def test_certificate_can_be_verified(regression):
    x, y, _ = regression
    found = es.MIOSR(target_sparsity=4, group_sparsity=(1, 2, 2)).fit(x, y)
    result = es.verify(found.solution_.problem, found.solution_)
    assert result.ok, str(result)
    assert found.certificate_[0].caps == (1, 2, 2)


def test_clone_parameters_and_pickle(regression):
    x, y, coef = regression
    options = {"target_sparsity": 4, "group_sparsity": (1, 2, 2), "alpha": 0.2, "initial_guess": coef[0]}
    optimizer = es.MIOSR(**options)
    copied = clone(optimizer)
    for name, given in options.items():
        assert np.array_equal(copied.get_params()[name], given)
    assert optimizer.set_params(alpha=0.3) is optimizer
    assert optimizer.alpha == 0.3
    assert set(optimizer.get_params()) == set(GurobiMIOSR().get_params())
    fitted = es.MIOSR(target_sparsity=4).fit(x, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.coef_, fitted.coef_)
    assert np.array_equal(again.predict(x), fitted.predict(x))
    assert again.certificate_ == fitted.certificate_


def test_grid_search_alone_and_inside_sindy(regression, lorenz):
    """GridSearchCV over PySINDy's own optimizers alone fails: set_params returns None there."""
    import pysindy as ps

    x, y, _ = regression
    search = GridSearchCV(es.MIOSR(alpha=0.0), {"target_sparsity": np.arange(2, 9)}, cv=4).fit(x, y)
    assert search.best_params_["target_sparsity"] >= 5
    states, t = lorenz
    inside = GridSearchCV(
        ps.SINDy(optimizer=es.MIOSR()), {"optimizer__target_sparsity": [3, 7]}, cv=TimeSeriesSplit(3)
    ).fit(states, t)
    assert inside.best_params_ == {"optimizer__target_sparsity": 7}


def test_data_frames_keep_their_names(regression):
    pandas = pytest.importorskip("pandas")
    x, y, _ = regression
    frame = pandas.DataFrame(x, columns=list("abcdefg"))
    found = es.MIOSR().fit(frame, y.tolist())
    assert found.feature_names_in_.tolist() == list("abcdefg")
    assert found.predict(frame).shape == (80, 3)
    found.fit(x, y)
    assert not hasattr(found, "feature_names_in_")
    assert found.n_features_in_ == 7


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"target_sparsity": 0}, SolverError, "target_sparsity=0: expected a positive integer, or None."),
        ({"target_sparsity": 2.5}, SolverError, "target_sparsity=2.5: expected a positive integer"),
        ({"target_sparsity": True}, SolverError, "target_sparsity=True: expected a positive integer"),
        ({"group_sparsity": (1, -2)}, SolverError, "group_sparsity=(1, -2): expected one number of terms"),
        ({"group_sparsity": "2"}, SolverError, "group_sparsity='2': expected one number of terms"),
        ({"alpha": -1}, SolverError, "alpha=-1: expected a number >= 0"),
        ({"alpha": float("nan")}, SolverError, "alpha=nan: expected a number >= 0"),
        ({"regression_timeout": 0}, SolverError, "regression_timeout=0: expected seconds > 0, or None for no limit."),
        ({"constraint_order": "row"}, ConstraintError, "constraint_order='row': expected 'target' or 'feature'."),
        ({"constraint_lhs": [[1.0]]}, ConstraintError, "constraint_lhs is given without constraint_rhs"),
        ({"constraint_rhs": [1.0]}, ConstraintError, "constraint_rhs is given without constraint_lhs"),
        ({"constraint_lhs": [1], "unbias": True}, ConstraintError, "unbias=True fits the coefficients again without"),
    ],
)
def test_bad_arguments(options, error, message, regression):
    with pytest.raises(error) as raised:
        es.MIOSR(**options)
    assert message in str(raised.value)
    later = es.MIOSR().set_params(**options)
    with pytest.raises(error) as raised:
        later.fit(*regression[:2])
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "options, change, error, message",
    [
        ({"group_sparsity": (1, 2)}, {}, SolverError, "group_sparsity=(1, 2) has 2 entries for 3 targets"),
        ({"initial_guess": np.ones((2, 7))}, {}, SolverError, "initial_guess has shape (2, 7): expected (3, 7)"),
        (
            {"target_sparsity": 65},
            {"x": np.ones((80, 70))},
            SolverError,
            "65 terms asked for, the solver takes at most",
        ),
        ({}, {"x": np.ones(80)}, ProblemError, "x has shape (80,), y has shape (80, 3): expected (samples, features)"),
        ({}, {"y": np.ones((70, 3))}, ProblemError, "x has shape (80, 7), y has shape (70, 3)"),
        ({}, {"x": np.full((80, 7), "a")}, ProblemError, "x cannot be read as an array of real numbers (dtype <U1)."),
        ({}, {"x": np.full((80, 7), 1j)}, ProblemError, "x cannot be read as an array of real numbers (dtype complex"),
        ({}, {"y": [[1.0], [1.0, 2.0]]}, ProblemError, "y cannot be read as an array of real numbers"),
        ({}, {"x": np.full((80, 7), np.nan)}, ProblemError, "x and y have no sample without NaN (of 80)"),
        ({}, {"y": np.full((80, 3), np.inf)}, ProblemError, "targets has 240 NaN or infinite values"),
        ({}, {"sample_weight": np.ones(79)}, ProblemError, "sample_weight has shape (79,): expected (80,)"),
        ({}, {"sample_weight": -1.0}, ProblemError, "weights has 80 entries that are negative"),
    ],
)
def test_ill_data(options, change, error, message, regression):
    given = {"x": regression[0], "y": regression[1], "sample_weight": None} | change
    with pytest.raises(error) as raised:
        es.MIOSR(**options).fit(given["x"], given["y"], sample_weight=given["sample_weight"])
    assert message in str(raised.value)


def test_infeasible_is_an_error_that_names_the_cure(regression, monkeypatch):
    """PySINDy: "Unable to retrieve attribute 'X'"."""
    from dataclasses import replace

    from exactsindy.interop import miosr

    solved = es.solve
    monkeypatch.setattr(miosr, "solve", lambda *a, **k: replace(solved(*a, **k), status=(es.Status.INFEASIBLE,)))
    with pytest.raises(ConstraintError, match=r"no coefficients satisfy them with target_sparsity=2.*allow more terms"):
        es.MIOSR(target_sparsity=2).fit(*regression[:2])
