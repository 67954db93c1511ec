"""Drawn laws outside polynomials: how often the default finds them, beside the polynomial answer.

Every law is simulated from drawn parameters, with normal noise on every state. An equation is right if its terms, their
coefficients and inner constants fitted to the exact rates, leave nothing but rounding, and not without one of them.
"""

from __future__ import annotations

import json
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

# Confidence above which an answer is called sure.
_SURE = 0.5


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
            }
        )
    return rows


def measure(
    log: Path, seeds: Iterable[int], noise: float, seconds: float, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Run what the log does not have yet; every equation is a line of it."""
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {(row["seed"], row["noise"], row["library"]) for row in rows}
    log.parent.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
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

    def part(family: str | None, library: str, outside: bool) -> list[dict[str, Any]]:
        return [
            row
            for row in rows
            if row["library"] == library and row["outside"] is outside and family in (None, row["family"])
        ]

    def right(family: str | None, library: str, outside: bool) -> str:
        own = part(family, library, outside)
        return f"{sum(row['right'] for row in own)} of {len(own)}" if own else "-"

    def sure(family: str | None, library: str) -> str:
        own = [row for row in part(family, library, True) if (row["confidence"] or 0) > _SURE]
        return f"{len(own)}, {sum(not row['right'] for row in own)} wrong" if own else "0"

    names = [*dict.fromkeys(row["family"] for row in rows if row["outside"]), None]
    libraries = ("auto", "polynomials")
    lines = [
        [name or "all", *(cell for library in libraries for cell in (right(name, library, True), sure(name, library)))]
        + [right(name, library, False) for library in libraries]
        for name in names
    ]
    head = ["family", "auto: right", "sure", "polynomials: right", "sure", "inside: auto", "inside: polynomials"]
    noises = ", ".join(f"{100 * noise:g} %" for noise in dict.fromkeys(row["noise"] for row in rows))
    every = sorted({row["seed"] for row in rows})
    seeds = f"{every[0]} to {every[-1]}" if every else "none"
    grown = [row for row in rows if row["library"] == "auto" and (row["confidence"] or 0) > _SURE and row["tried"]]
    wrong = sum(not row["right"] for row in grown)
    return f"""# Laws outside polynomials, with the default library

{__doc__}
Noise {noises}, laws of seeds {seeds}. *auto* is the default call, *polynomials* the same with polynomials alone; *sure*
are answers with a confidence above {100 * _SURE:g} %. Equations outside polynomials of degree 3 come first, then those
of the same systems inside them.

{table(head, lines)}

Of {len(grown)} equations with a grown library and a confidence above {100 * _SURE:g} %, {wrong} are wrong.

Machine: {where}
"""
