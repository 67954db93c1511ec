"""Make the bundled synthetic data again: ``python -m exactsindy.systems.bundled FOLDER``."""

import sys
from pathlib import Path

import numpy as np


def lorenz() -> str:
    """Return the text of lorenz.csv."""
    from exactsindy.systems import SYSTEMS, add_noise

    system = SYSTEMS["lorenz"]
    times = np.arange(2500) * 0.002
    states = add_noise(system.simulate([-4.0, 3.0, 24.0], times), 0.002, np.random.RandomState(1))
    rows = [f"{t:.3f},{x:.4f},{y:.4f},{z:.4f}" for t, (x, y, z) in zip(times, states, strict=True)]
    return "\n".join(["t,x,y,z", *rows]) + "\n"


if __name__ == "__main__":
    (Path(sys.argv[1]) / "lorenz.csv").write_text(lorenz())
