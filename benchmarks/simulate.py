"""Compares the simulation of a found model with PySINDy's, in one run; run with --help.

CPU time of one call, the least of as many repeats on both sides; the same tolerances, and the trajectories are
compared. PySINDy is optional: without it only our times are shown. A few seconds in all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from exactsindy.model import Model

LORENZ = {
    "x'": {"x": -10.0, "y": 10.0},
    "y'": {"x": 28.0, "x z": -1.0, "y": -1.0},
    "z'": {"x y": 1.0, "z": -8 / 3},
}
START = [-8.0, 7.0, 27.0]
TOLERANCE = 1e-12  # what PySINDy uses
REPEATS = 3


def cpu_seconds(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def pysindy_model(degree: int):
    """Return a PySINDy model of the same system, fitted to clean data with exact derivatives."""
    import pysindy

    t = np.arange(0, 5, 0.002)
    model = Model.from_coefficients(LORENZ)
    x = model.simulate(START, t).x
    library = pysindy.PolynomialLibrary(degree=degree)
    fitted = pysindy.SINDy(optimizer=pysindy.STLSQ(threshold=0.1), feature_library=library)
    fitted.fit(x, t=t, x_dot=model.predict(x), feature_names=["x", "y", "z"])
    return fitted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of the simulated trajectory")
    parser.add_argument("--step", type=float, default=0.002, help="output step")
    parser.add_argument("--degree", type=int, default=2, help="degree of PySINDy's library")
    options = parser.parse_args()
    t = np.arange(0, options.seconds, options.step)
    model = Model.from_coefficients(LORENZ)
    ours = model.simulate(START, t, rtol=TOLERANCE, atol=TOLERANCE)  # warm: scipy loaded, code generated
    seconds = cpu_seconds(lambda: model.simulate(START, t, rtol=TOLERANCE, atol=TOLERANCE), REPEATS)
    per_call = 1e6 * seconds / ours.evaluations
    print(f"Lorenz, {options.seconds:g} s, {len(t)} outputs, rtol = atol = {TOLERANCE:g}")
    print(
        f"exactsindy  simulate {1e3 * seconds:9.3f} ms CPU, {per_call:.2f} us per call of the right-hand side, all in"
    )
    row = np.array([START])
    model.predict(row)
    predict = cpu_seconds(lambda: [model.predict(row) for _ in range(1000)], REPEATS) / 1000
    print(f"            predict  {1e3 * predict:9.3f} ms CPU for one row")
    try:
        theirs = pysindy_model(options.degree)
    except ImportError:
        print("PySINDy is not installed: pip install pysindy")
        return 0
    result: list[np.ndarray] = []
    slow = cpu_seconds(lambda: result.append(theirs.simulate(np.array(START), t)), REPEATS)
    slow_predict = cpu_seconds(lambda: [theirs.predict(row) for _ in range(20)], REPEATS) / 20
    difference = float(np.abs(result[0] - ours.x[: len(result[0])]).max())
    print(f"PySINDy     simulate {1e3 * slow:9.3f} ms CPU; the trajectories differ by {difference:.1e}")
    print(f"            predict  {1e3 * slow_predict:9.3f} ms CPU for one row")
    print(f"ratio       simulate {slow / seconds:.0f}x, predict {slow_predict / predict:.0f}x")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
