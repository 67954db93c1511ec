"""A discovery as one HTML file that needs nothing else: no network, no server, no installed package."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from exactsindy._atomic import write_atomically
from exactsindy._optional import optional
from exactsindy.plots import DiscoveryLike
from exactsindy.report.sections import sections


def report(result: DiscoveryLike, path: str | os.PathLike[str], *, title: str = "Governing equations") -> Path:
    """Write a discovery as one self-contained HTML page: equations, proof, path, rivals, fit, data checks.

    Parameters
    ----------
    result
        A `Discovery`.
    path
        The file; it is written under another name first, so that no reader sees half of it.
    title
        Heading of the page.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    MissingDependency
        If jinja2, plotly or matplotlib are absent.
    DataError
        If the folder cannot be written to.

    Examples
    --------
    >>> import numpy as np, exactsindy as es, tempfile, pathlib
    >>> t = np.arange(0.0, 10.0, 0.05)
    >>> found = es.discover(np.column_stack([np.cos(t), -np.sin(t)]), time=t, states=("x", "v"))
    >>> file = report(found, pathlib.Path(tempfile.mkdtemp()) / "report.html")
    >>> "Proved" in file.read_text(encoding="utf-8")
    True
    """
    jinja2 = optional("jinja2", "report", "The HTML report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    # JSON that cannot end the script element it stands in.
    environment.filters["figure"] = lambda figure: jinja2.utils.markupsafe.Markup(
        json.dumps(figure, separators=(",", ":")).replace("<", "\\u003c")
    )
    environment.filters["typeset"] = lambda text: jinja2.utils.markupsafe.Markup(
        re.sub(r"\^(-?\d+)", r"<sup>\1</sup>", str(jinja2.utils.markupsafe.escape(text)))
    )
    template = environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    write_atomically(path, template.render(title=title, plotly=_plotly(), **sections(result)))
    return Path(path)


@cache
def _plotly() -> str:
    """Return Plotly's JavaScript, compressed: the browser unpacks it, which saves two thirds of the file."""
    source: str = optional("plotly.offline", "report", "The HTML report").get_plotlyjs()
    return base64.b64encode(gzip.compress(source.encode("utf-8"), 9, mtime=0)).decode("ascii")
