"""Search the rational law of one equation on its rows: exact searches propose supports, non-linear fits rank them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.discovery.rational.linear_problems import (
    at_denominator,
    at_rate,
    corrected_levy,
    gauss_newton,
    plain_problem,
)
from exactsindy.discovery.rational.output_fit import LawFit, fit_law, keeps_sign
from exactsindy.discovery.rational.profiling import grid
from exactsindy.discovery.rational.rows import Rows
from exactsindy.discovery.rational.shapes import Candidates, Columns, Shape
from exactsindy.problem import Problem
from exactsindy.selection import ln_choose
from exactsindy.solver import Deadline, Settings, solve, solve_pool

# Supports of each size that are fitted: of every corrected Levy regression, of Gauss-Newton regressions, and of those
# with a known denominator.
_LEVY_POOL, _GAUSS_NEWTON_POOL, _KNOWN_POOL = 6, 12, 3
# Rounds of Gauss-Newton regressions, each at the best law so far; denominators from which p + M / D is built, and laws
# of that form at which it is linearised.
_ROUNDS, _DENOMINATORS, _LINEARISED = 4, 5, 2
# A term of D can be divided by where its least value at the samples is more than this share of its largest.
_LEAST_SHARE = 1e-4
# Nodes of one search: proved with 20 candidates, a good pool with more.
_NODES = 20_000
# Rounds of the check whether the winner can do without one of its terms.
_DROPS = 6
# Two constants of D on the grid from which the best law of every denominator is sought, as in `profiling`.
_FINE = (0.15, 0.4, 0.8, 1.6, 4.0)
# Rounds of fits at fitted constants of D, each with the terms that are best there.
_SETTLED = 3
# Supports of each size that are fitted for every denominator.
_KEPT = 3


@dataclass(frozen=True, eq=False)
class RankedLaw:
    """A fitted law and its criterion; less is better."""

    law: LawFit
    criterion: float


@dataclass(eq=False)
class RowSearch:
    """The laws fitted so far for one equation, each once however it is normalised."""

    rows: Rows
    candidates: Candidates
    largest: int  # most coefficients of a law
    clock: Deadline = field(default_factory=lambda: Deadline(Settings()))  # what is found by then counts
    # Returns True for laws whose denominator has a zero within the range of the data: they are refused.
    has_pole: Callable[[LawFit], bool] = lambda law: False
    refused: list[LawFit] = field(default_factory=list)
    seeds: tuple[LawFit, ...] = ()  # denominators known beforehand
    only_seeds: bool = False  # whether no others are searched
    among: int | None = None  # number of candidates for the criterion, where these were chosen among more
    fits: dict[object, LawFit] = field(default_factory=dict)
    _tried: dict[object, int] = field(default_factory=dict)

    def criterion(self, law: LawFit) -> float:
        """Return the extended Bayesian information criterion of a law: it counts the supports of that size, too."""
        n, k, free = self.rows.count, law.shape.size, self.among or self.candidates.free
        fit = n * math.log(max(law.rss, self.rows.floor) / n)
        return fit + k * math.log(n) + 2 * ln_choose(free, min(k, free))

    def ranked(self) -> list[RankedLaw]:
        """Return the best law of every identity, the best first; the simpler writing where two fit alike."""
        best: dict[object, RankedLaw] = {}
        for law in sorted(self.fits.values(), key=lambda law: (self.criterion(law), self._complexity(law.shape))):
            best.setdefault(self.candidates.identity(law.shape), RankedLaw(law, self.criterion(law)))
        return list(best.values())

    def best_of_sizes(self) -> list[RankedLaw]:
        """Return the best law of every number of coefficients, the best first."""
        best: dict[int, RankedLaw] = {}
        for ranked in self.ranked():
            best.setdefault(ranked.law.shape.size, ranked)
        return list(best.values())

    def better_but_refused(self) -> list[LawFit]:
        """Return the best law that was refused for a pole, if it would have been the answer."""
        best = min(map(self.criterion, self.fits.values()), default=math.inf)
        law = min(self.refused, key=self.criterion, default=None)
        return [law] if law is not None and self.criterion(law) < best else []

    def _complexity(self, shape: Shape) -> tuple[int, int]:
        """Return by what writings of a law are ordered: few terms over D, the constant among them last."""
        constant = sum(not self.candidates.over[j].factors for j in shape.over)
        return len(shape.over), constant

    def run(self) -> list[RankedLaw]:
        """Return the laws by their criterion, after all searches and the check of the winner."""
        self._polynomials()
        if len(self.candidates.under):
            if not self.only_seeds:
                self._quotients()
            if not self.rows.is_noisy:
                self._every_denominator()
            self._sums()
        self._drop_terms()
        return self.ranked()

    def attempt(self, shape: Shape, start: Array) -> LawFit | None:
        """Fit a law from a start for D, unless it was fitted twice before; return the best fit of it."""
        go_on()
        shape, start = self._simplified(shape, start)
        key = (shape.plain, shape.over, frozenset(shape.under))
        known = self.fits.get(key)
        tries = 2 if shape.free_under else 1
        if self._tried.get(key, 0) >= tries or shape.size > self.largest or (self.fits and self.clock.expired):
            return known
        law = fit_law(self.rows, shape, start)
        if law is None:
            return known
        self._tried[key] = self._tried.get(key, 0) + 1
        if law.shape.over and self.has_pole(law):
            self.refused.append(law)
            return known
        if known is None or law.rss < known.rss:
            self.fits[key] = law
        return self.fits[key]

    def _simplified(self, shape: Shape, start: Array) -> tuple[Shape, Array]:
        """Return a shape with common monomials cancelled, without D if nothing is divided or D is a number."""
        shape = self.candidates.cancelled(shape)
        shape = replace(shape, plain=tuple(sorted(shape.plain)), over=tuple(sorted(shape.over)))
        if not shape.over:
            return Shape(shape.plain), np.zeros(0)
        if len(shape.under) == 1 and not self.candidates.under[shape.under[0]].factors:
            place = {term: j for j, term in enumerate(self.candidates.plain)}
            moved = [place.get(self.candidates.over[j]) for j in shape.over]
            if None not in moved:
                return Shape(tuple(sorted({*shape.plain, *(j for j in moved if j is not None)}))), np.zeros(0)
        return shape, np.asarray(start, dtype=float)

    def _polynomials(self) -> None:
        """Fit the best laws without a denominator."""
        for support, _ in self._pools(plain_problem(self.rows), _KNOWN_POOL):
            self.attempt(Shape(support), np.zeros(0))

    def _quotients(self) -> None:
        """Fit quotients M / D: from corrected Levy regressions of every normaliser, then from those near the best."""
        under = self.rows.under
        for j in range(under.shape[1]):
            size = np.abs(under[:, j])
            if keeps_sign(under[:, j]) and size.min() > _LEAST_SHARE * size.max():
                self._levy(j, 1.0 / under[:, j])
        before = None
        for _ in range(_ROUNDS):
            law = self._best_quotient()
            if law is None or law is before:
                break
            before = law
            self._levy(law.shape.under[0], 1.0 / law.denominator(self.rows))
            self._near(law, with_plain=False)

    def _levy(self, normaliser: int, weight: Array) -> None:
        problem = (corrected_levy if self.rows.is_noisy else at_rate)(self.rows, normaliser, weight)
        for support, coef in self._pools(problem, _LEVY_POOL):
            # D y = M: the columns psi_j y have the coefficient -d_j.
            shape, start = self._quotient(support, -coef, normaliser)
            self.attempt(shape, start)

    def _near(self, law: LawFit, with_plain: bool) -> None:
        problem = gauss_newton(self.rows, law, with_plain)
        for support, coef in self._pools(problem, _GAUSS_NEWTON_POOL):
            offset = self.rows.plain.shape[1] if with_plain else 0
            plain = tuple(j for j in support if j < offset)
            rest = [j - offset for j in support if j >= offset]
            shape, start = self._quotient(rest, coef[len(plain) :], law.shape.under[0])
            shape = replace(shape, plain=plain)
            if not keeps_sign(self._denominator(shape, start)):
                start = np.array(
                    [dict(zip(law.shape.free_under, law.under, strict=True)).get(j, 0.0) for j in shape.free_under]
                )
            self.attempt(shape, start)

    def _quotient(self, support: Sequence[int], coef: Array, normaliser: int) -> tuple[Shape, Array]:
        """Return the shape of a support over [candidates of M, those of D but the normaliser], and its start for D."""
        count = self.rows.over.shape[1]
        others = [j for j in range(self.rows.under.shape[1]) if j != normaliser]
        over = tuple(j for j in support if j < count)
        under = tuple(others[j - count] for j in support if j >= count)
        return Shape((), over, (normaliser, *under)), np.asarray(coef[len(over) :], dtype=float)

    def _denominator(self, shape: Shape, coef: Array) -> Array:
        return np.asarray(self.rows.under[:, shape.under[0]] + self.rows.under[:, shape.free_under] @ coef)

    def _best_quotient(self) -> LawFit | None:
        laws = [law for law in self.fits.values() if law.shape.over and not law.shape.plain]
        return min(laws, key=self.criterion, default=None)

    def _sums(self) -> None:
        """Fit laws p + M / D: with the denominators of the best quotients, then near the best of them."""
        ranked = sorted((law for law in self.fits.values() if law.shape.over), key=self.criterion)
        different: dict[frozenset[int], LawFit] = {}
        for law in ranked:
            different.setdefault(frozenset(law.shape.under), law)
        for law in (*self.seeds, *list(different.values())[:_DENOMINATORS]):
            problem = at_denominator(self.rows, law.denominator(self.rows))
            count = self.rows.plain.shape[1]
            for support, _ in self._pools(problem, _KNOWN_POOL, len(law.shape.free_under)):
                plain = tuple(j for j in support if j < count)
                over = tuple(j - count for j in support if j >= count)
                self.attempt(Shape(plain, over, law.shape.under), law.under)
        done: set[int] = set()
        for _ in range(_LINEARISED):
            laws = [law for law in self.fits.values() if law.shape.over and id(law) not in done]
            best = min(laws, key=self.criterion, default=None)
            if best is None:
                break
            done.add(id(best))
            self._near(best, with_plain=True)

    def _every_denominator(self) -> None:
        """Fit the best laws p + M / D of every denominator on a grid of its constants, then at the fitted constants.

        Only rows without noise in their columns are worth it: there the best law of a few terms is near the best one
        whatever the denominator.
        """
        best: dict[tuple[Columns, int], dict[Shape, tuple[float, Array]]] = {}
        for under, coef in grid(self.rows.under, _FINE):
            if self.clock.expired:
                return
            for objective, shape in self._at(under, coef):
                known = best.setdefault((under, shape.size), {})
                if objective < known.get(shape, (math.inf,))[0]:
                    known[shape] = objective, coef
        shapes = [item for known in best.values() for item in sorted(known.items(), key=lambda it: it[1][0])[:_KEPT]]
        for shape, (_, coef) in shapes:
            law = self.attempt(shape, coef)
            for _ in range(_SETTLED):
                if law is None or len(law.shape.under) < 2:
                    break
                before = law
                for _, other in self._at(law.shape.under, law.under, law.shape.size):
                    found = self.attempt(other, law.under)
                    law = found if found is not None and found.rss < law.rss else law
                if law is before:
                    break

    def _at(self, under: Columns, coef: Array, size: int | None = None) -> Iterator[tuple[float, Shape]]:
        """Yield the best laws with a denominator that is known, of every size or of one, and what they leave."""
        go_on()
        bottom = self.rows.under[:, under[0]] + self.rows.under[:, under[1:]] @ coef
        problem = at_denominator(self.rows, bottom) if keeps_sign(bottom) else None
        if problem is None:
            return
        count, limits = self.rows.plain.shape[1], replace(self.clock.settings(), nodes=_NODES, progress=None)
        sizes = range(1, self.largest - len(coef) + 1) if size is None else [size - len(coef)]
        for k in sizes:
            support = solve(problem, k, settings=limits)
            chosen = sorted(support.support[0])
            plain = tuple(j for j in chosen if j < count)
            over = tuple(j - count for j in chosen if j >= count)
            if over:
                yield support.objective[0], Shape(plain, over, under)

    def _drop_terms(self) -> None:
        """Refit the best law without each of its terms, as long as that gives a better one."""
        for _ in range(_DROPS):
            best = min(self.fits.values(), key=self.criterion, default=None)
            if best is None:
                break
            for shape, start in without_one(best):
                self._tried.pop((shape.plain, shape.over, frozenset(shape.under)), None)
                self.attempt(shape, start)
            if min(self.fits.values(), key=self.criterion) is best:
                break

    def _pools(self, problem: Problem | None, count: int, taken: int = 0) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Yield the best supports of every size and their coefficients; ``taken`` coefficients are already spent."""
        if problem is None:
            return
        for k in range(1, min(self.largest - taken, len(problem.terms)) + 1):
            go_on()
            if self.fits and self.clock.expired:
                break
            limits = replace(self.clock.settings(), nodes=_NODES, progress=None)
            for member in solve_pool(problem, k, count=count, settings=limits)[0]:
                support = tuple(sorted(member.support))
                yield support, np.array([member.terms[problem.names[j]] for j in support])


def without_one(law: LawFit) -> Iterable[tuple[Shape, Array]]:
    """Yield the shapes of a law with one coefficient less, and a start for their denominators."""
    shape, d = law.shape, law.under
    for j in shape.plain:
        yield replace(shape, plain=tuple(i for i in shape.plain if i != j)), d
    for j in shape.over:
        yield replace(shape, over=tuple(i for i in shape.over if i != j)), d
    for position in range(len(shape.free_under)):
        keep = [i for i in range(len(d)) if i != position]
        yield replace(shape, under=(shape.under[0], *(shape.free_under[i] for i in keep))), d[keep]
    if len(d) and d[0]:
        yield replace(shape, under=shape.free_under), d[1:] / d[0]
