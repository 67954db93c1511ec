"""Makes the pictures of README and docs: ``python docs/pictures.py`` (the screenshot needs Chromium).

result.png: the Lorenz discovery as README shows it. report.png: the top of its report in a browser.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import exactsindy as es
from exactsindy.datasets import dataset

IMAGES = Path(__file__).parent / "images"


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


def screenshot(page: Path, path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("No Chromium: report.png is left as it is.")
        return
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
        size = ["--window-size=1000,1150", "--virtual-time-budget=20000", f"--screenshot={path}"]
        subprocess.run([browser, *options, *size, page.as_uri()], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    discovery = es.discover(dataset("lorenz"), library=es.Polynomials(5), k_max=6)
    result(discovery, IMAGES / "result.png")
    with tempfile.TemporaryDirectory() as folder:
        screenshot(discovery.report(Path(folder) / "report.html", title="Lorenz system"), IMAGES / "report.png")
    print(*sorted(file.name for file in IMAGES.iterdir()))
