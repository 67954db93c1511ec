"""Search terms with and without inner constants for one equation, ranked by an information criterion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from exactsindy._limits import go_on
from exactsindy.constraints import AtMost
from exactsindy.discovery.families.equation_rows import EquationRows
from exactsindy.discovery.families.fits import FamilyFit, FamilyPart, criterion, log_choose
from exactsindy.discovery.families.grids import Grid
from exactsindy.discovery.gauss_newton import ConstantFit, fit_constants
from exactsindy.library import OpenTerm, Term
from exactsindy.problem import Problem
from exactsindy.solver import Deadline, Member, Settings, Status, solve, solve_pool

# Supports of each size that are looked at, and members of each signature (which terms and families) whose constants are
# refined: the nearest point of a grid need not win, because constants compensate each other.
POOL, _REFINED = 12, 2
# Nodes of a search over one size: what is found here is proved again in the regression that follows.
_NODES = 4000
# Sizes beyond the best one that are still tried.
_PATIENCE = 2


def search(
    rows: EquationRows, closed: Sequence[Term], grids: Sequence[Grid], k_max: int, clock: Deadline, share: float
) -> tuple[FamilyFit, ...]:
    """Return the best fits of up to ``k_max`` terms, best criterion first, each set of terms and families once.

    Parameters
    ----------
    rows
        The equation.
    closed, grids
        Terms without inner constants, and families with the values that are tried: at most ``family.most`` of each.
    k_max
        Largest number of terms.
    clock, share
        The time limit, and the fraction of it for all sizes together.
    """
    terms, places = _columns(closed, grids)
    problem = rows.problem(terms)
    choice = _Choice(rows, problem, tuple(closed), tuple(grids), places, len(closed) + len(grids))
    found: dict[frozenset[str], FamilyFit] = {}
    best, best_size = math.inf, 0
    end = clock.elapsed + (math.inf if clock.limits.seconds is None else share * clock.limits.seconds)
    for k in range(1, min(k_max, len(terms)) + 1):
        go_on()
        left = end - clock.elapsed
        if left <= 0:
            break
        for fit in choice.of_size(k, left / 2):
            known = found.get(fit.signature)
            if known is None or fit.criterion < known.criterion:
                found[fit.signature] = fit
            if fit.criterion < best:
                best, best_size = fit.criterion, k
        if k >= best_size + _PATIENCE or choice.is_exact(found):
            break
    return tuple(sorted(found.values(), key=lambda fit: fit.criterion))


def is_best_on_grid(
    rows: EquationRows, closed: Sequence[Term], grids: Sequence[Grid], fit: FamilyFit, settings: Settings
) -> bool:
    """Return True if it is proved that no support of that size is better, the refined constants put into the grid."""
    refined = [_with_refined(grid, fit) for grid in grids]
    terms, places = _columns(closed, refined)
    support = sorted(terms.index(term) for term in fit.terms)
    choice = _Choice(rows, rows.problem(terms), tuple(closed), tuple(refined), places, 0)
    best = solve(choice.problem, len(support), constraints=choice.rules(), start=[tuple(support)], settings=settings)
    return best.status[0] is Status.OPTIMAL and best.support[0] == tuple(support)


def _with_refined(grid: Grid, fit: FamilyFit) -> Grid:
    """Return a grid with the constants of a fit among its points."""
    points, terms = list(grid.points), list(grid.terms)
    values = fit.values
    for part in fit.parts:
        if part.family == grid.family and part.at(values) not in terms:
            points.append(part.point(values))
            terms.append(part.at(values))
    return replace(grid, points=tuple(points), terms=tuple(terms))


def _columns(closed: Sequence[Term], grids: Sequence[Grid]) -> tuple[list[Term], list[tuple[int, int]]]:
    """Return all columns, each once, and where each comes from: (-1, place among closed) or (grid, its point)."""
    seen: dict[Term, tuple[int, int]] = {term: (-1, i) for i, term in enumerate(closed)}
    for g, grid in enumerate(grids):
        for j, term in enumerate(grid.terms):
            seen.setdefault(term, (g, j))
    return list(seen), list(seen.values())


@dataclass(frozen=True, eq=False)
class _Choice:
    """The regression over closed terms and grids, and how its supports are refined and rated."""

    rows: EquationRows
    problem: Problem
    closed: tuple[Term, ...]
    grids: tuple[Grid, ...]
    places: Sequence[tuple[int, int]]
    candidates: int  # closed terms and families: what a support chooses from

    def of_size(self, k: int, seconds: float) -> Iterator[FamilyFit]:
        """Yield the fits of one size, constants refined."""
        limits = Settings(threads=1, nodes=_NODES, seconds=None if math.isinf(seconds) else max(seconds, 0.01))
        pool = solve_pool(self.problem, k, count=POOL, constraints=self.rules(), settings=limits)
        counts: dict[frozenset[str], int] = {}
        for member in pool[0]:
            go_on()
            signature = self._signature(member)
            counts[signature] = counts.get(signature, 0) + 1
            if counts[signature] <= (_REFINED if self._is_open(member) else 1):
                yield from self._fits(member, signature)

    def is_exact(self, found: Mapping[frozenset[str], FamilyFit]) -> bool:
        """Return True if a fit leaves no more than rounding: larger ones explain nothing."""
        least = self.rows.least(self.problem)
        return any(fit.rss <= least for fit in found.values())

    def rules(self) -> list[AtMost]:
        """Return the rule of every family: how many of its members may stand in the equation."""
        name, names = self.problem.target_names[0], self.problem.names
        rules = []
        for g, grid in enumerate(self.grids):
            group = [(name, names[j]) for j, place in enumerate(self.places) if place[0] == g]
            if len(group) > grid.family.most:
                rules.append(AtMost(grid.family.most, group))
        return rules

    def _signature(self, member: Member) -> frozenset[str]:
        parts: list[str] = []
        count: dict[str, int] = {}
        for j in member.support:
            g, i = self.places[j]
            name = self.closed[i].name if g < 0 else self.grids[g].family.name
            count[name] = count.get(name, 0) + 1
            parts.append(name if count[name] == 1 else f"{name} #{count[name]}")
        return frozenset(parts)

    def _is_open(self, member: Member) -> bool:
        return any(self.places[j][0] >= 0 for j in member.support)

    def _fits(self, member: Member, signature: frozenset[str]) -> Iterator[FamilyFit]:
        """Yield the fit of a support with its constants refined: each of its own, and with equal names equal."""
        k = len(member.support)
        if not self._is_open(member):
            terms = tuple(self.closed[self.places[j][1]] for j in member.support)
            yield FamilyFit(terms, member.objective, self._criterion(member.objective, k, k), signature)
            return
        for together in (False, True):
            found = self._refined(member, together)
            if found is not None:
                fit, parts, held = found
                value = self._criterion(fit.rss, k + len(fit.values) + len(held), k)
                yield FamilyFit(fit.concrete, fit.rss, value, signature, fit, parts, held)

    def _refined(
        self, member: Member, together: bool
    ) -> tuple[ConstantFit, tuple[FamilyPart, ...], dict[str, float]] | None:
        """Return the fit of a support with its constants refined; ``together``: equal names are one constant."""
        terms: list[OpenTerm] = []
        parts: list[FamilyPart] = []
        start: dict[str, float] = {}
        bounds: dict[str, tuple[float, float]] = {}
        shared = False
        for place, j in enumerate(member.support):
            g, i = self.places[j]
            if g < 0:
                terms.append(OpenTerm(self.closed[i]))
                continue
            grid, names = self.grids[g], {}
            for name in grid.family.term.constants:
                known = name in start
                shared = shared or known
                own = name if together or not known else f"{name}_{len(start) + 1}"
                names[name] = own
                start.setdefault(own, grid.points[i][name])
                if name in grid.bounds:
                    bounds[own] = grid.bounds[name]
            term = grid.family.term.renamed(names)
            terms.append(term)
            parts.append(FamilyPart(place, term, grid.family, tuple((own, name) for name, own in names.items())))
        if together and not shared:
            return None
        free = {name: value for name, value in start.items() if name in bounds}
        held = {name: value for name, value in start.items() if name not in bounds}
        fit = fit_constants([term.partly(held) for term in terms], free, self.rows.regression, bounds)
        return None if fit is None else (fit, tuple(parts), held)

    def _criterion(self, rss: float, parameters: int, k: int) -> float:
        supports = log_choose(self.candidates, k)
        return criterion(rss, self.problem.n_samples, parameters, supports, self.rows.least(self.problem))
