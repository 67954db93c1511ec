"""Both sides of the pipeline benchmark: each returns the bytes of its data and the call to measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field, Trajectories
from exactsindy.forms import IncrementForm, ModalForm, StartRegression, StrongForm, WeakForm, smooth, smooth_guided
from exactsindy.library import Derivatives, Library, Polynomials
from exactsindy.model import Model
from exactsindy.systems import find_system
from exactsindy_experiments.paper.heuristics import pysindy
from exactsindy_experiments.published_weak_form import PublishedWeakForm

Array = NDArray[np.float64]
Run = Callable[[], object]
Prepared = tuple[int, Run]

PEER, OURS, SAME = "pysindy", "exactsindy", "exactsindy, same rule"
#: Sampling step of the trajectories, in seconds.
STEP = 0.002


@dataclass(frozen=True)
class PipelineCase:
    """One comparison: ``prepare(side, size)``, the sides, full and quick size, and by how much ours is to be faster."""

    title: str
    prepare: Callable[[str, int], Prepared]
    sides: tuple[str, ...]
    full: int
    quick: int
    goal: float = 0.0


def _lorenz(n: int) -> Array:
    return find_system("lorenz").simulate([1.0, 2.0, 20.0], STEP * np.arange(n))


def _stlsq(x: Array, degree: int) -> Run:
    """Return PySINDy's fit of the same states and terms, the usual way: smoothed derivatives, STLSQ."""
    ps = pysindy()

    def run() -> object:
        model = ps.SINDy(
            optimizer=ps.STLSQ(),
            feature_library=ps.PolynomialLibrary(degree=degree),
            differentiation_method=ps.SmoothedFiniteDifference(smoother_kws={"window_length": 9}),
        )
        return model.fit(x, t=STEP)

    return run


def strong(side: str, n: int) -> Prepared:
    """Return the strong form of a Lorenz trajectory, degree 5."""
    x = _lorenz(n)
    if side == PEER:
        return x.nbytes, _stlsq(x, 5)
    data = Trajectories.from_arrays(x, time=STEP)
    return x.nbytes, lambda: StrongForm().problem(data, Polynomials(5))


def weak_ode(side: str, n: int) -> Prepared:
    """Return the weak form of a Lorenz trajectory: 2400 windows, cubic."""
    x, domains = _lorenz(n), 2400
    if side == PEER:
        ps = pysindy()

        def run() -> object:
            cubic = ps.PolynomialLibrary(degree=3)
            library = ps.WeakPDELibrary(cubic, spatiotemporal_grid=STEP * np.arange(n), K=domains)
            return library.fit_transform(x), library.convert_u_dot_integral(x)

        return x.nbytes, run
    data = Trajectories.from_arrays(x, time=STEP)
    form = _weak_form(side, domains, STEP * (n - 1) / 20)
    return x.nbytes, lambda: form.problem(data, Polynomials(3))


def weak_pde(side: str, n: int) -> Prepared:
    """Return reaction-diffusion: n x n x 250 points, two fields, 109 terms, 400 windows of half-width 1, 1, 1/4."""
    grid, times, fields = _spirals(n, side == PEER)
    if side == PEER:
        ps = pysindy()
        mesh = np.stack(np.meshgrid(grid, grid, times, indexing="ij"), -1)

        def run() -> object:
            library = ps.WeakPDELibrary(
                ps.PolynomialLibrary(degree=3, include_bias=False),
                derivative_order=2,
                spatiotemporal_grid=mesh,
                K=400,
                H_xt=[1.0, 1.0, 0.25],
                diff_kwargs={"is_uniform": True, "periodic": True},
            )
            axes = {"ax_spatial": [0, 1], "ax_time": 2, "ax_coord": 3}
            return library.fit_transform(ps.AxesArray(fields, axes)), library.convert_u_dot_integral(fields)

        return fields.nbytes, run
    data, library = _field(grid, times, fields)
    form = _weak_form(side, 400, (1.0, 1.0, 0.25))
    return fields.nbytes, lambda: form.problem(data, library)


def modal_pde(side: str, n: int) -> Prepared:
    """Return the modal form of noisy spirals with a trial model."""
    grid, times, fields = _spirals(n, False, noise=0.1)
    data, library = _field(grid, times, fields)
    model = np.zeros((2, 109))
    model[:, :12] = 0.1
    return fields.nbytes, lambda: ModalForm(model=model).problem(data, library)


def _four_states(n: int) -> tuple[Array, Array]:
    """Return four noisy states and coefficients (4 x 35) of a trial model for them."""
    rng = np.random.default_rng(0)
    x = np.column_stack([_lorenz(n), _lorenz(n)[::-1, 0]]) + 0.1 * rng.normal(size=(n, 4))
    return x, rng.normal(size=(4, 35)) * (rng.uniform(size=(4, 35)) < 0.1)


def increment(side: str, n: int) -> Prepared:
    """Return four states, degree 3, 35 terms: smoothing, whitening and four factors."""
    x, model = _four_states(n)
    if side == PEER:
        return x.nbytes, _stlsq(x, 3)
    data = Trajectories.from_arrays(x, time=STEP)
    return x.nbytes, lambda: IncrementForm(model=model).problem(data, Polynomials(3))


def preparation(side: str, n: int) -> Prepared:
    """Return all problems a discovery builds from the same data: start, raw increments, three rounds of guided ones."""
    x, model = _four_states(n)
    if side == PEER:
        return x.nbytes, _stlsq(x, 3)
    data, library = Trajectories.from_arrays(x, time=STEP), Polynomials(3)

    def run() -> object:
        states = smooth(data)
        problems = [StartRegression(smoothed=states).problem(data, library)]
        for _ in range(2):
            ratios = StartRegression(smoothed=states).drift_ratios(data, library, model)
            problems.append(StartRegression(drift_ratio=ratios, smoothed=states).problem(data, library))
        for _ in range(2):
            problems.append(IncrementForm(model=model, smoothed=states).problem(data, library))
        for _ in range(3):
            states = smooth_guided(data, library, model, start=states)
            problems.append(IncrementForm("guided", model=model, smoothed=states).problem(data, library))
        return problems

    return x.nbytes, run


def simulate(side: str, n: int) -> Prepared:
    """Return Lorenz, n outputs in steps of 0.002 at PySINDy's tolerances; the two trajectories must agree."""
    start, t = [-8.0, 7.0, 27.0], STEP * np.arange(n)
    model = Model.from_coefficients(
        {"x'": {"x": -10.0, "y": 10.0}, "y'": {"x": 28.0, "x z": -1.0, "y": -1.0}, "z'": {"x y": 1.0, "z": -8 / 3}}
    )
    ours = model.simulate(start, t, rtol=1e-12, atol=1e-12)
    if side != PEER:
        return ours.x.nbytes, lambda: model.simulate(start, t, rtol=1e-12, atol=1e-12)
    ps = pysindy()
    x = model.simulate(start, STEP * np.arange(2500)).x
    peer: Any = ps.SINDy(optimizer=ps.STLSQ(threshold=0.1), feature_library=ps.PolynomialLibrary(degree=2))
    peer.fit(x, t=STEP, x_dot=model.predict(x))
    difference = float(np.abs(peer.simulate(np.array(start), t) - ours.x).max())
    if difference > 1e-6:
        raise RuntimeError(f"the trajectories differ by {difference:.1e}")
    return ours.x.nbytes, lambda: peer.simulate(np.array(start), t)


def _weak_form(side: str, domains: int, width: Any) -> WeakForm | PublishedWeakForm:
    if side == SAME:
        return PublishedWeakForm(domains, rule="pysindy", width=width)
    return WeakForm(domains, width=width)


def _spirals(n: int, joined: bool, noise: float = 0.0) -> tuple[Array, Array, Array]:
    """Return grid, times and the fields u, v of rotating spirals, filled row by row to take little memory."""
    grid, times = 20.0 * np.arange(n) / n - 10.0, np.linspace(0, 5, 250)
    fields: Array = np.empty((n, n, 250, 2) if joined else (2, n, n, 250))
    rng = np.random.default_rng(0)
    for i, x in enumerate(grid):
        radius, angle = np.hypot(x, grid)[:, None], np.arctan2(grid, x)[:, None]
        size = np.tanh(radius) * np.exp(-((radius / 7) ** 8))
        for f, wave in enumerate((np.cos, np.sin)):
            row = size * wave(angle - radius + times) + noise * rng.normal(size=(n, 250))
            fields[(i, slice(None), slice(None), f) if joined else (f, i)] = row
    return grid, times, fields


def _field(grid: Array, times: Array, fields: Array) -> tuple[Field, Library]:
    coords = {"x": grid, "y": grid, "t": times}
    values = {"u": fields[0], "v": fields[1]}
    data = Field.from_arrays(values, dims=("x", "y", "t"), coords=coords, periodic=("x", "y"))
    cubic = Polynomials(3, bias=False)
    return data, cubic + Derivatives(2) + cubic * Derivatives(2)


CASES: Mapping[str, PipelineCase] = {
    "strong": PipelineCase(
        "strong form, n x 3, degree 5 (PySINDy: warm STLSQ fit)", strong, (PEER, OURS), 100_000, 20_000, 5
    ),
    "weak_ode": PipelineCase("weak form, n x 3, 2400 windows, cubic", weak_ode, (PEER, SAME, OURS), 25_000, 8_000, 50),
    "weak_pde": PipelineCase(
        "weak form, n x n x 250 x 2, 400 windows, 109 terms", weak_pde, (PEER, SAME, OURS), 256, 64, 30
    ),
    "modal_pde": PipelineCase("modal form, n x n x 250 x 2, 109 terms", modal_pde, (OURS,), 256, 64),
    "increment": PipelineCase(
        "increment form, n x 4, 35 terms (PySINDy: warm STLSQ fit)", increment, (PEER, OURS), 5_000, 5_000
    ),
    "preparation": PipelineCase(
        "eight problems of a discovery, n x 4, 35 terms (PySINDy: one warm STLSQ fit)",
        preparation,
        (PEER, OURS),
        5_000,
        5_000,
    ),
    "simulate": PipelineCase("simulation, Lorenz, n outputs", simulate, (PEER, OURS), 500, 500, 100),
}
