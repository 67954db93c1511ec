"""What a call of `discover` loads: libraries that it can do without take memory and time."""

import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
import exactsindy as es
t = np.arange(0.0, 20.0, 0.05)
x = np.column_stack([np.cos(t), -np.sin(t)]) + 0.02 * np.random.default_rng(0).normal(size=(400, 2))
print(es.discover(x, t, states=("x", "v"), seconds=60, threads=1).model.equations(1))
print(sorted(name for name in ("scipy", "matplotlib", "pandas") if name in sys.modules))
"""


def test_trajectories_do_not_need_scipy():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ['["x\' = v", "v\' = -x"]', "[]"]
