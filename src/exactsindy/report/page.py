"""What the HTML page shows, section by section, as plain records for the template."""

from __future__ import annotations

import base64
import io
import math
import platform
from collections.abc import Iterator
from typing import Any

import numpy as np

from exactsindy import __version__
from exactsindy.data import Field
from exactsindy.model import to_mathml
from exactsindy.report import figures
from exactsindy.report.curves import path_curves
from exactsindy.report.field_plot import plot_field
from exactsindy.report.found import Found
from exactsindy.report.replay import replay, replay_field
from exactsindy.report.text import facts, joint_facts, proved, worse
from exactsindy.solver import Status

_RIVALS = 10
_INCLUSION = 10


def page(found: Found) -> dict[str, Any]:
    """Return everything the template needs."""
    field = isinstance(found.data, Field)
    return {
        "version": __version__,
        "equations": to_mathml(found.model.rows, errors=True),
        "text": "\n".join(found.model.equations()),
        "latex": found.model.to_latex(),
        "proved": proved(found),
        "facts": [_equation(found, i) for i in range(len(found.model.rows))],
        "together": list(joint_facts(found)) if found.solution.joint else [],
        "paths": [figures.path_figure(curve) for curve in path_curves(found)],
        "rivals": list(_rivals(found)),
        "inclusion": list(_inclusion(found)),
        "trajectories": None if field else _trajectories(found),
        "fields": _fields(found) if field else None,
        "data": _data(found),
        "warnings": [notice.message for notice in found.warnings],
        "reproduce": _reproduce(found),
    }


def _equation(found: Found, i: int) -> dict[str, Any]:
    solution, row = found.solution, found.model.rows[i]
    joint = solution.joint
    entry = 0 if joint else i
    choice = found.selection.choices[entry]
    return {
        "name": row.name,
        "proved": solution.status[entry] is Status.OPTIMAL,
        "sentences": list(facts(found, i)),
        "confidence": None if math.isnan(choice.confidence) else round(100 * choice.confidence),
        "numbers": {
            "squared residual": f"{solution.objective[entry]:.8g}",
            "proved lower bound": f"{solution.lower_bound[entry]:.8g}",
            "gap": f"{solution.gap[entry]:.1e}",
            "nodes searched": f"{int(solution.nodes[entry]):,}",
            "rows from": choice.variant or "the form given",
        },
    }


def _rivals(found: Found) -> Iterator[dict[str, Any]]:
    if found.pool is None:
        return
    for target, members in found.pool.members.items():
        if len(members) < 2:
            continue
        best = set(members[0].terms)
        yield {
            "equation": f"{target}, {len(best)} term{'' if len(best) == 1 else 's'}",
            "complete": found.pool.complete[target],
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


def _inclusion(found: Found) -> Iterator[dict[str, Any]]:
    for row in found.model.rows:
        shares = found.selection.inclusion.get(row.name) or {}
        ranked = sorted(shares.items(), key=lambda item: -item[1])[:_INCLUSION]
        if ranked:
            kept = {term.name for term in row.terms}
            bars = [{"term": t, "percent": round(100 * s), "kept": t in kept} for t, s in ranked if s >= 0.005]
            yield {"equation": row.name, "bars": bars}


def _trajectories(found: Found) -> dict[str, Any]:
    runs = replay(found.model, found.data)  # type: ignore[arg-type]
    several = len(runs) > 1
    fits, residuals = [], []
    for run in runs:
        for figure, column in ((figures.fit_figure, j) for j in range(len(run.names))):
            fits.append(_labelled(figure(run, column), run.label, several))
        for row in range(len(run.rate_names)):
            if np.isfinite(run.predicted[:, row]).any():
                residuals.append(_labelled(figures.residual_figure(run, row), run.label, several))
    return {
        "fits": fits,
        "phase": figures.phase_figure(runs) if len(runs[0].names) > 1 else None,
        "residuals": residuals,
        "problems": list(dict.fromkeys(run.problem for run in runs if run.problem)),
        "shown": len(runs),
        "total": len(found.data),  # type: ignore[arg-type]
    }


def _labelled(figure: figures.Figure, label: str, several: bool) -> figures.Figure:
    return {**figure, "title": f"{figure['title']}, trajectory {label}"} if several else figure


def _fields(found: Found) -> dict[str, Any]:
    data = found.data
    assert isinstance(data, Field)
    run, problem = replay_field(found.model, data)
    images = []
    for name in data.names:
        pictures = [("measured", _png(data, name))]
        if run is not None and run.success:
            pictures.append(("simulated from the first time", _png(run.field(), name)))
        images.append({"name": name, "pictures": pictures})
    return {"images": images, "problem": problem}


def _png(data: Field, name: str) -> str:
    buffer = io.BytesIO()
    plot_field(data, name=name).figure.savefig(buffer, format="png", dpi=110)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _data(found: Found) -> dict[str, str]:
    data = found.data
    if isinstance(data, Field):
        size = " x ".join(f"{dim} {n}" for dim, n in zip(data.dims, data.shape, strict=True))
        span = f"{data.times[0]:g} to {data.times[-1]:g}"
    else:
        size = f"{data.n_samples:,} in {len(data)} trajector{'y' if len(data) == 1 else 'ies'}"
        span = f"{min(m.times[0] for m in data):g} to {max(m.times[-1] for m in data):g}"
    rows = {"states": ", ".join(data.state_names), "samples": size, "time": span}
    if data.control_names:
        rows["controls"] = ", ".join(data.control_names)
    counts = dict.fromkeys(len(found.problem.locate(i)[0].terms) for i in range(len(found.problem.target_names)))
    rows["candidate terms"] = " / ".join(map(str, counts))
    rows["SHA-256 of the data"] = data.fingerprint
    return rows


def _reproduce(found: Found) -> dict[str, str]:
    return {
        **found.arguments,
        "chosen by": str(found.selection.rule),
        "regression (SHA-256)": found.problem.fingerprint,
        "exactsindy": __version__,
        "numpy": np.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
    }
