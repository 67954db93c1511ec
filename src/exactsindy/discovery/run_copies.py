"""Compare the places of a run folder that say the same thing: every copy of every number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from exactsindy.discovery.result import Discovery
from exactsindy.errors import ExactSindyError
from exactsindy.library import Variables
from exactsindy.model import Equation, Model
from exactsindy.selection import Choice, TableRow
from exactsindy.solver import Solution, Status, Total

#: Relative difference allowed to numbers that are computed again in doubles: standard errors and gaps.
_RECOMPUTED = 1e-6
#: Which version wrote a file is no claim.
VERSIONS = ("package_version", "version")


@dataclass(frozen=True)
class Unsaved:
    """A constraint of a run whose folder does not hold it, only its text in a certificate: it cannot be checked."""

    text: str

    def write(self, rules: object) -> None:
        """Add nothing: what the constraint says is not known."""

    def __str__(self) -> str:
        return self.text


def model_differences(discovery: Discovery) -> Iterator[str]:
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
            # Which coefficients constraints decided, and so have no errors, is not known without them.
            known = not any(isinstance(constraint, Unsaved) for constraint in discovery.solution.constraints)
            # With inner constants free, errors are larger than those of the regression at fixed ones.
            known = known and not any(constant.equation == right.name for constant in discovery.constants)
            texts = _differences(row, right if known else replace(right, standard_errors=row.standard_errors))
            yield from (f"model.json, equations[{i}] ({right.name}): {text}" for text in texts)
    yield from _certificates(discovery, expected)
    if discovery.about.get("equations", expected.equations()) != expected.equations():
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
            if key not in VERSIONS and not _same(value, true, close=key == "gap"):
                yield f"model.json, certificates[{i}].{key}: {value!r}; the solution says {true!r}."


def selection_differences(discovery: Discovery) -> Iterator[str]:
    """Yield where choices and table differ from the solution selected and from the path."""
    selection, place = discovery.selection, "results.json, selection"
    chosen = selection.solution
    sizes = [chosen.k.k] if isinstance(chosen.k, Total) else list(chosen.k)
    names = [", ".join(discovery.problem.target_names)] if chosen.joint else list(discovery.problem.target_names)
    named = [choice.equation for choice in selection.choices]
    if named != names:
        yield f"{place}.choices: they are for {named!r}; expected {names!r}."
        return
    for i, choice in enumerate(selection.choices):
        if choice.k != sizes[i]:
            yield f"{place}.choices[{i}].k: {choice.k}; the solution selected has {sizes[i]}."
        if not _same_ridge(discovery, choice, i):
            yield f"{place}.choices[{i}].ridge: {choice.ridge!r}; the solution selected has another one."
        if not (math.isnan(choice.confidence) or 0 <= choice.confidence <= 1):
            yield f"{place}.choices[{i}].confidence: {choice.confidence!r} is no probability."
        yield from (f"{place}.{text}" for text in _table(discovery, choice, i))
    known = {row.equation for row in selection.table} - set(names)
    if known:
        yield f"{place}.table: there are rows of {sorted(known)!r}; the equations are {names!r}."
    library, targets = set(discovery.problem.names), {*names, *discovery.problem.target_names}
    for target, shares in selection.inclusion.items():
        for name, share in shares.items():
            if target not in targets or name not in library or not 0 <= share <= 1:
                yield f"{place}.inclusion[{target!r}][{name!r}]: {share!r} is no share of a term of an equation."


def _same_ridge(discovery: Discovery, choice: Choice, entry: int) -> bool:
    """Return whether a choice shows the ridge weights that its equations have: one number, or one for each of all."""
    problem, weights = discovery.problem, np.asarray(discovery.selection.solution.ridge)
    rows = range(len(weights)) if discovery.selection.solution.joint else [entry]
    shown = np.ravel(np.asarray(choice.ridge, dtype=float))
    if shown.size not in (1, weights.shape[1], weights.size):
        return False
    shown = np.broadcast_to(shown.reshape(weights.shape) if shown.size == weights.size else shown, weights.shape)
    own = [[problem.names.index(name) for name in problem.locate(problem.target_names[row])[0].names] for row in rows]
    return all(
        np.array_equal(weights[row, columns], shown[row, columns]) for row, columns in zip(rows, own, strict=True)
    )


def _table(discovery: Discovery, choice: Choice, entry: int) -> Iterator[str]:
    """Yield what is wrong with the rows of the variant chosen for one equation: they show the path."""
    rows = list(enumerate(discovery.selection.table))
    own = [(n, row) for n, row in rows if row.equation == choice.equation]
    marked = [(row.k, row.variant, row.ridge) for _, row in own if row.chosen]
    if marked != [(choice.k, choice.variant, choice.ridge)]:
        yield f"table: the row chosen for {choice.equation} is {marked!r}; expected {choice.k}, {choice.variant!r}."
        return
    path = discovery.selection.path
    shown = [(n, row) for n, row in own if (row.variant, row.ridge) == (choice.variant, choice.ridge)]
    if [row.k for _, row in shown] != list(range(len(path))):
        sizes = [row.k for _, row in shown]
        yield f"table: the rows of {choice.equation} have the sizes {sizes!r}; the path goes from 0 to {len(path) - 1}."
        return
    for n, row in shown:
        yield from (f"table[{n}].{text}" for text in _row(row, path[row.k], entry, discovery.problem.names))


def _row(row: TableRow, solution: Solution, entry: int, names: Sequence[str]) -> Iterator[str]:
    supports = solution.support if solution.joint else (solution.support[entry],)
    terms = tuple(names[j] for support in supports for j in support)
    proved = solution.status[entry] in (Status.OPTIMAL, Status.INFEASIBLE)
    right = {"terms": terms, "objective": float(solution.objective[entry]), "proved": proved}
    for key, true in right.items():
        if not _same(getattr(row, key), true, close=False):
            yield f"{key}: {getattr(row, key)!r}; the path has {true!r}."


def _same(value: object, true: object, *, close: bool) -> bool:
    if isinstance(value, float) and isinstance(true, float):
        if math.isnan(value) or math.isnan(true):
            return math.isnan(value) and math.isnan(true)
        return value == true or (close and math.isclose(value, true, rel_tol=_RECOMPUTED, abs_tol=1e-15))
    return value == true
