"""Forgeries that `verify` has to find: every field of answers, every entry of every file of run folders.

A changed answer or folder is *refused* (a claim does not hold, or the file cannot be read), *not checked* (verify says
so), or *accepted*. What is accepted must still be true, which an oracle decides that shares no code with verify.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

import exactsindy as es
from exactsindy.certificate import check_rivals, verify_all
from exactsindy.discovery import Discovery, verify_run
from exactsindy.errors import ExactSindyError
from exactsindy.solver import Member
from exactsindy_experiments.forgery_edits import (
    Place,
    changed_solutions,
    changed_values,
    places,
    value_at,
    with_value,
)
from exactsindy_experiments.forgery_oracle import same_claims, same_members, shown_rows, still_true
from exactsindy_experiments.forgery_runs import HONEST_RUNS, honest_answers, honest_run
from exactsindy_experiments.pages import table

Outcome = Literal["refused", "not checked", "accepted, still true", "ACCEPTED THOUGH FALSE"]
OUTCOMES: tuple[Outcome, ...] = ("refused", "not checked", "accepted, still true", "ACCEPTED THOUGH FALSE")
_FILES = ("results.json", "model.json", "run.json")
#: The same where inner constants were fitted: only then are the standard errors of coefficients not computed again.
_BESIDE_CONSTANTS = (r"model\.json: equations\[\d+\]\.standard_errors", "those of coefficients beside them")
#: Entries that verify does not check, with the words by which it says so.
_LISTED = (
    (
        r"results\.json: selection\.choices\[\d+\]\.(score|confidence|withheld|required|rival|rival_terms)",
        "confidence, scores",
    ),
    (r"results\.json: selection\.inclusion", "inclusion shares"),
    (r"results\.json: selection\.table", "table rows of variants not chosen"),
    (r"results\.json: selection\.table\[\d+\]\.value", "values of criteria"),
    (r"results\.json: .*(nodes|seconds)", "nodes, seconds"),
    (r"results\.json: selection\.rule", "rule, arguments, versions, command, warnings"),
    (
        r"results\.json: constants($|\[\d+\]\.standard_error)",
        "which inner constants were fitted, their standard errors",
    ),
    (r"results\.json: tried", "what was tried"),
    (r"run\.json: (residuals|noise)", "sizes of residuals and noise"),
    (r"run\.json: (arguments|versions|command|warnings|file|file_sha256|more)", "rule, arguments, versions"),
    (r"model\.json: (package_version|certificates\[\d+\]\.version)", "versions"),
)


@dataclass(frozen=True)
class Forgery:
    """One forgery and what became of it."""

    group: str
    what: str
    outcome: Outcome


def forgeries(per_run: int, seed: int = 0) -> Iterator[Forgery]:
    """Yield forgeries of answers, paths and pools, and ``per_run`` of each run folder, always the same for a seed."""
    rng = np.random.default_rng(seed)
    yield from _answers(rng)
    yield from _paths(rng)
    yield from _pools()
    with tempfile.TemporaryDirectory() as scratch:
        for name in HONEST_RUNS:
            folder = honest_run(name, Path(scratch))
            if not verify_run(folder).ok:
                raise RuntimeError(f"the honest run {name!r} is refused:\n{verify_run(folder)}")
            yield from _folders(name, folder, per_run, rng)
            yield from _arrays(name, folder, rng)
            yield from _consistent(name, folder)


def _outcome(check: Callable[[], tuple[bool, bool]], true: Callable[[], bool]) -> Outcome:
    """Return what became of a forgery: ``check`` says whether it passed, and whether something was not checked."""
    try:
        passed, unchecked = check()
    except ExactSindyError:
        return "refused"
    if not passed:
        return "refused"
    if unchecked:
        return "not checked"
    return "accepted, still true" if true() else "ACCEPTED THOUGH FALSE"


def _answers(rng: np.random.Generator) -> Iterator[Forgery]:
    for answer in honest_answers():
        problem = answer.solution.problem
        if not es.verify(problem, answer.solution).ok:
            raise RuntimeError(f"the honest answer {answer.name!r} is refused:\n{es.verify(problem, answer.solution)}")
        for what, forged in changed_solutions(answer.solution, rng):

            def check(forged: es.Solution = forged, problem: es.Problem = problem) -> tuple[bool, bool]:
                result = es.verify(problem, forged)
                return result.ok, bool(result.unchecked)

            yield Forgery(f"Solution: {answer.name}", what, _outcome(check, partial(still_true, forged)))


def _paths(rng: np.random.Generator) -> Iterator[Forgery]:
    solution = next(iter(honest_answers())).solution
    path = es.solve_path(solution.problem, 3)
    for k, item in enumerate(path):
        for what, forged in changed_solutions(item, rng):
            solutions = [*path.solutions[:k], forged, *path.solutions[k + 1 :]]

            def check(solutions: list[es.Solution] = solutions, k: int = k) -> tuple[bool, bool]:
                results = verify_all(solution.problem, solutions)
                return all(result.ok for result in results), bool(results[k].unchecked)

            yield Forgery("Path", f"[{k}].{what}", _outcome(check, partial(still_true, forged)))


def _pools() -> Iterator[Forgery]:
    problem = next(iter(honest_answers())).solution.problem
    questions: list[dict[str, Any]] = [{"count": 5}, {"within": 2.0}]
    for asked in questions:
        pool = es.solve_pool(problem, 2, **asked)
        members = list(pool[0])
        changed: list[tuple[str, list[Member]]] = [
            ("last left out", members[:-1]),
            ("first left out", members[1:]),
            ("turned round", members[::-1]),
            ("last one twice", [*members, members[-1]]),
            ("empty", []),
        ]
        for i, member in enumerate(members):
            rest = members[:i], members[i + 1 :]
            for name in ("objective", "excess"):
                for value in changed_values(float(getattr(member, name))):
                    changes: dict[str, Any] = {name: float(value)}
                    other = replace(member, **changes)
                    changed.append((f"[{i}].{name} = {value!r}", [*rest[0], other, *rest[1]]))
            for term, value in member.terms.items():
                for new in changed_values(float(value))[:6]:
                    other = replace(member, terms={**member.terms, term: float(new)})
                    changed.append((f"[{i}].terms[{term!r}] = {new!r}", [*rest[0], other, *rest[1]]))
            for support in ((0, 1), (4, 5), (1,), (5, 0), (0, 99)):
                if support != member.support:
                    changed.append(
                        (f"[{i}].support = {support}", [*rest[0], replace(member, support=support), *rest[1]])
                    )
        for what, forged in changed:

            def check(forged: list[Member] = forged, asked: dict[str, Any] = asked) -> tuple[bool, bool]:
                failures, reason = check_rivals(
                    problem,
                    0,
                    forged,
                    np.zeros(6),
                    size=2,
                    complete=True,
                    **asked,
                )
                return not failures, bool(reason)

            yield Forgery("Pool", what, _outcome(check, partial(same_members, forged, members)))


def _folders(run: str, folder: Path, count: int, rng: np.random.Generator) -> Iterator[Forgery]:
    """Yield changes of single entries: each kind of entry at least once, then others at random."""
    documents = {name: json.loads((folder / name).read_text(encoding="utf-8")) for name in _FILES}
    entries = [(name, place) for name, document in documents.items() for place in places(document)]
    kinds: dict[str, list[tuple[str, Place]]] = {}
    for name, place in entries:
        kinds.setdefault(f"{name} {[key if isinstance(key, str) else 0 for key in place]}", []).append((name, place))
    chosen = [group[int(rng.integers(len(group)))] for group in kinds.values()]
    chosen = [chosen[int(i)] for i in rng.permutation(len(chosen))]  # (few of them: not always the first)
    chosen += [entries[int(i)] for i in rng.integers(len(entries), size=max(count - len(chosen), 0))]
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(folder, Path(scratch) / "run"))
        for name, place in chosen[:count] if count < len(kinds) else chosen:
            values = changed_values(value_at(documents[name], place))
            value = values[int(rng.integers(len(values)))]
            forged = with_value(documents[name], place, value)
            if forged == documents[name]:
                continue
            (copy / name).write_text(json.dumps(forged), encoding="utf-8")
            where = f"{name}: {_written(place)}"
            yield Forgery(f"run folder: {run}", f"{where} = {str(value)[:60]}", _judged(copy, folder, where))
            shutil.copy(folder / name, copy / name)


def _arrays(run: str, folder: Path, rng: np.random.Generator) -> Iterator[Forgery]:
    """Yield changed bits of the stored arrays; a changed time stamp of an entry changes no number."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(folder, Path(scratch) / "run"))
        for name in ("data.npz", "problem.npz"):
            honest = (folder / name).read_bytes()
            for place in rng.integers(len(honest), size=10).tolist():
                content = bytearray(honest)
                content[place] ^= 1 << int(rng.integers(8))
                (copy / name).write_bytes(bytes(content))
                what = f"{name}: byte {place}"
                yield Forgery(f"run folder: {run}", what, _judged(copy, folder, f"bytes of {name}"))
            (copy / name).write_bytes(honest)


def _judged(copy: Path, folder: Path, where: str) -> Outcome:
    said = ""

    def check() -> tuple[bool, bool]:
        nonlocal said
        result = verify_run(copy)
        said = str(result)
        return result.ok, bool(result.unchecked)

    def true() -> bool:
        forged, right = Discovery.load(copy), Discovery.load(folder)
        items = [forged.solution, forged.selection.solution, *forged.selection.path]
        constraints = forged.solution.constraints
        return same_claims(forged, right) and all(still_true(replace(s, constraints=constraints)) for s in items)

    outcome = _outcome(check, true)
    if outcome == "ACCEPTED THOUGH FALSE":
        right = Discovery.load(folder)
        known = (*_LISTED, _BESIDE_CONSTANTS) if right.constants else _LISTED
        listed = any(re.match(pattern, where) and words in said for pattern, words in known)
        same = shown_rows(Discovery.load(copy)) == shown_rows(right)
        return "not checked" if listed and same else outcome
    return outcome


def _written(place: Place) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).lstrip(".")


def _consistent(run: str, folder: Path) -> Iterator[Forgery]:
    """Yield forgeries of the whole folder, every copy made to fit: only computing again can find them."""
    right = Discovery.load(folder)
    rng = np.random.default_rng(5)
    for what, solution in changed_solutions(right.solution, rng):
        if what.startswith(("problem", "constraints", "coefficient_limit", "conflict")):
            continue  # a folder holds no conflict; the others are forged one by one
        with tempfile.TemporaryDirectory() as scratch:
            try:
                model = es.Model.from_solution(solution, variables=right.data)
                selection = replace(right.selection, solution=replace(solution, constraints=()))
                copy = replace(right, model=model, solution=solution, selection=selection).save(Path(scratch) / "run")
            except (ExactSindyError, ValueError):
                continue  # no such folder can be written

            def check(copy: Path = copy) -> tuple[bool, bool]:
                result = verify_run(copy)
                return result.ok, bool(result.unchecked)

            def true(copy: Path = copy, constraints: tuple[Any, ...] = solution.constraints) -> bool:
                return still_true(replace(Discovery.load(copy).solution, constraints=constraints))

            outcome = _outcome(check, true)
        yield Forgery(f"whole folder: {run}", what, outcome)


def report(found: list[Forgery]) -> str:
    """Return the table of what became of forgeries, and those that were accepted though false."""
    groups = list(dict.fromkeys(forgery.group for forgery in found))
    counts = Counter((forgery.group, forgery.outcome) for forgery in found)
    rows = [
        (group, str(sum(counts[group, outcome] for outcome in OUTCOMES)), *(str(counts[group, o]) for o in OUTCOMES))
        for group in groups
    ]
    totals = [sum(counts[group, outcome] for group in groups) for outcome in OUTCOMES]
    rows.append(("all", str(sum(totals)), *map(str, totals)))
    false = [f"- {f.group}: {f.what}" for f in found if f.outcome == OUTCOMES[-1]]
    return "\n".join([table(("forged", "tried", *OUTCOMES), rows, "lrrrrr"), *false])
