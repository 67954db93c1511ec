"""es.MIOSR with equality constraints: both orders, every budget, normalised columns."""

from __future__ import annotations

import itertools

import numpy as np
import pysindy as ps
import pytest

import exactsindy as es
from exactsindy.constraints import compile_rules
from exactsindy.errors import ConstraintError
from exactsindy.interop import miosr_arguments
from exactsindy.problem import Problem


def in_order(rows, order):
    """(c, targets, features) as the matrix of one of PySINDy's two orders."""
    return (rows if order == "target" else rows.transpose(0, 2, 1)).reshape(len(rows), -1)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 4)) * np.array([1.0, 30.0, 0.2, 1.0])
    coef = np.array([[1.0, 0.1, 0, 0], [0, -0.2, 8, 0]])
    return x, x @ coef.T + 0.2 * rng.normal(size=(50, 2))


@pytest.fixture
def equalities():
    """Two rows: one couples the equations, one fixes a coefficient."""
    rows = np.zeros((2, 2, 4))
    rows[0, 0, 1], rows[0, 1, 1] = 1.0, 1.0
    rows[1, 1, 2] = 2.0
    return rows, np.array([0.0, 10.0])


@pytest.mark.parametrize("order", ["target", "feature"])
def test_orders_name_the_same_coefficients(data, equalities, order):
    problem = Problem.from_arrays(*data)
    rows, right = equalities
    rules = compile_rules(problem, miosr_arguments.constraints(in_order(rows, order), right, order))
    assert [(row.variables, row.coefs, row.rhs) for row in rules.equalities] == [
        ((1, 5), (1.0, 1.0), 0.0),
        ((6,), (2.0,), 10.0),
    ]


def best(x, y, rows, right, ridge, allowed):
    """Least objective over all pairs of supports that are allowed, by the equations of Lagrange."""
    gram, moments = x.T @ x, x.T @ y
    matrix = np.kron(np.eye(2), gram) + np.diag(np.tile(ridge, 2))
    linear, lhs = moments.T.reshape(-1), rows.reshape(len(rows), -1)
    least = np.inf
    for mask in itertools.product([False, True], repeat=8):
        sizes = np.reshape(mask, (2, 4)).sum(axis=1)
        if not allowed(sizes):
            continue
        s = np.flatnonzero(mask)
        kkt = np.block([[matrix[np.ix_(s, s)], lhs[:, s].T], [lhs[:, s], np.zeros((2, 2))]])
        coef = np.zeros(8)
        coef[s] = np.linalg.lstsq(kkt, np.concatenate([linear[s], right]), rcond=None)[0][: len(s)]
        if np.allclose(lhs @ coef, right, atol=1e-9):
            value = np.sum((y - x @ coef.reshape(2, 4).T) ** 2) + np.sum(np.tile(ridge, 2) * coef**2)
            least = min(least, float(value))
    return least


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("order", ["target", "feature"])
@pytest.mark.parametrize("target, group", [(3, None), (None, None), (None, (2, 2)), (4, (1, 4))])
def test_the_best_coefficients_that_obey(data, equalities, order, target, group, normalize):
    x, y = data
    rows, right = equalities
    found = es.MIOSR(
        target_sparsity=target,
        group_sparsity=group,
        alpha=0.1,
        constraint_lhs=in_order(rows, order),
        constraint_rhs=right,
        constraint_order=order,
        normalize_columns=normalize,
    ).fit(x, y)
    total = target if target is not None else (5 if group is None else 8)
    caps = np.array(group or (4, 4))
    sizes = np.count_nonzero(found.coef_, axis=1)
    assert sizes.sum() <= total
    assert (sizes <= caps).all()
    np.testing.assert_allclose(np.einsum("cjt,jt->c", rows, found.coef_), right, atol=1e-9)
    ridge = 0.1 * (np.sum(x**2, axis=0) if normalize else np.ones(4))
    value = np.sum((y - x @ found.coef_.T) ** 2) + np.sum(ridge * found.coef_**2)
    wanted = best(x, y, rows, right, ridge, lambda n: n.sum() <= total and (n <= caps).all())
    assert value == pytest.approx(wanted, rel=1e-7)
    assert all(claim.status == "OPTIMAL" for claim in found.certificate_)


@pytest.mark.parametrize("sparsity", [2, 7])
def test_fixed_coefficients_of_lorenz(lorenz, sparsity):
    x, t = lorenz
    lhs = np.zeros((2, 30))
    lhs[0, 1] = lhs[1, 11] = 1.0
    optimizer = es.MIOSR(target_sparsity=sparsity, constraint_lhs=lhs, constraint_rhs=np.array([-10.0, 28.0]))
    model = ps.SINDy(optimizer=optimizer, feature_library=ps.PolynomialLibrary(degree=2)).fit(x, t)
    np.testing.assert_allclose(lhs @ model.coefficients().ravel(), [-10.0, 28.0], atol=1e-9)
    assert model.optimizer.complexity == sparsity


def test_no_solution_is_said_so(data):
    x, y = data
    with pytest.raises(ConstraintError, match="no coefficients satisfy them with target_sparsity=1"):
        es.MIOSR(target_sparsity=1, constraint_lhs=np.eye(8)[:2], constraint_rhs=np.ones(2)).fit(x, y)


@pytest.mark.parametrize(
    "lhs, rhs, message",
    [
        (np.ones((1, 7)), np.ones(1), r"lhs has shape \(1, 7\): expected \(rows, 8\)"),
        (np.ones((2, 8)), np.ones(3), r"rhs has shape \(3,\): expected \(2,\)"),
    ],
)
def test_shapes(data, lhs, rhs, message):
    with pytest.raises(ConstraintError, match=message):
        es.MIOSR(constraint_lhs=lhs, constraint_rhs=rhs).fit(*data)
