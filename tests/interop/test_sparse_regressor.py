"""The scikit-learn estimators: their contract, and that their answers are the best."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import exactsindy as es
from exactsindy.errors import SolverError
from exactsindy.interop.centring import centred
from exactsindy.problem import Problem
from exactsindy.selection import HeldOutErrors


# One of scikit-learn's checks has 15 samples of 30 features of noise: 10 of them is a search of seconds.
@parametrize_with_checks([es.ExactSparseRegressor(), es.ExactSparseRegressorCV(k_max=5)])
def test_scikit_learn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 8)) + np.array([0, 1e3, 0, 5, 0, 0, 0, 0])
    y = 2 * x[:, 1] - 3 * x[:, 4] + 0.7 * x[:, 6] + 11 + 0.5 * rng.normal(size=60)
    return x, y


def best_subset(x, y, k, ridge, weights):
    """(features, coefficients, intercept) by scikit-learn's ridge regression on every subset."""

    def fit(chosen):
        model = Ridge(alpha=ridge) if ridge else LinearRegression()
        model.fit(x[:, chosen], y, sample_weight=weights)
        loss = np.sum(weights * (y - model.predict(x[:, chosen])) ** 2) + ridge * np.sum(model.coef_**2)
        return loss, chosen, model.coef_, model.intercept_

    return min((fit(list(s)) for s in itertools.combinations(range(x.shape[1]), k)), key=lambda entry: entry[0])


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_subset_with_an_intercept(data, k, ridge, weighted):
    x, y = data
    weights = np.random.default_rng(1).uniform(0, 2, 60) if weighted else np.ones(60)
    model = es.ExactSparseRegressor(k, ridge=ridge).fit(x, y, sample_weight=weights if weighted else None)
    loss, chosen, coef, intercept = best_subset(x, y, k, ridge, weights)
    assert np.flatnonzero(model.support_).tolist() == chosen
    np.testing.assert_allclose(model.coef_[chosen], coef, rtol=1e-7)
    assert model.intercept_ == pytest.approx(intercept, rel=1e-6)
    assert model.certificate_[0].objective == pytest.approx(loss, rel=1e-8)
    assert model.certificate_[0].status == "OPTIMAL"
    assert es.verify(model.solution_.problem, model.solution_).ok


def test_no_intercept(data):
    x, y = data
    model = es.ExactSparseRegressor(2, fit_intercept=False).fit(x, y)
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(
        model.coef_[model.support_], np.linalg.lstsq(x[:, model.support_], y, rcond=None)[0], rtol=1e-9
    )


def test_a_huge_offset_costs_no_digits(data):
    x, y = data
    plain = es.ExactSparseRegressor(3).fit(x, y)
    shifted = es.ExactSparseRegressor(3).fit(x + 1e6, y - 1e6)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-7)


@pytest.mark.parametrize("constant", [0.1, 1e5 / 3, 0.0])
def test_constant_columns_are_never_chosen(data, constant):
    x, y = data
    x = np.column_stack([x, np.full(60, constant)])
    for model in (es.ExactSparseRegressor(9).fit(x, y), es.ExactSparseRegressorCV(9).fit(x, y)):
        assert not model.support_[8]
        assert model.score(x, y) > 0.9


def test_column_that_varies_in_one_fold_only(data):
    """Constant in the training set of that fold: what rounding leaves of it must not be fitted."""
    x, y = data
    flag = np.zeros(60)
    flag[50:] = 1 / 3
    x = np.column_stack([x, flag + 0.1])
    model = es.ExactSparseRegressorCV(9, cv=6).fit(x, y)
    assert np.max(model.cv_error_[3:]) < 1.0


def test_several_targets(data):
    x, y = data
    both = np.column_stack([y, x[:, 0] - 5])
    model = es.ExactSparseRegressor([3, 1]).fit(x, both)
    assert model.coef_.shape == (2, 8)
    assert model.support_.sum(axis=1).tolist() == [3, 1]
    assert model.intercept_[1] == pytest.approx(-5)
    assert model.predict(x).shape == (60, 2)
    assert len(model.certificate_) == 2
    shared = es.ExactSparseRegressor(es.Total(3)).fit(x, both)
    assert shared.support_.sum() == 3
    assert len(shared.path_) == 4
    chosen = es.ExactSparseRegressorCV().fit(x, both)
    assert chosen.k_.tolist() == [3, 1]
    assert chosen.support_.sum(axis=1).tolist() == [3, 1]


def test_path_is_that_of_solve_path(data):
    x, y = data
    model = es.ExactSparseRegressor(3).fit(x, y)
    assert len(model.path_) == 4
    assert np.array_equal(model.path_[3].coef[0], model.coef_)
    assert model.set_params(k=1).fit(x, y).path_[1].support == model.solution_.support
    assert len(model.path_) == 2
    with pytest.raises(NotFittedError):
        es.ExactSparseRegressor().path_  # noqa: B018


def test_names_and_pipelines(data):
    pandas = pytest.importorskip("pandas")
    x, y = data
    frame = pandas.DataFrame(x, columns=list("abcdefgh"))
    model = es.ExactSparseRegressor(2).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    assert model.certificate_[0].support == ("b", "e")
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(2), es.ExactSparseRegressor(3)).fit(x, y)
    assert pipeline.score(x, y) > 0.9
    search = GridSearchCV(es.ExactSparseRegressor(), {"k": [1, 2, 3]}, cv=4).fit(x, y)
    assert search.best_params_ == {"k": 3}


def test_cross_validation_is_that_of_held_out_rows(data):
    """Sums of problems, centred afterwards, against plain fits on the rows of each training set."""
    x, y = data
    weights = np.random.default_rng(2).uniform(0.1, 2, 60)
    model = es.ExactSparseRegressorCV(4, cv=KFold(5, shuffle=True, random_state=0), ridge=0.5)
    model.fit(x, y, sample_weight=weights)
    for k in range(5):
        errors, sizes = [], []
        for train, test in KFold(5, shuffle=True, random_state=0).split(x):
            _, chosen, coef, intercept = (
                best_subset(x[train], y[train], k, 0.5, weights[train]) if k else empty(y[train], weights[train])
            )
            residual = y[test] - x[test][:, chosen] @ coef - intercept
            sizes.append(weights[test].sum())
            errors.append(np.sum(weights[test] * residual**2) / sizes[-1])
        assert model.cv_error_[k] == pytest.approx(np.average(errors, weights=sizes), rel=1e-6)
        assert model.cv_standard_error_[k] == pytest.approx(np.std(errors, ddof=1) / np.sqrt(5), rel=1e-6)


def empty(y, weights):
    return 0.0, [], np.zeros(0), np.average(y, weights=weights)


def test_one_standard_error_rule(data):
    x, y = data
    model = es.ExactSparseRegressorCV().fit(x, y)
    assert model.k_ == 3
    best = int(np.argmin(model.cv_error_))
    level = model.cv_error_[best] + model.cv_standard_error_[best]
    assert model.cv_error_[model.k_] <= level
    assert (model.cv_error_[: model.k_] > level).all()
    assert model.path_[model.k_].support == model.solution_.support
    assert len(model.cv_error_) == len(model.path_)


def test_the_rule_on_given_errors():
    """Fewest terms within one standard error of the least error: the level is that of the least one, per target."""
    mean = np.array([[9.0, 1.2], [3.0, 1.0], [2.1, 1.1], [2.0, 1.1]])
    spread = np.array([[5.0, 0.1], [5.0, 0.1], [0.0, 0.5], [0.15, 0.5]])
    assert HeldOutErrors(mean, spread).choice().tolist() == [2, 1]
    assert HeldOutErrors(mean, 0 * spread).choice().tolist() == [3, 1]


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 / 7, 5e-8])
def test_centring_leaves_nothing_of_a_constant(value):
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    table = np.column_stack([np.ones(50), np.full(50, value), x])
    problem = centred(Problem.from_arrays(table, 2 * x + 5, weights=rng.uniform(0.1, 3, 50)))
    assert problem.column_norms[0] == 0.0
    assert problem.column_norms[1] > 1.0
    assert problem.rss([[0.0, 2.0]])[0] < 1e-24


def test_noise_gives_the_empty_model_soon():
    rng = np.random.default_rng(0)
    model = es.ExactSparseRegressorCV(20).fit(rng.normal(size=(100, 30)), rng.normal(size=100))
    assert model.k_ == 0
    assert len(model.cv_error_) < 10
    assert model.intercept_ == pytest.approx(0.0, abs=0.3)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), [(np.arange(40), np.arange(40, 60))]])
def test_training_sets_that_are_not_all_the_rest(data, cv):
    x, y = data
    assert es.ExactSparseRegressorCV(cv=cv).fit(x, y).support_[[1, 4]].all()


def test_time_limit_is_reported():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(70, 60)), rng.normal(size=70)
    with pytest.warns(ConvergenceWarning, match="ExactSparseRegressor: not proved optimal. Time limit reached"):
        model = es.ExactSparseRegressor(20, seconds=0.05).fit(x, y)
    assert model.certificate_[0].lower_bound < model.certificate_[0].objective


@pytest.mark.parametrize("kind", [es.ExactSparseRegressor, es.ExactSparseRegressorCV])
def test_no_weight_at_all(data, kind):
    with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero number"):
        kind().fit(*data, sample_weight=np.zeros(60))


@pytest.mark.parametrize(
    "model, message",
    [
        (es.ExactSparseRegressor(-1), "k=-1: expected a number of terms (an integer >= 0)."),
        (es.ExactSparseRegressor(1.5), "k=1.5: expected a number of terms"),
        (es.ExactSparseRegressor(ridge=-1), "ridge holds a negative or non-finite number"),
        (es.ExactSparseRegressor(seconds=0), "Settings(seconds=0): expected a positive number"),
        (es.ExactSparseRegressorCV(-1), "k_max=-1: expected a number of features (an integer >= 0)."),
        (es.ExactSparseRegressorCV(cv=[(np.arange(60), np.arange(0))]), "cv: no split has both training and test"),
    ],
)
def test_bad_arguments(data, model, message):
    with pytest.raises(SolverError) as error:
        clone(model).fit(*data)
    assert message in str(error.value)
