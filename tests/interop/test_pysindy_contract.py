"""What PySINDy's own tests ask of an optimizer, written anew: the released package does not carry its tests."""

from __future__ import annotations

import pickle

import numpy as np
import pysindy as ps
import pytest
from pysindy.optimizers import EnsembleOptimizer, WrappedOptimizer
from pysindy.utils import supports_multiple_targets
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import exactsindy as es


@pytest.fixture
def line():
    """One state with its derivative, (n, 1) each."""
    t = np.linspace(0, 5, 100)
    return 2 * t[:, None], np.full((100, 1), 2.0) + 0.1 * np.sin(t)[:, None]


def test_supports_multiple_targets():
    assert supports_multiple_targets(es.MIOSR())


@pytest.mark.parametrize("flat", [False, True])
def test_fit(line, flat):
    x, y = line
    optimizer = es.MIOSR().fit(x, y[:, 0] if flat else y)
    check_is_fitted(optimizer)
    assert optimizer.coef_.shape == (1, 1)
    assert optimizer.complexity == 1
    assert optimizer.predict(x).shape == (100, 1)
    assert optimizer.intercept_ == 0.0
    assert optimizer.ind_.dtype == bool


def test_fit_inside_a_wrapped_optimizer(line):
    x, y = line
    optimizer = WrappedOptimizer(es.MIOSR(), unbias=False).fit(x, y)
    assert optimizer.coef_.shape == (1, 1)
    assert optimizer.complexity >= 0


@pytest.mark.parametrize("ask", [lambda o: o.predict(np.ones((1, 3))), lambda o: o.complexity])
def test_not_fitted(ask):
    with pytest.raises(NotFittedError):
        ask(es.MIOSR())


@pytest.mark.parametrize("options", [{"normalize_columns": True}, {"copy_X": False}, {"verbose": True}])
def test_alternate_parameters(line, options):
    x, y = line
    optimizer = es.MIOSR(**options).fit(x, y)
    optimizer.fit(x, y, sample_weight=x[:, 0])
    check_is_fitted(optimizer)


def test_half_of_the_samples_without_weight(line):
    x, y = line
    weights = np.ones(100)
    weights[::2] = 0
    found = es.MIOSR().fit(x, y, sample_weight=weights)
    assert np.array_equal(found.coef_, es.MIOSR().fit(x[1::2], y[1::2]).coef_)


@pytest.mark.parametrize("options", [{"library_ensemble": True}, {"bagging": True, "n_subset": 300}])
def test_ensembles(lorenz, options):
    x, t = lorenz
    np.random.seed(0)  # noqa: NPY002 - PySINDy draws from it
    ensemble = EnsembleOptimizer(es.MIOSR(target_sparsity=7), n_models=4, **options)
    model = ps.SINDy(optimizer=ensemble, feature_library=ps.PolynomialLibrary(degree=2)).fit(x, t)
    assert model.coefficients().shape == (3, 10)
    assert len(ensemble.coef_list) == 4
    assert all(np.count_nonzero(coef) == 7 for coef in ensemble.coef_list)


def test_ensemble_of_both_kinds_on_tiny_samples(lorenz):
    x, _ = lorenz
    np.random.seed(0)  # noqa: NPY002
    ensemble = EnsembleOptimizer(es.MIOSR(), library_ensemble=True, bagging=True, n_models=2, n_subset=2)
    assert ensemble.fit(x, x).coef_.shape == (3, 3)


def test_pickle(lorenz):
    x, _ = lorenz
    optimizer = es.MIOSR(target_sparsity=7).fit(ps.PolynomialLibrary(degree=2).fit_transform(x), x)
    assert np.array_equal(pickle.loads(pickle.dumps(optimizer)).coef_, optimizer.coef_)


def test_several_trajectories_controls_and_dropped_ends(lorenz):
    x, t = lorenz
    u = np.sin(t)[:, None]
    model = ps.SINDy(
        optimizer=es.MIOSR(group_sparsity=(2, 3, 2)),
        feature_library=ps.PolynomialLibrary(degree=2),
        differentiation_method=ps.FiniteDifference(drop_endpoints=True),
    ).fit([x[:500], x[500:]], t=[t[:500], t[500:]], u=[u[:500], u[500:]], feature_names=["x", "y", "z", "u"])
    assert model.optimizer.complexity == 7
    assert "u" not in " ".join(model.equations())


def test_simulate_and_predict(lorenz):
    x, t = lorenz
    model = ps.SINDy(optimizer=es.MIOSR(target_sparsity=7), feature_library=ps.PolynomialLibrary(degree=2)).fit(x, t)
    path = model.simulate(x[0], t[:20])
    np.testing.assert_allclose(path, x[:20], atol=0.05)
    assert model.predict(x).shape == x.shape


@pytest.fixture(scope="module")
def advected():
    """(u (x, t, 1), x, t) of u_t = -u_x with two waves: not periodic in the window, so that u and u_xx differ."""
    x, t = np.linspace(0, 10, 60), np.linspace(0, 4, 50)
    shifted = x[:, None] - t[None, :]
    return (np.sin(shifted) + 0.5 * np.cos(2.3 * shifted))[:, :, None], x, t


def test_pde_library(advected):
    u, x, t = advected
    library = ps.PDELibrary(
        function_library=ps.PolynomialLibrary(degree=2, include_bias=False), derivative_order=2, spatial_grid=x
    )
    model = ps.SINDy(optimizer=es.MIOSR(target_sparsity=1), feature_library=library).fit(u, t)
    assert model.coefficients().sum() == pytest.approx(-1.0, abs=0.02)
    assert model.equations()[0].endswith(" x0_1")
    assert model.optimizer.certificate_[0].status == "OPTIMAL"


def test_weak_pde_library(advected):
    u, x, t = advected
    space, time = np.meshgrid(x, t, indexing="ij")
    np.random.seed(1)  # noqa: NPY002
    library = ps.WeakPDELibrary(
        function_library=ps.PolynomialLibrary(degree=2, include_bias=False),
        derivative_order=2,
        spatiotemporal_grid=np.stack([space, time], axis=-1),
        K=80,
    )
    model = ps.SINDy(optimizer=es.MIOSR(target_sparsity=1, alpha=0.0), feature_library=library).fit(u, t)
    (row,) = model.coefficients()
    assert model.get_feature_names()[int(np.flatnonzero(row)[0])] == "x0_1"
    assert row.sum() == pytest.approx(-1.0, abs=0.01)
