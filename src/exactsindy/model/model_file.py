"""Models as JSON files: readable, versioned, written atomically; names are parsed, nothing is executed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exactsindy import __version__
from exactsindy._atomic import write_atomically
from exactsindy.certificate import Certificate
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Library, Term, Variables, parse_term
from exactsindy.model.construct import read_targets
from exactsindy.model.equation import Equation

FORMAT = "exactsindy model"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class Stored:
    """What a file holds: everything a model is made of."""

    variables: Variables
    equations: tuple[Equation, ...]
    fingerprint: str | None
    certificates: tuple[Certificate, ...]


def write(path: str | os.PathLike[str], stored: Stored) -> None:
    """Write a model."""
    write_atomically(path, json.dumps(_document(stored), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _document(stored: Stored) -> dict[str, Any]:
    variables = stored.variables
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "package_version": __version__,
        "problem_fingerprint": stored.fingerprint,
        "variables": {
            "states": variables.states,
            "controls": variables.controls,
            "time": variables.time,
            "axes": variables.axes,
        },
        "equations": [
            {
                "target": equation.name,
                "terms": [term.name for term in equation.terms],
                "coefficients": equation.coefficients,
                "standard_errors": _errors(equation),
            }
            for equation in stored.equations
        ],
        "certificates": [json.loads(certificate.to_json()) for certificate in stored.certificates],
    }


def read(path: str | os.PathLike[str], library: Library | None) -> Stored:
    """Read a file and check all of it.

    Raises
    ------
    DataError
        If the file is missing, damaged, not a model, or of a newer version.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise DataError(f"load({str(path)!r}): the file cannot be read: {reason}.") from error
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is not JSON ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f"load({str(path)!r}): this is not a model written by Model.save.")
    version = document.get("format_version")
    if version != FORMAT_VERSION:
        raise DataError(
            f"load({str(path)!r}): the file has format version {version!r}, this package reads "
            f"{FORMAT_VERSION}; it was written by exactsindy {document.get('package_version')!r}: use that one."
        )
    try:
        return _stored(document, library)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        missing = isinstance(error, KeyError)
        raise _damaged(path, f"the entry {error} is missing" if missing else str(error)) from error


def _damaged(path: str | os.PathLike[str], why: str) -> DataError:
    return DataError(f"load({str(path)!r}): the file is damaged: {why}. Save the model again.")


def _stored(document: Mapping[str, Any], library: Library | None) -> Stored:
    names = document["variables"]
    states, controls, axes = (_texts(names[key], key) for key in ("states", "controls", "axes"))
    variables = Variables(states, controls, _text(names["time"], "time"), axes)
    rows = _list(document["equations"], "equations")
    targets = read_targets([_text(row["target"], "target") for row in rows])
    library_terms = {term.name: term for term in library.terms(variables)} if library is not None else {}
    equations = []
    for target, row in zip(targets, rows, strict=True):
        if target.name != row["target"]:
            raise ProblemError(f"{row['target']!r} is not an equation such as x', x'' or u_t")
        errors = row["standard_errors"]
        equations.append(
            Equation(
                target,
                tuple(_term(name, variables, library_terms) for name in _texts(row["terms"], "terms")),
                _numbers(row["coefficients"], "coefficients"),
                None if errors is None else _numbers(_unknown(errors), "standard_errors"),
            )
        )
    if not equations:
        raise ProblemError("it has no equations")
    fingerprint = document["problem_fingerprint"]
    certificates = tuple(
        Certificate.from_json(json.dumps(entry)) for entry in _list(document["certificates"], "certificates")
    )
    for certificate in certificates:
        if certificate.fingerprint != fingerprint:
            raise ProblemError("a certificate belongs to another problem")
    if fingerprint is not None:
        _text(fingerprint, "problem_fingerprint")
    return Stored(variables, tuple(equations), fingerprint, certificates)


def _term(name: str, variables: Variables, library_terms: Mapping[str, Term]) -> Term:
    if name in library_terms:
        return library_terms[name]
    try:
        return parse_term(name, variables)
    except ProblemError as error:
        raise DataError(
            f"the term {name!r} is not understood ({error}). If it is a function of your own, pass the library "
            "it came from: Model.load(path, library=Terms([...]))"
        ) from error


def _list(value: Any, entry: str) -> list[Any]:
    if not isinstance(value, list):
        raise ProblemError(f"the entry {entry!r} is not a list")
    return value


def _text(value: Any, entry: str) -> str:
    if not isinstance(value, str) or not value:
        raise ProblemError(f"the entry {entry!r} holds {value!r} where a text belongs")
    return value


def _texts(value: Any, entry: str) -> tuple[str, ...]:
    return tuple(_text(item, entry) for item in _list(value, entry))


def _errors(equation: Equation) -> list[float | None] | None:
    """Return the standard errors as JSON has them: null where there is none."""
    errors = equation.standard_errors
    return None if errors is None else [None if math.isnan(error) else error for error in errors]


def _unknown(errors: Any) -> Any:
    """Return stored standard errors with nan for null."""
    return [math.nan if error is None else error for error in errors] if isinstance(errors, list) else errors


def _numbers(value: Any, entry: str) -> tuple[float, ...]:
    numbers = _list(value, entry)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ProblemError(f"the entry {entry!r} holds {number!r} where a number belongs")
    return tuple(float(number) for number in numbers)
