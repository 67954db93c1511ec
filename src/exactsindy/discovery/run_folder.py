"""A discovery as a folder that holds all it takes to verify, show and redo it: JSON and plain arrays, no pickle.

``run.json`` says what was asked for, of which data (SHA-256), with which versions; ``data.npz`` holds the samples,
``problem.npz`` the regression, ``results.json`` solution, path, rivals and choices, ``model.json`` the equations with
their certificates.
"""

from __future__ import annotations

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
from exactsindy._files import read_arrays, read_json, reason
from exactsindy.data import Notice, read_data, save_data
from exactsindy.errors import DataError
from exactsindy.model import Model
from exactsindy.plots import DiscoveryLike
from exactsindy.problem import Problem
from exactsindy.selection import TRAJECTORY_FIT, Choice, Selection, TableRow
from exactsindy.solver import path_record, plain, pool_record, read_path, read_pool, read_solution, solution_record

FORMAT = "exactsindy run 2"
#: Folders of these formats are read; in the first, a choice called its variant a preparation.
_READABLE = ("exactsindy run 1", FORMAT)
#: What the first format called the variant that trajectory fits chose.
_FIRST_NAMES = {"most likely orbit": TRAJECTORY_FIT}
#: How often a folder is read again because another process was writing to it just then.
_ATTEMPTS = 20


def write_run(discovery: DiscoveryLike, folder: str | os.PathLike[str], about: Mapping[str, Any]) -> Path:
    """Write a discovery into a folder, which is made if need be; see `Discovery.save`."""
    manifest = {
        **about,
        "format": FORMAT,
        "arguments": dict(discovery.arguments),
        "data_sha256": discovery.data.fingerprint,
        "problem_sha256": discovery.problem.fingerprint,
        "versions": {
            "exactsindy": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
        },
        "equations": discovery.model.equations(),
        "warnings": [asdict(notice) for notice in discovery.warnings],
    }
    with replacing(folder) as place:
        save_data(discovery.data, place / "data.npz")
        discovery.problem.save(place / "problem.npz")
        discovery.model.save(place / "model.json")
        _write(place / "results.json", _results(discovery))
        _write(place / "run.json", manifest)
    return Path(folder)


def read_run(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of the `Discovery` that a run folder holds, its data and regression checked."""
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
        text = f"{str(folder)!r}: run.json has the format {about.get('format')!r}; expected {' or '.join(_READABLE)}."
        cure = "Run `exactsindy discover --run` again, or read the folder with the version that wrote it."
        raise DataError(f"{text} {cure}")
    problem = Problem.load(current(folder, "problem.npz"))
    data = read_data(read_arrays(current(folder, "data.npz")))
    for name, have in (("problem", problem.fingerprint), ("data", data.fingerprint)):
        if have != about.get(f"{name}_sha256"):
            text = f"{str(folder)!r}: {name}.npz was changed since the run"
            raise DataError(f"{text} (its SHA-256 is not that of run.json).")
    try:
        return {
            "selection": _selection(results["selection"], problem),
            "problem": problem,
            "pool": None if results["pool"] is None else read_pool(results["pool"], problem),
            "data": data,
            "solution": _constrained(read_solution(results["solution"], problem), about.get("constraints", ())),
            "warnings": tuple(Notice(n["kind"], n["message"], n.get("equation")) for n in about["warnings"]),
            "arguments": about["arguments"],
            "model": Model.load(current(folder, "model.json")),
            "about": about,
        }
    except DataError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        missing = f"the entry {reason(error)} is missing" if isinstance(error, KeyError) else reason(error)
        raise DataError(f"{str(folder)!r}: results.json or run.json is damaged: {missing}.") from error


def _constrained(solution: Any, texts: Sequence[str]) -> Any:
    if not texts:
        return solution
    from exactsindy.constraints import parse_constraint

    return replace(solution, constraints=tuple(parse_constraint(text) for text in texts))


def _results(discovery: DiscoveryLike) -> dict[str, Any]:
    selection = discovery.selection
    return {
        "solution": solution_record(discovery.solution),
        "pool": None if discovery.pool is None else pool_record(discovery.pool),
        "selection": {
            "rule": str(selection.rule),
            "solution": solution_record(selection.solution),
            "path": path_record(selection.path),
            "inclusion": {target: dict(shares) for target, shares in selection.inclusion.items()},
            "choices": [_plain_record(choice) for choice in selection.choices],
            "table": [_plain_record(row) for row in selection.table],
        },
    }


def _plain_record(item: Choice | TableRow) -> dict[str, Any]:
    record = asdict(item)
    for key, value in record.items():
        if isinstance(value, float | np.floating):
            record[key] = plain([value])[0]
        elif isinstance(value, np.ndarray):
            record[key] = plain(np.ravel(value))
    return record


def _selection(record: Mapping[str, Any], problem: Problem) -> Selection:
    choices = tuple(
        Choice(**{**c, "rival_terms": tuple(c["rival_terms"]), **_floats(c, "score", "confidence")})
        for c in map(_renamed, record["choices"])
    )
    table = tuple(
        TableRow(**{**row, "terms": tuple(row["terms"]), **_floats(row, "objective", "value")})
        for row in map(_renamed, record["table"])
    )
    solution, path = read_solution(record["solution"], problem), read_path(record["path"], problem)
    return Selection(solution, path, table, record["inclusion"], choices, record["rule"])


def _renamed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored choice or row with the names of today."""
    renamed = dict(record)
    if "preparation" in renamed:
        name = renamed.pop("preparation")
        renamed["variant"] = _FIRST_NAMES.get(name, name)
    return renamed


def _floats(record: Mapping[str, Any], *keys: str) -> dict[str, float]:
    return {key: float(record[key]) for key in keys}


def _write(path: Path, record: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _read(path: Path) -> dict[str, Any]:
    record = read_json(path)
    if not isinstance(record, dict):
        raise DataError(f"{str(path)!r} is damaged: it holds no JSON object.")
    return record
