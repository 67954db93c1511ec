"""Compare the places of a run folder that say the same thing: every copy of every number."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy._atomic import scratch_folder
from exactsindy.discovery.result import Discovery
from exactsindy.discovery.run_folder import FORMAT, _results
from exactsindy.errors import ExactSindyError
from exactsindy.library import Variables
from exactsindy.model import Equation, Model
from exactsindy.selection import Choice, TableRow
from exactsindy.solver import Solution, Status, Total

#: Relative difference allowed to numbers that are computed again in doubles: standard errors and gaps.
_RECOMPUTED = 1e-6
#: Which version wrote a file is no claim.
_VERSIONS = ("package_version", "version")


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
            if key not in _VERSIONS and not _same(value, true, close=key == "gap"):
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


def unread_entries(folder: str | os.PathLike[str], discovery: Discovery) -> Iterator[str]:
    """Yield the entries of results.json and model.json that reading them passed over: nothing vouches for them."""
    if discovery.about.get("format") != FORMAT:
        return  # an earlier format had other names
    with scratch_folder() as scratch:
        again = scratch / "model.json"
        discovery.model.save(again)
        model = json.loads(again.read_text(encoding="utf-8"))
    for name, read in (("results.json", _results(discovery)), ("model.json", model)):
        repeated: list[str] = []
        text = (Path(folder) / name).read_text(encoding="utf-8")
        stored = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, repeated))  # noqa: B023 - used here
        yield from (f"{name}: the entry {key!r} stands twice." for key in repeated)
        yield from (f"{name}, {text}" for text in _unread(stored, read, ""))


def _object(pairs: Sequence[tuple[str, Any]], repeated: list[str]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated += sorted({key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1})
    return found


def _unread(stored: Any, read: Any, place: str) -> Iterator[str]:
    """Yield where a file says something else than what was read of it."""
    if isinstance(stored, Mapping) and isinstance(read, Mapping):
        for key, value in stored.items():
            here = f"{place}.{key}" if place else key
            if key not in read:
                yield f"{here}: it means nothing in this file."
            elif key not in _VERSIONS:
                yield from _unread(value, read[key], here)
    elif isinstance(stored, list) and isinstance(read, list | tuple) and len(stored) == len(read):
        for i, (value, other) in enumerate(zip(stored, read, strict=True)):
            yield from _unread(value, other, f"{place}[{i}]")
    elif stored != read or isinstance(stored, bool) != isinstance(read, bool):
        yield f"{place}: {stored!r}; it was read as {read!r}."


def _same(value: object, true: object, *, close: bool) -> bool:
    if isinstance(value, float) and isinstance(true, float):
        if math.isnan(value) or math.isnan(true):
            return math.isnan(value) and math.isnan(true)
        return value == true or (close and math.isclose(value, true, rel_tol=_RECOMPUTED, abs_tol=1e-15))
    return value == true
