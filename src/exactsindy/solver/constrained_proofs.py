"""Proof files under linear constraints on coefficients, within one equation or between several.

Without these constraints every support fits at least as well. So all supports that could be better than the optimum
are listed by the search without constraints, and for each combination of them multipliers of the constraints show that
it is not. Where nothing can satisfy the constraints on presence, the file says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._types import Array
from exactsindy.constraints import Row, Rules
from exactsindy.solver import arguments
from exactsindy.solver.backends import native
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.equations import Equation, equations_of
from exactsindy.solver.multipliers import LinearRow, multipliers
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.presence import decided
from exactsindy.solver.proof_file import ClaimedMember, ClaimedRivals, ConditionsClaim, ProofSection
from exactsindy.solver.proofs import NoProofError, ProofDraft, section_of
from exactsindy.solver.settings import LARGEST_LIMIT, Settings, Status, Total
from exactsindy.solver.solution import Solution

_CAPACITY = 20_000  # most supports of a list
_MEMBERS = 20_000  # most combinations that need multipliers
_EXACT = 1e-19  # of the squared norm of the targets: below it, rounding decides about multipliers
_FEASIBLE = 1e-7  # of the largest part of a row: how far rounding can carry an optimum
_REACHED = 1e-9  # relative: what rounding of the bound by multipliers may take here; the checker has no rounding
_TOUCHING = 1e-12  # of the largest part of a row
_NEAR = 1e-6  # distance of a column from the span of the earlier ones below which doubles do not show multipliers
_SEEN = 500_000  # most combinations that are looked at
_ROUNDING = 1e-13  # relative, far below what the checker grants

Supports = tuple[tuple[int, ...], ...]


class _PassedOverError(NoProofError):
    """The lists of supports are not whole: some were passed over."""


def add(draft: ProofDraft, rules: Rules, solution: Solution, settings: Settings) -> None:
    """Add the proof of a solution that was found under the rules: one claim for equations that are bound together."""
    groups = rules.components(together=isinstance(solution.k, Total))
    tasks = [_Task.of(rules, solution.k, solution.ridge, group, _of_solution(solution, group)) for group in groups]
    if solution.joint and solution.status[0] is Status.INFEASIBLE:  # because of some of them, not of all
        tasks = [task for task in tasks if task.contradicts][:1] or tasks[:1]
    draft.conditions += [task.prove(draft, settings) for task in tasks]


def add_pool(
    draft: ProofDraft,
    rules: Rules,
    sizes: tuple[int, ...],
    ridge: Array,
    pool: tuple[tuple[int, ...], Outcome],
    within: float | None,
    settings: Settings,
) -> None:
    """Add the proof of a pool of supports of exactly as many terms as asked for, of equations bound together."""
    group, outcome = pool
    best = outcome.answers[0]
    limit = outcome.answers[-1].objective if within is None else best.objective * (1.0 + within)
    found = _Found(Status.OPTIMAL, best.support, dict(zip(best.support, best.coef, strict=True)), best.objective, limit)
    task = _Task.of(rules, sizes, ridge, group, replace(found, members=outcome.answers[1:]))
    draft.conditions.append(task.prove(draft, settings))


@dataclass(frozen=True)
class _Found:
    """What a search found for some equations; ``limit``: the objective up to which rivals are to be proved, or NaN."""

    status: Status
    support: tuple[int, ...]  # variables
    coef: Mapping[int, float]
    objective: float | None  # None: only that of other equations as well is known
    limit: float
    members: Sequence[Answer] | None = None  # the others of a pool; None: not a pool


def _of_solution(solution: Solution, group: tuple[int, ...]) -> _Found:
    place = 0 if solution.joint else group[0]
    width = len(solution.problem.terms)
    chosen = tuple(e * width + j for e in group for j in solution.support[e])
    coef = solution.coef.ravel()
    known = not solution.joint or len(group) == len(solution.support)
    objective = float(solution.objective[place]) if known else None
    rival = math.nan if objective is None else objective * (1.0 + float(solution.margin[place]))
    limit = rival if math.isfinite(rival) else math.nan
    return _Found(solution.status[place], chosen, {v: float(coef[v]) for v in chosen}, objective, limit)


@dataclass(frozen=True, eq=False)
class _Task:
    """Some equations that are proved together, with their rules and their optimum."""

    rules: Rules
    ridge: Array
    found: _Found
    group: tuple[int, ...]
    equations: tuple[Equation, ...]  # ridge / weight as ridge
    weights: tuple[float, ...]
    caps: tuple[int, ...]
    total: int
    rows: tuple[LinearRow, ...]
    presence: tuple[tuple[tuple[tuple[int, int], int], ...], ...]
    limits: tuple[int, ...]  # of the presence rows

    @classmethod
    def of(cls, rules: Rules, k: tuple[int, ...] | Total, ridge: Array, group: tuple[int, ...], found: _Found) -> _Task:
        """Translate the rules of some equations."""
        problem = rules.problem
        weights = arguments.weights(problem, k)
        equations = [equations_of(problem, ridge / weights[:, None])[e] for e in group]
        asked = arguments.caps(problem, k) if isinstance(k, Total) else k
        caps = tuple(equation.size(asked[e]) for e, equation in zip(group, equations, strict=True))
        total = min(sum(caps), k.k) if isinstance(k, Total) else sum(caps)
        term = {int(v): (p, j) for p, equation in enumerate(equations) for j, v in enumerate(equation.variables)}
        own = [row for row in rules.presence if row.variables[0] in term]
        return cls(
            rules,
            ridge,
            found,
            group,
            tuple(equations),
            tuple(float(weights[e]) for e in group),
            caps,
            total,
            tuple(_linear(rules, term)),
            tuple(tuple((term[v], int(c)) for v, c in zip(row.variables, row.coefs, strict=True)) for row in own),
            tuple(int(row.rhs) for row in own),
        )

    @property
    def name(self) -> str:
        """The equations, for sentences."""
        return ", ".join(equation.target for equation in self.equations)

    def prove(self, draft: ProofDraft, settings: Settings) -> ConditionsClaim:
        """Search, add the sections, and return the claim; without rivals where these are not proved."""
        status = self.found.status
        if status is Status.INFEASIBLE:
            return self._infeasible()
        if status is Status.TOLERANCE:
            raise NoProofError(f"the optimum of {self.name} is not proved")
        if status is not Status.OPTIMAL:
            raise NoProofError(f"the search for {self.name} did not end. Allow more time or nodes")
        touched = {t for row in self.rows for t in row.terms} | {t for row in self.presence for t, _ in row}
        if any(not self.equations[e].factor[:, j].any() for e, j in touched):
            raise NoProofError(f"constraints on {self.name} are about a column of zeros")
        if math.isfinite(self.found.limit):
            try:
                return self._listed(draft, settings, self.found.limit)
            except NoProofError:
                if self.found.members is not None:
                    raise
        return self._listed(draft, settings, None)

    def _listed(self, draft: ProofDraft, settings: Settings, rivals: float | None) -> ConditionsClaim:
        """Return the claim, about supports of independent terms only where the search passes over others.

        It also passes over supports with coefficients beyond the limit, which constraints may make smaller: with the
        largest limit that there is these are on the lists, and what is still passed over is dependent.
        """
        try:
            return self._proved(draft, settings, rivals, wide=False)
        except _PassedOverError:
            return self._proved(draft, settings, rivals, wide=True)

    def _proved(self, draft: ProofDraft, settings: Settings, rivals: float | None, *, wide: bool) -> ConditionsClaim:
        """Return the claim of the optimum, and of all rivals up to an objective."""
        touching = self._touching(self.found.coef)
        limit = self._coefficient_limit(settings.coefficient_limit)
        best, supports = self._objective(settings.coefficient_limit), self._supports(self.found.support)
        searched = replace(
            settings, gap=Settings.gap, coefficient_limit=LARGEST_LIMIT if wide else min(limit, LARGEST_LIMIT)
        )
        equations = self._decided()
        top = best if rivals is None else max(best, rivals)
        reach = best if rivals is None else top * (1.0 + _TOUCHING)  # (rivals themselves are listed, too)
        cuts = self._cuts(equations, reach, searched)
        lists = self._lists(equations, cuts, draft, searched, wide=wide)
        listed: list[list[ProofSection]] = []
        for p, outcomes in enumerate(lists):
            own = [
                replace(
                    section_of(self.group[p], equations[p], outcome.written[0], outcome, settings),
                    coefficient_limit=limit,
                    exactly=self._shared or self._exactly,
                    required=equations[p].required,
                    forbidden=equations[p].forbidden,
                    listing=True,
                    independent=any(one.dependent for one in outcomes),
                )
                for outcome in (outcomes if self._shared else outcomes[-1:])
                if outcome.written
            ]
            if not own:
                raise NoProofError(f"nothing was left to search for {equations[p].target}")
            listed.append(own)
        members: dict[Supports, dict[int, float]] = {}
        others: dict[Supports, float] = {}  # bounds of those that may be rivals
        for chosen, value in self._joint(lists, reach):
            below = value < best * (1.0 - _ROUNDING)
            rival = rivals is not None and chosen != supports and sum(map(len, chosen)) == sum(map(len, supports))
            if not below and not rival:
                continue
            if wide and self._near_dependence(chosen):
                raise NoProofError(
                    f"terms of {self.name} nearly depend on each other, where doubles hold no multipliers"
                )
            members[chosen], gain = self._multipliers(chosen, top)
            if below and not value + gain >= best * (1.0 - _REACHED):
                raise NoProofError(f"no multipliers in doubles show that other terms of {self.name} fit worse")
            if rival and not value + gain >= top * (1.0 + _REACHED):
                others[chosen] = value + gain
        if members and 0.0 < best < _EXACT * self._scale**2:
            raise NoProofError(f"{self.name} is fitted but for rounding, where doubles hold no multipliers")
        proved = None if rivals is None else self._rivals(others, top, settings.coefficient_limit)
        for own in listed:
            draft.sections += own
        return self._claim(
            supports=supports,
            sections=[[section.number for section in own] for own in listed],
            active=self._active(supports, touching, best),
            objective=best,
            lower_bound=best,
            members=members,
            exactly=self._exactly,
            rivals=proved,
        )

    def _rivals(self, others: Mapping[Supports, float], top: float, limit: float) -> ClaimedRivals:
        """Tell members from joint supports that gain nothing over a part of them; ``others`` with their bounds."""
        known = {self._supports(answer.support): answer for answer in self.found.members or ()}
        chosen = [s for s in others if s not in known]
        variables = [
            [int(equation.variables[j]) for equation, terms in zip(self.equations, one, strict=True) for j in terms]
            for one in chosen
        ]
        fits = (
            {s: a for s, (a, _) in zip(chosen, self._component.fits(variables, limit), strict=True)} if chosen else {}
        )
        parts: dict[Supports, ClaimedMember] = {}
        for one, answer in fits.items():
            if answer is None:
                raise NoProofError(f"no multipliers in doubles show that other terms of {self.name} fit worse")
            smaller = self._supports(answer.support)
            if smaller != one:
                parts[one] = self._member(smaller, answer, top)
                if not others[one] >= answer.objective * (1.0 - _REACHED):
                    raise NoProofError(f"no multipliers in doubles show that other terms of {self.name} fit worse")
            elif answer.objective <= top * (1.0 + _ROUNDING):
                known[one] = answer
        members = [self._member(one, answer, top) for one, answer in known.items()]
        if self.found.members is None and not (members and min(m.objective for m in members) >= top * (1 - _ROUNDING)):
            raise NoProofError(f"the next best terms of {self.name} are not proved")
        if self.found.members is not None and len(members) > len(self.found.members):
            raise NoProofError(f"the pool of {self.name} is not proved complete")
        return ClaimedRivals(top, members, parts)

    def _member(self, supports: Supports, answer: Answer, value: float) -> ClaimedMember:
        touching = self._touching(dict(zip(answer.support, answer.coef, strict=True)))
        return ClaimedMember(supports, self._active(supports, touching, value), answer.objective)

    def _active(self, supports: Supports, touching: set[int], value: float) -> list[int]:
        """Return the rows that hold with equality at the best point of a joint support."""
        held, _ = self._multipliers(supports, value)
        return [r for r, row in enumerate(self.rows) if row.equal or held.get(r, 0.0) > 0.0 or r in touching]

    @property
    def _exactly(self) -> bool:
        """Whether the claim is about a pool: supports of exactly as many terms as asked for."""
        return self.found.members is not None

    @property
    def _norms(self) -> list[float]:
        """The norms of the targets, weighted as in the objective."""
        return [
            math.sqrt(weight) * float(np.linalg.norm(np.concatenate([equation.z, equation.rest])))
            for weight, equation in zip(self.weights, self.equations, strict=True)
        ]

    @property
    def _scale(self) -> float:
        """The norm of all targets together."""
        return math.hypot(*self._norms)

    @property
    def _shared(self) -> bool:
        """Whether a budget is shared: then every size has a list of its own."""
        return self.total < sum(self.caps)

    def _claim(self, **claim: object) -> ConditionsClaim:
        rows = list(zip(self.presence, self.limits, strict=True))
        return ConditionsClaim(self.group, self.total, self.caps, self.weights, rows, self.rows, **claim)  # type: ignore[arg-type]

    def _infeasible(self) -> ConditionsClaim:
        """Return the claim that nothing satisfies the constraints on presence."""
        if not self.contradicts:
            raise NoProofError(f"that nothing satisfies the constraints on {self.name} does not follow from presence")
        return self._claim(supports=None, sections=[], active=[], objective=0.0, lower_bound=math.inf, members={})

    @property
    def contradicts(self) -> bool:
        """Whether the constraints on presence contradict each other."""
        own = [tuple(equation.variables.tolist()) for equation in self.equations]
        budgets: list[Budget] = list(zip(own, self.caps, strict=True))
        budgets.append((tuple(v for variables in own for v in variables), self.total))
        return decided(self._component, budgets) is None

    @property
    def _component(self) -> Component:
        equations = equations_of(self.rules.problem, self.ridge)
        return Component(self.rules, tuple(equations[e] for e in self.group), self.group, self.weights)

    def _supports(self, variables: Sequence[int]) -> Supports:
        return tuple(equation.local(variables) for equation in self.equations)

    def _objective(self, limit: float) -> float:
        """Return the objective of these equations; where the solution has one for all, their fit shows it."""
        if self.found.objective is not None:
            return self.found.objective
        ((answer, _),) = self._component.fits([self.found.support], limit)
        if answer is None:
            raise NoProofError(f"the terms found for {self.name} depend on each other")
        return answer.objective

    def _touching(self, coef: Mapping[int, float]) -> set[int]:
        """Return the rows that a point touches, whether they hold it back or not; ``coef`` by variable.

        An optimum that satisfies a constraint only in other units than its own is refused: no point would prove it.
        """
        touching = set[int]()
        for r, row in enumerate(self.rows):
            variables = [int(self.equations[e].variables[j]) for e, j in row.terms]
            parts = [c * coef.get(v, 0.0) for v, c in zip(variables, row.coefficients, strict=True)]
            off, size = sum(parts) - row.limit, max(abs(row.limit), *map(abs, parts))
            if (abs(off) if row.equal else off) > _FEASIBLE * size:
                raise NoProofError(f"the coefficients found for {self.name} break a constraint by its own measure")
            if size > 0.0 and abs(off) <= _TOUCHING * size:
                touching.add(r)
        return touching

    def _coefficient_limit(self, limit: float) -> float:
        """Return a limit for the searches of single equations that no coefficient which counts exceeds.

        It counts by the targets of all equations, or by the size that a constraint asks for, if that is larger.
        """
        norms, scale = self._norms, self._scale
        if min(norms) == 0.0:
            raise NoProofError(f"a target of {self.name} is zero")
        for row in self.rows:
            shares = [
                abs(c) / (math.sqrt(self.weights[e]) * float(np.linalg.norm(self.equations[e].factor[:, j])))
                for (e, j), c in zip(row.terms, row.coefficients, strict=True)
            ]
            scale = max(scale, abs(row.limit) / max(shares) if row.limit else 0.0)
        return limit * (scale / min(norms)) * (1.0 + 1e-9)

    def _decided(self) -> list[Equation]:
        """Return the equations with the terms that rows on a single one make present or absent."""
        required: list[set[int]] = [set() for _ in self.equations]
        forbidden: list[set[int]] = [set() for _ in self.equations]
        for row, limit in zip(self.presence, self.limits, strict=True):
            ((e, j), c) = row[0]
            if len(row) == 1 and c < 0 and limit < 0:
                required[e].add(j)
            elif len(row) == 1 and c > limit:
                forbidden[e].add(j)
        for condition in self.rows:
            if len(condition.terms) == 1 and condition.limit < 0:
                required[condition.terms[0][0]].add(condition.terms[0][1])
        found = []
        for equation, cap, inside, out in zip(self.equations, self.caps, required, forbidden, strict=True):
            # The search needs a term to choose; in a shared budget small sizes do not hold all terms asked for.
            few = () if self._shared else tuple(sorted(inside)[: max(cap - 1, 0)])
            found.append(replace(equation, required=few, forbidden=tuple(sorted(out))))
        return found

    def _cuts(self, equations: Sequence[Equation], best: float, settings: Settings) -> list[list[float]]:
        """Return, per equation and size, the objective up to which supports can be part of a joint one as good."""
        searches = native.run(equations, self.caps, [[] for _ in equations], settings, path=self._shared)
        lower: list[Array] = []
        for equation, weight, cap, outcomes in zip(equations, self.weights, self.caps, searches, strict=True):
            if any(outcome.stop is not None for outcome in outcomes):
                raise NoProofError(f"the search for {equation.target} did not end. Allow more time or nodes")
            bounds = [outcome.bound for outcome in outcomes]
            values = np.array(bounds + bounds[-1:] * cap)[: cap + 1] if self._shared else np.full(cap + 1, bounds[0])
            if not np.isfinite(values).all():
                raise NoProofError(f"nothing was left to search for {equation.target}")
            lower.append(weight * values)
        cuts = []
        for e, weight in enumerate(self.weights):
            others = np.zeros(self.total + 1)
            for f, values in enumerate(lower):
                if f != e:
                    others = _added(others, values)
            left = best - others[self.total - np.arange(self.caps[e] + 1)]
            cut = (np.maximum(left, lower[e]) / weight * (1.0 + _ROUNDING)).tolist()
            cuts.append([-1.0] * self.caps[e] + cut[-1:] if self._exactly else cut)
        return cuts

    def _lists(
        self,
        equations: Sequence[Equation],
        cuts: list[list[float]],
        draft: ProofDraft,
        settings: Settings,
        *,
        wide: bool,
    ) -> list[list[Outcome]]:
        """Return all supports up to the cuts, and write down how the search found them."""
        lists = draft.run(equations, self.caps, settings, pool=True, capacity=_CAPACITY, limits=cuts)
        asked = [
            [o for o, cut in zip(own, limits, strict=True) if cut >= 0] for own, limits in zip(lists, cuts, strict=True)
        ]
        for equation, outcomes in zip(equations, asked, strict=True):
            if any(outcome.stop is not None for outcome in outcomes):
                raise NoProofError(f"the search for {equation.target} did not end. Allow more time or nodes")
            if any(not outcome.complete for outcome in outcomes):
                raise NoProofError(f"more than {_CAPACITY} supports fit {equation.target} well enough")
            if not wide and any(outcome.dependent for outcome in outcomes):
                raise _PassedOverError(
                    f"terms of {equation.target} depend on each other, or exceed the coefficient_limit"
                )
        return asked

    def _joint(self, lists: list[list[Outcome]], best: float) -> Iterator[tuple[Supports, float]]:
        """Yield the joint supports whose sums are below the optimum and that satisfy the constraints on presence."""
        ranked = [
            sorted(
                (weight * answer.objective, answer.support)
                for outcome in outcomes
                for answer in outcome.answers
                if self._allowed({(e, j) for j in answer.support}, only=e)
            )
            for e, (weight, outcomes) in enumerate(zip(self.weights, lists, strict=True))
        ]
        if not all(ranked):
            return
        rest = [sum(own[0][0] for own in ranked[e:]) for e in range(len(ranked) + 1)]
        limit, count, seen = best * (1.0 - _ROUNDING), 0, 0
        stack: list[tuple[Supports, float]] = [((), 0.0)]
        while stack:
            chosen, total = stack.pop()
            if len(chosen) < len(ranked):
                for value, support in ranked[len(chosen)]:
                    if total + value + rest[len(chosen) + 1] >= limit:
                        break
                    if sum(map(len, chosen)) + len(support) <= self.total:
                        stack.append(((*chosen, support), total + value))
                        seen += 1
            elif self._allowed({(e, j) for e, support in enumerate(chosen) for j in support}):
                yield chosen, total
                count += 1
            if count > _MEMBERS or seen > _SEEN:
                raise NoProofError(f"more than {_MEMBERS} supports of {self.name} fit better without constraints")

    def _allowed(self, terms: set[tuple[int, int]], only: int | None = None) -> bool:
        """Return whether some terms satisfy the rows on presence (those of one equation alone)."""
        return len(terms) <= self.total and all(
            sum(c for t, c in row if t in terms) <= limit
            for row, limit in zip(self.presence, self.limits, strict=True)
            if only is None or all(e == only for (e, _), _ in row)
        )

    def _near_dependence(self, supports: Supports) -> bool:
        """Whether doubles may not show the bound of a joint support: a column is close to the span of earlier ones."""
        for equation, chosen in zip(self.equations, supports, strict=True):
            columns = np.vstack([equation.factor, np.diag(np.sqrt(equation.ridge))])[:, list(chosen)]
            size = np.abs(columns).max(axis=0)
            columns = columns / np.where(size > 0.0, size, 1.0)
            distances = np.abs(np.diag(np.linalg.qr(columns, mode="r")))
            if (distances < _NEAR * np.linalg.norm(columns, axis=0)).any():
                return True
        return False

    def _multipliers(self, supports: Supports, best: float) -> tuple[dict[int, float], float]:
        return multipliers(self.equations, self.weights, supports, self.rows, best)


def _linear(rules: Rules, term: dict[int, tuple[int, int]]) -> Iterator[LinearRow]:
    """Yield the constraints on the coefficients of some equations as rows, bounds included."""

    def of(row: Row, *, equal: bool) -> LinearRow:
        return LinearRow(tuple(term[v] for v in row.variables), row.coefs, row.rhs, equal)

    for rows, equal in ((rules.equalities, True), (rules.inequalities, False)):
        yield from (of(row, equal=equal) for row in rows if row.variables[0] in term)
    for v, place in term.items():
        lower, upper = max(rules.lower[v], -rules.most[v]), min(rules.upper[v], rules.most[v])
        if math.isfinite(upper):
            yield LinearRow((place,), (1.0,), float(upper), equal=False)
        if math.isfinite(lower):
            yield LinearRow((place,), (-1.0,), float(-lower), equal=False)


def _added(best: Array, row: Array) -> Array:
    """Return the least sum of two lists of values by how many terms they have together at most."""
    total = np.full(len(best), np.inf)
    for size, value in enumerate(row[: len(best)]):
        total[size:] = np.minimum(total[size:], best[: len(best) - size] + value)
    return np.asarray(np.minimum.accumulate(total))
