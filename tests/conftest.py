"""Discoveries that several tests look at; made once."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.systems import add_field_noise, find_field_system


def pytest_terminal_summary(terminalreporter):
    """Say in large letters what a machine without a browser did not test: a skip is easily overlooked."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any("no chromium" in str(report.longrepr).lower() for report in skipped):
        cure = "apt-get install chromium chromium-driver"
        terminalreporter.write_sep("=", f"NOT TESTED IN A BROWSER: app and report ({cure})", red=True, bold=True)


QUICK = es.Settings(seconds=30.0, threads=1)


@pytest.fixture(scope="session")
def oscillator():
    t = np.arange(0.0, 12.0, 0.05)
    clean = np.column_stack([np.cos(t), -np.sin(t)])
    noisy = clean + 0.02 * np.random.default_rng(0).normal(size=clean.shape)
    return es.discover(noisy, time=t, states=("x", "v"), library=es.Polynomials(2), k_max=4, settings=QUICK)


@pytest.fixture(scope="session")
def burgers():
    rng = np.random.default_rng(0)
    clean = find_field_system("burgers").simulate(rng, points=64, times=np.linspace(0, 4, 51))
    return es.discover(add_field_noise(clean, 0.05, rng), k_max=4, settings=QUICK)
