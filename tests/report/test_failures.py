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


def one_closed_orbit():
    # Kepler's law is no polynomial, but on one orbit a polynomial is true.
    t = np.arange(0.0, 30.0, 0.05)
    pull = simulated(
        lambda t, y: [y[2], y[3], *(-y[:2] / np.hypot(*y[:2]) ** 3)],  # (a planet)
        [1.0, 0.0, 0.0, 1.15],
        t,
    )
    names = ("x", "y", "vx", "vy")
    return {"data": noisy(pull, 0.002), "time": t, "states": names, "targets": ("vx", "vy"), "degree": 3}


def two_of_three_states():
    t = np.arange(0.0, 20.0, 0.02)
    lorenz = simulated(
        lambda t, y: [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 * y[2] / 3], [1.0, 1.0, 20.0], t
    )
    return {"data": noisy(lorenz[:, :2], 0.01), "time": t, "states": ("x", "y"), "targets": ("y",), "degree": 2}


def a_law_that_changes():
    # The stiffness doubles half way.
    t = np.arange(0.0, 30.0, 0.05)
    states = simulated(lambda t, y: [y[1], -(1.0 if t < 15 else 2.0) * y[0]], [1.0, 0.0], t)
    return {"data": noisy(states, 0.01), "time": t, "states": ("x", "v"), "targets": ("v",), "degree": 3}


def samples_of_a_map():
    x = [0.3]
    for _ in range(199):
        x.append(3.8 * x[-1] * (1 - x[-1]))
    return {"data": noisy(np.array(x), 0.002), "time": np.arange(200.0), "states": "count"}


def a_late_sensor():
    t = np.arange(0.0, 30.0, 0.05)
    states = simulated(lambda t, y: [y[0] - 0.5 * y[0] * y[1], 0.3 * y[0] * y[1] - 0.8 * y[1]], [3.0, 1.0], t)
    late = np.column_stack([states[4:, 0], states[:-4, 1]])
    return {"data": noisy(late, 0.005), "time": t[4:], "states": ("prey", "predator"), "degree": 2}


def saturated():
    # A voltmeter that ends at 80 % of the swing.
    t = np.arange(0.0, 30.0, 0.05)
    states = simulated(lambda t, y: [y[1], 1.5 * (1 - y[0] ** 2) * y[1] - y[0]], [1.0, 0.0], t)
    states[:, 1] = np.clip(states[:, 1], -1.5, 1.5)
    return {"data": noisy(states, 0.005), "time": t, "states": ("x", "v"), "targets": ("v",), "degree": 3}


CASES = [
    outside_the_library,
    hidden_state,
    two_of_three_states,
    too_few_data,
    tied_laws,
    one_closed_orbit,
    a_time_limit,
    only_noise,
    a_law_that_changes,
    samples_of_a_map,
    a_late_sensor,
    saturated,
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.__name__)
def failure(request):
    return es.discover(**{"seconds": 20.0, **request.param()}, threads=1)


def assert_no_unqualified_claim(shown):
    """A proof is said to be about this library, or about a list; no number near certainty stands anywhere."""
    words = re.sub(r"\s+", " ", shown)
    claims = re.findall(r"Proved[^.]*\.", words)
    assert claims
    for claim in claims:
        assert re.search("this library only, not about the system|nothing|this list misses", claim) or "Likely" in words
    assert "Not proved: that the system is this." in words
    assert not re.search(r"[Cc]onfidence (over )?9\d %|[Ii]dentified, (over )?9\d %", words)


def test_the_text_begins_with_the_verdict(failure):
    text = str(failure)
    first = re.sub(r"\s+", " ", text.split("\n\n")[0])
    assert first.startswith(DOUBTFUL)
    assert first == " ".join(failure.headlines.values())
    assert "Identified," not in text
    assert_no_unqualified_claim(text)
    assert text.index("Warnings") < text.index("Details") < text.index("Proved")


def test_the_page_begins_with_the_verdict(failure, tmp_path):
    page = failure.report(tmp_path / "page.html").read_text(encoding="utf-8")
    body = page[page.index("<h1>") :]
    shown = unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body[body.index("</h1>") :])))
    label = re.search(r'class="(?:label|lead)">([^<]+)<', body)[1]
    assert label.lower().startswith(("not", "no ", "likely"))
    assert 'class="verdict good"' not in body
    assert 'class="good"' not in body
    assert shown.index("Warnings") < shown.index("What is proved")
    assert_no_unqualified_claim(shown)


def test_the_notebook_begins_with_the_verdict(failure):
    html = failure._repr_html_()
    shown = unescape(re.sub(r"<[^>]+>", " ", html)).strip()
    assert shown.startswith(DOUBTFUL)
    assert "#1a7f37" not in html  # the colour of success
    assert_no_unqualified_claim(shown)
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


def test_a_confidence_that_residuals_lowered_below_a_half_says_so(oscillator):
    lowered = [replace(choice, confidence=0.45) for choice in oscillator.selection.choices]
    selection = replace(oscillator.selection, choices=tuple(lowered))
    found = replace(oscillator, selection=selection, residuals={"x'": 3.0, "v'": 1.0})
    assert found.headlines["x'"].startswith("Not identified, 45 %, because residuals are 3 times the noise: x' = ")
    assert found.headlines["v'"].startswith(
        "Not identified, 45 %, because other laws fit about as well as this one: v' = "
    )


def test_a_column_that_never_changes_is_no_failure():
    t = np.arange(0.0, 10.0, 0.05)
    states = noisy(np.column_stack([np.cos(t), -np.sin(t), np.full(len(t), 3.0)]), 0.01)
    found = es.discover(states, t, states=("x", "v", "room"), settings=QUICK)
    assert found.headlines["room'"] == "room never changes in these data: room' = 0."
    assert found.held_out["room'"] is None
