"""How often rational laws come out right: rows that are kept as they come, and a page of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import exactsindy as es
from exactsindy.errors import ExactSindyError
from exactsindy_experiments.pages import table
from exactsindy_experiments.rational_cases import (
    ATP,
    CURVE,
    FAMILIES,
    fraction_of,
    glycolysis,
    labelled,
    progress_curves,
    same,
    trajectories,
)
from exactsindy_experiments.results import Table

# Noise of each part: shares of the size of derivatives, of the spread of states, and of the state itself.
NOISES = {"labels": (0.0, 0.001, 0.01, 0.05), "trajectories": (0.002, 0.01, 0.02), "curves": (0.02, 0.05, 0.1, 0.2)}
# Shares of the published number of samples of yeast glycolysis.
NOISES["glycolysis"] = (0.005, 0.01, 0.02, 0.05)
# The laws of parts that others have published.
_PUBLISHED = {"curves": ("Michaelis-Menten",), "glycolysis": ("yeast glycolysis, ATP",)}
#: The first seed that was measured with the present rules.
PRESENT = 601
_NOTE = """
Tables are of seeds from 601 on, drawn after the last change of a rule: every denominator is tried on the curve of the
best fit, and the confidence counts all rival laws. What earlier rules gave is one line below each table. A call that
its time limit (300 s) cut short counts as it came out: the machine was shared by many, so that a second of the
processor took ten and more, and the run was ended by hand before activator and Beddington-DeAngelis came. Confidence
is now lower than it need be, most of all with measured derivatives: the shares of differences that it counts were set
on trajectories. All rows are in `rational.csv`. SINDy-PI (read from its figures): Michaelis-Menten right up to sigma
= 0.02; glycolysis with 39 % of the samples, or 8 % if told the denominator.
"""
# Confidence from which an answer counts as certain.
_CERTAIN = 0.9
# Seconds of one call.
SECONDS = 300.0


@dataclass(frozen=True)
class RationalRow:
    """One call of `discover`: whether x' came out with the right terms; ``seconds`` are those of the processor."""

    part: str
    law: str
    noise: float
    seed: int
    right: bool
    ties: bool
    confidence: float
    seconds: float
    equation: str

    @property
    def key(self) -> object:
        """Return what identifies the row."""
        return self.part, self.law, self.noise, self.seed


def cases(parts: Iterable[str], seeds: Iterable[int]) -> Iterator[tuple[str, str, float, int]]:
    """Yield part, law, noise and seed of every case, seed by seed, so that all laws have the same number of draws."""
    for seed in seeds:
        for part in parts:
            laws = {"curves": ("Michaelis-Menten",), "glycolysis": ("yeast glycolysis, ATP",)}.get(
                part, tuple(FAMILIES)
            )
            for law in laws:
                for noise in NOISES[part]:
                    yield part, law, noise, seed


def measure(part: str, law: str, noise: float, seed: int) -> RationalRow:
    """Return the row of one case; an answer that did not come counts as wrong."""
    if part == "curves":
        data, truth = progress_curves(noise, seed), CURVE
        library = es.Rational(es.Polynomials(2), es.Polynomials(2))
    elif part == "glycolysis":
        data, truth = glycolysis(noise, seed), ATP
        library = es.Rational(es.Polynomials(6), es.Polynomials(6))
    else:
        data = labelled(law, noise, seed) if part == "labels" else trajectories(law, noise, seed)
        truth, library = FAMILIES[law].fraction, es.Rational(es.Polynomials(3), es.Polynomials(2))
    begin = time.process_time()
    try:
        found = es.discover(data, library=library, threads=1, seconds=SECONDS)
    except ExactSindyError as error:
        return RationalRow(part, law, noise, seed, False, False, 0.0, time.process_time() - begin, f"failed: {error}")
    seconds = time.process_time() - begin
    name = found.model.rows[0].name
    ties = any(notice.kind == "tie" and notice.equation == name for notice in found.warnings)
    right = same(fraction_of(found, name), truth)
    sure = found.confidence[name]
    text = found.model.equations(4)[0]
    return RationalRow(part, law, noise, seed, right, ties, -1.0 if sure is None else sure, seconds, text)


def run(folder: Path, parts: Iterable[str], seeds: Iterable[int], say: Callable[[str], None]) -> list[RationalRow]:
    """Return the rows of all cases; those in the folder are not measured again."""
    rows = Table(folder / "rational.csv", RationalRow)
    for part, law, noise, seed in cases(list(parts), list(seeds)):
        if rows.find((part, law, noise, seed)) is None:
            row = measure(part, law, noise, seed)
            rows.append(row)
            say(f"{part}, {law}, noise {noise:g}, seed {seed}: {'right' if row.right else row.equation}")
    return list(rows)


def page(rows: list[RationalRow], where: str) -> str:
    """Return the page: right answers by law and noise, and every wrong one."""
    text = "# Rational laws\n\n`exactsindy bench rational` writes this page.\n\nMachine: " + where + "\n\n"
    text += "Right: the terms of numerator and denominator of x' as one fraction, a common monomial cancelled; the\n"
    text += (
        "number of terms is not given. Constants and starts are drawn anew for every seed; rules were fixed on other\n"
    )
    text += "draws.\n" + _NOTE
    titles = {
        "labels": "Measured derivatives: 400 samples, noise as a share of the derivative",
        "trajectories": "Trajectories: 4 x 200 samples, noise as a share of each state's spread; no equation is known",
        "curves": "SINDy-PI's Michaelis-Menten protocol, 120 starts (2,400 there), noise sigma on the state",
        "glycolysis": "Yeast glycolysis, ATP: 1,716 candidates of p and M, as many of D, by the share of samples",
    }
    for part, title in titles.items():
        every = [row for row in rows if row.part == part]
        own = [row for row in every if row.seed >= PRESENT]
        earlier = [row for row in every if row.seed < PRESENT]
        if not every:
            continue
        text += f"\n## {title}\n\n"
        if not own:
            text += f"Not measured with the present rules.\n{_earlier(earlier)}"
            continue
        noises = sorted({row.noise for row in own})
        lines = [
            [law, *(_share([row for row in own if row.law == law and row.noise == noise]) for noise in noises)]
            for law in dict.fromkeys(row.law for row in own)
        ]
        if len(lines) > 1:
            lines.append(["**all**", *(_share([row for row in own if row.noise == noise]) for noise in noises)])
        median = sorted(row.seconds for row in own)[len(own) // 2]
        text += table(["law", *(f"{noise:g}" for noise in noises)], lines)
        text += f"\nProcessor time of a call, median {median:.1f} s (one thread).\n{_earlier(earlier)}"
        wrong = [row for row in own if not row.right]
        if wrong:
            listed = [
                [r.law, f"{r.noise:g}", r.seed, _sure(r), "yes" if r.ties else "no", f"`{r.equation}`"] for r in wrong
            ]
            head = ["law", "noise", "seed", "confidence", "ties named", "answer"]
            text += "\nWrong answers:\n\n" + table(head, listed)
        certain = [row for row in own if row.confidence >= _CERTAIN]
        text += f"\nPrinted with {100 * _CERTAIN:g} % or more: {len(certain)} of {len(own)}, of which "
        text += f"{sum(not row.right for row in certain)} wrong.\n"
    return text


def _earlier(rows: list[RationalRow]) -> str:
    """Return in a line what earlier rules gave, by noise."""
    noises = sorted({row.noise for row in rows})
    shares = [f"{_share([row for row in rows if row.noise == noise])} at {noise:g}" for noise in noises]
    return f"\nEarlier rules, seeds below {PRESENT}: {', '.join(shares)}.\n" if rows else ""


def _sure(row: RationalRow) -> str:
    """Return the confidence that was printed; -1 stands for none."""
    return "none" if row.confidence < 0 else f"{100 * row.confidence:.0f} %"


def _share(rows: list[RationalRow]) -> str:
    return f"{sum(row.right for row in rows)} of {len(rows)}" if rows else "-"
