"""Models as JSON files: readable, versioned, written atomically; names are parsed, nothing is executed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from exactsindy import __version__
from exactsindy._atomic import write_atomically
from exactsindy._files import read_json, reason, shown
from exactsindy._records import mapping, reals, sequence, text, texts
from exactsindy.certificate import Certificate
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Library, Term, Variables, parse_term
from exactsindy.model.construct import read_targets
from exactsindy.model.equation import Equation

FORMAT = "exactsindy model"
FORMAT_VERSION = 1

# Variables, equations, fingerprint of the problem and certificates: everything a model is made of.
Stored = tuple[Variables, tuple[Equation, ...], str | None, tuple[Certificate, ...]]


def write(path: str | os.PathLike[str], *stored: *Stored) -> None:
    """Write a model."""
    write_atomically(path, json.dumps(_document(*stored), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _document(
    variables: Variables, equations: Sequence[Equation], fingerprint: str | None, certificates: Sequence[Certificate]
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "package_version": __version__,
        "problem_fingerprint": fingerprint,
        "variables": {
            **{key: getattr(variables, key) for key in ("states", "controls", "time", "axes")},
            **({"parameters": variables.parameters} if variables.parameters else {}),
        },
        "equations": [
            {
                "target": equation.name,
                "terms": [term.name for term in equation.terms],
                "coefficients": equation.coefficients,
                "standard_errors": _errors(equation),
            }
            for equation in equations
        ],
        "certificates": [json.loads(certificate.to_json()) for certificate in certificates],
    }


def read(path: str | os.PathLike[str], library: Library | None) -> Stored:
    """Read a file and check all of it."""
    document = read_json(path, f"load({str(path)!r})")
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
    except KeyError as error:
        raise _damaged(path, f"the entry {reason(error)} is missing") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise _damaged(path, reason(error)) from error


def _damaged(path: str | os.PathLike[str], why: str) -> DataError:
    return DataError(f"load({str(path)!r}): the file is damaged: {why}. Save the model again.")


def _stored(document: Mapping[str, Any], library: Library | None) -> Stored:
    names = mapping(document["variables"], "variables")
    states, controls, axes = (texts(names[key], key) for key in ("states", "controls", "axes"))
    parameters = texts(names.get("parameters", []), "parameters")
    variables = Variables(states, controls, text(names["time"], "time"), axes, parameters)
    rows = [mapping(row, "equations") for row in sequence(document["equations"], "equations")]
    targets = read_targets([text(row["target"], "target") for row in rows])
    library_terms = {term.name: term for term in library.terms(variables)} if library is not None else {}
    equations = []
    for target, row in zip(targets, rows, strict=True):
        if target.name != row["target"]:
            raise ProblemError(f"{row['target']!r} is not an equation such as x', x'' or u_t")
        terms = tuple(_term(name, variables, library_terms) for name in texts(row["terms"], "terms"))
        errors = row["standard_errors"]
        if isinstance(errors, list):
            errors = ["nan" if error is None else error for error in errors]
        errors = None if errors is None else reals(errors, "standard_errors", finite=False)
        values = reals(row["coefficients"], "coefficients")
        equations.append(Equation(target, terms, values, errors, variables.parameters))
    if not equations:
        raise ProblemError("it has no equations")
    fingerprint = document["problem_fingerprint"]
    entries = sequence(document["certificates"], "certificates")
    certificates = tuple(Certificate.from_json(json.dumps(entry)) for entry in entries)
    if any(certificate.fingerprint != fingerprint for certificate in certificates):
        raise ProblemError("a certificate belongs to another problem")
    if fingerprint is not None:
        text(fingerprint, "problem_fingerprint")
    return variables, tuple(equations), fingerprint, certificates


def _term(name: str, variables: Variables, library_terms: Mapping[str, Term]) -> Term:
    if name in library_terms:
        return library_terms[name]
    try:
        return parse_term(name, variables)
    except ProblemError as error:
        raise DataError(
            f"the term {shown(name)!r} is not understood ({error}). If it is a function of your own, pass the library "
            "it came from: Model.load(path, library=Terms([...]))"
        ) from error


def _errors(equation: Equation) -> list[float | None] | None:
    """Return the standard errors as JSON has them: null where there is none."""
    errors = equation.standard_errors
    return None if errors is None else [None if math.isnan(error) else error for error in errors]
