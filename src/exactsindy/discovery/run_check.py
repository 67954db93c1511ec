"""Check everything a run folder claims: the solution, and all places where the answer is stored again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np

from exactsindy.certificate import Verification, check_rivals, verify_all
from exactsindy.discovery.prove import RIVALS
from exactsindy.discovery.result import Discovery
from exactsindy.errors import ExactSindyError
from exactsindy.library import Variables
from exactsindy.model import Equation, Model
from exactsindy.solver import Solution, Total, solution_record

#: What would take the whole selection again, or is no claim: listed as not checked.
_NEVER = ("confidence", "inclusion shares", "table of criteria", "warnings")
#: Relative difference allowed to numbers that are computed again in doubles: standard errors and gaps.
_RECOMPUTED = 1e-6


@dataclass(frozen=True)
class RunVerification:
    """The outcome of `verify_run`: what `verify` says of the solution, claims that do not hold, and unchecked ones."""

    solution: Verification
    failures: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every claim that was checked holds."""
        return not self.failures

    def __str__(self) -> str:
        lines = str(self.solution).splitlines()
        elsewhere = self.failures[len(self.solution.failures) :]
        if elsewhere:
            lines[0] = "NOT verified: a claim does not hold for these data."
            lines += [f"  - {failure}" for failure in elsewhere]
        else:
            lines.append("model.json, run.json, path and rivals: yes")
        lines += [f"not checked: {text}" for text in self.unchecked]
        return "\n".join([*lines, f"not checked: {', '.join(_NEVER)}"])


def verify_run(discovery: Discovery) -> RunVerification:
    """Check the claims of a loaded run: solution, path and rivals from the problem, other files by comparison."""
    others = list(_others(discovery))
    solution, *checks = verify_all(discovery.problem, [discovery.solution, *(item for _, item in others)])
    failures, unchecked = list(solution.failures), [f"{what} of the solution" for what in solution.unchecked]
    for (place, _), checked in zip(others, checks, strict=True):
        failures += [f"results.json, {place}: {text}" for text in checked.failures]
        unchecked += [f"{what} of {place}" for what in checked.unchecked]
    failures += _sizes(discovery)
    for text, reason in _pool(discovery):
        (unchecked if reason else failures).append(text)
    failures += _model(discovery)
    return RunVerification(solution, tuple(failures), tuple(unchecked))


def _others(discovery: Discovery) -> Iterator[tuple[str, Solution]]:
    """Yield every other solution that results.json holds, under the constraints of the run."""
    constraints, chosen = discovery.solution.constraints, discovery.selection.solution
    if solution_record(chosen) != solution_record(discovery.solution):
        yield "selection.solution", replace(chosen, constraints=constraints)
    for k, item in enumerate(discovery.selection.path):
        yield f"path[{k}]", replace(item, constraints=constraints)


def _sizes(discovery: Discovery) -> Iterator[str]:
    """Yield the entries of the path that are of another size than their place says."""
    for k, item in enumerate(discovery.selection.path):
        sizes = {item.k.k} if isinstance(item.k, Total) else set(item.k)
        if sizes != {k}:
            yield f"results.json, path[{k}]: it is of size {item.k!r}; expected {k}."


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
        size, complete = len(chosen.support[j]), pool.complete[name]
        failures, reason = check_rivals(
            problem, j, members, chosen.ridge[j], size=size, complete=complete, count=asked, within=pool.within
        )
        yield from ((f"{place}{'' if text.startswith('[') else ': '}{text}", False) for text in failures)
        if reason:
            yield f"completeness of pool[{name!r}]", True
        if members and chosen.status[j].name == "OPTIMAL":
            least, objective = min(float(member.objective) for member in members), float(chosen.objective[j])
            if least < objective * (1 - 1e-9) and not chosen.exact_fit[j]:
                yield f"{place}: it holds a better support ({least!r}) than the proved one ({objective!r}).", False


def _model(discovery: Discovery) -> Iterator[str]:
    """Yield where model.json and the equations of run.json differ from the solution."""
    try:
        expected = Model.from_solution(discovery.solution, variables=discovery.data)
    except ExactSindyError as error:
        yield f"results.json, solution: no model can be made of it ({error})"
        return
    if discovery.model.fingerprint != discovery.problem.fingerprint:
        yield "model.json, problem_fingerprint: it is that of another problem."
    if discovery.model.variables != Variables.of(discovery.data):
        yield "model.json, variables: they are not those of the data."
    if [row.name for row in discovery.model.rows] != [row.name for row in expected.rows]:
        yield "model.json, equations: they are not those of the problem."
    else:
        for i, (row, right) in enumerate(zip(discovery.model.rows, expected.rows, strict=True)):
            yield from (f"model.json, equations[{i}] ({right.name}): {text}" for text in _differences(row, right))
    yield from _certificates(discovery, expected)
    if discovery.about.get("equations") != expected.equations():
        yield f"run.json, equations: {discovery.about.get('equations')!r}; the solution says {expected.equations()!r}."


def _differences(row: Equation, right: Equation) -> Iterator[str]:
    names, expected = [term.name for term in row.terms], [term.name for term in right.terms]
    if names != expected:
        yield f"the terms are {names!r}; the solution has {expected!r}."
        return
    for name, value, true in zip(names, row.coefficients, right.coefficients, strict=True):
        if value != true:
            yield f"the coefficient of {name} is {value!r}; the solution has {true!r}."
    errors, true_errors = row.standard_errors, right.standard_errors
    if errors is None or true_errors is None:
        alike = errors is true_errors
    else:
        alike = np.allclose(errors, true_errors, rtol=_RECOMPUTED, atol=0.0, equal_nan=True)
    if not alike:
        yield f"the standard errors are {errors!r}; the data give {true_errors!r}."


def _certificates(discovery: Discovery, expected: Model) -> Iterator[str]:
    stored = discovery.model.certificates
    if len(stored) != len(expected.certificates):
        yield f"model.json, certificates: there are {len(stored)}; expected {len(expected.certificates)}."
        return
    for i, (certificate, right) in enumerate(zip(stored, expected.certificates, strict=True)):
        entries = asdict(certificate)
        for key, true in asdict(right).items():
            value = entries[key]
            if key != "version" and not _same(value, true, close=key == "gap"):  # (the version is that of the solve)
                yield f"model.json, certificates[{i}].{key}: {value!r}; the solution says {true!r}."


def _same(value: object, true: object, *, close: bool) -> bool:
    if isinstance(value, float) and isinstance(true, float):
        if math.isnan(value) or math.isnan(true):
            return math.isnan(value) and math.isnan(true)
        return value == true or (close and math.isclose(value, true, rel_tol=_RECOMPUTED, abs_tol=1e-15))
    return value == true
