"""Check the claims of solutions from their problem alone; no code of the solvers is used, nor of their constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exactsindy.certificate.claim_checks import check_claim, check_infeasible, not_finite, plain_findings
from exactsindy.certificate.claim_reading import Claim, read_claims
from exactsindy.certificate.claims import Claims
from exactsindy.certificate.conditions import Conditions, read_conditions
from exactsindy.certificate.conflict_checks import with_conflict
from exactsindy.certificate.constraint_checks import constrained_findings
from exactsindy.certificate.exact import tolerance
from exactsindy.certificate.ranking import Rankings
from exactsindy.certificate.scope import scope
from exactsindy.certificate.verification import EquationCheck, Verification
from exactsindy.problem import Problem


def verify(problem: Problem, solution: Claims) -> Verification:
    """Recompute what a solution claims, independently of the solver that found it.

    Supports, their objectives and coefficients are computed in exact arithmetic from the stored doubles. Where there
    are at most 1e6 supports of the size asked for, all are looked at: none that counts may have an objective below the
    claimed lower bound, and none a better one than an answer called optimal, whatever gap is claimed: one found with a
    coarse ``Settings.gap`` passes only if it is the best all the same.

    A claimed objective v passes if it is that of its support to 1e-9 v plus the rounding of a residual norm in
    arithmetic with 106 bits, 2^-90 (|y| + sum |xi_j| |theta_j|); under constraints, where fits are computed in doubles,
    to 1e-8 v plus their rounding. A coefficient passes if it is right to 1e-12, or to what the rounding of residuals in
    doubles does to it. Constraints are read from their records by code of its own.

    Parameters
    ----------
    problem
        The problem the solution is meant for.
    solution
        The claims: a `Solution`, or anything with its attributes.

    Returns
    -------
    Verification
        Its ``ok`` says whether all holds, its text what was found.

    Raises
    ------
    ProblemError
        The shapes of the claims do not fit the problem.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from exactsindy.problem import Problem
    >>> problem = Problem.from_arrays(np.eye(3), np.array([3.0, 2.0, 1.0]), target_names=["x'"])
    >>> claims = SimpleNamespace(
    ...     coef=np.array([[3.0, 0.0, 0.0]]), support=((0,),), objective=[5.0], lower_bound=[5.0], gap=[0.0],
    ...     margin=[1.0], status=("optimal",), problem=problem, ridge=np.zeros((1, 3)), k=(1,))
    >>> verify(problem, claims).ok
    True
    """
    return verify_all(problem, [solution])[0]


def verify_all(problem: Problem, solutions: Sequence[Claims]) -> tuple[Verification, ...]:
    """Check several solutions of one problem, e.g. a path; supports are looked at once for all of them.

    Beside what `verify` does, the solutions are compared: none of at most k terms may have a smaller objective than an
    answer of size k that is called optimal. This holds also where supports are too many to look at all of them.
    """
    read = [read_claims(problem, solution) for solution in solutions]
    constraints = [getattr(solution, "constraints", ()) for solution in solutions]
    rules = [read_conditions(problem, given) if given else None for given in constraints]
    free = [claim for claims, rule in zip(read, rules, strict=True) if rule is None for claim in claims]
    rankings = Rankings(
        (equation, cap, claim.limit)
        for claim in free
        for equation, cap in zip(claim.equations, claim.caps, strict=True)
    )
    verifications = []
    for solution, claims, rule in zip(solutions, read, rules, strict=True):
        others = [other for group, its in zip(read, rules, strict=True) if _same_rules(its, rule) for other in group]
        checks = tuple(_compared(_check(claim, rule, rankings), claim, others) for claim in claims)
        checks = with_conflict(problem, solution, claims, checks)
        asked = [() if rule is None else rule.of(claim.rows).sources for claim in claims]
        told = zip(checks, claims, asked, strict=True)
        checks = tuple(replace(check, scope=scope(claim, own)) for check, claim, own in told)
        verifications.append(Verification(checks, solution.problem.fingerprint == problem.fingerprint))
    return tuple(verifications)


def _same_rules(a: Conditions | None, b: Conditions | None) -> bool:
    return a is b or (a is not None and b is not None and a.sources == b.sources)


def _check(claim: Claim, rules: Conditions | None, rankings: Rankings) -> EquationCheck:
    if not claim.finite:
        return not_finite(claim)
    if rules is not None:
        findings = constrained_findings(claim, rules)
        unanswered = claim.claimed == "infeasible" or claim.empty
        return check_infeasible(claim, findings) if unanswered else check_claim(claim, findings)
    check = check_claim(claim, plain_findings(claim, rankings))
    if claim.claimed != "infeasible":
        return check
    text = "infeasible is claimed, but there are no constraints: the empty support is always there."
    return replace(check, optimal=False, failures=(*check.failures, text))


def _compared(check: EquationCheck, claim: Claim, others: Sequence[Claim]) -> EquationCheck:
    """Add a failure if another stored support within the same budget is better than one called optimal."""
    if claim.claimed != "optimal" or check.optimal is not None:
        return check  # nothing is claimed, or all supports were looked at
    for other in others:
        comparable = other is not claim and other.claimed != "infeasible" and other.finite and _same_task(claim, other)
        if comparable and other.shown < claim.objective - tolerance(claim.objective, max(claim.floor, other.floor)):
            text = (
                f"the status says optimal at {claim.objective!r}, but the support {other.support} stored beside it has "
                f"the objective {other.shown!r}."
            )
            return replace(check, optimal=False, failures=(*check.failures, text))
    return check


def _same_task(claim: Claim, other: Claim) -> bool:
    """Return True if the support of another claim would have been allowed for this one."""
    if claim.rows != other.rows or other.size > claim.budget or other.misplaced() or other.inadmissible():
        return False
    if any(len(support) > cap for support, cap in zip(other.support, claim.caps, strict=True)):
        return False
    pairs = zip(claim.equations, other.equations, strict=True)
    return all(a.weight == b.weight and bool((a.ridge == b.ridge).all()) for a, b in pairs)
