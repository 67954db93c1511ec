"""A failure looks like one in every display: the verdict comes first, and nothing is claimed without its condition."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy.app.answer import Tone, view
from exactsindy.app.what_if import Changes

pytest.importorskip("plotly")
pytest.importorskip("jinja2")
QUICK = es.Settings(seconds=20.0, threads=1)
# Words that begin the verdict on an equation that must not be believed.
DOUBTFUL = ("The library does not seem to hold this law", "Not identified", "No law found", "Likely")


def noisy(values, level, seed=0):
    return values + level * np.std(values, axis=0) * np.random.default_rng(seed).normal(size=np.shape(values))


def simulated(rhs, start, t):
    return solve_ivp(rhs, (t[0], t[-1]), start, t_eval=t, rtol=1e-9, atol=1e-10).y.T


def outside_the_library():
    t = np.arange(0.0, 20.0, 0.05)
    states = simulated(lambda t, y: [y[1], -4.0 * np.sin(y[0]) - 0.1 * y[1]], [2.6, 0.0], t)
    names = ("angle", "rate")
    return {"data": noisy(states, 0.005), "time": t, "states": names, "targets": ("rate",), "degree": 3}


def hidden_state():
    t = np.arange(0.0, 20.0, 0.05)
    states = simulated(lambda t, y: [y[1], -3.0 * y[0] - 0.2 * y[1]], [1.0, 0.0], t)
    # (Left to itself, `discover` asks for position'' instead.)
    return {"data": noisy(states[:, :1], 0.01), "time": t, "states": ("position",), "targets": ("position",)}


def too_few_data():
    t = np.arange(14) * 0.5
    states = simulated(lambda t, y: [y[0] - y[0] * y[1], y[0] * y[1] - y[1]], [2.0, 1.0], t)
    return {"data": noisy(states, 0.1, 3), "time": t, "states": ("prey", "predator")}


def tied_laws():
    t = np.arange(0.0, 20.0, 0.05)
    circle = np.column_stack([np.cos(t), -np.sin(t)])
    states = np.column_stack([circle, circle[:, 0]])  # the third column repeats the first
    return {
        "data": noisy(states[:, :2], 0.01)[:, [0, 1, 0]],
        "time": t,
        "states": ("x", "v", "copy"),
        "targets": ("v",),
        "degree": 1,
    }


def a_time_limit():
    # Many coupled states with much noise, and time for hardly anything.
    rng = np.random.default_rng(2)
    t = np.arange(0.0, 10.0, 0.05)
    coupling = rng.normal(size=(6, 6)) - 2.0 * np.eye(6)
    states = simulated(lambda t, y: coupling @ np.tanh(y), rng.normal(size=6), t)
    return {"data": noisy(states, 0.3), "time": t, "seconds": 0.5}


def only_noise():
    t = np.arange(0.0, 20.0, 0.05)
    return {"data": np.random.default_rng(5).normal(size=(400, 1)), "time": t, "states": ("x",)}


CASES = [outside_the_library, hidden_state, too_few_data, tied_laws, a_time_limit, only_noise]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.__name__)
def failure(request):
    return es.discover(**{"seconds": 20.0, **request.param()}, threads=1)


def test_the_text_begins_with_the_verdict(failure):
    text = str(failure)
    first = re.sub(r"\s+", " ", text.split("\n\n")[0])
    assert first.startswith(DOUBTFUL)
    assert first == " ".join(failure.headlines.values())
    assert "Identified," not in text
    assert text.index("Warnings") < text.index("Details") < text.index("Proved")


def test_the_page_begins_with_the_verdict(failure, tmp_path):
    page = failure.report(tmp_path / "page.html").read_text(encoding="utf-8")
    body = page[page.index("<h1>") :]
    shown = unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body[body.index("</h1>") :])))
    label = body[body.index('class="label">') + 14 :].split("<")[0]
    assert label.startswith(("not", "no ", "likely"))
    assert 'class="verdict good"' not in body
    assert 'class="good"' not in body
    assert shown.index("Warnings") < shown.index("What is proved")
    for claim in re.findall(r"Proved[^.]*\.", shown):
        assert "this library only" in claim or "nothing" in claim or "this list" in claim or "Likely" in str(failure)


def test_the_notebook_begins_with_the_verdict(failure):
    html = failure._repr_html_()
    shown = unescape(re.sub(r"<[^>]+>", " ", html)).strip()
    assert shown.startswith(DOUBTFUL)
    assert "#1a7f37" not in html  # the colour of success
    assert shown.index("warning") < shown.index("Proved")


def test_the_app_begins_with_the_verdict(failure):
    shown = view(failure, failure, Changes())
    assert shown.tone is not Tone.SURE
    assert re.match("The equation is not|None of the equations|[Nn]ot identified: |With doubts: ", shown.headline)
    for equation, headline in zip(shown.equations, failure.headlines.values(), strict=True):
        assert equation.verdict.startswith(DOUBTFUL)
        assert headline.startswith(equation.verdict.partition(". ")[0].rstrip("."))
        assert equation.tone is not Tone.SURE
        if equation.tone is Tone.WRONG and equation.proof.startswith("Proved"):
            assert equation.proof.startswith("Proved about these candidates only, not about the system: no other ")
    assert len(shown.warnings) == len(failure.warnings)


def test_the_record_says_the_same(failure):
    record = failure.to_dict()
    assert record["headlines"] == failure.headlines
    assert not any(label.startswith("identified") for label in record["labels"].values())


def test_a_success_is_told_first_too(oscillator):
    assert str(oscillator).startswith(("Identified, ", "Likely, "))
    assert all(0.9 < score <= 1 for score in oscillator.held_out.values())
    assert all(0.7 < size < 1.5 for size in oscillator.residuals.values())
    assert all(0.015 < level < 0.025 for level in oscillator.noise.values())


def test_other_terms_than_those_selected_are_called_that(oscillator):
    other = oscillator.at(rival={"x'": 2})
    assert other.headlines["x'"].startswith("Not the terms that were selected: x' = ")
    assert "x'" not in other.residuals
    assert other.headlines["v'"] == oscillator.headlines["v'"]


def test_residuals_far_beyond_the_noise_put_an_equation_in_doubt(oscillator):
    doubtful = replace(oscillator, residuals={"x'": 16.1, "v'": 1.0})
    assert doubtful.headlines["x'"].startswith("Doubtful, ")
    assert "because residuals are 16 times the noise: x' = " in doubtful.headlines["x'"]
    assert oscillator.identified
    assert not doubtful.identified


def test_a_column_that_never_changes_is_no_failure():
    t = np.arange(0.0, 10.0, 0.05)
    states = noisy(np.column_stack([np.cos(t), -np.sin(t), np.full(len(t), 3.0)]), 0.01)
    found = es.discover(states, t, states=("x", "v", "room"), settings=QUICK)
    assert found.headlines["room'"] == "room never changes in these data: room' = 0."
    assert found.held_out["room'"] is None
