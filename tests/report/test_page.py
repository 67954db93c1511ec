"""The page: every section, nothing from outside, names cannot break it; looked at in a browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import DataError
from exactsindy.plots import residual_series
from exactsindy.report import report
from exactsindy.report.figures import residual_figure

pytest.importorskip("plotly")
pytest.importorskip("jinja2")

SECTIONS = ["verdict", "proof", "path", "rivals", "fit", "phase", "residuals", "data", "reproduce"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


VOID = {"meta", "link", "br", "img", "mspace"}


class Outline(HTMLParser):
    """Sections, addresses and plots of a page, and whether its elements are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.sections, self.addresses, self.plots = [], [], [], 0

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.sections.append(given["id"])
        self.plots += given.get("class") == "plot"
        self.addresses += [given[key] for key in ("src", "href") if key in given]

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(text):
    parser = Outline()
    parser.feed(text)
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def page(oscillator, tmp_path_factory):
    return oscillator.report(tmp_path_factory.mktemp("report") / "report.html", title="Oscillator")


def test_all_sections_are_there_and_nothing_comes_from_outside(page, oscillator):
    text = page.read_text(encoding="utf-8")
    found = outline(text)
    assert [name for name in found.sections if name in SECTIONS] == SECTIONS
    assert found.plots == 2 + 2 + 1 + 4  # paths, fits, phase, residuals and their correlations
    assert all(address.startswith(("#", "data:")) for address in found.addresses)
    assert page.stat().st_size < 3_000_000
    assert oscillator.problem.fingerprint in text
    assert oscillator.data.fingerprint in text
    assert "no other combination of as many terms" in text
    assert "Not proved: that the system is this." in text
    assert "<math" in text


def test_the_verdict_is_said_once(page):
    text = page.read_text(encoding="utf-8")
    assert text.count('<strong class="lead">Identified</strong>, ') == 2
    assert '<strong class="label">' not in text


def test_a_constant_is_called_so_in_tables(oscillator, tmp_path):
    first, *others = oscillator.pool.members["x'"]
    rival = replace(first, terms={"1": -50.27, "x": 2.0}, excess=1.0)
    pool = replace(oscillator.pool, members={**oscillator.pool.members, "x'": (first, rival, *others)})
    selection = replace(oscillator.selection, inclusion={"x'": {"v": 1.0, "1": 0.08}})
    text = replace(oscillator, pool=pool, selection=selection).report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<td>-50.27, 2 <math>" in text
    assert "<td>constant, <math>" in text
    assert '<span>constant</span><i style="width:8%">' in text


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")
def test_names_of_long_terms_end_before_their_bars(oscillator, tmp_path):
    shares = {"u^2 u_position_position_position_position": 1.0, "v": 0.5}
    found = replace(oscillator, selection=replace(oscillator.selection, inclusion={"x'": shares, "v'": shares}))
    page = found.report(tmp_path / "long.html")
    measure = """<script>document.documentElement.dataset.overlap = [...document.querySelectorAll(".bar")].map(bar => {
      const name = document.createRange(); name.selectNodeContents(bar.children[0]);
      return name.getBoundingClientRect().right > bar.children[1].getBoundingClientRect().left; }).join()</script>"""
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{measure}</body>"), encoding="utf-8")
    assert 'data-overlap="false,false,false,false"' in browse(page, tmp_path / "profile", "--window-size=1200,900")[0]


def test_every_embedded_figure_is_json(page):
    parts = re.findall(r'<script type="application/json">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    figures = [json.loads(part) for part in parts]
    assert {"data", "layout", "title"} <= set(figures[0])
    assert figures[0]["data"][0]["x"] == [0, 1, 2, 3, 4]


def test_residuals_are_drawn_against_the_time_by_its_name(oscillator):
    (series, *_) = residual_series(oscillator.model, oscillator.data)
    assert residual_figure(series, "year")["layout"]["xaxis"]["title"]["text"] == "year"


def test_no_half_written_file_is_left(page):
    assert [file.name for file in page.parent.iterdir()] == ["report.html"]


def test_names_cannot_break_the_page(tmp_path):
    t = np.arange(0.0, 10.0, 0.05)
    states = ("a<b", "</script>")
    found = es.discover(
        np.column_stack([np.cos(t), -np.sin(t)]), time=t, states=states, library=es.Polynomials(1), k_max=2
    )
    text = report(found, tmp_path / "odd.html", title="<b>odd</b>").read_text(encoding="utf-8")
    outline(text)
    assert "<b>odd" not in text
    assert text.count("</script>") == text.count("<script")


def test_fields_are_pictures(burgers, tmp_path):
    text = burgers.report(tmp_path / "burgers.html").read_text(encoding="utf-8")
    found = outline(text)
    assert "fields" in found.sections
    assert "fit" not in found.sections
    assert found.plots == 1 + 3  # path; measured, simulated, profiles with a slider
    figures = re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    profiles = json.loads(figures[-1])
    (slider,) = profiles["layout"]["sliders"]
    assert len(slider["steps"]) == 20
    assert [line["visible"] for line in profiles["data"]] == [True, True, *([False] * 38)]
    assert slider["steps"][3]["args"][0]["visible"].index(True) == 6


def test_missing_folder_is_one_sentence(oscillator, tmp_path):
    with pytest.raises(DataError, match="the folder cannot be written to"):
        oscillator.report(tmp_path / "nowhere" / "report.html")


def test_shared_budget_is_reported(tmp_path):
    t = np.arange(0.0, 10.0, 0.05)
    found = es.discover(
        np.column_stack([np.cos(t), -np.sin(t)]), time=t, library=es.Polynomials(1), k_max=es.Total(4), form="strong"
    )
    text = found.report(tmp_path / "shared.html").read_text(encoding="utf-8")
    assert "All equations together" in text
    assert "rivals" not in outline(text).sections


def browse(page, folder, *options):
    """Return the page after its scripts ran, and what the browser complained about."""
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--log-level=0"),
        *(f"--user-data-dir={folder}", "--virtual-time-budget=20000", *options, "--dump-dom", page.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")
def test_a_browser_draws_every_plot_without_complaint(page, tmp_path):
    shown, complaints = browse(page, tmp_path, "--blink-settings=preferredColorScheme=0")  # dark
    assert complaints == []
    assert 'data-ready="true"' in shown
    assert shown.count('class="plot js-plotly-plot"') == outline(page.read_text(encoding="utf-8")).plots


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")
def test_a_complaint_of_the_browser_would_be_seen(tmp_path):
    page = tmp_path / "broken.html"
    page.write_text("<script>throw new Error('broken')</script>", encoding="utf-8")
    assert "broken" in browse(page, tmp_path / "profile")[1][0]
