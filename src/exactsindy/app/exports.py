"""What leaves the page: the report, the equations for other programs, the run folder, each as the bytes of a file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from exactsindy._atomic import scratch_folder
from exactsindy.discovery import Discovery


@dataclass(frozen=True)
class Export:
    """A file to download: its name, its kind for the browser, and its bytes."""

    name: str
    media_type: str
    content: bytes


def report(found: Discovery, title: str) -> Export:
    """Return the report, one HTML page that needs nothing else."""
    with scratch_folder() as folder:
        path = found.report(folder / "report.html", title=f"Governing equations of {title}")
        return Export("report.html", "text/html", path.read_bytes())


def latex(found: Discovery) -> Export:
    """Return the equations in LaTeX."""
    return Export("equations.tex", "text/plain", (found.model.to_latex() + "\n").encode())


def python(found: Discovery) -> Export:
    """Return the right-hand sides as a Python function."""
    return Export("model.py", "text/plain", (found.model.to_python() + "\n").encode())


def model(found: Discovery) -> Export:
    """Return the model as a JSON file that `Model.load` reads."""
    with scratch_folder() as folder:
        path = folder / "model.json"
        found.model.save(path)
        return Export("model.json", "application/json", path.read_bytes())


def run_folder(found: Discovery, title: str) -> Export:
    """Return the run folder as a zip file: what ``exactsindy verify`` and ``exactsindy report`` read."""
    buffer = io.BytesIO()
    with scratch_folder() as folder:
        place = found.save(folder / "run", about={"file": title})
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(place.rglob("*")):
                if path.is_file():
                    archive.write(path, Path("run") / path.relative_to(place))
    return Export("run.zip", "application/zip", buffer.getvalue())


#: The exports of an answer by the words on their buttons: (answer shown, answer of the search, title) -> file.
EXPORTS: Mapping[str, Callable[[Discovery, Discovery, str], Export]] = {
    "Report (HTML)": lambda shown, selected, title: report(shown, title),
    "LaTeX": lambda shown, selected, title: latex(shown),
    "Python": lambda shown, selected, title: python(shown),
    "Model (JSON)": lambda shown, selected, title: model(shown),
    "Run folder (zip)": lambda shown, selected, title: run_folder(selected, title),
}
