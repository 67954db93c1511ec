"""From data to certified equations with nothing chosen by hand."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import ConstraintError, DataError, ProblemError, SolverError
from exactsindy.systems import add_field_noise, add_noise, find_field_system, find_system

ONE = es.Settings(seconds=60.0, threads=1)


def terms_of(found):
    return {target: set(terms) for target, terms in found.solution.terms.items()}


def true_terms(system, targets=None):
    return {target: set(system.truth[target]) for target in targets or system.targets}


@pytest.fixture(scope="module")
def lorenz():
    system = find_system("lorenz")
    clean = system.simulate([1.0, 2.0, 20.0], np.arange(0, 8, 0.01))
    return system, clean


@pytest.fixture(scope="module")
def found(lorenz):
    system, clean = lorenz
    noisy = add_noise(clean, 0.02, np.random.default_rng(0))
    return es.discover(noisy, time=0.01, states=system.states, settings=ONE)


def test_lorenz_is_found_certified_and_explained(lorenz, found):
    system, _ = lorenz
    assert terms_of(found) == true_terms(system)
    assert found.solution.optimal
    assert es.verify(found.problem, found.solution).ok
    assert [c.target for c in found.certificates] == ["x'", "y'", "z'"]
    assert found.model.coefficients["y", "x"] == pytest.approx(28.0, rel=0.02)
    assert all(0 < value <= 1 for value in found.selection.confidence.values())
    assert found.selection.inclusion["x'"]["x"] == pytest.approx(1.0)
    assert {row.variant for row in found.selection.table} >= {"measured states"}


def test_what_is_printed(found):
    text = str(found)
    assert "±" in text
    assert "No other 2-term combination of the 20 candidates fits x' better; the next best is" in text
    assert "Among the models whose trajectories were fitted: x 100 %, y 100 %." in text
    assert "Among the models whose trajectories were fitted: z 100 %, x y 100 %." in text
    assert text.endswith("Not proved: that the system is this.")
    assert "Proved: for every equation, no other combination of as many terms" in text
    assert max(map(len, text.splitlines())) <= 110
    assert repr(found).startswith("<Discovery x' = ")


def test_other_sizes_and_rivals(found):
    fewer = found.at(k={"y": 2})
    assert [len(s) for s in fewer.solution.support] == [2, 2, 2]
    assert "No other 2-term combination of the 20 candidates fits y' better" in str(fewer)
    assert [len(s) for s in found.at(k=1).solution.support] == [1, 1, 1]
    rival = found.at(rival={"z'": 2})
    assert rival.solution.support[2] == found.pool["z'"][1].support
    assert rival.solution.support[:2] == found.solution.support[:2]
    assert "nothing is claimed" in str(rival)
    assert "Proved: nothing about these terms." in str(rival)
    changed = [
        i
        for i, (a, b) in enumerate(zip(found.at(rival=2).solution.support, found.solution.support, strict=True))
        if a != b
    ]
    nearest = min(range(3), key=lambda i: found.pool.members[found.problem.target_names[i]][1].excess)
    assert changed == [nearest]
    assert found.at(rival=1).solution.support == found.solution.support
    run = found.model.simulate([1.0, 2.0, 20.0], np.linspace(0, 0.5, 20))
    assert run.success


def test_messages_of_at(found):
    with pytest.raises(SolverError, match=r"at\(...\): give one of k="):
        found.at()
    with pytest.raises(SolverError, match=r"at\(k=99\): this path goes from 0 to 8 terms"):
        found.at(k=99)
    with pytest.raises(SolverError, match=r"z' has 10 ranked supports; expected a number from 1"):
        found.at(rival={"z": 11})
    with pytest.raises(SolverError, match=r"at\(rival=0\): there are fewer ranked models"):
        found.at(rival=0)


@pytest.mark.parametrize("kind", ["frame", "csv", "list", "irregular"])
def test_data_of_every_kind(lorenz, tmp_path, kind):
    system, clean = lorenz
    x = add_noise(clean, 0.005, np.random.default_rng(1))
    t = np.arange(len(x)) * 0.01
    options = {"settings": ONE, "library": es.Polynomials(2)}
    if kind == "frame":
        import pandas as pd

        result = es.discover(pd.DataFrame({"t": t, "x": x[:, 0], "y": x[:, 1], "z": x[:, 2]}), **options)
    elif kind == "csv":
        path = tmp_path / "lorenz.csv"
        np.savetxt(path, np.column_stack([t, x]), delimiter=",", header="when,x,y,z", comments="")
        result = es.discover(str(path), time="when", **options)
    elif kind == "list":
        pieces = [x[i : i + 160] for i in range(0, 800, 160)]
        result = es.discover(pieces, time=0.01, states=system.states, **options)
    else:
        t = np.sort(np.random.default_rng(2).uniform(0, 8, 800))
        values = add_noise(
            system.simulate([1.0, 2.0, 20.0], np.concatenate([[0.0], t])), 0.005, np.random.default_rng(3)
        )
        result = es.discover(values[1:], time=t, states=system.states, **options)
    assert terms_of(result) == true_terms(system)


def test_controls():
    t = np.arange(0, 30, 0.02)
    u = np.sin(1.3 * t) + 0.5 * np.sin(0.4 * t)
    x = np.zeros((len(t), 2))
    x[0] = 1.0, 0.0

    def rate(s, force):
        return np.array([s[1], -s[0] - 0.3 * s[1] + 2 * force])

    for i in range(len(t) - 1):
        h, mid = 0.02, 0.5 * (u[i] + u[i + 1])
        k1 = rate(x[i], u[i])
        k2 = rate(x[i] + h / 2 * k1, mid)
        k3 = rate(x[i] + h / 2 * k2, mid)
        x[i + 1] = x[i] + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x[i] + h * k3, u[i + 1]))
    noisy = x + 0.02 * np.random.default_rng(0).normal(size=x.shape)
    result = es.discover(noisy, time=t, states=("x", "v"), controls=u, library=es.Polynomials(2), settings=ONE)
    assert terms_of(result) == {"x'": {"v"}, "v'": {"x", "v", "u0"}}


def test_targets_may_differ_from_the_inputs_of_the_library():
    system = find_system("duffing")
    clean = system.simulate(system.initial_condition(np.random.RandomState(1)), np.arange(0, 20, 0.02))
    data = es.Trajectories.from_arrays(
        add_noise(clean, 0.01, np.random.default_rng(0)), time=0.02, states=system.states
    )
    library = es.Polynomials(3, of=("x", "y"))
    result = es.discover(data, targets=("X", "Y"), library=library, settings=ONE)
    assert terms_of(result) == true_terms(system, ("X'", "Y'"))


def test_second_derivatives_fall_back_on_windows():
    t = np.arange(0, 30, 0.02)
    x = np.cos(1.5 * t) + 0.01 * np.random.default_rng(0).normal(size=t.size)
    result = es.discover(x, time=t, states=("x",), targets=("x''",), library=es.Polynomials(2), settings=ONE)
    assert terms_of(result) == {"x''": {"x"}}
    assert result.model.coefficients["x''", "x"] == pytest.approx(-2.25, rel=0.01)


def test_measured_derivatives_are_used():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (200, 1))
    data = es.Trajectories.from_arrays(x, time=1.0, states=("x",), derivatives=-2 * x + 0.01 * rng.normal(size=x.shape))
    result = es.discover(data, settings=ONE)
    assert terms_of(result) == {"x'": {"x"}}
    assert "Measured derivatives are used as they are" in str(result)


def test_non_polynomial_library():
    t = np.arange(0, 20, 0.02)
    theta, speed = np.zeros(len(t)), np.zeros(len(t))
    theta[0] = 2.0
    for i in range(len(t) - 1):
        middle = speed[i] - 0.01 * np.sin(theta[i])
        theta[i + 1] = theta[i] + 0.02 * middle
        speed[i + 1] = middle - 0.01 * np.sin(theta[i + 1])
    x = np.column_stack([theta, speed]) + 0.01 * np.random.default_rng(0).normal(size=(len(t), 2))
    library = es.Terms(["1", "a", "w", "a w", "sin(a)", "cos(a)", "sin(w)", "a^2", "w^2"])
    result = es.discover(x, time=t, states=("a", "w"), library=library, settings=ONE)
    assert terms_of(result) == {"a'": {"w"}, "w'": {"sin(a)"}}


def test_a_field():
    system = find_field_system("burgers")
    clean = system.simulate(np.random.RandomState(3), points=64, times=np.linspace(0, 3, 101))
    data = add_field_noise(clean, 0.05, np.random.RandomState(3))
    result = es.discover(data, library=system.library, settings=ONE)
    assert terms_of(result) == {"u_t": {"u u_x", "u_xx"}}
    assert result.selection.confidence["u_t"] > 0.9
    assert terms_of(es.discover(data, settings=ONE)) == {"u_t": {"u u_x", "u_xx"}}


def test_noise_has_no_law():
    rng = np.random.default_rng(0)
    t = np.arange(0, 20, 0.02)
    x = np.column_stack([np.cos(t), -np.sin(t), np.zeros(len(t))]) + 0.02 * rng.normal(size=(len(t), 3))
    result = es.discover(x, time=t, states=("x", "v", "n"), library=es.Polynomials(2), settings=ONE)
    assert terms_of(result)["n'"] == set()
    assert terms_of(result)["x'"] == {"v"}
    assert "n' = 0" in str(result)
    assert "n': no term is statistically justified" in str(result)


def test_shared_budget_other_rules_and_forms(lorenz):
    system, clean = lorenz
    noisy = add_noise(clean, 0.002, np.random.default_rng(0))
    options = {"time": 0.01, "states": system.states, "library": es.Polynomials(2), "settings": ONE}
    shared = es.discover(noisy, k_max=es.Total(10), **options)
    assert terms_of(shared) == true_terms(system)
    assert "All equations together: 7 terms" in str(shared)
    with pytest.raises(SolverError, match="no rivals were computed"):
        shared.at(rival=2)
    weak = es.discover(noisy, form="weak", rule=es.selection.CrossValidation(), k_max=4, **options)
    assert weak.selection.rule == es.selection.CrossValidation()
    strong = es.discover(noisy, form=es.StrongForm(), rule=es.selection.BIC(), k_max=4, **options)
    assert set(terms_of(strong)["x'"]) >= {"x", "y"}


def test_warnings_that_help():
    t = np.arange(0, 8, 0.01)
    rng = np.random.default_rng(0)
    x = np.column_stack([np.cos(t), -np.sin(t), np.full(len(t), 2.0)])
    x[:, :2] += 0.01 * rng.normal(size=(len(t), 2))
    result = es.discover(x, time=t, states=("x", "v", "c"), library=es.Polynomials(1), settings=ONE)
    kinds = {notice.kind for notice in result.warnings}
    text = str(result)
    assert "'c' never changes" in text
    assert "Only about 1." in text
    assert "periods of data" in text
    assert {"constant", "short"} <= kinds


def test_coloured_noise_and_interchangeable_terms_are_named():
    rng = np.random.default_rng(1)
    t = np.arange(0, 30, 0.02)
    noise = np.zeros((len(t), 2))
    for i in range(1, len(t)):
        noise[i] = 0.9 * noise[i - 1] + 0.01 * rng.normal(size=2)
    x = np.column_stack([np.cos(t), -np.sin(t)]) + noise
    result = es.discover(x, time=t, states=("x", "v"), library=es.Polynomials(1), settings=ONE)
    assert any(notice.kind == "coloured" for notice in result.warnings)
    twins = es.Terms(["x", "v", ("w", lambda x: x + 1e-7 * np.sin(30 * x))])
    clean = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * rng.normal(size=(len(t), 2))
    result = es.discover(clean, time=t, states=("x", "v"), library=twins, settings=ONE)
    (note,) = [n for n in result.warnings if n.kind == "indistinguishable"]
    assert "stand in for each other here: these 2 supports are indistinguishable" in note.message


def test_limits_are_named(lorenz):
    system, clean = lorenz
    noisy = add_noise(clean, 0.2, np.random.default_rng(0))
    tight = es.Settings(nodes=1, threads=1)
    result = es.discover(noisy, time=0.01, states=system.states, k_max=6, seconds=None, settings=tight)
    assert any(notice.kind == "unproved" for notice in result.warnings)


def test_messages():
    x = np.cos(np.arange(0, 10, 0.1))
    with pytest.raises(DataError, match=r"time: the data are already Trajectories and carry their own"):
        es.discover(es.Trajectories.from_arrays(x, time=0.1), time=0.1)
    with pytest.raises(ProblemError, match=r"form='weakest': expected 'auto', a form such as WeakForm\(\)"):
        es.discover(x, time=0.1, form="weakest")
    with pytest.raises(ProblemError, match=r"form=5: expected 'auto'"):
        es.discover(x, time=0.1, form=5)
    with pytest.raises(DataError, match="time is missing"):
        es.discover(x)


def test_constraints_reach_the_solver():
    x = np.cos(np.arange(0, 10, 0.1))
    with pytest.raises(ConstraintError):
        es.discover(x, time=0.1, constraints=("not one",))


def test_the_verb_can_be_called_whatever_was_imported_first():
    import subprocess
    import sys

    code = (
        "import numpy as np, exactsindy as es\n"
        "from exactsindy.discovery import Discovery\n"
        "t = np.arange(0, 10, 0.05)\n"
        "found = es.discover(np.exp(-0.3 * t), time=t, states=('x',), library=es.Polynomials(2))\n"
        "assert isinstance(found, Discovery) and set(found.solution.terms[\"x'\"]) == {'x'}, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_constraints_hold_and_are_verified(lorenz):
    _, clean = lorenz
    data = add_noise(clean, 0.002, np.random.RandomState(1))
    opposite = es.constraints.Linear({("x'", "x"): 1, ("x'", "y"): 1}, "==", 0)
    found = es.discover(data, time=0.01, states=["x", "y", "z"], constraints=[opposite], settings=ONE)
    assert terms_of(found)["x'"] == {"x", "y"}
    coef = found.solution.terms["x'"]
    assert abs(coef["x"] + coef["y"]) <= 1e-9 * abs(coef["x"])
    assert es.verify(found.problem, found.solution).ok
    assert "within the constraints fits x' better" in " ".join(str(found).split())
    assert found.at(k={"y'": 2}).solution.constraints == found.solution.constraints


@pytest.mark.parametrize("rtol, per_period, equal", [(1e-12, 100, True), (1e-9, 50, False), (1e-6, 400, True)])
def test_data_without_noise_give_the_law_and_confidence(rtol, per_period, equal):
    """A simulation is a measurement with the errors of its solver and of integrals between samples."""
    from scipy.integrate import solve_ivp

    def van_der_pol(_, x):
        return [x[1], (1 - x[0] ** 2) * x[1] - x[0]]

    t = np.arange(5 * per_period) * (6.66 / per_period)
    if not equal:
        t = np.sort(t + 0.3 * (6.66 / per_period) * np.random.default_rng(0).uniform(-1, 1, len(t)))
        t -= t[0]
    x = solve_ivp(van_der_pol, (0, t[-1] + 1e-9), [2.0, 0.0], "LSODA", t_eval=t, rtol=rtol, atol=rtol).y.T
    found = es.discover(x, t, states=("x", "v"), threads=1)
    assert {name: set(terms) for name, terms in found.solution.terms.items()} == {
        "x'": {"v"},
        "v'": {"x", "v", "x^2 v"},
    }
    assert min(found.confidence.values()) >= 0.9
    if equal:  # errors of integrals over unequal steps add up, to about the noise that the rows are weighted by
        assert {notice.kind for notice in found.warnings} <= {"clean"}
