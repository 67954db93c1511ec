"""A discovery as a folder that holds all it takes to verify, show and redo it: JSON and plain arrays, no pickle.

``run.json`` says what was asked for, of which data (SHA-256), with which versions; ``data.npz`` holds the samples,
``problem.npz`` the regression, ``results.json`` solution, path, rivals and choices, ``model.json`` the equations with
their certificates.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy import __version__
from exactsindy._atomic import current, replacing, state, write_atomically
from exactsindy._files import read_arrays, read_json, reason, shown
from exactsindy._records import flag, mapping, real, reals, sequence, text, texts, whole
from exactsindy.data import Notice, read_data, save_data
from exactsindy.errors import DataError
from exactsindy.model import InnerConstant, Model
from exactsindy.plots import DiscoveryLike
from exactsindy.problem import Problem
from exactsindy.selection import TRAJECTORY_FIT, Choice, Selection, TableRow
from exactsindy.solver import Path as SizePath
from exactsindy.solver import (
    Solution,
    path_record,
    plain,
    pool_record,
    read_path,
    read_pool,
    read_solution,
    solution_record,
)

FORMAT = "exactsindy run 2"
#: The files of arrays: run.json has the SHA-256 of their bytes, beside the fingerprints of what they hold.
ARRAYS = ("data.npz", "problem.npz")
#: All files of a run.
FILES = (*ARRAYS, "model.json", "results.json", "run.json")
#: Folders of these formats are read; in the first, a choice called its variant a preparation.
_READABLE = ("exactsindy run 1", FORMAT)
#: What the first format called the variant that trajectory fits chose.
_FIRST_NAMES = {"most likely orbit": TRAJECTORY_FIT}
#: How often a folder is read again because another process was writing to it just then.
_ATTEMPTS = 20


def write_run(discovery: DiscoveryLike, folder: str | os.PathLike[str], about: Mapping[str, Any]) -> Path:
    """Write a discovery into a folder, which is made if need be; see `Discovery.save`."""
    with replacing(folder) as place:
        save_data(discovery.data, place / "data.npz")
        discovery.problem.save(place / "problem.npz")
        discovery.model.save(place / "model.json")
        _write(place / "results.json", _results(discovery))
        _write(place / "run.json", _manifest(discovery, about, place))
    return Path(folder)


def _manifest(discovery: DiscoveryLike, about: Mapping[str, Any], place: Path) -> dict[str, Any]:
    return {
        **about,
        "format": FORMAT,
        "arguments": dict(discovery.arguments),
        "data_sha256": discovery.data.fingerprint,
        "problem_sha256": discovery.problem.fingerprint,
        "files_sha256": {name: file_sha256(place / name) for name in ARRAYS},
        "versions": {
            "exactsindy": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
        },
        "equations": discovery.model.equations(),
        "warnings": [asdict(notice) for notice in discovery.warnings],
        "residuals": dict(discovery.residuals),
        "noise": dict(discovery.noise),
    }


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of the bytes of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_run(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of the `Discovery` that a run folder holds, its data and regression checked."""
    if not isinstance(folder, (str, os.PathLike)):
        raise DataError(f"load: got {type(folder).__name__}; expected the path of a run folder.")
    for _ in range(_ATTEMPTS):
        before = state(folder, "run.json")
        try:
            fields = _fields(folder)
        except DataError:
            if state(folder, "run.json") == before:
                raise
        else:
            if state(folder, "run.json") == before:
                return fields
    raise DataError(f"{str(folder)!r}: another process keeps writing to it; try again.")


def _fields(folder: str | os.PathLike[str]) -> dict[str, Any]:
    if not current(folder, "run.json").exists():
        raise DataError(f"{str(folder)!r} is no run folder (no run.json); `exactsindy discover --run` makes one.")
    about, results = _read(current(folder, "run.json")), _read(current(folder, "results.json"))
    if about.get("format") not in _READABLE:
        found = f"run.json has the format {shown(repr(about.get('format')))}; expected {' or '.join(_READABLE)}."
        cure = "Run `exactsindy discover --run` again, or read the folder with the version that wrote it."
        raise DataError(f"{str(folder)!r}: {found} {cure}")
    problem = Problem.load(current(folder, "problem.npz"))
    data = read_data(read_arrays(current(folder, "data.npz")))
    for name, have in (("problem", problem.fingerprint), ("data", data.fingerprint)):
        if have != about.get(f"{name}_sha256"):
            found = f"{name}.npz was changed since the run (its SHA-256 is not that of run.json)"
            raise DataError(f"{str(folder)!r}: {found}.")
    model = Model.load(current(folder, "model.json"))
    try:
        constraints = texts(about.get("constraints", []), "constraints")
        return {
            "selection": _selection(mapping(results["selection"], "selection"), problem, constraints),
            "problem": problem,
            "pool": None if results["pool"] is None else read_pool(results["pool"], problem),
            "data": data,
            "solution": _constrained(read_solution(results["solution"], problem), constraints),
            "warnings": tuple(map(_notice, sequence(about["warnings"], "warnings"))),
            "arguments": {
                key: text(value, key, least=0) for key, value in mapping(about["arguments"], "arguments").items()
            },
            "residuals": _sizes(about.get("residuals", {}), "residuals"),
            "noise": _sizes(about.get("noise", {}), "noise"),
            "model": model,
            "constants": tuple(map(_constant, sequence(results.get("constants", []), "constants"))),
            "tried": texts(results.get("tried", []), "tried"),
            "about": about,
        }
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        missing = f"the entry {reason(error)} is missing" if isinstance(error, KeyError) else reason(error)
        raise DataError(f"{str(folder)!r}: results.json or run.json is damaged: {missing}.") from error


def _sizes(record: Any, what: str) -> dict[str, float]:
    return {name: real(value, what, least=0.0) for name, value in mapping(record, what).items()}


def _constrained(solution: Solution, texts: Sequence[str]) -> Solution:
    if not texts:
        return solution
    from exactsindy.constraints import parse_constraint

    return replace(solution, constraints=tuple(parse_constraint(text) for text in texts))


def _results(discovery: DiscoveryLike) -> dict[str, Any]:
    selection = discovery.selection
    return {
        "solution": solution_record(discovery.solution),
        "pool": None if discovery.pool is None else pool_record(discovery.pool),
        "constants": [_plain_record(constant) for constant in discovery.constants],
        "tried": list(discovery.tried),
        "selection": {
            "rule": str(selection.rule),
            "solution": solution_record(selection.solution),
            "path": path_record(selection.path),
            "inclusion": {target: dict(shares) for target, shares in selection.inclusion.items()},
            "choices": [_plain_record(choice) for choice in selection.choices],
            "table": [_plain_record(row) for row in selection.table],
        },
    }


def _plain_record(item: Choice | TableRow | InnerConstant) -> dict[str, Any]:
    record = asdict(item)
    for key, value in record.items():
        if isinstance(value, float | np.floating):
            record[key] = plain([value])[0]
        elif isinstance(value, np.ndarray):
            record[key] = plain(np.ravel(value))
    return record


def _selection(record: Mapping[str, Any], problem: Problem, constraints: Sequence[str]) -> Selection:
    choices = tuple(map(_choice, sequence(record["choices"], "choices")))
    table = tuple(map(_table_row, sequence(record["table"], "table")))
    inclusion = {
        target: {name: real(share, "inclusion") for name, share in mapping(shares, "inclusion").items()}
        for target, shares in mapping(record["inclusion"], "inclusion").items()
    }
    solution = _constrained(read_solution(record["solution"], problem), constraints)
    path = [_constrained(one, constraints) for one in read_path(record["path"], problem)]
    if len(choices) not in (1, len(problem.target_names)):
        raise DataError(f"there are {len(choices)} choices for {len(problem.target_names)} equations")
    return Selection(solution, SizePath(problem, tuple(path)), table, inclusion, choices, text(record["rule"], "rule"))


def _choice(record: Any) -> Choice:
    entries = renamed(mapping(record, "choices"))
    return Choice(
        equation=text(entries["equation"], "equation"),
        k=whole(entries["k"], "k"),
        variant=text(entries["variant"], "variant", least=0),
        ridge=_ridge(entries["ridge"]),
        score=real(entries["score"], "score", finite=False),
        confidence=real(entries["confidence"], "confidence", finite=False),
        rival=None if entries["rival"] is None else whole(entries["rival"], "rival"),
        rival_terms=texts(entries["rival_terms"], "rival_terms"),
        required=whole(entries.get("required", 0), "required"),
        withheld=text(entries.get("withheld", ""), "withheld", least=0),
    )


def _constant(record: Any) -> InnerConstant:
    entries = mapping(record, "constants")
    return InnerConstant(
        equation=text(entries["equation"], "equation"),
        term=text(entries["term"], "term"),
        name=text(entries["name"], "name"),
        value=real(entries["value"], "value"),
        standard_error=real(entries["standard_error"], "standard_error", finite=False),
        within=text(entries.get("within", ""), "within", least=0),
    )


def _table_row(record: Any) -> TableRow:
    entries = renamed(mapping(record, "table"))
    return TableRow(
        equation=text(entries["equation"], "equation"),
        variant=text(entries["variant"], "variant", least=0),
        ridge=_ridge(entries["ridge"]),
        k=whole(entries["k"], "k"),
        terms=texts(entries["terms"], "terms"),
        objective=real(entries["objective"], "objective", finite=False),
        value=real(entries["value"], "value", finite=False),
        proved=flag(entries["proved"], "proved"),
        chosen=flag(entries["chosen"], "chosen"),
    )


def _ridge(value: Any) -> float | list[float]:
    return list(reals(value, "ridge", least=0.0)) if isinstance(value, list) else real(value, "ridge", least=0.0)


def _notice(record: Any) -> Notice:
    entries = mapping(record, "warnings")
    equation = entries.get("equation")
    return Notice(
        text(entries["kind"], "kind"),
        text(entries["message"], "message"),
        None if equation is None else text(equation, "equation"),
    )


def renamed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored choice or row with the names of today."""
    renamed = dict(record)
    if "preparation" in renamed:
        name = renamed.pop("preparation")
        renamed["variant"] = _FIRST_NAMES.get(name, name)
    return renamed


def _write(path: Path, record: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _read(path: Path) -> dict[str, Any]:
    record = read_json(path)
    if not isinstance(record, dict):
        raise DataError(f"{str(path)!r} is damaged: it holds no JSON object.")
    return record
