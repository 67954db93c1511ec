"""Check everything a run folder claims: the solution, and all places where the answer is stored again."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._files import printable
from exactsindy.certificate import Verification, check_rivals, verify_all
from exactsindy.discovery.prove import RIVALS
from exactsindy.discovery.result import Discovery
from exactsindy.discovery.run_constants import constant_differences
from exactsindy.discovery.run_copies import Unsaved, model_differences, selection_differences
from exactsindy.discovery.run_files import unchecked_files, unread_entries
from exactsindy.errors import DataError, ExactSindyError
from exactsindy.solver import Solution, Total, solution_record

#: What would take the whole run again, or is no claim: listed as not checked.
NEVER_CHECKED = (
    "how the regression was made from the data, names of its variants",
    "which inner constants were fitted, their standard errors, those of coefficients beside them, what was tried",
    "confidence, scores, why a confidence is withheld, how many terms were required, rival sizes, inclusion shares",
    "values of criteria, table rows of variants not chosen",
    "sizes of residuals and noise",
    "rule, arguments, versions, command, warnings, the name of the data file, other entries of run.json",
    "nodes, seconds",
)


@dataclass(frozen=True)
class RunVerification:
    """The outcome of `verify_run`: what `verify` says of the solution, claims that do not hold, and unchecked ones."""

    solution: Verification
    failures: tuple[str, ...]
    unchecked: tuple[str, ...]
    files: tuple[str, ...] = ()  # in words: files of the folder that are not part of the run

    @property
    def never_checked(self) -> tuple[str, ...]:
        """What is not checked of any run, and what else the folder holds."""
        return (*NEVER_CHECKED, *self.files)

    @property
    def ok(self) -> bool:
        """Whether every claim that was checked holds."""
        return not self.failures

    def __str__(self) -> str:
        lines = str(self.solution).splitlines()
        elsewhere = self.failures[len(self.solution.failures) :]
        if elsewhere:
            lines[0] = "NOT verified: a claim does not hold for these data."
            lines += [f"  - {printable(failure)}" for failure in elsewhere]
        else:
            lines.append("model.json, run.json, path, rivals and table: yes")
        lines += [f"not checked: {printable(text)}" for text in self.unchecked]
        return "\n".join([*lines, f"not checked: {'; '.join(self.never_checked)}"])


def verify_run(run: Discovery | str | os.PathLike[str]) -> RunVerification:
    """Check the claims of a run: solution, path and rivals from the problem, other places by comparison.

    Parameters
    ----------
    run
        The folder, or what `Discovery.load` made of it; only of a folder is every entry of its files looked at.

    Raises
    ------
    DataError
        If the folder is missing, is no run folder, or its data or regression were changed.
    """
    if isinstance(run, Discovery):
        return _verified(run)
    try:
        stored = Discovery.load(run)
        result = _verified(stored)
        unread, files = tuple(unread_entries(run, stored)), tuple(unchecked_files(run, stored))
    except ExactSindyError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, zlib.error) as error:
        # Entries of another type than a run has: whatever stumbles over them, the folder is damaged.
        raise DataError(f"{str(run)!r}: the folder is damaged ({type(error).__name__}: {error}).") from error
    return replace(result, failures=(*result.failures, *unread), files=files)


def _verified(stored: Discovery) -> RunVerification:
    """Check solutions, rivals and copies."""
    discovery = _with_constraints(stored)
    others = list(_others(discovery))
    solution, *checks = verify_all(discovery.problem, [discovery.solution, *(item for _, item in others)])
    failures, unchecked = list(solution.failures), [f"{what} of the solution" for what in solution.unchecked]
    for (place, _), checked in zip(others, checks, strict=True):
        failures += [f"results.json, {place}: {text}" for text in checked.failures]
        unchecked += [f"{what} of {place}" for what in checked.unchecked]
    failures += _sizes(discovery)
    for text, reason in _pool(discovery):
        (unchecked if reason else failures).append(text)
    failures += [*model_differences(discovery), *selection_differences(discovery), *constant_differences(discovery)]
    return RunVerification(solution, tuple(failures), tuple(unchecked))


def _with_constraints(discovery: Discovery) -> Discovery:
    """Return a discovery whose constraints are known to be missing, if its certificates name some and run.json none."""
    named = [certificate.constraints for certificate in discovery.model.certificates if certificate.constraints]
    if discovery.solution.constraints or not named:
        return discovery
    return replace(discovery, solution=replace(discovery.solution, constraints=tuple(map(Unsaved, named[0]))))


def _others(discovery: Discovery) -> Iterator[tuple[str, Solution]]:
    """Yield every other solution that results.json holds, under the constraints of the run."""
    constraints, chosen = discovery.solution.constraints, discovery.selection.solution
    if solution_record(chosen) != solution_record(discovery.solution):
        yield "selection.solution", replace(chosen, constraints=constraints)
    for k, item in enumerate(discovery.selection.path):
        yield f"path[{k}]", replace(item, constraints=constraints)


def _sizes(discovery: Discovery) -> Iterator[str]:
    """Yield the solutions that are of another kind than their place says: size, budget, ridge, coefficient limit."""
    own, path = discovery.solution, discovery.selection.path
    if len(path) == 0:
        yield "results.json, path: it is empty."
    for k, item in enumerate(path):
        sizes = {item.k.k} if isinstance(item.k, Total) else set(item.k)
        if sizes != {k}:
            yield f"results.json, path[{k}]: it is of size {item.k!r}; expected {k}."
        if isinstance(item.k, Total) and (item.k.weights, item.k.caps) != _shared(path[len(path) - 1]):
            yield f"results.json, path[{k}].k: {item.k!r}; the other sizes have other weights or caps."
    for place, item in [("selection.solution", discovery.selection.solution), *_others(discovery)]:
        if item.coefficient_limit != own.coefficient_limit:
            text = f"{item.coefficient_limit!r}; the solution has {own.coefficient_limit!r}."
            yield f"results.json, {place}.coefficient_limit: {text}"
        if not np.array_equal(item.ridge, own.ridge):
            yield f"results.json, {place}.ridge: it differs from that of the solution."


def _shared(solution: Solution) -> tuple[object, object]:
    return (solution.k.weights, solution.k.caps) if isinstance(solution.k, Total) else (None, None)


def _pool(discovery: Discovery) -> Iterator[tuple[str, bool]]:
    """Yield what is wrong with the rivals, and (marked True) what could not be checked."""
    chosen, pool, problem = discovery.selection.solution, discovery.pool, discovery.problem
    if pool is None:
        return
    if set(pool.members) != set(problem.target_names) or chosen.joint or discovery.solution.constraints:
        yield f"results.json, pool: it is for {', '.join(pool.members)}; expected one entry per equation.", False
        return
    # Runs of earlier versions do not say how many rivals were asked for.
    asked = RIVALS if pool.count is None and pool.within is None else pool.count
    for j, name in enumerate(problem.target_names):
        members, place = pool.members[name], f"results.json, pool[{name!r}]"
        failures, reason = check_rivals(
            problem,
            j,
            members,
            chosen.ridge[j],
            size=len(chosen.support[j]),
            complete=pool.complete[name],
            count=asked,
            within=pool.within,
            limit=chosen.coefficient_limit,
        )
        yield from ((f"{place}{'' if text.startswith('[') else ': '}{text}", False) for text in failures)
        if reason:
            yield f"completeness of pool[{name!r}]", True
        if members and chosen.status[j].name == "OPTIMAL":
            least, objective = min(float(member.objective) for member in members), float(chosen.objective[j])
            if least < objective * (1 - 1e-9) and not chosen.exact_fit[j]:
                yield f"{place}: it holds a better support ({least!r}) than the proved one ({objective!r}).", False
