"""How often data that mislead are recognised, and how often ordinary data are accused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from exactsindy.data import Notice, Trajectories
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.recognise import leave_out_sentinels, misleading
from exactsindy.forms import groups
from exactsindy.library import Polynomials, Term
from exactsindy.systems import SYSTEMS
from exactsindy_experiments.misleading_cases import KINDS, catalogue, catalogue_names, draw, ordinary
from exactsindy_experiments.random_systems import random_system

NOISES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2)
# Samples, and samples per period, of ordinary data.
SIZES = ((400, 100), (1200, 100), (400, 25))
SAID = ("conserved", "closed orbit", "copy", "feedback", "hidden state", "map", "shifted", "sentinel", "outlier")


def notices_of(data: Trajectories, truth: Mapping[str, Iterable[str]] | None = None) -> tuple[Notice, ...]:
    """Return what is said about data whose equations have these terms; two cubic ones each by default."""
    measured = leave_out_sentinels(Measurement(data, data))
    degree = 3 if len(data.state_names) <= 4 else 2
    library: dict[str, Term] = {}
    for group in groups(data, Polynomials(degree)):
        library |= {term.name: term for term in group.features.terms}
    cubic = [term for term in library.values() if term.degree == degree][:2]
    supports = {
        target.name: cubic if truth is None else [library[name] for name in truth[target.name] if name in library]
        for target in data.targets
    }
    return (*measured.notices, *misleading(measured, supports, list(library.values())))


def false_alarms(seeds: Iterable[int]) -> Iterator[tuple[str, float, tuple[Notice, ...]]]:
    """Yield for ordinary data what they are called, their noise, and what is said about them."""
    for seed in seeds:
        truth = random_system(seed).system.truth
        for samples, per_period in SIZES:
            for noise in NOISES:
                data = ordinary(seed, noise, samples=samples, per_period=per_period)
                yield f"random {seed}, {samples} samples, {per_period} a period", noise, notices_of(data, truth)
        for name in catalogue_names() if seed < 20 else ():
            for noise in NOISES:
                yield f"{name}, start {seed}", noise, notices_of(catalogue(name, noise, seed), SYSTEMS[name].truth)


def detections(seeds: Iterable[int]) -> Iterator[tuple[str, float, bool]]:
    """Yield for drawn data the way they mislead, their noise, and whether that is said."""
    drawn = list(seeds)
    for kind in KINDS:
        wanted = kind.split(":")[0]
        for seed in drawn:
            for noise in NOISES:
                yield kind, noise, any(notice.kind == wanted for notice in notices_of(draw(kind, seed, noise)))


def tables(alarms: Iterable[tuple[str, float, tuple[Notice, ...]]], found: Iterable[tuple[str, float, bool]]) -> str:
    """Return both tables as text: false alarms by kind and noise, and shares of drawn data that are recognised."""
    sets: Counter[float] = Counter()
    false: Counter[tuple[str, float]] = Counter()
    for _, noise, notices in alarms:
        sets[noise] += 1
        for kind in {notice.kind for notice in notices}:
            false[kind, noise] += 1
    drawn: Counter[tuple[str, float]] = Counter()
    said: Counter[tuple[str, float]] = Counter()
    for kind, noise, is_said in found:
        drawn[kind, noise] += 1
        said[kind, noise] += is_said
    head = "| | " + " | ".join(f"{100 * noise:g} %" for noise in NOISES)
    rule = "|---" * (len(NOISES) + 1) + "|"
    lines = [
        f"{head} | all |",
        f"{rule}---|",
        f"| data sets | {_row(sets[noise] for noise in NOISES)} | {sets.total()} |",
    ]
    for kind in SAID:
        counts = [false[kind, noise] for noise in NOISES]
        lines.append(f"| {kind} | {_row(counts)} | {100 * sum(counts) / max(sets.total(), 1):.1f} % |")
    lines += ["", f"{head} |", rule]
    for kind in dict.fromkeys(kind for kind, _ in drawn):
        shares = (f"{said[kind, noise] / drawn[kind, noise]:.2f}" for noise in NOISES)
        lines.append(f"| {kind} | {_row(shares)} |")
    return "\n".join(lines)


def _row(cells: Iterable[object]) -> str:
    return " | ".join(map(str, cells))
