"""What the default library costs where polynomials suffice: the same data, with it and with polynomials alone."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import exactsindy as es
from exactsindy.data import Trajectories
from exactsindy.library import Library
from exactsindy_experiments.misleading_cases import catalogue, catalogue_names, ordinary
from exactsindy_experiments.pages import geometric_mean, table

#: Largest ratio of the total times.
ALLOWED = 1.3


def data_sets(seeds: Sequence[int], noises: Sequence[float]) -> list[tuple[str, Trajectories]]:
    """Return the systems of the catalogue and drawn polynomial ones, with noise."""
    found = []
    for noise in noises:
        named = [(f"{name}, {100 * noise:g} %", catalogue(name, noise, 1)) for name in catalogue_names()]
        drawn = [(f"drawn {seed}, {100 * noise:g} %", ordinary(seed, noise)) for seed in seeds]
        found += [*named, *drawn]
    return found


def seconds(data: Trajectories, library: Library | str) -> tuple[float, list[tuple[str, ...]], dict[str, float | None]]:
    """Return the processor time of a call, the terms of every equation, and the confidences."""
    begin = time.process_time()
    found = es.discover(data, library=library, threads=1, seconds=None)
    spent = time.process_time() - begin
    return spent, [tuple(term.name for term in row.terms) for row in found.model.rows], dict(found.confidence)


def page(seeds: Sequence[int], noises: Sequence[float], say: Callable[[str], None]) -> str:
    """Return a table of the times of both calls on every data set, and whether their answers are the same."""
    lines, ratios, totals, same = [], [], [0.0, 0.0], 0
    for name, data in data_sets(seeds, noises):
        degree = 3 if len(data.state_names) <= _FEW else 2
        given, terms, sure = seconds(data, es.Polynomials(degree))
        default, others, others_sure = seconds(data, "auto")
        alike = terms == others and sure == others_sure
        ratios.append(default / given)
        totals = [totals[0] + given, totals[1] + default]
        same += alike
        lines.append([name, f"{given:.2f}", f"{default:.2f}", f"{ratios[-1]:.2f}", "yes" if alike else "no"])
        say(f"{name}: {ratios[-1]:.2f}")
    summary = (
        f"{len(lines)} data sets. Default over polynomials: {totals[1] / totals[0]:.2f} of the total time (allowed "
        f"{ALLOWED:g}), median {statistics.median(ratios):.2f}, geometric mean {geometric_mean(ratios):.2f}, most "
        f"{max(ratios):.2f}. The same terms and confidences: {same} of {len(lines)}."
    )
    head = ["data", "polynomials, CPU s", "default, CPU s", "ratio", "same answer"]
    return f"{table(head, lines, 'lrrrl')}\n{summary}"


# States up to which the default library has degree 3.
_FEW = 4
