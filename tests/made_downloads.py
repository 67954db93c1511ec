"""Small made files of the form of those that users download: no number of the real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

SILVERBOX_STEP = 2**14 / 1e7


def made_silverbox(folder: Path, rows: int = 1500) -> Path:
    """Write y'' = -1.8e5 y - 42 y' - 7e5 y^3 + 1.8e5 u, driven by a sum of sines, in volts with five digits."""
    t = SILVERBOX_STEP * np.arange(rows)
    rng = np.random.default_rng(3)
    waves = [(f, p) for f, p in zip(np.linspace(5, 110, 22), rng.uniform(0, 6.28, 22), strict=True)]

    def u(s):
        return 0.02 * sum(np.sin(2 * np.pi * f * s + p) for f, p in waves)

    def rates(s, z):
        return [z[1], -1.8e5 * z[0] - 42 * z[1] - 7e5 * z[0] ** 3 + 1.8e5 * u(s)]

    y = solve_ivp(rates, (0.0, t[-1]), [0.0, 0.0], t_eval=t, rtol=1e-9, atol=1e-12, max_step=SILVERBOX_STEP).y[0]
    y = y + 1e-5 * rng.normal(size=rows)
    path = folder / "SNLS80mV.csv"
    path.write_text('"V1","V2",\n' + "".join(f"{a:.5g},{b:.5g},\n" for a, b in zip(u(t), y, strict=True)))
    return path


def made_glider(folder: Path, rows: int = 400) -> Path:
    """Write x'' = -6.2 x - 0.05 x', filmed 30 times a second, in whole pixels, with a column of velocities."""
    t = np.round(np.arange(1, rows + 1) / 30, 3)
    z = solve_ivp(lambda s, z: [z[1], -6.2 * z[0] - 0.05 * z[1]], (0.0, t[-1]), [400.0, 0.0], t_eval=t, rtol=1e-9).y
    path = folder / "real_linear_h_1.txt"
    lines = "".join(f"  0.0e+000  {a:.16e}  {round(x):.16e}  {v:.16e}\n" for a, (x, v) in zip(t, z.T, strict=True))
    path.write_text("% x v\n" + lines)
    return path
