"""Drawn laws outside polynomials: how often the default finds them, beside the polynomial answer.

Every law is simulated from drawn parameters, with normal noise on every state. An equation is right if its terms, their
coefficients and inner constants fitted to the exact rates, leave nothing but rounding, and not without one of them.
"""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import exactsindy as es
from exactsindy.errors import ExactSindyError
from exactsindy_experiments.drawn_laws import DrawnLaw, drawn_law
from exactsindy_experiments.pages import table
from exactsindy_experiments.structure_check import is_law

_NOTE = """
The laws shown were drawn after the last change of a rule. On laws of 11 other seeds with noise of 1 %, 5 equations of
genes and one of predators were wrong with 91 % or more: long sums and quotients imitated them to within the noise.
Since then answers of a grown library with more than four numbers keep a quarter of their confidence, other families and
rational laws that fit nearly as well are counted, and an equation is no surer because another one was grown. Rows were
measured one family after the other until time ran out; the families that are missing were not left out for their
results.
"""
# Confidence from which an answer is called sure, and the confidences that are tabulated together.
_SURE = 0.9
_STATED = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.01)


def run(law: DrawnLaw, noise: float, seconds: float, library: str) -> list[dict[str, Any]]:
    """Return a row for every equation outside polynomials; ``library`` is "auto" or "polynomials"."""
    data = law.measured(noise)
    start = time.process_time()
    given = law.library if library == "polynomials" else "auto"
    found = es.discover(data, library=given, seconds=seconds, threads=1)
    spent = round(time.process_time() - start, 2)
    states = np.vstack([member.states for member in law.members])
    rows = []
    for i, row in enumerate(found.model.rows):
        outside = law.truth[row.name] is None
        solved = bool(row.terms) and is_law(row.terms, states, law.members[0].names, law.rates[:, i])
        rows.append(
            {
                "seed": law.seed,
                "family": law.family,
                "kind": law.kind,
                "equation": row.name,
                "outside": outside,
                "noise": noise,
                "library": library,
                "right": solved,
                "found": found.model.equations(4)[i],
                "confidence": found.confidence[row.name],
                "tried": [line for line in found.tried if line.startswith(row.name)],
                "cpu_seconds": spent,
                "limited": any(notice.kind == "limit" for notice in found.warnings),
            }
        )
    return rows


def measure(
    log: Path, seeds: Sequence[int], noises: Iterable[float], seconds: float, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Run what the log does not have yet; every equation is a line of it."""
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {(row["seed"], row["noise"], row["library"]) for row in rows}
    log.parent.mkdir(parents=True, exist_ok=True)
    for noise, seed in itertools.product(noises, seeds):
        for library in ("polynomials", "auto"):
            if (seed, noise, library) in done:
                continue
            try:
                new = run(drawn_law(seed), noise, seconds, library)
            except ExactSindyError as error:
                say(f"seed {seed}: {error}")
                continue
            with log.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in new)
            rows += new
            for row in new:
                say(f"{row['family']} {seed} {library}: {'right' if row['right'] else 'wrong'}: {row['found']}")
    return rows


def page(rows: Sequence[dict[str, Any]], where: str) -> str:
    """Return the page of the benchmark."""
    noises = sorted({row["noise"] for row in rows})
    every = sorted({row["seed"] for row in rows})
    seeds = f"{every[0]} to {every[-1]}" if every else "none"
    halves = " and ".join(
        name for name, odd in (("tuning", 0), ("reporting", 1)) if any(seed % 2 == odd for seed in every)
    )
    parts = "\n".join(_noise_part([row for row in rows if row["noise"] == noise], noise) for noise in noises)
    limited = sum(bool(row.get("limited")) for row in rows)
    return f"""# Laws outside polynomials, with the default library

{__doc__}
`exactsindy bench families` writes this page; every call is in `families.jsonl`. Laws of seeds {seeds}, {halves} half:
{len({(row["seed"], row["noise"]) for row in rows})} data sets. *Default* is `discover(data)`, which grows its library;
*cubics* is `library=Polynomials(3)`, which does not hold these equations, so that its answer can say that it is not
sure, but cannot be right. *Sure* are answers with a confidence of {100 * _SURE:g} % or more, *none* those whose
confidence is withheld.
{limited} equations come from a call that its time limit cut short.
{_NOTE}
{_totals(rows, noises)}
{_stated(rows)}
{parts}
Machine: {where}
"""


def _of(rows: Sequence[dict[str, Any]], library: str, *, outside: bool) -> list[dict[str, Any]]:
    return [row for row in rows if row["library"] == library and row["outside"] is outside]


def _right(rows: Sequence[dict[str, Any]]) -> str:
    return f"{sum(row['right'] for row in rows)} of {len(rows)}" if rows else "-"


def _sure(rows: Sequence[dict[str, Any]]) -> str:
    sure = [row for row in rows if (row["confidence"] or 0) >= _SURE]
    return f"{len(sure)}, {sum(not row['right'] for row in sure)} wrong" if sure else "0"


def _none(rows: Sequence[dict[str, Any]]) -> int:
    return sum(row["confidence"] is None for row in rows)


def _seconds(rows: Sequence[dict[str, Any]], library: str) -> str:
    """Return the median CPU time of a call."""
    calls = {(row["seed"], row["noise"]): row["cpu_seconds"] for row in rows if row["library"] == library}
    return f"{statistics.median(calls.values()):.2g}" if calls else "-"


_HEAD = (
    *("default: right", "default: sure", "default: none", "cubics: sure", "cubics: none"),
    *("inside: default", "inside: cubics", "CPU s: default", "CPU s: cubics"),
)


def _cells(rows: Sequence[dict[str, Any]]) -> list[object]:
    auto, cubic = (_of(rows, library, outside=True) for library in ("auto", "polynomials"))
    inside = [_right(_of(rows, library, outside=False)) for library in ("auto", "polynomials")]
    seconds = [_seconds(rows, library) for library in ("auto", "polynomials")]
    return [_right(auto), _sure(auto), _none(auto), _sure(cubic), _none(cubic), *inside, *seconds]


def _totals(rows: Sequence[dict[str, Any]], noises: Sequence[float]) -> str:
    lines = [[f"{100 * noise:g} %", *_cells([row for row in rows if row["noise"] == noise])] for noise in noises]
    text = "Equations outside cubics come first, then those of the same systems inside them, then the median CPU time."
    return f"{text}\n\n{table(['noise', *_HEAD], lines)}"


def _stated(rows: Sequence[dict[str, Any]]) -> str:
    """Return how often what the default says of equations outside cubics is right, by the confidence stated."""
    auto, lines = _of(rows, "auto", outside=True), []
    for low, high in itertools.pairwise(_STATED):
        own = [row for row in auto if row["confidence"] is not None and low <= row["confidence"] < high]
        if own:
            stated = statistics.fmean(row["confidence"] for row in own)
            span = f"{100 * low:g} to {min(100 * high, 100):g} %"
            lines.append([span, len(own), f"{100 * stated:.0f} %", _right(own)])
    silent = [row for row in auto if row["confidence"] is None]
    lines += [["none", len(silent), "-", _right(silent)]] if silent else []
    head = ["confidence of the default", "equations", "mean stated", "right"]
    return table(head, lines)


def _noise_part(rows: Sequence[dict[str, Any]], noise: float) -> str:
    names = list(dict.fromkeys(row["family"] for row in rows))
    lines = [[name, *_cells([row for row in rows if row["family"] == name])] for name in names]
    wrong = [row for row in rows if (row["confidence"] or 0) >= _SURE and not row["right"] and row["library"] == "auto"]
    listed = "".join(f"- {row['family']}, seed {row['seed']}: `{row['found']}`\n" for row in wrong)
    said = f"\nWrong, with a confidence of {100 * _SURE:g} % or more, by default:\n\n{listed}" if wrong else ""
    return f"## Noise {100 * noise:g} %\n\n{table(['family', *_HEAD], lines)}{said}"
