"""How a user's typed program uses every public name; type checkers read it, nobody runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

import exactsindy as es

Array = NDArray[np.float64]


def data(folder: Path) -> tuple[es.Trajectories, es.Field]:
    loaded = es.load(folder / "lorenz.csv", time="t", states=("x", "y", "z"), gaps="split")
    times = np.arange(0.0, 1.0, 0.01)
    states = np.column_stack([np.sin(times), np.cos(times)])
    runs = es.Trajectories.from_arrays(states, time=times, states=("x", "v"))
    bundled: es.Trajectories = es.datasets.dataset("lorenz")
    names: tuple[str, ...] = es.datasets.names()
    field = es.Field.from_arrays(np.outer(times, times), dims=("x", "t"), coords={"x": times, "t": times})
    if isinstance(loaded, es.Trajectories):
        runs = loaded
    print(names, bundled.n_samples, runs.state_names, field.shape)
    return runs, field


def discovering(runs: es.Trajectories, folder: Path) -> es.Discovery:
    library = es.Polynomials(3) * es.Parameters(1) + es.Functions(["sin"]) + es.Fourier(2) + es.Terms(["x y", "1/x"])
    each = es.PerEquation({"x'": es.Polynomials(2), "y'": es.Rational(library, es.Polynomials(1))}, default=library)
    found = es.discover(
        runs,
        library=each,
        form="auto",
        k_max=6,
        rule=es.selection.BIC(),
        constraints=[es.constraints.Bounds("x'", "x", upper=0.0)],
        seconds=10.0,
        settings=es.Settings(threads=1, progress=show),
    )
    saved: Path = found.save(folder / "run")
    again: es.Discovery = es.Discovery.load(saved)
    found.report(folder / "report.html")
    model: es.Model = again.model
    choice: es.selection.Choice = found.selection.choices[0]
    certificates = [certificate.target for certificate in found.certificates]
    smaller: es.Discovery = found.at(k=2)
    print(model.equations(), choice.k, choice.confidence, certificates, smaller, found.warnings)
    from_file = es.discover(folder / "data.csv", time="t")
    from_array = es.discover(np.zeros((9, 2)), time=np.arange(9.0), states=("x", "v"))
    print(from_file, from_array)
    runs_apart = es.discover_per_trajectory(runs, parameters={"mu": [0.1, 0.4]}, seconds=10.0)
    law: es.Model = runs_apart.against_parameters(1)
    print(runs_apart.terms, runs_apart.models[0].simulate([1.0], [0.0, 1.0]), law.equations(3))
    return found


def show(progress: es.Progress) -> None:
    print(progress.nodes, progress.seconds, progress.incumbent, progress.lower_bound)


def solving(theta: Array, targets: Array, folder: Path) -> es.Solution:
    problem = es.Problem.from_arrays(theta, targets, names=["a", "b"], target_names=["y"])
    problem.save(folder / "problem.npz")
    problem = es.Problem.load(folder / "problem.npz") + problem
    solution = es.solve(problem, 2, ridge=0.1, settings=es.Settings(seconds=1.0))
    shared = es.solve(problem, es.Total(3), start=solution)
    many: list[es.Solution] = es.solve_many([problem, problem], [1, {"y": 2}], ridge=[0.0, 0.1], start=[solution, None])
    path: es.Path = es.solve_path(many[0].problem, 3)
    pool: es.Pool = es.solve_pool(problem, {"y": 2}, count=5)
    again: es.Solution = es.refit(problem, [["a"]])
    selection: es.Selection = es.select(problem, k_max=4, rule="auto")
    statuses: tuple[es.Status, ...] = shared.status
    proved = es.Status.OPTIMAL in statuses
    coef: Array = solution.coef
    print(es.check_proof(problem, "lorenz.proof").ok, es.verify(problem, solution).ok)
    print(path[0].support, pool["y"][0].terms, selection.choices, proved, again, coef)
    return solution


def forms(runs: es.Trajectories, field: es.Field) -> tuple[es.Problem, ...]:
    library = es.Polynomials(2, bias=False) + es.Polynomials(2) * es.Derivatives(2)
    differentiation = es.differentiation.SmoothedFiniteDifference(window=11)
    return (
        es.StrongForm(differentiation=differentiation).problem(runs, es.Polynomials(2)),
        es.IncrementForm().problem(runs, es.Polynomials(2)),
        es.WeakForm().problem(field, library),
        es.ModalForm().problem(field, library),
        es.MapForm(lags=1).problem(runs, es.Polynomials(2)),
    )


def slopes(x: Array, t: Array) -> list[Array]:
    methods = (
        es.differentiation.FiniteDifference(order=4),
        es.differentiation.SmoothedFiniteDifference(),
        es.differentiation.Spectral(),
        es.differentiation.PyNumDiff("savgoldiff", {"degree": 3}),
    )
    return [method(x, t, axis=0) for method in methods]


def rules(validation: es.Problem) -> list[es.selection.Rule]:
    return [
        es.selection.AICc(),
        es.selection.BIC(validation),
        es.selection.EBIC(),
        es.selection.CrossValidation(),
        es.selection.Stability(count=10),
        es.selection.GrowthRatio(),
        es.selection.PathEvidence(),
    ]


def constraints() -> list[es.constraints.Constraint]:
    first, second = ("x'", "x"), ("y'", "y")
    return [
        es.constraints.parse_constraint("x': x <= 0"),
        es.constraints.Bounds("x'", "x", lower=0.0, upper=1.0),
        es.constraints.Equal(first, second, ratio=-1.0),
        es.constraints.Fixed("x'", "x", 2.0),
        es.constraints.Linear({first: 1.0, second: 1.0}, "<=", 3.0),
        es.constraints.LinearMatrix(np.eye(2), np.zeros(2)),
        es.constraints.SemiContinuous("x'", "x", least=0.1),
        es.constraints.Sign("x'", "x", "+"),
        es.constraints.Dissipative(),
        es.constraints.PositiveSemidefinite(np.eye(2), {first: np.eye(2)}),
        es.constraints.Quadratic({(first, first): 1.0}, 1.0),
        es.constraints.Conserved("x^2 + y^2"),
        es.constraints.EnergyPreserving(),
        es.constraints.GradientSystem(),
        es.constraints.Hamiltonian([("q", "p")]),
        es.constraints.Symmetry(np.diag([-1.0, 1.0])),
        es.constraints.Significant(2.0),
        es.constraints.AtLeast(1, [first, second]),
        es.constraints.AtMost(1, [first, second]),
        es.constraints.Exactly(1, [first, second]),
        es.constraints.Forbid("x'", "x"),
        es.constraints.Hierarchy(),
        es.constraints.Implies(first, second),
        es.constraints.MaxCorrelation(0.9),
        es.constraints.NotBoth(first, second),
        es.constraints.Require("x'", "x"),
        es.constraints.SameSupport(),
        es.constraints.WholeGroup([first, second]),
    ]


def outliers(theta: Array, targets: Array) -> es.Solution:
    problem: es.Problem = es.constraints.with_row_terms(theta, targets, names=["a", "b"])
    return es.solve(problem, 5, constraints=[es.constraints.Outliers(rows=2, terms=3)])


def models(folder: Path) -> es.Simulation:
    model = es.Model.from_coefficients({"x'": {"y": 1.0}, "y'": {"x": -1.0}})
    model.save(folder / "model.json")
    model = es.Model.load(folder / "model.json")
    run: es.Simulation = model.simulate([0.0, 1.0], np.linspace(0, 1, 5))
    states: Array = run["x"]
    rates: Array = model.predict(run.x)
    score: float = model.score(run.x, run.t)
    table: dict[str, dict[str, float]] = model.coefficients.to_dict()
    print(states, rates, score, table, run.status.value, model.to_latex(), model.to_python(), model.to_mathml())
    heat = es.Model.from_coefficients({"u_t": {"u_xx": 0.5}})
    print(heat.simulate_field(np.zeros(32), [0.0, 2.0], periods=1.0)["u"])
    return run


def systems() -> es.Field:
    lorenz: es.systems.System = es.systems.find_system("lorenz")
    rng = np.random.default_rng(0)
    states = lorenz.simulate(lorenz.initial_condition(rng), np.arange(0.0, 1.0, 0.01))
    noisy: Array = es.systems.add_noise(states, 0.01, rng)
    scale: float = es.systems.noise_scale(noisy)
    burgers: es.systems.FieldSystem = es.systems.find_field_system("burgers")
    print(scale, list(es.systems.SYSTEMS), list(es.systems.FIELD_SYSTEMS), lorenz.truth["x'"]["x"])
    own = (es.systems.duffing(), es.systems.hopf(), es.systems.lorenz(rho=20.0), es.systems.lotka_volterra())
    print(own, es.systems.mhd(), es.systems.roessler(), es.systems.van_der_pol())
    return es.systems.add_field_noise(burgers.simulate(rng), 0.1, rng)


def plots(found: es.Discovery, field: es.Field) -> list[Axes]:
    axes: list[Axes] = es.plots.fit(found)
    axes += [es.plots.path(found, equation="x'"), es.plots.phase(found, states=("x", "v"))]
    axes += [es.plots.supports(found, count=5), es.plots.field(field, name="u")]
    return [*axes, es.plots.comparison({"truth": {"x'": {"x": 1.0}}, "found": found})]


def out_of_core(folder: Path) -> es.Problem:
    pieces = es.scan_parquet(folder / "*.parquet", time="time", trajectory="run")
    stream = es.Stream(es.StrongForm(), es.Polynomials(3), k=2, window=10_000)
    solution: es.Solution | None = stream.update(es.Trajectories.from_arrays(np.zeros((9, 1)), time=0.1))
    assert solution is stream.solution
    assert not stream.changes
    return es.StrongForm().problem(pieces, es.Polynomials(3)) + stream.problem


def failing() -> str:
    try:
        es.load("nothing.csv")
    except es.errors.DataError as error:
        return str(error)
    except (es.errors.ProblemError, es.errors.ConstraintError, es.errors.SolverError) as error:
        return str(error)
    except es.errors.MissingDependency as error:
        return str(error)
    except es.errors.ExactSindyError as error:
        return str(error)
    return f"{es.__version__} {es.errors.ExactSindyError.__name__}"


def regressing(x: Array, y: Array) -> tuple[Array, Array]:
    optimizer = es.MIOSR(target_sparsity=3, alpha=0.0).fit(x, y)
    regressor = es.ExactSparseRegressor(k=2).fit(x, y)
    tuned = es.ExactSparseRegressorCV(k_max=4, cv=3).fit(x, y)
    prediction: Array = regressor.predict(x)
    print(tuned.cv_error_, optimizer.certificate_, regressor.certificate_, prediction)
    return optimizer.coef_, regressor.coef_


def imported(library: object) -> es.Problem:
    part = es.from_pysindy(library)
    print(part)
    return es.Problem.from_arrays(np.eye(2), [1.0, 2.0])
