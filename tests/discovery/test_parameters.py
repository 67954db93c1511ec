"""Discovery with parameters that differ between trajectories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import exactsindy as es
from exactsindy.cli import app
from exactsindy.errors import DataError, ProblemError

MU = [-0.4, 0.3, 0.8]
T = np.linspace(0.0, 8.0, 161)


def growth(mu, noise=0.0, seed=0):
    """Return x' = mu x - x^3 from 0.2, exactly."""
    start = 0.04
    with np.errstate(all="ignore"):
        squared = mu * start * np.exp(2 * mu * T) / (mu + start * (np.exp(2 * mu * T) - 1))
    return np.sqrt(squared)[:, None] + noise * np.random.default_rng(seed).normal(size=(len(T), 1))


RUNS = [growth(mu, 0.002, i) for i, mu in enumerate(MU)]


@pytest.fixture(scope="module")
def found():
    return es.discover(RUNS, T, states=("x",), parameters={"mu": MU})


def test_the_default_library_lets_coefficients_be_linear_in_the_parameter(found):
    assert [term.name for term in found.model.rows[0].terms] == ["mu x", "x^3"]
    assert np.allclose(found.model.rows[0].coefficients, [1.0, -1.0], atol=0.03)
    assert found.identified
    assert (
        found.arguments["library"].endswith("* Parameters(1) (default)") or "Parameters" in found.arguments["library"]
    )


def test_simulations_take_the_parameters_of_a_trajectory(found):
    for i, mu in enumerate(MU):
        run = found.simulate([0.2], T, parameters=i)
        np.testing.assert_allclose(run.x, growth(mu), atol=0.02)
    np.testing.assert_array_equal(found.simulate([0.2], T).x, found.simulate([0.2], T, parameters={"mu": MU[0]}).x)
    with pytest.raises(DataError, match="parameters=3: there are 3 trajectories; expected 0 to 2"):
        found.simulate([0.2], T, parameters=3)


def test_saved_runs_and_reports_keep_the_parameters(found, tmp_path):
    again = es.Discovery.load(found.save(tmp_path / "run"))
    assert again.data.parameters["mu"].tolist() == MU
    assert again.model.parameter_names == ("mu",)
    assert str(again) == str(found)
    assert "-0.4, 0.3, 0.8" in found.report(tmp_path / "page.html").read_text(encoding="utf-8")


def test_columns_of_a_table_and_the_command_line(tmp_path):
    from typer.testing import CliRunner

    parts = [pd.DataFrame({"run": i, "t": T, "x": RUNS[i][:, 0], "mu": mu}) for i, mu in enumerate(MU)]
    file = tmp_path / "runs.csv"
    pd.concat(parts).to_csv(file, index=False)
    words = ["discover", str(file), "--trajectory", "run", "--parameters", "mu", "--quiet"]
    done = CliRunner().invoke(app, [*words, "--save", str(tmp_path / "model.json")])
    assert done.exit_code == 0, done.output
    assert "mu x" in done.output
    simulate = ["simulate", str(tmp_path / "model.json"), "--start", "0.2", "--until", "1"]
    assert CliRunner().invoke(app, [*simulate, "--parameters", "mu=0.3"]).output.startswith("t,x\n0,0.2\n")
    assert "expected numbers by name, e.g. mu=0.1" in CliRunner().invoke(app, [*simulate, "--parameters", "mu"]).output


@pytest.mark.parametrize("form", [es.WeakForm(), es.StrongForm(), es.IncrementForm()])
def test_every_form_knows_parameters(form):
    library = es.Polynomials(3, bias=False) * es.Parameters(1)
    data = es.Trajectories.from_arrays([growth(mu) for mu in MU], time=T, states=("x",), parameters={"mu": MU})
    best = es.solve(form.problem(data, library), 2)
    assert tuple(best.terms["x'"]) == ("mu x", "x^3")
    np.testing.assert_allclose(best.coef[best.coef != 0], [1, -1], atol=0.02)


def test_a_parameter_that_never_varies_is_left_out_and_named():
    found = es.discover(RUNS[1:2], T, states=("x",), parameters={"mu": [0.3]}, seconds=20)
    notices = [notice.message for notice in found.warnings if notice.kind == "parameter"]
    assert any("'mu' is 0.3 in all trajectories and left out" in message for message in notices)
    assert found.model.parameter_names == ()
    with pytest.raises(ProblemError, match="no parameter that varies between trajectories"):
        es.discover(RUNS[1:2], T, parameters={"mu": [0.3]}, library=es.Polynomials(2) * es.Parameters(1))


def test_too_few_values_for_the_degree_are_said():
    library = es.Polynomials(1, bias=False) * es.Parameters(2)
    found = es.discover(RUNS[:2], T, states=("x",), parameters={"mu": MU[:2]}, library=library, k_max=2)
    notices = [notice.message for notice in found.warnings if notice.kind == "parameter"]
    assert any("have 2 different values of mu, which tell 2 of the 3 functions 1, mu, mu^2 apart" in m for m in notices)


def test_a_field_has_no_parameters():
    field = es.Field.from_arrays(np.ones((8, 9)), dims=("x", "t"), coords={"x": np.arange(8), "t": np.arange(9)})
    with pytest.raises(DataError, match="parameters: a field has none"):
        es.discover(field, parameters={"mu": [1.0]})


def test_second_order_laws_take_parameters():
    t, stiffness, runs = np.linspace(0, 10, 251), [1.0, 1.8, 3.0], []
    for i, k in enumerate(stiffness):
        spring = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -k, "v": -0.2}})
        run = spring.simulate([1.0, 0.3], t).x[:, :1]
        runs.append(run + 0.002 * np.random.default_rng(i).normal(size=run.shape))
    found = es.discover(runs, t, states=("x",), targets="x''", parameters={"k": stiffness}, degree=1)
    assert {term.name for term in found.model.rows[0].terms} == {"k x", "x'"}
    assert found.simulate({"x": 1.0, "x'": 0.3}, t, parameters={"k": 2.0}).success


def test_maps_take_parameters():
    runs, rates = [], [3.6, 3.75, 3.9]
    for i, rate in enumerate(rates):
        x = [0.3]
        for _ in range(120):
            x.append(rate * x[-1] * (1 - x[-1]))
        runs.append(np.array(x)[:, None] + 0.001 * np.random.default_rng(i).normal(size=(121, 1)))
    found = es.discover(runs, form="map", states=("x",), parameters={"r": rates}, degree=2)
    assert found.model.equations(2) == ["x[k+1] = r x[k] - r x[k]^2"]
    np.testing.assert_allclose(found.model.iterate([0.3], 1, parameters={"r": 3.7}).x[1], 3.7 * 0.21, rtol=0.01)
