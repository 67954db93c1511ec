"""Every example runs and finds what its text says."""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
FINDS = {
    "lorenz.py": ["No other 3-term combination of the 56 candidates fits y' better", "Verified: every claim holds"],
    "pendulum_lengths.py": ["rate': rate, sin(angle) in all 5 trajectories", "g = 9.81 m/s^2"],
    "lynx_hare.py": [
        "No other 2-term combination of the 6 candidates fits lynx' better",
        "measured: 1903 and 1913",
    ],
    "us_census.py": ["r = 0.0313 per year, K = 199 million", "1930: forecast 123 million, counted 123"],
    "henon.py": ["No other 1-term combination of the 10 candidates fits y[k+1] better", "+ 0.3 x[k-1]"],
    "second_order.py": ["Second order was taken (x'')", "x' abs(x')", "Report: second_order.html"],
    "burgers.py": ["No other 2-term combination of the 19 candidates fits u_t better", "Report: burgers.html"],
    "michaelis_menten.py": ["in S/(K + S)", "Report: michaelis_menten.html"],
    "tuning_curve.py": ["in sin(w s)", "in exp(-r s)", "Report: tuning_curve.html"],
    "regression.py": ["k <= 4 | proved optimal", "(4, 18, 33, 52)"],
}


def test_every_example_is_tested_and_listed():
    names = {file.name for file in EXAMPLES.glob("*.py")}
    assert names == set(FINDS)
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in listed for name in names)


@pytest.mark.parametrize("name", FINDS)
def test_example_runs(name, tmp_path, monkeypatch):
    for needed in ("matplotlib", "plotly", "jinja2"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    for text in FINDS[name]:
        assert text in printed.getvalue()
