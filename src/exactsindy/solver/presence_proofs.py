"""Proof files under constraints that speak about the presence of terms only, each about one equation.

Such constraints change no value of a support. So all supports that fit at least as well as the optimum, or as the next
best, are listed without them (but for terms that are required or forbidden), and the checker sees that no better one
satisfies them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy.constraints import Row, Rules
from exactsindy.solver import constrained_proofs
from exactsindy.solver.equations import Equation, equations_of
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.proof_file import ProofSection, check_path, cut_above
from exactsindy.solver.proofs import NoProofError, ProofDraft, ProofPath, draft, refuse, section_of
from exactsindy.solver.settings import BRIEF, Deadline, Settings, Status, Total
from exactsindy.solver.solution import Solution

_CAPACITY = 100_000  # most supports that fit better than the optimum but break constraints
_ROUNDING = 1e-13  # relative, far below what the checker grants: the cut is surely not below the optimum


def check(proof: ProofPath, rules: Rules) -> None:
    """Refuse a proof file under constraints that are not linear, and one of a wrong name."""
    check_path(proof)
    if rules.convex or rules.t_level > 0 or (rules.least > 0).any():
        refuse(proof, "Significant, Quadratic or semidefinite constraints, and least sizes of coefficients")


def only_presence(rules: Rules, k: tuple[int, ...] | Total) -> bool:
    """Return True if the constraints speak about the presence of terms only, each about one equation."""
    bounded = np.isfinite(rules.lower) | np.isfinite(rules.upper) | (rules.least > 0) | np.isfinite(rules.most)
    coefficients = rules.equalities or rules.inequalities or bounded.any()
    several = len(rules.components()) < len(rules.problem.target_names)
    return not (coefficients or several or isinstance(k, Total))


def write(proof: ProofPath, rules: Rules, solution: Solution | Sequence[Solution], settings: Settings) -> None:
    """Write the proof of a solution, or of all of a path, found under the rules; a warning says why there is none."""
    if proof is None:
        return
    deadline = Deadline(settings)
    with draft(proof, rules.problem) as whole:
        for one in [solution] if isinstance(solution, Solution) else solution:
            limits = deadline.settings(least=BRIEF)
            if not only_presence(rules, one.k) or Status.INFEASIBLE in one.status:
                constrained_proofs.add(whole, rules, one, limits)
            else:
                _add(whole, rules, one, limits)


def _add(whole: ProofDraft, rules: Rules, solution: Solution, settings: Settings) -> None:
    """Add the proof of a solution."""
    tasks: list[_Task] = []
    for e, equation in enumerate(equations_of(solution.problem, solution.ridge)):
        if solution.status[e] is not Status.OPTIMAL:
            raise NoProofError(f"the search for {equation.target} did not end. Allow more time or nodes")
        tasks.append(_Task.of(equation, rules, solution, e))
    try:
        whole.sections += _sections(whole, tasks, settings)
    except NoProofError:
        if all(math.isnan(task.best.runner_up) for task in tasks):
            raise
        whole.sections += _sections(whole, [task.alone for task in tasks], settings)


def _sections(whole: ProofDraft, tasks: list[_Task], settings: Settings) -> list[ProofSection]:
    """Search, and return the sections of all equations."""
    searches = whole.run(
        [task.equation for task in tasks],
        [task.size for task in tasks],
        settings,
        pool=True,
        capacity=_CAPACITY,
        limits=[task.limits for task in tasks],
    )
    sections = []
    for e, (task, outcomes) in enumerate(zip(tasks, searches, strict=True)):
        if reason := task.reason(outcomes):
            raise NoProofError(reason)
        sections.append(task.section(e, outcomes, settings))
    return sections


def write_pool(
    proof: ProofPath,
    rules: Rules,
    equations: Sequence[Equation],
    sizes: Sequence[int],
    found: Sequence[tuple[tuple[int, ...], Outcome]],
    asked: tuple[int | None, float | None],
    settings: Settings,
) -> None:
    """Write the proof of pools that were found under the rules; ``asked``: how many members, or within which share.

    ``found`` are pools with the numbers of the equations that they are about.
    """
    if proof is None:
        return
    with draft(proof, rules.problem) as whole:
        tasks, limits, pools = [], [], [pool for _, pool in found]
        for indices, pool in found:
            if not pool.complete or not pool.answers:
                targets = ", ".join(equations[e].target for e in indices)
                raise NoProofError(f"the pool of {targets} is not complete, or empty")
        if not only_presence(rules, ()):
            ridge = np.zeros((len(equations), len(rules.problem.terms)))
            for equation in equations:
                ridge.ravel()[equation.variables] = equation.ridge
            for one in found:
                constrained_proofs.add_pool(whole, rules, tuple(sizes), ridge, one, asked[1], settings)
            return
        for equation, size, pool in zip(equations, sizes, pools, strict=True):
            local = [replace(answer, support=equation.local(answer.support)) for answer in pool.answers]
            fixed, rows = _decided(equation, rules, size)
            tasks.append(_Task(fixed, rows, size, replace(pool, answers=tuple(local), runner_up=math.nan)))
            count, within = asked
            most = pool.objective * (1.0 + within) if within is not None else pool.answers[-1].objective
            if count is not None and len(local) < count:  # there are no others at all
                most = float(equation.z @ equation.z) + equation.constant
            limits.append([-1.0] * size + [cut_above(most, tasks[-1].target_norm) * (1 + _ROUNDING)])
        options = {"pool": True, "capacity": _CAPACITY, "limits": limits}
        searches = whole.run([task.equation for task in tasks], sizes, settings, **options)
        for e, (task, outcomes) in enumerate(zip(tasks, searches, strict=True)):
            outcome = outcomes[task.size]
            if outcome.stop is not None or not outcome.written or not outcome.complete:
                raise NoProofError(f"the search for {task.equation.target} did not end, or found too many supports")
            section = task.placed(section_of(e, task.equation, outcome.written[0], task.best, settings))
            whole.sections.append(replace(section, exactly=True, pool_limit=min(limits[e][-1], section.cut)))


@dataclass(frozen=True, eq=False)
class _Task:
    """An equation, the presence rows on its own terms, and its optimum."""

    equation: Equation  # with required and forbidden terms
    rows: tuple[tuple[tuple[tuple[int, int], ...], int], ...]
    size: int
    best: Outcome

    @classmethod
    def of(cls, equation: Equation, rules: Rules, solution: Solution, e: int) -> _Task:
        """Translate the rows of one equation: those on a single term become required and forbidden ones."""
        assert not isinstance(solution.k, Total)  # (see `check`)
        size = equation.size(solution.k[e])
        fixed, rows = _decided(equation, rules, size)
        width = len(rules.problem.terms)
        support = equation.local([e * width + j for j in solution.support[e]])
        answer = Answer(support, (), float(solution.objective[e]))
        margin = float(solution.margin[e])
        rival = answer.objective * (1.0 + margin) if math.isfinite(margin) else math.nan
        return cls(fixed, rows, size, Outcome((answer,), float(solution.lower_bound[e]), rival))

    @property
    def target_norm(self) -> float:
        """The norm of the whole target."""
        return math.hypot(*self.equation.z.tolist(), *self.equation.rest.tolist())

    @property
    def limits(self) -> list[float]:
        """For each size, the objective up to which all supports are listed: the whole size, and that of the optimum."""
        best = self.best.answers[0]
        most = best.objective if math.isnan(self.best.runner_up) else max(best.objective, self.best.runner_up)
        limits = [-1.0] * (self.size + 1)
        limits[self.size] = limits[len(best.support)] = cut_above(most, self.target_norm) * (1 + _ROUNDING)
        return limits

    @property
    def alone(self) -> _Task:
        """The same without the next best, which may have very many better ones that break constraints before it."""
        return replace(self, best=replace(self.best, runner_up=math.nan))

    def reason(self, outcomes: Sequence[Outcome]) -> str:
        """Return why these searches prove nothing; empty: they do."""
        best, target = self.best.answers[0], self.equation.target
        for outcome in (outcomes[self.size], outcomes[len(best.support)]):
            if outcome.stop is not None:
                return f"the search for {target} did not end. Allow more time or nodes"
            if not outcome.complete:
                return f"more than {_CAPACITY} supports fit {target} better than those that satisfy the constraints"
        if not any(best.support == answer.support for answer in outcomes[len(best.support)].answers):
            return f"the terms found for {target} depend on each other, or exceed the coefficient_limit"
        return "" if outcomes[self.size].written else f"nothing was left to search for {target}"

    def section(self, index: int, outcomes: Sequence[Outcome], settings: Settings) -> ProofSection:
        """Return what the search of the whole size proves about the optimum and the next best of as many terms."""
        chosen = self.best.answers[0].support
        others = [a for a in outcomes[len(chosen)].answers if a.support != chosen and self._allowed(a.support)]
        rival = math.nan if math.isnan(self.best.runner_up) or not others else others[0].objective
        best = replace(self.best, runner_up=rival)
        return self.placed(section_of(index, self.equation, outcomes[self.size].written[0], best, settings))

    def placed(self, section: ProofSection) -> ProofSection:
        """Return a section with what is asked of the presence of terms."""
        return replace(section, required=self.equation.required, forbidden=self.equation.forbidden, rows=self.rows)

    def _allowed(self, support: Sequence[int]) -> bool:
        return all(sum(c for j, c in row if j in support) <= limit for row, limit in self.rows)


def _is(row: Row, coefficient: float, limit: float) -> bool:
    return row.coefs == (coefficient,) and row.rhs == limit


def _decided(
    equation: Equation, rules: Rules, size: int
) -> tuple[Equation, tuple[tuple[tuple[tuple[int, int], ...], int], ...]]:
    """Return an equation with its required and forbidden terms, and the other rows on the presence of its terms."""
    position = {int(v): j for j, v in enumerate(equation.variables)}
    own = [row for row in rules.presence if row.variables[0] in position]
    required = {position[row.variables[0]] for row in own if _is(row, -1.0, -1.0)}
    forbidden = {position[row.variables[0]] for row in own if _is(row, 1.0, 0.0)}
    # The search takes no column of zeros as required, and it needs a term to choose: rows ask for these.
    asked = {j for j in required if not equation.factor[:, j].any()} or set(sorted(required)[max(size - 1, 0) :])
    rows = [
        (tuple((position[v], int(c)) for v, c in zip(row.variables, row.coefs, strict=True)), int(row.rhs))
        for row in own
        if not (_is(row, -1.0, -1.0) or _is(row, 1.0, 0.0))
    ]
    rows += [(((j, -1),), -1) for j in sorted(asked)]
    required -= asked
    fixed = replace(equation, required=tuple(sorted(required)), forbidden=tuple(sorted(forbidden)))
    return fixed, tuple(rows)
