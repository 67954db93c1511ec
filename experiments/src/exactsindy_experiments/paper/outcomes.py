"""From a chosen model to a result row."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field, Trajectories
from exactsindy.discovery import discover
from exactsindy.library import Library
from exactsindy.solver import Settings, Status
from exactsindy_experiments.paper import exact, scoring
from exactsindy_experiments.paper.exact import Fit
from exactsindy_experiments.paper.records import Outcome

Array = NDArray[np.float64]

#: Limit of one `discover` of the protocol `ours`, its default.
OURS_SECONDS = 60.0
# Errors beyond all doubles are kept as this number: JSON and SQL have no infinity.
_HUGE = 1e300


def outcome(fit: Fit, truth: Array, names: Sequence[str], targets: Sequence[str], **known: Any) -> Outcome:
    """Return the result row of a fit: its distance from the truth and what else is known."""
    model = {
        target: {names[int(j)]: float(row[j]) for j in np.flatnonzero(row)}
        for target, row in zip(targets, fit.coef, strict=True)
    }
    values: dict[str, Any] = {
        "terms": len(names),
        **scoring.compare(truth, fit.coef),
        "proved": fit.proved,
        "gap": fit.gap,
        "margin": fit.margin,
        "choice": json.dumps(fit.choice),
        "model": json.dumps(model),
        **known,
    }
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            values[name] = None if math.isnan(value) else math.copysign(_HUGE, value)
    return Outcome(**values)


def ours(
    data: Trajectories | Field, library: Library, names: Sequence[str], truth: Array, **options: Any
) -> tuple[Fit, dict[str, Any]]:
    """Return what `discover` finds by default, its time, and whether its rows give the truth at the true sizes."""
    settings = Settings(seconds=OURS_SECONDS, threads=1)
    started = time.perf_counter()
    found = discover(data, library=library, settings=settings, **options)
    seconds = time.perf_counter() - started
    columns = [found.problem.names.index(name) for name in names]
    choices = found.selection.choices
    choice = {
        "k": [c.k for c in choices],
        "preparation": [c.variant for c in choices],
        "score": [round(c.score, 3) for c in choices],
    }
    proof = exact.evidence((found.solution, i) for i in range(len(found.solution.status)))
    fit = Fit(found.solution.coef[:, columns], choice, **proof)
    ceiling = None
    if not options.get("constraints"):
        best = found.selection.path.at(np.count_nonzero(truth, axis=1).tolist())
        if all(status is Status.OPTIMAL for status in best.status):
            ceiling = bool(((best.coef[:, columns] != 0) == (truth != 0)).all())
    return fit, {"seconds": seconds, "exact_at_true_k": ceiling}
