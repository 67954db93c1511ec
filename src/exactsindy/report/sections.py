"""What the page shows, section by section, as plain records."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple
from typing import Any

import numpy as np

from exactsindy import __version__
from exactsindy.data import Field
from exactsindy.library import mathml_target, mathml_term
from exactsindy.model import percent, to_wrapping_mathml, with_error
from exactsindy.plots import DiscoveryLike, path_curves, worse
from exactsindy.report import figures
from exactsindy.report.data_sections import data_section, fields_section, trajectories_section
from exactsindy.report.summary_table import HEADS, table
from exactsindy.report.text import facts, joint_facts, proved
from exactsindy.report.typesetting import typesetter
from exactsindy.report.verdict import Verdict, is_proved, verdicts
from exactsindy.report.warnings_shown import messages

# Most rows of the tables of rivals and of inclusion probabilities, and the smallest probability shown.
_RIVALS = 10
_INCLUSION = 10
_LEAST_SHARE = 0.005


def sections(result: DiscoveryLike) -> dict[str, Any]:
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
        "trajectories": None if field else trajectories_section(result),
        "fields": fields_section(result) if field else None,
        "data": data_section(result),
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


def _reproduce(result: DiscoveryLike) -> dict[str, str]:
    return {
        **result.arguments,
        "chosen by": str(result.selection.rule),
        "regression (SHA-256)": result.problem.fingerprint,
        "exactsindy": __version__,
        "numpy": np.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
    }
