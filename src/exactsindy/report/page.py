"""A discovery as one HTML file that needs nothing else: no network, no server, no installed package."""

from __future__ import annotations

import base64
import gzip
import io
import json
import math
import os
import platform
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy import __version__
from exactsindy._atomic import write_atomically
from exactsindy._optional import optional
from exactsindy.data import Field
from exactsindy.model import percent, to_mathml, with_error
from exactsindy.plots import DiscoveryLike, path_curves, replay, replay_field, worse
from exactsindy.plots import field as plot_field
from exactsindy.report import figures
from exactsindy.report.text import facts, joint_facts, proved
from exactsindy.solver import Status

# Most rows of the tables of rivals and of inclusion probabilities, and the smallest probability shown.
_RIVALS = 10
_INCLUSION = 10
_LEAST_SHARE = 0.005


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
    template = environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    write_atomically(path, template.render(title=title, plotly=_plotly(), **_page(result)))
    return Path(path)


@cache
def _plotly() -> str:
    """Return Plotly's JavaScript, compressed: the browser unpacks it, which saves two thirds of the file."""
    source: str = optional("plotly.offline", "report", "The HTML report").get_plotlyjs()
    return base64.b64encode(gzip.compress(source.encode("utf-8"), 9, mtime=0)).decode("ascii")


def _page(result: DiscoveryLike) -> dict[str, Any]:
    """Return what the template shows, section by section, as plain records."""
    field = isinstance(result.data, Field)
    return {
        "version": __version__,
        "equations": to_mathml(result.model.rows, errors=True),
        "text": "\n".join(result.model.equations()),
        "latex": result.model.to_latex(),
        "proved": proved(result),
        "doubts": list(_doubts(result)),
        "facts": [_equation(result, i) for i in range(len(result.model.rows))],
        "together": list(joint_facts(result)) if result.solution.joint else [],
        "paths": [figures.path_figure(curve) for curve in path_curves(result)],
        "rivals": list(_rivals(result)),
        "inclusion": list(_inclusion(result)),
        "trajectories": None if field else _trajectories(result),
        "fields": _fields(result) if field else None,
        "data": _data(result),
        "warnings": [notice.message for notice in result.warnings],
        "reproduce": _reproduce(result),
    }


def _doubts(result: DiscoveryLike) -> Iterator[str]:
    """Yield what is said about the equations that are not identified, if the terms shown are those selected."""
    if result.solution.support == result.selection.solution.support:
        yield from (f"{c.equation}: {c.words()}." for c in result.selection.choices if not c.identified)


def _equation(result: DiscoveryLike, i: int) -> dict[str, Any]:
    solution, row = result.solution, result.model.rows[i]
    entry = 0 if solution.joint else i
    choice = result.selection.choices[entry]
    return {
        "name": row.name,
        "proved": solution.status[entry] is Status.OPTIMAL,
        "sentences": list(facts(result, i)),
        "terms": list(_terms(result, i)),
        "confidence": None if math.isnan(choice.confidence) else round(100 * choice.confidence),
        "numbers": {
            "squared residual": f"{solution.objective[entry]:.8g}",
            "proved lower bound": f"{solution.lower_bound[entry]:.8g}",
            "gap": f"{solution.gap[entry]:.1e}",
            "nodes searched": f"{int(solution.nodes[entry]):,}",
            "rows from": choice.variant or "the form given",
        },
    }


def _terms(result: DiscoveryLike, i: int) -> Iterator[dict[str, str]]:
    """Yield coefficient, standard error and share of each term."""
    row = result.model.rows[i]
    for n, (value, term) in enumerate(row.parts):
        pair = None if row.standard_errors is None else with_error(value, row.standard_errors[n])
        yield {
            "name": term.name,
            "coefficient": f"{value:.6g}" if pair is None else pair[0],
            "error": "fixed" if row.is_fixed(n) else "-" if pair is None else pair[1],
            "share": percent(result.shares[row.name][term.name]),
        }


def _rivals(result: DiscoveryLike) -> Iterator[dict[str, Any]]:
    if result.pool is None:
        return
    for target, members in result.pool.members.items():
        if len(members) < 2:
            continue
        best = set(members[0].terms)
        yield {
            "equation": f"{target}, {len(best)} term{'' if len(best) == 1 else 's'}",
            "complete": result.pool.complete[target],
            "rows": [
                {
                    "rank": rank,
                    "worse": worse(member.excess),
                    "terms": ", ".join(f"{value:.4g} {name}" for name, value in member.terms.items()),
                    "change": _change(best, set(member.terms)),
                }
                for rank, member in enumerate(members[:_RIVALS], 1)
            ],
        }


def _change(best: set[str], other: set[str]) -> str:
    lost, new = sorted(best - other), sorted(other - best)
    return f"{', '.join(new)} instead of {', '.join(lost)}" if lost else "the best"


def _inclusion(result: DiscoveryLike) -> Iterator[dict[str, Any]]:
    for row in result.model.rows:
        shares = result.selection.inclusion.get(row.name) or {}
        ranked = sorted(shares.items(), key=lambda item: -item[1])[:_INCLUSION]
        if ranked:
            kept = {term.name for term in row.terms}
            bars = [{"term": t, "percent": round(100 * s), "kept": t in kept} for t, s in ranked if s >= _LEAST_SHARE]
            yield {"equation": row.name, "bars": bars}


def _trajectories(result: DiscoveryLike) -> dict[str, Any]:
    runs = replay(result.model, result.data)  # type: ignore[arg-type]
    several = len(runs) > 1
    fits, residuals = [], []
    for run in runs:
        fits += [_labelled(figures.fit_figure(run, j), run.label, several) for j in range(len(run.names))]
        for row in range(len(run.rate_names)):
            if np.isfinite(run.predicted[:, row]).any():
                residuals.append(_labelled(figures.residual_figure(run, row), run.label, several))
    return {
        "fits": fits,
        "phase": figures.phase_figure(runs) if len(runs[0].names) > 1 else None,
        "residuals": residuals,
        "problems": list(dict.fromkeys(run.problem for run in runs if run.problem)),
        "shown": len(runs),
        "total": len(result.data),  # type: ignore[arg-type]
    }


def _labelled(figure: figures.Figure, label: str, several: bool) -> figures.Figure:
    return {**figure, "title": f"{figure['title']}, trajectory {label}"} if several else figure


def _fields(result: DiscoveryLike) -> dict[str, Any]:
    data = result.data
    assert isinstance(data, Field)
    run, problem = replay_field(result.model, data)
    images = []
    for name in data.names:
        pictures = [("measured", _png(data, name))]
        if run is not None and run.success:
            pictures.append(("simulated from the first time", _png(run.field(), name)))
        images.append({"name": name, "pictures": pictures})
    return {"images": images, "problem": problem}


def _png(data: Field, name: str) -> str:
    buffer = io.BytesIO()
    plot_field(data, name=name).figure.savefig(buffer, format="png", dpi=110)  # type: ignore[union-attr]
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _data(result: DiscoveryLike) -> dict[str, str]:
    data = result.data
    if isinstance(data, Field):
        size = " x ".join(f"{dim} {n}" for dim, n in zip(data.dims, data.shape, strict=True))
        span = f"{data.times[0]:g} to {data.times[-1]:g}"
    else:
        size = f"{data.n_samples:,} in {len(data)} trajector{'y' if len(data) == 1 else 'ies'}"
        span = f"{min(m.times[0] for m in data):g} to {max(m.times[-1] for m in data):g}"
    rows = {"states": ", ".join(data.state_names), "samples": size, "time": span}
    if data.control_names:
        rows["controls"] = ", ".join(data.control_names)
    counts = dict.fromkeys(len(result.problem.locate(i)[0].terms) for i in range(len(result.problem.target_names)))
    rows["candidate terms"] = " / ".join(map(str, counts))
    rows["SHA-256 of the data"] = data.fingerprint
    return rows


def _reproduce(result: DiscoveryLike) -> dict[str, str]:
    return {
        **result.arguments,
        "chosen by": str(result.selection.rule),
        "regression (SHA-256)": result.problem.fingerprint,
        "exactsindy": __version__,
        "numpy": np.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
    }
