"""A discovery as one HTML file that needs nothing else: no network, no server, no installed package."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import math
import os
import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy import __version__
from exactsindy._atomic import write_atomically
from exactsindy._optional import optional
from exactsindy.data import Field, Trajectories
from exactsindy.errors import DataError, listed
from exactsindy.library import mathml_target, mathml_term
from exactsindy.model import Model, percent, to_wrapping_mathml, with_error
from exactsindy.plots import (
    DiscoveryLike,
    path_curves,
    predictions,
    replay,
    replay_field,
    residual_series,
    step_pairs,
    worse,
)
from exactsindy.report import figures
from exactsindy.report.field_figures import field_figures
from exactsindy.report.text import facts, joint_facts, proved
from exactsindy.report.typesetting import typesetter
from exactsindy.report.verdict import HEADS, Verdict, is_proved, table, verdicts
from exactsindy.report.warnings_shown import messages

# Most rows of the tables of rivals and of inclusion probabilities, and the smallest probability shown.
_RIVALS = 10
_INCLUSION = 10
_LEAST_SHARE = 0.005
# Steps ahead at which predictions of maps are scored.
_AHEAD = (1, 2, 4, 8)


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
        "verdicts": [_verdict(result, i, verdict) for i, verdict in enumerate(verdicts(result))],
        "heads": astuple(HEADS),
        "lines": list(_lines(result)),
        "text": "\n".join(result.model.equations()),
        "latex": result.model.to_latex(),
        "proved": proved(result),
        "facts": [_equation(result, i) for i in range(len(result.model.rows))],
        "together": list(joint_facts(result)) if result.solution.joint else [],
        "paths": [figures.path_figure(curve) for curve in path_curves(result)],
        "rivals": list(_rivals(result)),
        "inclusion": list(_inclusion(result)),
        "trajectories": None if field else _trajectories(result),
        "fields": _fields(result) if field else None,
        "data": _data(result),
        "warnings": list(messages(result.warnings)),
        "reproduce": _reproduce(result),
    }


def _verdict(result: DiscoveryLike, i: int, verdict: Verdict) -> dict[str, str]:
    equation = to_wrapping_mathml(result.model.rows[i]) if verdict.text else ""
    # Where the sentence begins with the label, the label is not said before it again.
    word = verdict.label.partition(",")[0]
    word = word if verdict.claim.lower().startswith(word) else ""
    return {
        **asdict(verdict),
        "equation": equation,
        "lead": verdict.claim[: len(word)],
        "rest": verdict.claim[len(word) :],
    }


def _lines(result: DiscoveryLike) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table of all equations, with the shares of their terms."""
    for row, line, verdict in zip(result.model.rows, table(result), verdicts(result), strict=True):
        shares = [(mathml_term(term), percent(result.shares[row.name][term.name])) for term in row.terms]
        name, cells = mathml_target(line.equation), astuple(line)[1:]
        yield {"name": name, "cells": cells, "tone": verdict.tone, "shares": shares}


def _equation(result: DiscoveryLike, i: int) -> dict[str, Any]:
    solution, row = result.solution, result.model.rows[i]
    entry = 0 if solution.joint else i
    choice = result.selection.choices[entry]
    return {
        "name": mathml_target(row.name),
        "proved": is_proved(result, i),
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
            "name": mathml_term(term),
            "coefficient": f"{value:.6g}" if pair is None else pair[0],
            "error": "fixed" if row.is_fixed(n) else "-" if pair is None else pair[1],
            "share": percent(result.shares[row.name][term.name]),
        }


def _rivals(result: DiscoveryLike) -> Iterator[dict[str, Any]]:
    if result.pool is None:
        return
    typeset = typesetter(result)
    for target, members in result.pool.members.items():
        if len(members) < 2:
            continue
        best = set(members[0].terms)
        yield {
            "equation": f"{mathml_target(target)}, {len(best)} term{'' if len(best) == 1 else 's'}",
            "complete": result.pool.complete[target],
            "rows": [
                {
                    "rank": rank,
                    "worse": worse(member.excess),
                    "terms": ", ".join(_product(value, name, typeset) for name, value in member.terms.items()),
                    "change": _change(best, set(member.terms), typeset),
                }
                for rank, member in enumerate(members[:_RIVALS], 1)
            ],
        }


def _product(value: float, name: str, typeset: Callable[[str], str]) -> str:
    """Return a coefficient times its term; a constant stands alone."""
    return f"{value:.4g}" if name == "1" else f"{value:.4g} {typeset(name)}"


def _change(best: set[str], other: set[str], typeset: Callable[[str], str]) -> str:
    lost, new = (
        ", ".join("constant" if name == "1" else typeset(name) for name in sorted(names))
        for names in (best - other, other - best)
    )
    return f"{new} instead of {lost}" if lost else "the best"


def _inclusion(result: DiscoveryLike) -> Iterator[dict[str, Any]]:
    typeset = typesetter(result)
    for row in result.model.rows:
        shares = result.selection.inclusion.get(row.name) or {}
        ranked = sorted(shares.items(), key=lambda item: -item[1])[:_INCLUSION]
        if ranked:
            kept = {term.name for term in row.terms}
            bars = [
                {"term": "constant" if t == "1" else typeset(t), "percent": round(100 * s), "kept": t in kept}
                for t, s in ranked
                if s >= _LEAST_SHARE
            ]
            yield {"equation": mathml_target(row.name), "bars": bars}


def _trajectories(result: DiscoveryLike) -> dict[str, Any]:
    data: Trajectories = result.data  # type: ignore[assignment]
    if result.model.is_map:
        return _steps(result.model, data)
    runs, again = replay(result.model, data), predictions(result.model, data)
    several = len(runs) > 1
    fits = [
        _labelled(figures.fit_figure(run, j, again if not several else None), run.label, several)
        for run in runs
        for j in range(len(run.names))
    ]
    series = residual_series(result.model, data)
    return {
        "fits": fits,
        "phase": figures.phase_figure(runs) if len(runs[0].names) > 1 else None,
        "residuals": [draw(one) for one in series for draw in (figures.residual_figure, figures.correlation_figure)],
        "problems": list(dict.fromkeys(run.problem for run in runs if run.problem)),
        "horizon": "" if again is None else again.sentence(),
        "shown": len(runs),
        "total": len(data),
    }


def _steps(model: Model, data: Trajectories) -> dict[str, Any]:
    """Return what is shown of a map: next samples against present ones, and how far ahead it predicts."""
    ahead = []
    for horizon in _AHEAD:
        with contextlib.suppress(DataError):  # the data are too short, or a state has no equation
            ahead.append(f"{model.score(data, horizon=horizon):.4g} ({horizon})")
    scores = f"R² of predictions from every sample, by the number of steps ahead: {', '.join(ahead)}." if ahead else ""
    return {
        "map": True,
        "fits": [figures.step_figure(pair) for pair in step_pairs(model, data)],
        "phase": None,
        "residuals": [],
        "problems": [],
        "horizon": scores,
        "shown": len(data),
        "total": len(data),
    }


def _labelled(figure: figures.Figure, label: str, several: bool) -> figures.Figure:
    return {**figure, "title": f"{figure['title']}, trajectory {label}"} if several else figure


def _fields(result: DiscoveryLike) -> dict[str, Any]:
    data = result.data
    assert isinstance(data, Field)
    run, problem = replay_field(result.model, data)
    simulated = run.field() if run is not None and run.success else None
    drawn = [figure for name in data.names for figure in field_figures(data, simulated, name)]
    return {"figures": drawn, "problem": problem}


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
    if isinstance(data, Trajectories) and data.parameter_names:
        rows["parameters"] = "; ".join(
            f"{name} = {listed(f'{value:g}' for value in v)}" for name, v in data.parameters.items()
        )
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
