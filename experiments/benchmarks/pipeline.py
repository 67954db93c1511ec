"""Compares building the regression (data to Problem), simulation and import with PySINDy 2.1 and NumPy.

Every measurement runs in a process of its own on one thread: CPU seconds of the call (the least of three), peak
memory of the process beyond imports, data included. Both sides of a case see the same data, windows of the same size
and the same terms. Writes a page, docs/benchmarks/pipeline.md, if all cases are run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

Run = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One comparison: ``prepare[side](size)`` returns the bytes of the data and the call to measure."""

    title: str
    sides: tuple[str, ...]
    sizes: dict[str, int]
    target: float


def lorenz(n: int) -> np.ndarray:
    from exactsindy.systems import lorenz as system

    return system().simulate([1.0, 2.0, 20.0], 0.002 * np.arange(n))


def strong(side: str, n: int) -> tuple[int, Run]:
    x = lorenz(n)
    if side == "pysindy":
        import pysindy as ps

        def run() -> object:
            model = ps.SINDy(
                optimizer=ps.STLSQ(),
                feature_library=ps.PolynomialLibrary(degree=5),
                differentiation_method=ps.SmoothedFiniteDifference(smoother_kws={"window_length": 9}),
            )
            return model.fit(x, t=0.002)

        return x.nbytes, run
    from exactsindy.data import Trajectories
    from exactsindy.forms import StrongForm
    from exactsindy.library import Polynomials

    data = Trajectories.from_arrays(x, time=0.002)
    return x.nbytes, lambda: StrongForm().problem(data, Polynomials(5))


def weak_ode(side: str, n: int) -> tuple[int, Run]:
    x, domains = lorenz(n), 2400
    if side == "pysindy":
        import pysindy as ps

        def run() -> object:
            library = ps.WeakPDELibrary(
                ps.PolynomialLibrary(degree=3), spatiotemporal_grid=0.002 * np.arange(n), K=domains
            )
            return library.fit_transform(x), library.convert_u_dot_integral(x)

        return x.nbytes, run
    from exactsindy.data import Trajectories
    from exactsindy.library import Polynomials

    data = Trajectories.from_arrays(x, time=0.002)
    form = _weak_form(side, domains, 0.002 * (n - 1) / 20)
    return x.nbytes, lambda: form.problem(data, Polynomials(3))


def weak_pde(side: str, n: int) -> tuple[int, Run]:
    """Reaction-diffusion: n x n x 250 points, two fields, 109 terms, 400 windows of half-width 1, 1, 1/4."""
    grid, times, fields = spirals(n, side == "pysindy")
    nbytes = 2 * n * n * len(times) * 8
    if side == "pysindy":
        import pysindy as ps

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

        return nbytes, run
    data, library = reaction_diffusion(grid, times, fields)
    form = _weak_form(side, 400, (1.0, 1.0, 0.25))
    return nbytes, lambda: form.problem(data, library)


def modal_pde(side: str, n: int) -> tuple[int, Run]:
    from exactsindy.forms import ModalForm

    grid, times, fields = spirals(n, False, noise=0.1)
    data, library = reaction_diffusion(grid, times, fields)
    model = np.zeros((2, 109))
    model[:, :12] = 0.1
    return 2 * n * n * len(times) * 8, lambda: ModalForm(model=model).problem(data, library)


def four_states(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return four noisy states and coefficients (4 x 35) of a trial model for them."""
    rng = np.random.default_rng(0)
    x = np.column_stack([lorenz(n), lorenz(n)[::-1, 0]]) + 0.1 * rng.normal(size=(n, 4))
    return x, rng.normal(size=(4, 35)) * (rng.uniform(size=(4, 35)) < 0.1)


def cubic_fit(x: np.ndarray) -> Run:
    """Return PySINDy's fit of the same states and terms, the usual way: smoothed derivatives, STLSQ."""
    import pysindy as ps

    def run() -> object:
        model = ps.SINDy(
            optimizer=ps.STLSQ(),
            feature_library=ps.PolynomialLibrary(degree=3),
            differentiation_method=ps.SmoothedFiniteDifference(smoother_kws={"window_length": 9}),
        )
        return model.fit(x, t=0.002)

    return run


def increment(side: str, n: int) -> tuple[int, Run]:
    """Four states, degree 3, 35 terms: smoothing, whitening and four factors."""
    x, model = four_states(n)
    if side == "pysindy":
        return x.nbytes, cubic_fit(x)
    from exactsindy.data import Trajectories
    from exactsindy.forms import IncrementForm
    from exactsindy.library import Polynomials

    data = Trajectories.from_arrays(x, time=0.002)
    return x.nbytes, lambda: IncrementForm(model=model).problem(data, Polynomials(3))


def preparation(side: str, n: int) -> tuple[int, Run]:
    """All problems a discovery builds from the same data: start, raw increments, three rounds of guided ones."""
    x, model = four_states(n)
    if side == "pysindy":
        return x.nbytes, cubic_fit(x)
    from exactsindy.data import Trajectories
    from exactsindy.forms import IncrementForm, StartRegression, smooth, smooth_guided
    from exactsindy.library import Polynomials

    data, library = Trajectories.from_arrays(x, time=0.002), Polynomials(3)

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


def simulate(side: str, n: int) -> tuple[int, Run]:
    """Lorenz, n outputs in steps of 0.002 at PySINDy's tolerances; the two trajectories must agree."""
    from exactsindy.model import Model

    start, t = [-8.0, 7.0, 27.0], 0.002 * np.arange(n)
    model = Model.from_coefficients(
        {"x'": {"x": -10.0, "y": 10.0}, "y'": {"x": 28.0, "x z": -1.0, "y": -1.0}, "z'": {"x y": 1.0, "z": -8 / 3}}
    )
    ours = model.simulate(start, t, rtol=1e-12, atol=1e-12)
    if side != "pysindy":
        return ours.x.nbytes, lambda: model.simulate(start, t, rtol=1e-12, atol=1e-12)
    import pysindy as ps

    x = model.simulate(start, 0.002 * np.arange(2500)).x
    peer = ps.SINDy(optimizer=ps.STLSQ(threshold=0.1), feature_library=ps.PolynomialLibrary(degree=2))
    peer.fit(x, t=0.002, x_dot=model.predict(x))
    difference = np.abs(peer.simulate(np.array(start), t) - ours.x).max()
    if difference > 1e-6:
        raise RuntimeError(f"the trajectories differ by {difference:.1e}")
    return ours.x.nbytes, lambda: peer.simulate(np.array(start), t)


def _weak_form(side: str, domains: int, width: object) -> object:
    from exactsindy.forms import WeakForm
    from exactsindy_experiments.published_weak_form import PublishedWeakForm

    if side.endswith("same rule"):
        return PublishedWeakForm(domains, rule="pysindy", width=width)
    return WeakForm(domains, width=width)


def spirals(n: int, joined: bool, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return grid, times and the fields u, v of rotating spirals, filled row by row to stay lean."""
    grid, times = 20.0 * np.arange(n) / n - 10.0, np.linspace(0, 5, 250)
    shape = (n, n, 250, 2) if joined else (2, n, n, 250)
    fields = np.empty(shape)
    rng = np.random.default_rng(0)
    for i, x in enumerate(grid):
        radius, angle = np.hypot(x, grid)[:, None], np.arctan2(grid, x)[:, None]
        size = np.tanh(radius) * np.exp(-((radius / 7) ** 8))
        for f, wave in enumerate((np.cos, np.sin)):
            row = size * wave(angle - radius + times) + noise * rng.normal(size=(n, 250))
            if joined:
                fields[i, :, :, f] = row
            else:
                fields[f, i] = row
    return grid, times, fields


def reaction_diffusion(grid: np.ndarray, times: np.ndarray, fields: np.ndarray) -> tuple[object, object]:
    from exactsindy.data import Field
    from exactsindy.library import Derivatives, Polynomials

    coords = {"x": grid, "y": grid, "t": times}
    values = {"u": fields[0], "v": fields[1]}
    data = Field.from_arrays(values, dims=("x", "y", "t"), coords=coords, periodic=("x", "y"))
    cubic = Polynomials(3, bias=False)
    return data, cubic + Derivatives(2) + cubic * Derivatives(2)


PREPARE = {f.__name__: f for f in (strong, weak_ode, weak_pde, modal_pde, increment, preparation, simulate)}
OURS, SAME = "exactsindy", "exactsindy, same rule"
CASES = {
    "strong": Case(
        "strong form, n x 3, degree 5 (PySINDy: warm STLSQ fit)",
        ("pysindy", OURS),
        {"full": 100_000, "quick": 20_000},
        5,
    ),
    "weak_ode": Case(
        "weak form, n x 3, 2400 windows, cubic",
        ("pysindy", SAME, OURS),
        {"full": 25_000, "quick": 8_000},
        50,
    ),
    "weak_pde": Case(
        "weak form, n x n x 250 x 2, 400 windows, 109 terms",
        ("pysindy", SAME, OURS),
        {"full": 256, "quick": 64},
        30,
    ),
    "modal_pde": Case("modal form, n x n x 250 x 2, 109 terms", (OURS,), {"full": 256, "quick": 64}, 0),
    "increment": Case(
        "increment form, n x 4, 35 terms (PySINDy: warm STLSQ fit)",
        ("pysindy", OURS),
        {"full": 5_000, "quick": 5_000},
        0,
    ),
    "preparation": Case(
        "eight problems of a discovery, n x 4, 35 terms (PySINDy: one warm STLSQ fit)",
        ("pysindy", OURS),
        {"full": 5_000, "quick": 5_000},
        0,
    ),
    "simulate": Case("simulation, Lorenz, n outputs", ("pysindy", OURS), {"full": 500, "quick": 500}, 100),
}
IMPORTS = {
    "import numpy": "import numpy",
    "import exactsindy": "import exactsindy",
    "import exactsindy, every public name used": "import exactsindy as e; [getattr(e, n) for n in e.__all__]",
}
IMPORT_GOAL = 1.5
ROOT = Path(__file__).resolve().parents[1]


def worker(name: str, side: str, size: int) -> None:
    """Measure one side and print it as JSON."""
    warnings.simplefilter("ignore")
    import scipy.fft
    import scipy.linalg  # noqa: F401

    if side == "pysindy":
        import pysindy  # noqa: F401
    else:
        import exactsindy.forms  # noqa: F401
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    nbytes, run = PREPARE[name](side, size)
    seconds = []
    for _ in range(1 if side == "pysindy" and name == "weak_pde" else 3):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": min(seconds), "megabytes": (peak - before) / 1024, "data": nbytes / 2**20}))


def environment() -> dict[str, str]:
    threads = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(threads, "1")}


def measure(name: str, side: str, size: int) -> dict[str, float] | None:
    command = [sys.executable, __file__, "--worker", name, side, str(size)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"    {side}: failed: {done.stderr.strip().splitlines()[-1] if done.stderr else done.returncode}")
        return None
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def import_seconds(statement: str, repeats: int) -> float:
    """Return the least CPU seconds of a statement in fresh processes, the start of Python left out.

    Byte code is kept, as after any installation, whatever the environment says: both sides are compiled once.
    """
    code = f"import time; s = time.process_time(); {statement}; print(time.process_time() - s)"
    command = [sys.executable, "-c", code]
    with tempfile.TemporaryDirectory() as cache:
        settings = {**environment(), "PYTHONPYCACHEPREFIX": cache}
        settings.pop("PYTHONDONTWRITEBYTECODE", None)
        runs = [
            subprocess.run(command, env=settings, capture_output=True, text=True, check=True) for _ in range(repeats)
        ]
    return min(float(run.stdout) for run in runs)


def imports(quick: bool) -> list[str]:
    """Measure imports; return the rows of the page."""
    print(f"imports; goal for import exactsindy <= {IMPORT_GOAL:g}x import numpy", flush=True)
    seconds = {name: import_seconds(code, 5 if quick else 15) for name, code in IMPORTS.items()}
    least = seconds["import numpy"]
    lines = []
    for name, value in seconds.items():
        print(f"    {name}: {value:.3f} s CPU, {value / least:.2f}x", flush=True)
        lines.append(f"| {name} | {value:.3f} | {value / least:.2f}x |")
    return lines


def compare(name: str, size: int) -> list[str]:
    """Measure all sides of a case; return the rows of the page."""
    case = CASES[name]
    goal = f">= {case.target:g}x" if case.target else ""
    print(f"{case.title}; n = {size}{'; goal ' + goal if goal else ''}", flush=True)
    rows = {side: measure(name, side, size) for side in case.sides}
    peer = rows.get("pysindy")
    lines = []
    for side, row in rows.items():
        if row is None:
            lines.append(f"| {case.title} | {size} | {side} | failed | | | | |")
            continue
        ours = side != "pysindy"
        times = peer["seconds"] / row["seconds"] if peer else 0.0
        ratio = f"{times:{'.0f' if times >= 10 else '.2g'}}x" if peer and ours else ""
        memory = f"{row['megabytes']:.0f} MB for {row['data']:.0f} MB of data"
        print(f"    {side}: {row['seconds']:.4f} s CPU{', ' + ratio if ratio else ''}, {memory}", flush=True)
        cells = [case.title, str(size), side, f"{row['seconds']:.4f}", ratio, goal if ours else ""]
        cells += [f"{row['megabytes']:.0f}", f"{row['data']:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page(rows: list[str], import_rows: list[str]) -> str:
    """Return the results as Markdown."""
    versions = []
    for package in ("numpy", "scipy", "pysindy"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    return "\n".join(
        [
            "# From data to problem, simulation, import",
            "",
            f"Made by `python benchmarks/pipeline.py`. Python {platform.python_version()}, {', '.join(versions)}; "
            f"one thread, {os.cpu_count()} cores. Every figure comes from a process of its own: CPU seconds, the least "
            "of three calls (one for PySINDy's weak form of fields); peak memory beyond imports, data included. "
            "Ratios are those of one run: PySINDy's time over ours.",
            "",
            "| case | n | side | CPU s | ratio | goal | peak MB | data MB |",
            "|---|---:|---|---:|---:|---:|---:|---:|",
            *rows,
            "",
            f"Imports: CPU seconds in fresh processes, without the start of Python. Goal: `import exactsindy` at most "
            f"{IMPORT_GOAL:g}x `import numpy`; its rooms load on first use, which the last row pays for all of them.",
            "",
            "| statement | CPU s | against NumPy |",
            "|---|---:|---:|",
            *import_rows,
            "",
        ]
    )


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def main() -> int:
    known = [*CASES, "import"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"some of {', '.join(known)}; all by default")
    parser.add_argument("--quick", action="store_true", help="small data, about a minute; page in build/")
    parser.add_argument("--size", type=int, help="instead of the size of the case (weak_pde needs 15 GB at 256)")
    parser.add_argument("--output", type=Path, help="where the page goes, also if only some cases are run")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        name, side, size = options.worker
        worker(name, side, int(size))
        return 0
    unknown = [name for name in options.cases if name not in known]
    if unknown:
        parser.error(f"unknown case {unknown[0]!r}; expected some of {', '.join(known)}")
    rows, import_rows = [], []
    for name in options.cases or known:
        if name == "import":
            import_rows = imports(options.quick)
        else:
            rows += compare(name, options.size or CASES[name].sizes["quick" if options.quick else "full"])
    folder = ROOT / "build" / "benchmarks" / "quick" if options.quick else ROOT / "docs" / "benchmarks"
    output = options.output or (None if options.cases or options.size else folder / "pipeline.md")
    if output is not None:
        write(output, page(rows, import_rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
