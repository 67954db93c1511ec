"""Makes the pictures of README and docs: ``python docs/pictures.py`` (screenshots need Chromium).

result.png: the Lorenz discovery as README shows it. report.png, report_failure.png: the top of the report of a success
and of a failure, in a browser. gallery_*.png: what the lines of gallery.md find. pde_burgers.png: the field of the
tutorial, measured and simulated.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import exactsindy as es
from exactsindy.datasets import dataset

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "app"))

from browser import CHROMIUM, DRIVER, open_browser  # noqa: E402

IMAGES = HERE / "images"
# A block of the gallery, and the picture that belongs to it.
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n.*?!\[[^\]]*\]\(images/(gallery_\w+\.png)\)", re.DOTALL | re.MULTILINE)


def result(found: es.Discovery, path: Path) -> None:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, middle = (figure.add_subplot(1, 3, i) for i in (1, 2))
    right = figure.add_subplot(1, 3, 3, projection="3d")
    es.plots.path(found, ax=left)
    left.set_title("every size proved")
    es.plots.supports(found, equation="y", count=8, ax=middle)
    middle.set_title("rivals of y'")
    es.plots.phase(found, ax=right)
    figure.suptitle("   ".join(found.model.equations(4)))
    figure.savefig(path, dpi=130)


def gallery() -> None:
    """Run the lines of the gallery, and draw what each finds: fields, phase portraits of three states, else the fit."""
    names: dict[str, object] = {}
    for code, picture in EXAMPLE.findall((HERE / "gallery.md").read_text(encoding="utf-8")):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "gallery.md", "exec"), names)
        found = names["found"]
        assert isinstance(found, es.Discovery)
        if isinstance(found.data, es.Field):
            panel = es.plots.field(found)
        elif len(found.data.state_names) == 3:
            panel = es.plots.phase(found)
        else:
            panel = found.plot()[0]
        panel.figure.savefig(IMAGES / picture, dpi=110)


def field() -> None:
    """Run the lines of the tutorial on fields, and draw what was measured beside what the equation gives."""
    names: dict[str, object] = {}
    page = (HERE / "tutorials" / "pde.md").read_text(encoding="utf-8")
    for code in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "pde.md", "exec"), names)
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    for i, (source, title) in enumerate((("data", "measured"), ("run", "simulated"))):
        panel = es.plots.field(names[source], ax=figure.add_subplot(1, 2, i + 1))
        panel.set_title(title)
    figure.savefig(IMAGES / "pde_burgers.png", dpi=110)


def failure() -> es.Discovery:
    """Return what comes of a pendulum without a sine in the library."""
    t = np.arange(0.0, 20.0, 0.05)
    truth = es.Model.from_coefficients({"angle'": {"rate": 1.0}, "rate'": {"sin(angle)": -4.0, "rate": -0.1}})
    swing = truth.simulate([2.6, 0.0], t).x + 0.01 * np.random.default_rng(0).normal(size=(len(t), 2))
    return es.discover(swing, t, states=("angle", "rate"), degree=3)


def screenshot(page: Path, path: Path) -> None:
    if CHROMIUM is None or DRIVER is None:
        print(f"No Chromium with chromedriver: {path.name} is left as it is.")
        return
    driver = open_browser(1000, 1150)
    try:
        driver.get(page.as_uri())
        while not driver.execute_script("return document.documentElement.dataset.ready"):
            time.sleep(0.2)
        time.sleep(1.0)
        driver.save_screenshot(str(path))
    finally:
        driver.quit()


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    discovery = es.discover(dataset("lorenz"), library=es.Polynomials(5), k_max=6, seconds=600)
    result(discovery, IMAGES / "result.png")
    gallery()
    field()
    with tempfile.TemporaryDirectory() as folder:
        screenshot(discovery.report(Path(folder) / "report.html", title="Lorenz system"), IMAGES / "report.png")
        page = failure().report(Path(folder) / "failure.html", title="A pendulum, with polynomials alone")
        screenshot(page, IMAGES / "report_failure.png")
    print(*sorted(file.name for file in IMAGES.iterdir()))
